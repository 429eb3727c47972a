// SPDX-License-Identifier: BSD-3-Clause
// Memory of a device as it physically is: pieces of anonymous files, so that other processes can map them, and so that
// nothing is left when the last of them has died, however it died. An arena is one file, a block is one allocation in
// it. In front of a block's bytes lies a header which says, to whoever maps it, what it is and who still holds it.
#pragma once

#include "tests/simulated_devices/core/descriptor.hpp"
#include "tests/simulated_devices/core/node.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

namespace peercoll::simulator {

inline constexpr std::uint64_t page_bytes = 4096;

inline constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

// In shared memory. The owner writes all but `holders` before anybody else can know of the block.
struct BlockHeader {
    std::uint64_t magic;
    std::uint64_t id;  // the same block has the same one in all processes; never used again
    std::uint64_t bytes;
    Uuid device;
    std::uint64_t when_freed;  // Block::WhenFreed
    // Importers that map it now, and in the highest bit whether the owner has freed it. Whoever makes it "freed, no
    // importers" gives the pages back.
    std::atomic<std::uint64_t> holders;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

class Arena {
public:
    // Throws std::system_error where the machine refuses.
    Arena();
    // Another process's.
    explicit Arena(Descriptor file) : file_(std::move(file)) {}

    int descriptor() const { return file_.number(); }
    // Where a block of so many bytes goes; places are never used again, the file is sparse.
    std::uint64_t place(std::uint64_t bytes);

private:
    std::mutex mutex_;
    Descriptor file_;
    std::uint64_t end_ = 0;
};

class Block {
public:
    // Poison: those who still map it read garbage from then on, as they must not read it. Keep: it lives as long as
    // anybody holds a descriptor of it, as physical memory named by descriptors does.
    enum class WhenFreed : std::uint64_t { Poison, Keep };

    // Allocates. `bytes` is a multiple of the page. Fresh memory is poisoned.
    Block(std::shared_ptr<Arena> arena, std::uint64_t bytes, const Uuid& device, std::uint64_t poison_bytes,
          WhenFreed when_freed);
    // Opens a block of another process's arena; null if there is none with this id (0: any), or its owner has freed it.
    static std::shared_ptr<Block> open(std::shared_ptr<Arena> arena, std::uint64_t offset, std::uint64_t id);
    ~Block();
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    std::uint64_t id() const { return header_->id; }
    std::uint64_t bytes() const { return bytes_; }
    const Uuid& device() const { return header_->device; }
    bool imported() const { return imported_; }
    const std::shared_ptr<Arena>& arena() const { return arena_; }
    std::uint64_t offset() const { return offset_; }
    bool freed_by_owner() const;

    // Maps bytes [from, from + bytes) at exactly `address`.
    bool map_at(void* address, std::uint64_t from, std::uint64_t bytes, int protection) const;

    class Opening;  // only open() makes one
    Block(const Opening& opening, std::shared_ptr<Arena> arena, std::uint64_t offset, BlockHeader* header);

private:
    WhenFreed when_freed() const { return static_cast<WhenFreed>(header_->when_freed); }
    void fill(unsigned char value, std::uint64_t limit);
    void give_pages_back();

    std::shared_ptr<Arena> arena_;
    std::uint64_t offset_ = 0;
    std::uint64_t bytes_ = 0;
    BlockHeader* header_ = nullptr;
    bool imported_ = false;
    std::uint64_t poison_bytes_ = 0;
};

inline constexpr unsigned char fresh_poison = 0xcb;
inline constexpr unsigned char freed_poison = 0xdb;

// Unique among all processes of the machine, with overwhelming probability; never 0.
std::uint64_t unique_id();

}  // namespace peercoll::simulator
