// SPDX-License-Identifier: BSD-3-Clause
#include "tests/simulated_devices/core/physical_memory.hpp"

#include "tests/simulated_devices/core/census.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <system_error>
#include <utility>

namespace peercoll::simulator {

namespace {

constexpr std::uint64_t block_magic = 0x70636c6c626c6f63;
constexpr std::uint64_t freed_bit = std::uint64_t{1} << 63;

BlockHeader* map_header(int file, std::uint64_t offset) {
    void* address = ::mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(offset));
    return address == MAP_FAILED ? nullptr : static_cast<BlockHeader*>(address);
}

}  // namespace

std::uint64_t unique_id() {
    static const std::uint64_t process = [] {
        std::random_device random;
        return (static_cast<std::uint64_t>(random()) | 1u) << 32;
    }();
    static std::atomic<std::uint32_t> counter{0};
    return process | (counter.fetch_add(1, std::memory_order_relaxed) + 1);
}

Arena::Arena() : file_(::memfd_create("peercoll_simulated_memory", MFD_CLOEXEC)) {
    if (!file_) {
        throw std::system_error(errno, std::generic_category(), "memfd_create");
    }
}

std::uint64_t Arena::place(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t offset = end_;
    const std::uint64_t end = offset + page_bytes + bytes;
    if (::ftruncate(file_.number(), static_cast<off_t>(end)) != 0) {
        throw std::system_error(errno, std::generic_category(), "ftruncate");
    }
    end_ = end;
    return offset;
}

Block::Block(std::shared_ptr<Arena> arena, std::uint64_t bytes, const Uuid& device, std::uint64_t poison_bytes,
             WhenFreed when_freed)
    : arena_(std::move(arena)),
      offset_(arena_->place(bytes)),
      bytes_(bytes),
      header_(map_header(arena_->descriptor(), offset_)),
      poison_bytes_(poison_bytes) {
    if (header_ == nullptr) {
        throw std::system_error(errno, std::generic_category(), "mmap");
    }
    header_->id = unique_id();
    header_->bytes = bytes;
    header_->device = device;
    header_->when_freed = static_cast<std::uint64_t>(when_freed);
    header_->holders.store(0, std::memory_order_relaxed);
    header_->magic = block_magic;
    fill(fresh_poison, poison_bytes);
    census_add(id(), bytes_, device);
}

class Block::Opening {};

Block::Block(const Opening& /*opening*/, std::shared_ptr<Arena> arena, std::uint64_t offset, BlockHeader* header)
    : arena_(std::move(arena)), offset_(offset), bytes_(header->bytes), header_(header), imported_(true) {
    census_add(id(), bytes_, device());
}

std::shared_ptr<Block> Block::open(std::shared_ptr<Arena> arena, std::uint64_t offset, std::uint64_t id) {
    struct stat status = {};
    if (offset % page_bytes != 0 || ::fstat(arena->descriptor(), &status) != 0 ||
        offset + page_bytes > static_cast<std::uint64_t>(status.st_size)) {
        return nullptr;
    }
    BlockHeader* header = map_header(arena->descriptor(), offset);
    if (header == nullptr) {
        return nullptr;
    }
    bool good = header->magic == block_magic && (id == 0 || header->id == id) &&
                header->bytes <= static_cast<std::uint64_t>(status.st_size) - offset - page_bytes;
    std::uint64_t holders = header->holders.load(std::memory_order_acquire);
    while (good) {
        // Memory that its owner has freed stays for those who have it, and nobody else gets it.
        good = (holders & freed_bit) == 0 || header->when_freed == static_cast<std::uint64_t>(WhenFreed::Keep);
        if (good && header->holders.compare_exchange_weak(holders, holders + 1, std::memory_order_acq_rel)) {
            return std::make_shared<Block>(Opening(), std::move(arena), offset, header);
        }
    }
    ::munmap(header, page_bytes);
    return nullptr;
}

Block::~Block() {
    census_remove(id());
    const bool poison = when_freed() == WhenFreed::Poison;
    if (imported_) {
        if (header_->holders.fetch_sub(1, std::memory_order_acq_rel) == (freed_bit | 1) && poison) {
            give_pages_back();
        }
    } else if (header_->holders.fetch_or(freed_bit, std::memory_order_acq_rel) == 0) {
        if (poison) {
            give_pages_back();
        }
    } else if (poison) {
        fill(freed_poison, poison_bytes_);
    }
    ::munmap(header_, page_bytes);
}

bool Block::freed_by_owner() const {
    return (header_->holders.load(std::memory_order_acquire) & freed_bit) != 0;
}

bool Block::map_at(void* address, std::uint64_t from, std::uint64_t bytes, int protection) const {
    return ::mmap(address, bytes, protection, MAP_SHARED | MAP_FIXED, arena_->descriptor(),
                  static_cast<off_t>(offset_ + page_bytes + from)) == address;
}

void Block::fill(unsigned char value, std::uint64_t limit) {
    const auto fill_piece = [this, value](std::uint64_t from, std::uint64_t bytes) {
        if (bytes == 0) {
            return;
        }
        void* piece = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, arena_->descriptor(),
                             static_cast<off_t>(offset_ + page_bytes + from));
        if (piece != MAP_FAILED) {
            std::memset(piece, value, bytes);
            ::munmap(piece, bytes);
        }
    };
    if (bytes_ <= limit) {
        fill_piece(0, bytes_);
        return;
    }
    const std::uint64_t half = limit / 2 / page_bytes * page_bytes;
    fill_piece(0, half);
    fill_piece(bytes_ - half, half);
}

void Block::give_pages_back() {
    ::fallocate(arena_->descriptor(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                static_cast<off_t>(offset_ + page_bytes), static_cast<off_t>(bytes_));
}

}  // namespace peercoll::simulator
