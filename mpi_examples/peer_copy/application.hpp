// SPDX-License-Identifier: BSD-3-Clause
// What an application of each vendor does itself. peercoll only joins in where a process uses a device already: it
// never loads a runtime, and never makes a context on a device.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace peercoll::peer_copy {

class Application {
public:
    Application() = default;
    virtual ~Application() = default;
    Application(const Application&) = delete;
    Application& operator=(const Application&) = delete;

    // Makes the process one that uses `device`, until stop().
    virtual void use(std::int32_t device) = 0;
    // Gives back every device and ends the vendor's library. Throws Failure where that does not go; the destructor does
    // the same after a failure, without a word.
    virtual void stop() = 0;

    // Loads the vendor's library, `library` or where it is empty its usual names in their order, and starts it. Throws
    // Failure with a sentence where that does not go.
    static std::unique_ptr<Application> start(const std::string& runtime, const std::string& library);
};

}  // namespace peercoll::peer_copy
