// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>

#include "nodes.hpp"

namespace peercoll {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* unreadable = "is not a topology that hwloc can read";

// A file with this text, gone with the object.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::string& text) {
        std::string path = testing::TempDir() + "peercoll_node_XXXXXX";
        const int descriptor = mkstemp(path.data());
        EXPECT_GE(descriptor, 0);
        close(descriptor);
        path_ = path;
        std::ofstream(path_, std::ios::binary) << text;
    }
    ~TemporaryFile() { unlink(path_.c_str()); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    const std::string& path() const { return path_; }

private:
    std::string path_;
};

std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void expect_refused(const std::string& path, const std::string& reason) {
    std::unique_ptr<Topology> topology;
    const Status status = Topology::load(path, false, topology);
    EXPECT_EQ(status.code(), PEERCOLL_ERR_INVALID_ARGUMENT);
    EXPECT_THAT(status.sentence(),
                AllOf(HasSubstr(path), HasSubstr(reason), HasSubstr("expected an hwloc 2 XML file")));
    EXPECT_EQ(topology, nullptr);
}

TEST(LoadingATopology, OfThisMachineFindsAllProcessorsThatAreOnline) {
    const std::unique_ptr<Topology> topology = load_node("");
    ASSERT_TRUE(topology);
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    // Numbers of processors may have gaps: ask for more than there are.
    EXPECT_EQ(topology->place_of(processors(0, 8191)).processors, online);
}

TEST(LoadingATopology, OfThisMachineWithItsDevicesPlacesRanksAlike) {
    const std::unique_ptr<Topology> plain = load_node("");
    const std::unique_ptr<Topology> with_io = load_node("", true);
    ASSERT_TRUE(plain && with_io);
    EXPECT_EQ(plain->place_of_this_process(), with_io->place_of_this_process());
}

TEST(LoadingATopology, OfAFileThatIsMissingSaysSo) {
    expect_refused(testing::TempDir() + "peercoll_no_such_node.xml", "No such file or directory");
}

TEST(LoadingATopology, OfAFolderSaysSo) {
    expect_refused(testing::TempDir(), "Is a directory");
}

TEST(LoadingATopology, OfAnEmptyFileSaysSo) {
    const TemporaryFile file("");
    expect_refused(file.path(), "is empty");
}

TEST(LoadingATopology, OfTextThatIsNotXmlIsRefused) {
    const TemporaryFile file("two sockets, sixty-four cores each\n");
    expect_refused(file.path(), unreadable);
}

TEST(LoadingATopology, OfXmlThatIsNoTopologyIsRefused) {
    const TemporaryFile file("<?xml version=\"1.0\"?>\n<html><body>404</body></html>\n");
    expect_refused(file.path(), unreadable);
}

TEST(LoadingATopology, OfATopologyWithoutAMachineIsRefused) {
    const TemporaryFile file("<?xml version=\"1.0\"?>\n<topology version=\"2.0\">\n</topology>\n");
    expect_refused(file.path(), unreadable);
}

TEST(LoadingATopology, OfAFileCutShortIsRefused) {
    const std::string whole = text_of(node_file("four_numa_nodes"));
    ASSERT_GT(whole.size(), 1000U);
    const TemporaryFile file(whole.substr(0, whole.size() / 2));
    expect_refused(file.path(), unreadable);
}

TEST(LoadingATopology, ThatFailsKeepsTheOneTheCallerHas) {
    std::unique_ptr<Topology> topology = load_node(node_file("four_numa_nodes"));
    const Topology* before = topology.get();
    ASSERT_TRUE(topology);
    EXPECT_FALSE(Topology::load("/nonexistent/node.xml", false, topology).ok());
    EXPECT_EQ(topology.get(), before);
}

}  // namespace
}  // namespace peercoll
