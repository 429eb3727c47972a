// SPDX-License-Identifier: BSD-3-Clause
#include "tests/simulated_devices/core/process.hpp"

#include "tests/simulated_devices/core/census.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

namespace peercoll::simulator {

namespace {

std::atomic<Process*> the_process{nullptr};
std::atomic<bool> is_forked{false};

// Field 22 of /proc/<pid>/stat; 0 if there is no such process. The name in field 2 may contain anything.
std::uint64_t start_time_of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) {
        return 0;
    }
    std::istringstream rest(text.substr(name_end + 1));
    std::string word;
    for (int field = 3; field <= 22 && rest >> word; ++field) {
    }
    return rest ? std::strtoull(word.c_str(), nullptr, 10) : 0;
}

}  // namespace

Process::Process(Node node) : node_(std::move(node)), scheduler_(node_) {}

std::shared_ptr<Arena> Process::arena(int device) {
    const std::lock_guard lock(mutex_);
    auto& arena = arenas_[device];
    if (!arena) {
        arena = std::make_shared<Arena>();
    }
    return arena;
}

std::uint64_t Process::bytes_in_use(int device) const {
    return census_bytes_in_use(node_.devices[static_cast<std::size_t>(device)].uuid);
}

bool Process::has_room(int device, std::uint64_t bytes) const {
    const std::uint64_t all = node_.devices[static_cast<std::size_t>(device)].memory_bytes;
    if (bytes > all) {
        return false;
    }
    // Looking at all processes takes a while: not where this one holds so little that many such would fit.
    return census_own_bytes() + bytes < all / 64 || bytes_in_use(device) + bytes <= all;
}

bool start_process(std::string& error) {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    if (the_process.load() != nullptr) {
        return true;
    }
    Node node;
    if (!load_node(node, error)) {
        return false;
    }
    const auto text = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value == nullptr ? "" : value);
    };
    if (!census_start(text("PEERCOLL_SIMULATOR_NODE") + "\n" + text("PEERCOLL_SIMULATOR_NAME"))) {
        std::fprintf(stderr,
                     "peercoll simulator: no abstract socket here: memory of other processes will not be counted\n");
    }
    the_process.store(std::make_unique<Process>(std::move(node)).release());
    ::pthread_atfork(nullptr, nullptr, [] { is_forked.store(true); });
    return true;
}

Process& process() {
    return *the_process.load(std::memory_order_acquire);
}

ProcessName this_process() {
    static const ProcessName name{::getpid(), start_time_of(::getpid())};
    return name;
}

bool is_alive(const ProcessName& name) {
    return name.start_time != 0 && start_time_of(name.pid) == name.start_time;
}

Descriptor open_of(const ProcessName& name, int descriptor) {
    if (!is_alive(name)) {
        return Descriptor();
    }
    const std::string path = "/proc/" + std::to_string(name.pid) + "/fd/" + std::to_string(descriptor);
    return Descriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC));
}

bool forked() {
    return is_forked.load(std::memory_order_relaxed);
}

}  // namespace peercoll::simulator
