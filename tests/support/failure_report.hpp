// SPDX-License-Identifier: BSD-3-Clause
// Carries the text of gtest failures from a rank to its parent. The text lies in shared memory, so that it arrives even
// if the rank dies right after.
#pragma once

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <string>

namespace peercoll::test {

// Written by one rank, read by the parent once the rank has ended. What does not fit is cut off.
struct FailureText {
    std::atomic<int> count;
    std::atomic<std::size_t> length;
    char text[16 * 1024];

    std::string read() const {
        const int failures = count.load(std::memory_order_acquire);
        std::string result(text, std::min(length.load(std::memory_order_acquire), sizeof(text)));
        return failures == 0 ? result : result + "(" + std::to_string(failures) + " failures in all)";
    }
};

// While it lives, failures of this process go into the text and not to gtest's own listeners.
class FailureReporter {
public:
    explicit FailureReporter(FailureText& text)
        : all_threads_(*this, testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS),
          // An interceptor of the parent may be in force for this thread, and would come first.
          this_thread_(*this, testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD),
          text_(text) {}

private:
    class Interceptor : public testing::ScopedFakeTestPartResultReporter {
    public:
        Interceptor(FailureReporter& owner, InterceptMode mode)
            : ScopedFakeTestPartResultReporter(mode, &owner.unused_), owner_(owner) {}
        void ReportTestPartResult(const testing::TestPartResult& result) override { owner_.add(result); }

    private:
        FailureReporter& owner_;
    };

    void add(const testing::TestPartResult& result) {
        if (!result.failed()) {
            return;
        }
        const char* file = result.file_name() == nullptr ? "unknown file" : result.file_name();
        const std::string line =
            std::string(file) + ":" + std::to_string(result.line_number()) + ": " + result.message() + "\n";
        const std::lock_guard lock(mutex_);
        const std::size_t used = text_.length.load(std::memory_order_relaxed);
        const std::size_t piece = std::min(line.size(), sizeof(text_.text) - used);
        std::memcpy(text_.text + used, line.data(), piece);
        text_.length.store(used + piece, std::memory_order_release);
        text_.count.fetch_add(1, std::memory_order_release);
    }

    testing::TestPartResultArray unused_;
    Interceptor all_threads_;
    Interceptor this_thread_;
    FailureText& text_;
    std::mutex mutex_;
};

}  // namespace peercoll::test
