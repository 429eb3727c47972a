// SPDX-License-Identifier: BSD-3-Clause
#include "tests/simulated_devices/core/census.hpp"

#include "tests/simulated_devices/core/descriptor.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <system_error>
#include <vector>

namespace peercoll::simulator {

namespace {

// In shared memory; written by the process it belongs to, read by all.
struct Entry {
    std::atomic<std::uint64_t> block;  // 0: unused; stored last, cleared first
    std::atomic<std::uint64_t> bytes;
    std::atomic<std::uint64_t> device[2];
};

constexpr std::size_t table_entries = 65536;
constexpr std::size_t table_bytes = table_entries * sizeof(Entry);

struct Key {
    std::uint64_t words[2];
    explicit Key(const Uuid& device) { std::memcpy(words, device.data(), sizeof(words)); }
};

class Census {
public:
    Census() {
        table_file_ = Descriptor(::memfd_create("peercoll_simulated_census", MFD_CLOEXEC));
        void* address = MAP_FAILED;
        if (table_file_ && ::ftruncate(table_file_.number(), table_bytes) == 0) {
            address = ::mmap(nullptr, table_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, table_file_.number(), 0);
        }
        if (address == MAP_FAILED) {
            throw std::system_error(errno, std::generic_category(), "a table of blocks");
        }
        table_ = static_cast<Entry*>(address);
    }

    bool start(const std::string& scope) {
        const std::lock_guard lock(mutex_);
        prefix_ = "peercoll_simulated/" + std::to_string(::getuid()) + "/" +
                  std::to_string(std::hash<std::string>()(scope)) + "/";
        const std::string name = prefix_ + std::to_string(::getpid()) + "/" + std::to_string(table_file_.number());
        Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        sockaddr_un address = {};
        address.sun_family = AF_UNIX;
        if (!socket || name.size() + 1 > sizeof(address.sun_path)) {
            return false;
        }
        std::memcpy(address.sun_path + 1, name.data(), name.size());
        const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
        if (::bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), length) != 0) {
            return false;
        }
        socket_ = std::move(socket);
        return true;
    }

    void add(std::uint64_t block, std::uint64_t bytes, const Uuid& device) {
        const std::lock_guard lock(mutex_);
        std::size_t index = used_;
        if (!unused_.empty()) {
            index = unused_.back();
            unused_.pop_back();
        } else if (used_ < table_entries) {
            ++used_;
        } else {
            throw std::system_error(ENOMEM, std::generic_category(), "a process holds too many blocks");
        }
        const Key key(device);
        table_[index].bytes.store(bytes, std::memory_order_relaxed);
        table_[index].device[0].store(key.words[0], std::memory_order_relaxed);
        table_[index].device[1].store(key.words[1], std::memory_order_relaxed);
        table_[index].block.store(block, std::memory_order_release);
        index_of_.emplace(block, index);
        own_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    }

    void remove(std::uint64_t block) {
        const std::lock_guard lock(mutex_);
        const auto found = index_of_.find(block);
        if (found != index_of_.end()) {
            own_bytes_.fetch_sub(table_[found->second].bytes.load(std::memory_order_relaxed),
                                 std::memory_order_relaxed);
            table_[found->second].block.store(0, std::memory_order_release);
            unused_.push_back(found->second);
            index_of_.erase(found);
        }
    }

    std::uint64_t own_bytes() const { return own_bytes_.load(std::memory_order_relaxed); }

    std::uint64_t bytes_in_use(const Uuid& device) {
        std::map<std::uint64_t, std::uint64_t> blocks;
        count(table_, Key(device), blocks);
        for_each_other([&](const Entry* table) { count(table, Key(device), blocks); });
        std::uint64_t sum = 0;
        for (const auto& [block, bytes] : blocks) {
            sum += bytes;
        }
        return sum;
    }

private:
    static void count(const Entry* table, const Key& key, std::map<std::uint64_t, std::uint64_t>& blocks) {
        for (std::size_t i = 0; i < table_entries; ++i) {
            const std::uint64_t block = table[i].block.load(std::memory_order_acquire);
            if (block == 0) {
                // Entries are taken from the front, so a long gap is the end.
                if (i % 1024 == 1023 && table[i + 1 < table_entries ? i + 1 : i].bytes.load() == 0) {
                    break;
                }
                continue;
            }
            if (table[i].device[0].load(std::memory_order_relaxed) == key.words[0] &&
                table[i].device[1].load(std::memory_order_relaxed) == key.words[1]) {
                blocks[block] = table[i].bytes.load(std::memory_order_relaxed);
            }
        }
    }

    template <typename Use>
    void for_each_other(Use use) {
        std::string prefix;
        {
            const std::lock_guard lock(mutex_);
            prefix = prefix_;
        }
        std::ifstream sockets("/proc/net/unix");
        std::string line;
        while (!prefix.empty() && std::getline(sockets, line)) {
            const std::size_t at = line.find('@' + prefix);
            int pid = 0;
            int file = 0;
            if (at == std::string::npos ||
                std::sscanf(line.c_str() + at + 1 + prefix.size(), "%d/%d", &pid, &file) != 2 || pid == ::getpid()) {
                continue;
            }
            const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(file);
            const Descriptor table(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
            struct stat status = {};
            if (!table || ::fstat(table.number(), &status) != 0 || status.st_size != table_bytes) {
                continue;  // it has just ended
            }
            void* address = ::mmap(nullptr, table_bytes, PROT_READ, MAP_SHARED, table.number(), 0);
            if (address != MAP_FAILED) {
                use(static_cast<const Entry*>(address));
                ::munmap(address, table_bytes);
            }
        }
    }

    std::mutex mutex_;
    Descriptor table_file_;
    Descriptor socket_;
    Entry* table_ = nullptr;
    std::string prefix_;
    std::size_t used_ = 0;
    std::atomic<std::uint64_t> own_bytes_{0};
    std::vector<std::size_t> unused_;
    std::multimap<std::uint64_t, std::size_t> index_of_;
};

Census& census() {
    // Never destroyed: blocks may be given back as late as the process's own end.
    static Census* const census = std::make_unique<Census>().release();
    return *census;
}

}  // namespace

bool census_start(const std::string& scope) {
    return census().start(scope);
}
void census_add(std::uint64_t block, std::uint64_t bytes, const Uuid& device) {
    census().add(block, bytes, device);
}
void census_remove(std::uint64_t block) {
    census().remove(block);
}
std::uint64_t census_own_bytes() {
    return census().own_bytes();
}
std::uint64_t census_bytes_in_use(const Uuid& device) {
    return census().bytes_in_use(device);
}

}  // namespace peercoll::simulator
