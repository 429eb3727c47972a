// SPDX-License-Identifier: BSD-3-Clause
#include "measure.hpp"

#include <algorithm>
#include <vector>

namespace peercoll::bench {

namespace {

constexpr std::size_t fewest_samples = 10;
constexpr std::size_t most_samples = 20000;
constexpr double batch_seconds = 200e-6;
constexpr std::size_t fewest_calls_in_batch = 16;
constexpr std::size_t most_calls_in_batch = 4096;
constexpr std::size_t bytes_checked_after_timing = std::size_t{8} << 20;

// Rank 0's number, on all ranks.
std::uint64_t from_rank_0(std::uint64_t value, int ranks) {
    std::vector<std::uint64_t> values(static_cast<std::size_t>(ranks), value);
    MPI_Scatter(values.data(), 1, MPI_UINT64_T, &value, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    return value;
}

class Run {
public:
    Run(const Settings& settings, Collective& collective, int ranks, const std::function<void(double)>& tell,
        Result& result)
        : settings_(settings),
          collective_(collective),
          ranks_(ranks),
          tell_(tell),
          result_(result),
          used_(collective.buffers(), false) {}

    void check_each_buffer() {
        for (std::size_t index = 0; index < std::min(collective_.buffers(), std::size_t{2}); ++index) {
            collective_.refill_and_poison(index);
            collective_.call(index);
            wrong_ += collective_.count_wrong(index);
        }
    }

    // Decides calls per sample and samples from rank 0's clock, for all ranks.
    void warm_up_and_plan() {
        // A call that takes long warms up in fewer calls: not more of them than the budget of the size allows.
        const double first = std::max(one_sample(2) / 2, 1e-9);
        std::size_t calls = std::min(settings_.warmup, static_cast<std::size_t>(settings_.seconds / 2 / first));
        calls = from_rank_0(std::max(calls, std::size_t{2}), ranks_);
        one_sample(calls);
        double seconds = one_sample(calls);
        // A few calls of a microsecond tell little: more of them, until the figure can be trusted.
        while (from_rank_0(seconds < batch_seconds / 4 && calls < most_calls_in_batch ? 1 : 0, ranks_) != 0) {
            calls *= 2;
            seconds = one_sample(calls);
        }
        const double per_call = std::max(seconds / static_cast<double>(calls), 1e-9);
        if (result_.back_to_back) {
            const auto wanted = static_cast<std::size_t>(batch_seconds / per_call);
            const std::size_t limit = std::clamp(wanted, fewest_calls_in_batch, most_calls_in_batch);
            // Whole rounds, so that every buffer of the set is used alike.
            const std::size_t rounds = std::max(limit / collective_.buffers(), std::size_t{1});
            result_.calls_per_sample = from_rank_0(rounds * collective_.buffers(), ranks_);
        }
        std::size_t samples = settings_.iterations;
        if (samples == 0) {
            // Whole samples, with the rewriting of buffers between them: that is what the budget is spent on.
            constexpr std::size_t trials = 3;
            const double start = MPI_Wtime();
            for (std::size_t trial = 1; trial <= trials; ++trial) time_sample(trial);
            const double wall = std::max((MPI_Wtime() - start) / trials, 1e-9);
            samples = std::clamp(static_cast<std::size_t>(settings_.seconds / wall), fewest_samples, most_samples);
            samples = from_rank_0(samples, ranks_);
        }
        result_.samples = samples;
    }

    void take_samples() {
        for (std::size_t index = 0; index < collective_.buffers(); ++index) collective_.refill_and_poison(index);
        used_.assign(collective_.buffers(), false);
        std::vector<double> mine(result_.samples);
        double told = MPI_Wtime();
        for (std::size_t sample = 0; sample < mine.size(); ++sample) {
            mine[sample] = time_sample(sample) / static_cast<double>(result_.calls_per_sample);
            if (sample % 16 == 0 && MPI_Wtime() - told > 0.5) {
                told = MPI_Wtime();
                tell_(static_cast<double>(sample) / static_cast<double>(mine.size()));
            }
        }
        std::vector<double> slowest(mine);
        MPI_Reduce(mine.data(), slowest.data(), static_cast<int>(mine.size()), MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        for (double& seconds : slowest) seconds *= 1e6;
        result_.microseconds = spread_of(std::move(slowest));
    }

    // What the timed calls left behind must be right too.
    void check_timed_results() {
        if (!collective_.repeatable()) return;
        std::size_t budget = bytes_checked_after_timing;
        for (std::size_t index = 0; index < collective_.buffers(); ++index) {
            if (!used_[index]) continue;
            wrong_ += collective_.count_wrong(index);
            if (budget <= collective_.bytes()) break;
            budget -= collective_.bytes();
        }
    }

    void sum_wrong() {
        std::uint64_t all = 0;
        MPI_Reduce(&wrong_, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
        result_.wrong = from_rank_0(all, ranks_);
    }

private:
    double one_sample(std::size_t calls) {
        std::size_t index = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        for (std::size_t call = 0; call < calls; ++call) {
            collective_.call(index);
            if (++index == collective_.buffers()) index = 0;
        }
        return MPI_Wtime() - start;
    }

    // Seconds of sample number `sample`, with new contents for the buffer that will be needed last.
    double time_sample(std::size_t sample) {
        const std::size_t index = sample % collective_.buffers();
        if (result_.back_to_back) {
            collective_.refill(index);
            used_.assign(used_.size(), true);
            return one_sample(result_.calls_per_sample);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        collective_.call(index);
        const double seconds = MPI_Wtime() - start;
        used_[index] = true;
        // The buffer of the call before this one: rewritten now, it is the last in the rotation.
        const std::size_t previous = (index + collective_.buffers() - 1) % collective_.buffers();
        if (previous != index && sample > 0) {
            collective_.refill(previous);
            used_[previous] = false;
        }
        return seconds;
    }

    const Settings& settings_;
    Collective& collective_;
    int ranks_;
    const std::function<void(double)>& tell_;
    Result& result_;
    std::vector<bool> used_;  // whether a buffer's result belongs to its present contents
    std::uint64_t wrong_ = 0;
};

}  // namespace

Result measure(const Settings& settings, std::size_t bytes, int rank, int ranks,
               const std::function<void(double)>& tell) {
    Result result;
    result.bytes = bytes;
    result.checked = settings.check;
    result.back_to_back = settings.timing == Timing::BackToBack ||
                          (settings.timing == Timing::Auto && bytes <= settings.back_to_back_limit);
    result.buffers = settings.buffers != 0
                         ? settings.buffers
                         : default_buffer_count(bytes, result.back_to_back, ranks, last_level_cache_bytes());
    Collective collective(settings, bytes, rank, ranks, result.buffers);
    Run run(settings, collective, ranks, tell, result);
    if (settings.check) run.check_each_buffer();
    run.warm_up_and_plan();
    run.take_samples();
    if (settings.check) run.check_timed_results();
    run.sum_wrong();

    const double p = ranks;
    result.algbw = static_cast<double>(bytes) / (result.microseconds.median * 1e-6) / 1e9;
    result.busbw = settings.subject == Subject::Allreduce ? result.algbw * 2 * (p - 1) / p : result.algbw;
    result.calls = collective.calls();
    return result;
}

}  // namespace peercoll::bench
