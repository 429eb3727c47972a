// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>

#include <algorithm>

#include "nodes.hpp"

namespace peercoll {
namespace {

using testing::Contains;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> describe_node(const std::string& name, bool with_io) {
    const std::unique_ptr<Topology> topology = load_node(node_file(name), with_io);
    return topology ? topology->describe() : std::vector<std::string>{};
}

TEST(DescribingANode, Of128CoresTakesTwoLinesForEachL3) {
    std::vector<std::string> expected = {
        "Machine: 2 packages, 2 NUMA nodes, 16 L3 caches, 128 cores, 256 PUs, 512 GiB",
    };
    for (int package = 0; package < 2; ++package) {
        const std::string number = std::to_string(package);
        expected.push_back("  Package " + number);
        expected.push_back("    NUMA node " + number +
                           (package == 0 ? ": 256 GiB, PUs 0-63,128-191" : ": 256 GiB, PUs 64-127,192-255"));
        for (int cache = 8 * package; cache < 8 * package + 8; ++cache) {
            const auto range = [&](int offset) {
                return std::to_string(8 * cache + offset) + "-" + std::to_string(8 * cache + 7 + offset);
            };
            expected.push_back("    L3 cache " + std::to_string(cache) + ": 32 MiB");
            expected.push_back("      Cores " + range(0) + ", each with 2 PUs: PUs " + range(0) + "," + range(128));
        }
    }
    EXPECT_THAT(describe_node("epyc_2_sockets_128_cores", false), ElementsAreArray(expected));
}

TEST(DescribingANode, WithDevicesTellsNumaLatencies) {
    EXPECT_THAT(describe_node("epyc_2_sockets_128_cores", true),
                Contains("  NUMALatency (latency: less is nearer): 32 between any two of NUMA 0, NUMA 1"));
}

TEST(DescribingANode, WithoutAnL3ShowsTheL2ThatCoresShare) {
    const std::vector<std::string> lines = describe_node("four_numa_nodes", false);
    EXPECT_THAT(lines, Contains("Machine: 1 package, 4 NUMA nodes, 32 cores, 32 PUs, 384 GiB"));
    EXPECT_THAT(lines, Contains("      NUMA node 3: 96 GiB, PUs 24-31"));
    EXPECT_THAT(lines, Contains("      L2 cache 15: 2 MiB"));
    EXPECT_THAT(lines, Contains("        Cores 30-31, each with 1 PU: PUs 30-31"));
}

TEST(DescribingANode, NamesWhatKindOfMemoryANumaNodeHas) {
    const std::vector<std::string> lines = describe_node("hbm_and_cxl", false);
    EXPECT_THAT(lines, Contains("  NUMA node 4: 1 TiB, PUs 0-7"));
    EXPECT_THAT(lines, Contains("    NUMA node 1: HBM 16 GiB, PUs 0-3"));
}

TEST(DescribingANode, ShowsGpusAndNetworkCardsBesideTheCacheTheyHangOn) {
    const std::vector<std::string> lines = describe_node("eight_amd_gpus", true);
    // L3 cache 7 has GPU 1 and the fourth network card.
    const std::vector<std::string> expected = {
        "      L3 cache 7: 32 MiB",
        "        Cores 56-63, each with 1 PU: PUs 56-63",
        "        PCI host bridge, buses 0000:f8-ff",
        "          GPU 0000:f9:00.0: [1002:7408], rsmi1 (UUID 0000000000000001)",
        "          Network adapter 0000:fa:00.0: [17db:0501], hsi3",
    };
    const auto first = std::find(lines.begin(), lines.end(), expected.front());
    ASSERT_GE(lines.end() - first, static_cast<std::ptrdiff_t>(expected.size()));
    EXPECT_EQ(std::vector<std::string>(first, first + static_cast<std::ptrdiff_t>(expected.size())), expected);
}

TEST(DescribingANode, PrintsAMatrixWhereGpusAreNotEquallyFarApart) {
    const std::vector<std::string> lines = describe_node("eight_amd_gpus", true);
    const auto title = std::find(lines.begin(), lines.end(), "  XGMIBandwidth (bandwidth: more is nearer)");
    ASSERT_EQ(lines.end() - title, 10) << "a title, a head and eight rows at the end";
    EXPECT_EQ(title[1], "             rsmi0    rsmi1    rsmi2    rsmi3    rsmi4    rsmi5    rsmi6    rsmi7");
    EXPECT_EQ(title[2], "    rsmi0  1000000   200000    50000    50000    50000    50000    50000    50000");
    EXPECT_EQ(title[9], "    rsmi7    50000    50000    50000    50000    50000    50000   200000  1000000");
}

TEST(DescribingANode, ShowsSixteenGpusByPcieSwitchAndJoinsThemThroughTheNvswitch) {
    const std::vector<std::string> lines = describe_node("sixteen_nvidia_gpus", true);
    int gpus = 0;
    for (const std::string& line : lines) {
        gpus += line.find("GPU 0000:") != std::string::npos ? 1 : 0;
    }
    EXPECT_EQ(gpus, 16);
    EXPECT_THAT(lines, Contains("      Cores 8-15, each with L2 1 MiB, 1 PU: PUs 8-15"));
    EXPECT_THAT(lines, Contains("    PCIe switch, buses 0000:71-7f"));
    EXPECT_THAT(lines, Contains("      GPU 0000:75:00.0: Example GPU 80GB, cuda15, nvml15 (UUID "
                                "GPU-00000000-0000-4000-8000-00000000000f)"));
    EXPECT_THAT(lines,
                Contains("      InfiniBand adapter 0000:78:00.0: Mellanox Technologies ConnectX-7, ib3, mlx5_3"));
    std::string all = "nvml0";
    for (int gpu = 1; gpu < 16; ++gpu) {
        all += ", nvml" + std::to_string(gpu);
    }
    EXPECT_THAT(lines, Contains("  NVLinkBandwidth (bandwidth: more is nearer): 450000 between any two of " + all));
}

TEST(DescribingANode, LeavesDevicesAndDistancesOutUnlessAsked) {
    EXPECT_THAT(describe_node("sixteen_nvidia_gpus", false), Not(Contains(HasSubstr("GPU"))));
    EXPECT_THAT(describe_node("sixteen_nvidia_gpus", false), Not(Contains(HasSubstr("NVLink"))));
}

TEST(DescribingANode, WorksForThisMachine) {
    const std::unique_ptr<Topology> topology = load_node("", true);
    ASSERT_TRUE(topology);
    const std::vector<std::string> lines = topology->describe();
    ASSERT_FALSE(lines.empty());
    EXPECT_THAT(lines.front(), HasSubstr("Machine"));
    EXPECT_THAT(lines, Contains(HasSubstr("NUMA node 0")));
    EXPECT_THAT(lines, Contains(HasSubstr("PU")));
}

}  // namespace
}  // namespace peercoll
