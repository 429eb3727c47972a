// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/reduction/device/fold_parameters.hpp"

#include <algorithm>

#include "collectives/reduction/host_kernels.hpp"

namespace peercoll {
namespace {

static_assert(FoldParameters::most == PEERCOLL_FOLD_MOST && FoldParameters::most == 64, "block_starts has a bit each");

constexpr std::uint64_t vector_bytes = 16;
constexpr unsigned large_page_log2 = 21;

bool is_copy(peercoll_op_t op) {
    return op == PEERCOLL_REPLACE || op == PEERCOLL_NO_OP;
}
bool is_bitwise(peercoll_op_t op) {
    return op == PEERCOLL_BAND || op == PEERCOLL_BOR || op == PEERCOLL_BXOR;
}

bool is_fold(const peercoll_fold_t& fold) {
    const auto in_range = [](std::uint32_t n) { return n >= 1 && n <= PEERCOLL_FOLD_MOST; };
    if (!in_range(fold.n_inputs) || !in_range(fold.n_outputs) || fold.n_blocks < 1 || fold.n_blocks > fold.n_inputs ||
        !fold.inputs || !fold.outputs || !fold.block_ends) {
        return false;
    }
    std::uint32_t begin = 0;
    for (std::uint32_t b = 0; b < fold.n_blocks; ++b) {
        if (fold.block_ends[b] <= begin || fold.block_ends[b] > fold.n_inputs) {
            return false;
        }
        begin = fold.block_ends[b];
    }
    return begin == fold.n_inputs;
}

// Of what an element consists: a pair of words of 32 bits, whatever its types; a complex number of two numbers.
std::uint64_t part_bytes(peercoll_datatype_t datatype, std::uint64_t element_bytes) {
    if (datatype >= PEERCOLL_PAIR_FLOAT32_INT32 && datatype <= PEERCOLL_PAIR_FLOAT64_FLOAT64) {
        return 4;
    }
    const bool complex = datatype == PEERCOLL_COMPLEX_FLOAT32 || datatype == PEERCOLL_COMPLEX_FLOAT64;
    return complex ? element_bytes / 2 : element_bytes;
}

// Calls visit(address) with all of them.
template <class Visit>
void for_all_addresses(const FoldParameters& p, Visit visit) {
    std::for_each(p.inputs, p.inputs + p.n_inputs, visit);
    std::for_each(p.outputs, p.outputs + p.n_outputs, visit);
}

// The largest power of 2, at most 16, that divides all distances between the addresses.
std::uint64_t common_distance(const FoldParameters& p) {
    std::uint64_t differing = vector_bytes;
    for_all_addresses(p, [&](std::uint64_t address) { differing |= address ^ p.inputs[0]; });
    return differing & (~differing + 1);
}

// The same that divides all addresses.
std::uint64_t common_alignment(const FoldParameters& p) {
    std::uint64_t bits = vector_bytes;
    for_all_addresses(p, [&](std::uint64_t address) { bits |= address; });
    return bits & (~bits + 1);
}

// Elements from the first address to the next multiple of `width`.
std::uint64_t elements_before(const FoldParameters& p, std::uint64_t width, std::uint64_t element_bytes) {
    return std::min<std::uint64_t>((0 - p.inputs[0]) % width / element_bytes, p.count);
}

// How the steps of a large fold are shared among blocks that stay and take one tile after another.
struct Shape {
    unsigned streams;  // up to so many inputs and outputs
    std::uint64_t blocks_per_multiprocessor;
    std::uint64_t most_tile;  // steps
};
// Measured on an H200 with inputs and outputs in other processes' memory.
constexpr Shape shapes[] = {{4, FoldParameters::blocks_per_multiprocessor, 1024}, {~0u, 2, 2048}};

const Shape& shape_for(unsigned streams) {
    return streams <= shapes[0].streams ? shapes[0] : shapes[1];
}

void choose_copy_accesses(FoldParameters& p) {
    const std::uint64_t width = common_distance(p);
    p.width = static_cast<unsigned>(width);
    p.head = static_cast<unsigned>(elements_before(p, width, 1));
    p.steps = (p.count - p.head) / width;
}

void choose_fold_accesses(FoldParameters& p, std::uint64_t element_bytes, std::uint64_t part) {
    if (common_distance(p) == vector_bytes && p.inputs[0] % element_bytes == 0) {
        p.width = vector_bytes;
        p.head = static_cast<unsigned>(elements_before(p, vector_bytes, element_bytes));
        p.steps = (p.count - p.head) * element_bytes / vector_bytes;
    } else {
        p.width = static_cast<unsigned>(common_alignment(p) >= part ? part : 1);
        p.steps = p.count;
    }
}

}  // namespace

bool fill_fold_parameters(const peercoll_fold_t& fold, FoldParameters& parameters) {
    if (!is_fold(fold) || !fold_kernel_name(fold.datatype, fold.op)) {
        return false;
    }
    FoldParameters& p = parameters;
    std::uint64_t element_bytes = datatype_size(fold.datatype);
    std::uint64_t part = part_bytes(fold.datatype, element_bytes);
    p.count = fold.count;
    p.head = 0;
    p.counter = 0;
    p.flag = fold.flag;
    p.flag_value = fold.flag_value;
    if (is_copy(fold.op) || is_bitwise(fold.op)) {
        p.count = fold.count * element_bytes;
        element_bytes = 1;
        part = 1;
    }

    if (is_copy(fold.op)) {
        p.n_inputs = 1;
        p.inputs[0] = fold.inputs[fold.op == PEERCOLL_REPLACE ? fold.n_inputs - 1 : 0];
        p.block_starts = 1;
    } else {
        p.n_inputs = fold.n_inputs;
        std::copy_n(fold.inputs, fold.n_inputs, p.inputs);
        p.block_starts = 1;
        for (std::uint32_t b = 0; b + 1 < fold.n_blocks; ++b) {
            p.block_starts |= std::uint64_t{1} << fold.block_ends[b];
        }
    }
    const std::uint64_t* const outputs_end = fold.outputs + fold.n_outputs;
    const bool copies = p.n_inputs == 1;
    auto* const end = std::copy_if(fold.outputs, outputs_end, p.outputs,
                                   [&](std::uint64_t out) { return !copies || out != p.inputs[0]; });
    p.n_outputs = static_cast<unsigned>(end - p.outputs);
    if (p.n_outputs == 0) {
        p.count = 0;
    }

    if (is_copy(fold.op)) {
        choose_copy_accesses(p);
    } else {
        choose_fold_accesses(p, element_bytes, part);
    }
    return true;
}

bool passes_once(const FoldParameters& parameters, unsigned granularity_log2) {
    // From where on it was faster on an H200; below, a flag written behind the kernel would take longer.
    constexpr std::uint64_t least_steps = std::uint64_t{256} << 10;
    return parameters.steps >= least_steps && granularity_log2 >= large_page_log2;
}

FoldGeometry fold_geometry(FoldParameters& parameters, int multiprocessors, bool once) {
    constexpr std::uint64_t warp = 32;
    constexpr std::uint64_t most_threads = FoldParameters::most_threads;
    // The threads of one block make so many accesses without waiting in between, or not for long; more blocks would
    // have to find out which of them is the last.
    constexpr std::uint64_t one_block = 2 * most_threads;
    if (parameters.steps <= one_block) {
        parameters.tile = one_block;
        const std::uint64_t wanted = (parameters.steps + warp - 1) / warp * warp;
        return {1, static_cast<std::uint32_t>(std::clamp(wanted, warp, most_threads))};
    }
    // Where there is not a block for each multiprocessor, smaller ones on more of them: what takes the time is how much
    // each has to bring through its load and store unit.
    const auto processors = static_cast<std::uint64_t>(std::max(multiprocessors, 1));
    constexpr std::uint64_t least_threads = 2 * warp;
    std::uint64_t threads = most_threads;
    while (threads > least_threads && parameters.steps < threads * processors) threads /= 2;
    const Shape& shape = shape_for(parameters.n_inputs + parameters.n_outputs);
    const std::uint64_t at_once = shape.blocks_per_multiprocessor * processors;
    const std::uint64_t share = (parameters.steps + at_once - 1) / at_once;
    constexpr std::uint64_t most_blocks = (std::uint64_t{1} << 31) - 1;
    parameters.tile = once ? threads : std::clamp((share + threads - 1) / threads * threads, threads, shape.most_tile);
    const std::uint64_t tiles = (parameters.steps + parameters.tile - 1) / parameters.tile;
    return {static_cast<std::uint32_t>(std::min(tiles, once ? most_blocks : at_once)),
            static_cast<std::uint32_t>(threads)};
}

}  // namespace peercoll
