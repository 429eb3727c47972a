// SPDX-License-Identifier: BSD-3-Clause
// The library itself: which functions a release has, its references, and what it answers before aclInit.
#include "plugin/device/ascend/acl_api.hpp"
#include "tests/conformance/ascend/behaviours/rooms.hpp"
#include "tests/conformance/ascend/npu.hpp"

namespace peercoll::conformance::ascend {

namespace {

void machine(Scene& scene) {
    need_devices(scene, 1);
    std::uint32_t count = 0;
    need("aclrtGetDeviceCount", lib().aclrtGetDeviceCount(&count));
    scene.note("devices", count);
    scene.note("kind", soc());
    std::int32_t major = 0;
    std::int32_t minor = 0;
    std::int32_t patch = 0;
    need("aclrtGetVersion", lib().aclrtGetVersion(&major, &minor, &patch));
    scene.note("ACL", std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch));
}

void symbols(Scene& scene) {
    AclFunctions all{};
    for_each_acl_function(all, [&](auto&, const char* symbol, bool required) {
        const bool there = find_in_acl(symbol) != nullptr;
        if (required)
            scene.expect(symbol, true, there);
        else
            scene.note(symbol, there);
    });
}

void before_init(Scene& scene) {
    std::uint32_t count = 0;
    scene.expect("device count", code::uninitialized, lib().aclrtGetDeviceCount(&count));
    scene.expect("choose a device", code::uninitialized, lib().aclrtSetDevice(0));
}

void repeated(Scene& scene) {
    scene.expect("the first", code::success, lib().aclInit(nullptr));
    scene.expect("the second", code::repeat_initialize, lib().aclInit(nullptr));
    std::uint32_t count = 0;
    scene.expect("afterwards it works", code::success, lib().aclrtGetDeviceCount(&count));
}

void references(Scene& scene) {
    need("aclInit", lib().aclInit(nullptr));
    scene.expect("a second reference", code::repeat_initialize, lib().aclInit(nullptr));
    std::uint64_t left = 77;
    scene.expect("give one back", code::success, lib().aclFinalizeReference(&left));
    scene.expect("left", 1u, left);
    std::uint32_t count = 0;
    scene.expect("it still works", code::success, lib().aclrtGetDeviceCount(&count));
    scene.expect("give the last one back", code::success, lib().aclFinalizeReference(&left));
    scene.expect("none left", 0u, left);
    scene.expect("one too many", code::repeat_finalize, lib().aclFinalizeReference(&left));
}

// Why the plugin never calls it.
void finalize_ends_all(Scene& scene) {
    need("aclInit", lib().aclInit(nullptr));
    scene.expect("a second reference", code::repeat_initialize, lib().aclInit(nullptr));
    scene.expect("finalise", code::success, lib().aclFinalize());
    std::uint32_t count = 0;
    scene.expect("then nothing works", false, lib().aclrtGetDeviceCount(&count) == code::success);
    scene.expect("finalise again", code::repeat_finalize, lib().aclFinalize());
}

void messages(Scene& scene) {
    need_devices(scene, 1);
    (void)lib().aclGetRecentErrMsg();
    (void)lib().aclrtSetDevice(-1);
    const char* const first = lib().aclGetRecentErrMsg();
    scene.note("there is one", first != nullptr);
    scene.expect("it is told once", true, lib().aclGetRecentErrMsg() == nullptr);
}

}  // namespace

void add_machine(Suite& suite) {
    suite.enter("machine");
    suite.add("what was looked at", machine);
}

void add_library(Suite& suite) {
    suite.enter("library");
    suite.add("functions that the plugin calls", symbols);
    suite.add("nothing works before aclInit", before_init);
    suite.add("aclInit says that it was repeated", repeated);
    suite.add("references are counted", references);
    suite.add("aclFinalize ends it for all", finalize_ends_all);
    suite.add("a message is told once", messages);
}

}  // namespace peercoll::conformance::ascend
