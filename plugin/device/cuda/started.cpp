// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/cuda/started.hpp"

#include "plugin/device/cuda/driver_api.hpp"

#include <memory>
#include <mutex>
#include <utility>

namespace peercoll::cuda {

namespace {

using Question = CuResult (*)(int* devices);  // cuDeviceGetCount

// Plain pointers, so that no destructor runs when the process ends or the library is unloaded.
constinit std::mutex asking;
constinit DriverLibrary* library = nullptr;
constinit Question question = nullptr;

}  // namespace

int is_started() {
    const std::lock_guard lock(asking);
    if (question == nullptr) {
        std::unique_ptr<DriverLibrary> found = DriverLibrary::find_loaded();
        if (found == nullptr) return 0;
        question = reinterpret_cast<Question>(found->symbol("cuDeviceGetCount"));
        if (question == nullptr) return 1;  // no driver that we know: open() says what is wrong with it
        library = found.release();
    }
    int devices = 0;
    return question(&devices) == code::not_initialized ? 0 : 1;
}

void forget_question() {
    const std::lock_guard lock(asking);
    question = nullptr;
    const std::unique_ptr<DriverLibrary> last(std::exchange(library, nullptr));
}

}  // namespace peercoll::cuda
