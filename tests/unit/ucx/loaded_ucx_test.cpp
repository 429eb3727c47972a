// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/ucx/loaded_ucx.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace peercoll::ucx {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<std::string> system_ucx = {"/lib/libc.so.6", "/lib/libucp.so.0.0.0", "/lib/libuct.so.0.0.0",
                                             "/lib/libucs.so.0.0.0", "/lib/libucm.so.0.0.0"};

TEST(ChooseUcp, AProcessWithoutUcxTakesTheSystems) {
    const UcpChoice choice = choose_ucp({"/lib/libc.so.6", "/lib/libmpi.so.40"}, "");
    EXPECT_EQ(choice.file, "libucp.so.0");
    EXPECT_FALSE(choice.loaded);
    EXPECT_THAT(choice.refusal, IsEmpty());
}

TEST(ChooseUcp, AProcessWithoutUcxTakesTheFileThatIsWanted) {
    EXPECT_EQ(choose_ucp({"/lib/libc.so.6"}, "/opt/ucx/libucp.so.0").file, "/opt/ucx/libucp.so.0");
}

TEST(ChooseUcp, TheOneThatIsLoadedWinsOverTheOneThatIsWanted) {
    const UcpChoice choice = choose_ucp(system_ucx, "/opt/ucx/libucp.so.0");
    EXPECT_EQ(choice.file, "/lib/libucp.so.0.0.0");
    EXPECT_TRUE(choice.loaded);
    EXPECT_THAT(choice.refusal, IsEmpty());
}

TEST(ChooseUcp, WithOnlyLowerPartsLoadedTheUcpOfTheirFolderIsTaken) {
    const UcpChoice choice = choose_ucp({"/opt/a/libucs.so.0.0.0", "/opt/a/libucm.so.0.0.0"}, "/opt/b/libucp.so.0");
    EXPECT_EQ(choice.file, "/opt/a/libucp.so.0");
    EXPECT_FALSE(choice.loaded);
}

TEST(ChooseUcp, TwoCopiesOfOnePartAreRefusedByName) {
    std::vector<std::string> loaded = system_ucx;
    loaded.emplace_back("/opt/ucx/lib/libucs.so.0.0.0");
    const UcpChoice choice = choose_ucp(loaded, "");
    EXPECT_THAT(choice.refusal, HasSubstr("/lib/libucs.so.0.0.0"));
    EXPECT_THAT(choice.refusal, HasSubstr("/opt/ucx/lib/libucs.so.0.0.0"));
    EXPECT_THAT(choice.file, IsEmpty());
}

TEST(ChooseUcp, PartsFromTwoFoldersAreRefused) {
    // What mpirun --mca pml ucx with UCC of another UCX looks like.
    const UcpChoice choice = choose_ucp({"/lib/libucp.so.0.0.0", "/opt/ucx/lib/libucs.so.0.0.0"}, "");
    EXPECT_THAT(choice.refusal, HasSubstr("two UCX libraries"));
}

TEST(ChooseUcp, NamesOfPythonPackagesAreKnown) {
    EXPECT_TRUE(choose_ucp({"/py/libucp-4e2c.so.0.0.0", "/py/libucs-91aa.so.0"}, "").loaded);
    EXPECT_THAT(choose_ucp({"/py/libucp-4e2c.so.0", "/lib/libucp.so.0.0.0"}, "").refusal, HasSubstr("/py/"));
}

TEST(ChooseUcp, UcxModulesAndOtherLibrariesAreNoParts) {
    std::vector<std::string> loaded = system_ucx;
    loaded.insert(loaded.end(), {"/lib/ucx/libuct_cma.so.0.0.0", "/usr/lib/libucs_signal.so.0.0.0", "/x/libucpp.so"});
    EXPECT_THAT(choose_ucp(loaded, "").refusal, IsEmpty());
}

TEST(LoadedObjects, ThisProcessHoldsItsCLibraryAndNoUcx) {
    bool c_library = false;
    for (const std::string& path : loaded_objects()) {
        c_library |= path.find("/libc.so") != std::string::npos || path.find("/libc-") != std::string::npos;
        EXPECT_EQ(path.find("libucp"), std::string::npos) << path;
    }
    EXPECT_TRUE(c_library);
}

}  // namespace
}  // namespace peercoll::ucx
