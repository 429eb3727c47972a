// SPDX-License-Identifier: BSD-3-Clause
// Expected places follow from how each node file numbers its processors, said above each table.
#include "nodes.hpp"

namespace peercoll {
namespace {

struct Case {
    const char* binding;
    std::vector<unsigned> processors;
    RankPlace expected;  // package, NUMA node, cache, core, processors
};

void expect_places(const std::string& node, const std::vector<Case>& cases) {
    const std::unique_ptr<Topology> topology = load_node(node_file(node));
    ASSERT_TRUE(topology);
    for (const Case& one : cases) {
        EXPECT_EQ(topology->place_of(one.processors), one.expected) << "on " << node << ", bound to " << one.binding;
    }
}

// Core c has PUs c and c + 128; L3 is c / 8; NUMA node and package are c / 64.
TEST(PlaceOfARank, OnTwoSocketsOf64CoresIsTheSmallestObjectOfEachLevel) {
    const auto cores = [](unsigned first, unsigned last) {
        return processors(first, last) + processors(first + 128, last + 128);
    };
    expect_places("epyc_2_sockets_128_cores",
                  {
                      {"one processor of a core", {77}, {1, 1, 9, 77, 1}},
                      {"the other processor of that core", {77 + 128}, {1, 1, 9, 77, 1}},
                      {"a core", cores(77, 77), {1, 1, 9, 77, 2}},
                      {"the first core", cores(0, 0), {0, 0, 0, 0, 2}},
                      {"the last core", cores(127, 127), {1, 1, 15, 127, 2}},
                      {"two cores of one L3", cores(30, 31), {0, 0, 3, -1, 4}},
                      {"an L3", cores(24, 31), {0, 0, 3, -1, 16}},
                      {"one processor of each core of an L3", processors(24, 31), {0, 0, 3, -1, 8}},
                      {"two cores of neighbouring L3 caches", cores(31, 32), {0, 0, -1, -1, 4}},
                      {"two L3 caches", cores(0, 15), {0, 0, -1, -1, 32}},
                      {"two L3 caches of different packages", cores(56, 71), {-1, -1, -1, -1, 32}},
                      {"a package", cores(64, 127), {1, 1, -1, -1, 128}},
                      {"nothing", processors(0, 255), {-1, -1, -1, -1, 256}},
                  });
}

// PU p is core p; L2 is p / 2; NUMA node is p / 8; one package.
TEST(PlaceOfARank, WithoutAnL3IsByTheL2ThatCoresShare) {
    expect_places("four_numa_nodes", {
                                         {"a core", {13}, {0, 1, 6, 13, 1}},
                                         {"an L2", {12, 13}, {0, 1, 6, -1, 2}},
                                         {"two L2 caches", {12, 13, 14}, {0, 1, -1, -1, 3}},
                                         {"a NUMA node", processors(16, 23), {0, 2, -1, -1, 8}},
                                         {"two NUMA nodes", processors(16, 31), {0, -1, -1, -1, 16}},
                                         {"nothing", processors(0, 31), {0, -1, -1, -1, 32}},
                                     });
}

// PU p is core p with an L2 of its own; L3, NUMA node and package are p / 8.
TEST(PlaceOfARank, IgnoresAnL2ThatOneCoreHasForItself) {
    expect_places("sixteen_nvidia_gpus", {
                                             {"a core", {9}, {1, 1, 1, 9, 1}},
                                             {"two cores", {8, 9}, {1, 1, 1, -1, 2}},
                                             {"two cores of two packages", {7, 8}, {-1, -1, -1, -1, 2}},
                                         });
}

// PU p is core p; L3 and package are p / 4. NUMA nodes: 0 and 2 are the packages' DRAM, 1 and 3 their HBM, 4 is CXL
// memory for all.
TEST(PlaceOfARank, IsNearDramAndNeverNearMemoryOfTheWholeMachine) {
    expect_places("hbm_and_cxl", {
                                     {"a core of the first package", {3}, {0, 0, 0, 3, 1}},
                                     {"a core of the second package", {4}, {1, 2, 1, 4, 1}},
                                     {"the second package", processors(4, 7), {1, 2, 1, -1, 4}},
                                     {"a core of each package", {3, 4}, {-1, -1, -1, -1, 2}},
                                     {"nothing", processors(0, 7), {-1, -1, -1, -1, 8}},
                                 });
}

TEST(PlaceOfARank, CountsOnlyProcessorsTheNodeHasAndEachOnce) {
    expect_places("epyc_2_sockets_128_cores",
                  {
                      {"processors of which one exists", {5, 256, 4000000}, {0, 0, 0, 5, 1}},
                      {"processors that do not exist", {256, 4000}, {-1, -1, -1, -1, 0}},
                      {"a processor said three times", {5, 5, 5}, {0, 0, 0, 5, 1}},
                      {"no processor", {}, {-1, -1, -1, -1, 0}},
                  });
}

}  // namespace
}  // namespace peercoll
