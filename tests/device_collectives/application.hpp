// SPDX-License-Identifier: BSD-3-Clause
// The application in these tests: a process that loads a vendor's library and uses it in its own way, besides the
// plugin. One small class for each vendor (cuda_application.cpp and so on); what they have in common is here.
#pragma once

#include "tests/device_collectives/face.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace peercoll::test {

// What a node file says (tests/simulated_devices/README.md), and what the library on it is like.
struct Machine {
    std::string node = "devices 1\n";
    std::string variant = "usual";
    std::string library{};  // another file than the face's own
};

class Application {
public:
    virtual ~Application();
    Application(const Application&) = delete;
    Application& operator=(const Application&) = delete;

    const Face& face() const { return *face_; }

    // Uses a device on this thread, until the end of the application.
    void use(int device);
    // The same on a thread of its own: a device that is entered is left before the thread ends.
    virtual void enter(int device) const = 0;
    virtual void leave(int device) const = 0;

    struct Piece {
        std::uint64_t address = 0;
        std::size_t bytes = 0;
        void* pool = nullptr;  // that was made for it
    };
    // On the thread's device, which is `device`. Of a kind that the face has, but no plain host memory.
    virtual Piece allocate(Memory kind, std::size_t bytes, int device) const = 0;
    virtual void free(Memory kind, const Piece& piece) const = 0;
    // The vendor's synchronous copies, which for device memory may return before they are done.
    virtual void upload(std::uint64_t to, const void* from, std::size_t bytes) const = 0;
    virtual void download(void* to, std::uint64_t from, std::size_t bytes) const = 0;

    // Of the thread's device, by all processes together.
    virtual std::uint64_t bytes_in_use() const = 0;
    virtual std::string pci_id(int device) const = 0;
    // How often this process has called the simulated library for that (core/call_counts.hpp).
    std::uint64_t calls(const char* what) const;

protected:
    Application(const Face& face, const Machine& machine);
    // Leaves what was used.
    void leave_all();
    bool loaded() const { return library_ != nullptr; }
    // Of the library; null, with a gtest failure, if it does not have it.
    void* symbol(const char* name) const;
    template <typename... Arguments>
    int call(const char* name, Arguments... arguments) const {
        return reinterpret_cast<int (*)(Arguments...)>(symbol(name))(arguments...);
    }
    // The same where success is expected, which all vendors call 0.
    template <typename... Arguments>
    void expect(const char* name, Arguments... arguments) const {
        EXPECT_EQ(call(name, arguments...), 0) << name;
    }

private:
    const Face* face_;
    void* library_ = nullptr;
    std::vector<int> used_;
};

// Loads the face's library on such a machine; unless `start` is false, starts it, too. Nobody has a device yet.
std::unique_ptr<Application> load_application(const Face& face, const Machine& machine, bool start = true);

std::unique_ptr<Application> load_cuda_application(const Face& face, const Machine& machine, bool start);
std::unique_ptr<Application> load_hip_application(const Face& face, const Machine& machine);
std::unique_ptr<Application> load_ascend_application(const Face& face, const Machine& machine, bool start);

}  // namespace peercoll::test
