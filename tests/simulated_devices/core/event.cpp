// SPDX-License-Identifier: BSD-3-Clause
#include "tests/simulated_devices/core/event.hpp"

#include "tests/simulated_devices/core/physical_memory.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

namespace peercoll::simulator {

namespace {

constexpr std::uint64_t event_magic = 0x70636c6c6576656e;

void* map_page(int file) {
    void* page = ::mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return page == MAP_FAILED ? nullptr : page;
}

}  // namespace

class Event::Opening {};

Event::Event() : file_(::memfd_create("peercoll_simulated_event", MFD_CLOEXEC)) {
    void* page = file_ && ::ftruncate(file_.number(), page_bytes) == 0 ? map_page(file_.number()) : nullptr;
    if (page == nullptr) {
        throw std::system_error(errno, std::generic_category(), "an event");
    }
    counts_ = static_cast<Counts*>(page);
    counts_->id = unique_id();
    counts_->magic = event_magic;
}

Event::Event(const Opening& /*opening*/, Descriptor file, Counts* counts) : file_(std::move(file)), counts_(counts) {}

std::shared_ptr<Event> Event::open(Descriptor file, std::uint64_t id) {
    struct stat status = {};
    if (!file || ::fstat(file.number(), &status) != 0 || status.st_size != static_cast<off_t>(page_bytes)) {
        return nullptr;
    }
    void* page = map_page(file.number());
    if (page == nullptr) {
        return nullptr;
    }
    auto* counts = static_cast<Counts*>(page);
    if (counts->magic != event_magic || counts->id != id) {
        ::munmap(page, page_bytes);
        return nullptr;
    }
    return std::make_shared<Event>(Opening(), std::move(file), counts);
}

Event::~Event() {
    ::munmap(counts_, page_bytes);
}

Event::Record Event::record() {
    const std::lock_guard lock(mutex_);
    last_own_.number = counts_->recorded.fetch_add(1, std::memory_order_acq_rel) + 1;
    last_own_.done = std::make_shared<std::atomic<bool>>(false);
    return last_own_;
}

Event::Record Event::last_record() const {
    const std::lock_guard lock(mutex_);
    const std::uint64_t number = counts_->recorded.load(std::memory_order_acquire);
    return number == last_own_.number ? last_own_ : Record{number, nullptr};
}

bool Event::done(const Record& record) const {
    return record.done ? record.done->load(std::memory_order_acquire)
                       : counts_->completed.load(std::memory_order_acquire) >= record.number;
}

void Event::complete(const Record& record) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    counts_->nanoseconds.store(
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()),
        std::memory_order_relaxed);
    std::uint64_t before = counts_->completed.load(std::memory_order_relaxed);
    while (before < record.number &&
           !counts_->completed.compare_exchange_weak(before, record.number, std::memory_order_acq_rel)) {
    }
    record.done->store(true, std::memory_order_release);
}

}  // namespace peercoll::simulator
