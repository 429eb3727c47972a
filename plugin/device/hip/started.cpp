// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/hip/started.hpp"

#include "plugin/device/hip/hip_api.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace peercoll::hip {

namespace {

using Question = int (*)(int attribute, void* value);  // hsa_system_get_info
constexpr const char* question_name = "hsa_system_get_info";
constexpr int version_major = 0;       // a 16-bit number
constexpr int not_initialized = 4107;  // HSA_STATUS_ERROR_NOT_INITIALIZED

// Plain pointers, so that no destructor runs when the process ends or the library is unloaded.
constinit std::mutex asking;
constinit HipLibrary* library = nullptr;
constinit void* rocr = nullptr;
constinit Question question = nullptr;

// What libamdhip64 is linked with is found through it. A libamdhip64 that opens ROCr itself has no such symbol, and
// then there is one once it has been started.
void find_question(const HipLibrary& hip) {
    void* found = hip.symbol(question_name);
    if (found == nullptr) {
        rocr = ::dlopen("libhsa-runtime64.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
        if (rocr != nullptr) found = ::dlsym(rocr, question_name);
    }
    question = reinterpret_cast<Question>(found);
}

}  // namespace

int is_started() {
    const std::lock_guard lock(asking);
    if (library == nullptr) {
        std::unique_ptr<HipLibrary> found = HipLibrary::find_loaded();
        if (found == nullptr) return 0;
        find_question(*found);
        library = found.release();
    }
    if (question == nullptr) return 1;
    std::uint64_t answer = 0;
    return question(version_major, &answer) == not_initialized ? 0 : 1;
}

void forget_question() {
    const std::lock_guard lock(asking);
    question = nullptr;
    if (rocr != nullptr) ::dlclose(std::exchange(rocr, nullptr));
    const std::unique_ptr<HipLibrary> last(std::exchange(library, nullptr));
}

}  // namespace peercoll::hip
