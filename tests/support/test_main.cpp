// SPDX-License-Identifier: BSD-3-Clause
// main() for tests with processes: after all tests nothing may be left that was not there before.
#include "tests/support/leftovers.hpp"

#include <gtest/gtest.h>

namespace {

class NothingLeftBehind : public testing::Environment {
public:
    void SetUp() override { files_ = peercoll::test::files_in_dev_shm(); }
    void TearDown() override {
        EXPECT_TRUE(peercoll::test::children_of_this_process().empty()) << "a child process was left behind";
        for (const std::string& name : peercoll::test::abandoned_files(files_)) {
            ADD_FAILURE() << "/dev/shm/" << name << " was left behind";
        }
    }

private:
    std::set<std::string> files_;
};

}  // namespace

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    testing::AddGlobalTestEnvironment(std::make_unique<NothingLeftBehind>().release());  // gtest owns it
    return RUN_ALL_TESTS();
}
