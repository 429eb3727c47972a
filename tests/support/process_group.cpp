// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/process_group.hpp"

#include "tests/support/failure_report.hpp"
#include "tests/support/leftovers.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <thread>

// Present in builds with a leak checker; children end with _exit and so ask it themselves.
extern "C" int __lsan_do_recoverable_leak_check() __attribute__((weak));

namespace peercoll::test {

using Clock = std::chrono::steady_clock;

// Shared by the parent and all ranks.
struct GroupArea {
    std::atomic<bool> broken{false};  // written by the parent when a rank has ended badly
    std::atomic<std::uint64_t> words[Rank::word_count]{};
    FailureText failures[max_ranks]{};
    ExchangeArea exchanges[Rank::exchange_count];
};

Exchange Rank::exchange(int index, int member, int members) const {
    return {area_->exchanges[index], area_->broken, member, members, exchange_limit_};
}

std::atomic<std::uint64_t>& Rank::word(int index) const {
    return area_->words[index];
}

int Rank::failures() const {
    return area_->failures[rank_].count.load(std::memory_order_relaxed);
}

std::atomic<std::uint64_t>& Supervision::word(int index) const {
    return area_->words[index];
}

namespace {

using SharedArea = std::unique_ptr<GroupArea, void (*)(GroupArea*)>;

SharedArea make_shared_area() {
    // Zero pages are a valid, empty area, and pages nobody touches cost nothing.
    void* memory = mmap(nullptr, sizeof(GroupArea), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return {nullptr, [](GroupArea*) {}};
    }
    return {static_cast<GroupArea*>(memory), [](GroupArea* area) { munmap(area, sizeof(GroupArea)); }};
}

[[noreturn]] void run_as_rank(GroupArea& area, Rank rank, const RankFunction& function, bool look_for_leaks,
                              pid_t parent) {
    // Nobody survives the test program, however that ends.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(1);
    }
    int failures = 0;
    {
        FailureReporter reporter(area.failures[rank.rank()]);
        try {
            function(rank);
        } catch (const std::exception& error) {
            ADD_FAILURE() << "the rank's function threw: " << error.what();
        }
        if (look_for_leaks && __lsan_do_recoverable_leak_check != nullptr && __lsan_do_recoverable_leak_check() != 0) {
            ADD_FAILURE() << "memory was leaked; the leak checker's report is on standard error";
        }
        failures = rank.failures();
    }
    std::fflush(nullptr);
    _exit(failures == 0 ? 0 : 1);
}

// Kills and collects what is still there when the parent leaves early.
class Children {
public:
    explicit Children(int size)
        : ends_(static_cast<std::size_t>(size)), alive_(static_cast<std::size_t>(size), false) {}
    ~Children() {
        kill_all();
        while (any_alive()) {
            collect();
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
    Children(const Children&) = delete;
    Children& operator=(const Children&) = delete;

    void add(pid_t pid) {
        alive_[pids_.size()] = true;
        pids_.push_back(pid);
    }
    const std::vector<pid_t>& pids() const { return pids_; }
    const std::vector<RankEnd>& ends() const { return ends_; }
    bool any_alive() const { return std::find(alive_.begin(), alive_.end(), true) != alive_.end(); }

    void kill_all() {
        for (std::size_t rank = 0; rank < pids_.size(); ++rank) {
            if (alive_[rank]) {
                ends_[rank].killed_for_time = true;
                kill(pids_[rank], SIGKILL);
            }
        }
    }

    // Takes the ends that have come. True if one of them is bad.
    bool collect() {
        bool bad = false;
        for (std::size_t rank = 0; rank < pids_.size(); ++rank) {
            int status = 0;
            if (!alive_[rank] || waitpid(pids_[rank], &status, WNOHANG) != pids_[rank]) {
                continue;
            }
            alive_[rank] = false;
            ends_[rank].exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
            ends_[rank].signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
            bad = bad || ends_[rank].exit_code != 0;
        }
        return bad;
    }

private:
    std::vector<pid_t> pids_;
    std::vector<RankEnd> ends_;
    std::vector<bool> alive_;
};

// Runs until all ranks have ended, by themselves or at a limit.
void watch(Children& children, GroupArea& area, const GroupRules& rules) {
    const Supervision supervision(area, children.pids());
    auto limit = Clock::now() + rules.deadline;
    while (children.any_alive()) {
        if (children.collect() && !area.broken.exchange(true)) {
            limit = std::min(limit, Clock::now() + rules.grace);
        }
        if (rules.supervise) {
            rules.supervise(supervision);
        }
        if (Clock::now() > limit) {
            children.kill_all();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

void report_ends(const std::vector<RankEnd>& ends, GroupArea& area, const GroupRules& rules) {
    for (std::size_t index = 0; index < ends.size(); ++index) {
        const int rank = static_cast<int>(index);
        const RankEnd& end = ends[index];
        if (const std::string text = area.failures[index].read(); !text.empty()) {
            ADD_FAILURE() << "rank " << rank << " of " << ends.size() << ":\n" << text;
        }
        if (std::count(rules.expected_losses.begin(), rules.expected_losses.end(), rank) > 0) {
            continue;
        }
        if (end.killed_for_time) {
            ADD_FAILURE() << "rank " << rank << " of " << ends.size() << " did not end in time and was killed";
        } else if (end.signal != 0) {
            ADD_FAILURE() << "rank " << rank << " of " << ends.size() << " was ended by signal " << end.signal << " ("
                          << strsignal(end.signal) << ")";
        } else if (end.exit_code != 0 && area.failures[index].count.load() == 0) {
            ADD_FAILURE() << "rank " << rank << " of " << ends.size() << " exited with code " << end.exit_code;
        }
    }
}

void report_leftovers(const std::set<std::string>& files_before, const std::set<int>& descriptors_before) {
    for (const pid_t child : children_of_this_process()) {
        ADD_FAILURE() << "process " << child << " was left behind";
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
    }
    for (const std::string& name : abandoned_files(files_before)) {
        ADD_FAILURE() << "/dev/shm/" << name << " was left behind";
    }
    for (const int descriptor : descriptors_of_this_process()) {
        EXPECT_EQ(descriptors_before.count(descriptor), 1U) << "descriptor " << descriptor << " was left open";
    }
}

}  // namespace

std::vector<RankEnd> run_ranks(int size, const RankFunction& function, const GroupRules& rules) {
    if (size < 1 || size > max_ranks) {
        ADD_FAILURE() << "a group has 1 to " << max_ranks << " ranks, not " << size;
        return {};
    }
    const SharedArea area = make_shared_area();
    if (!area) {
        ADD_FAILURE() << "no shared memory for the group: " << std::strerror(errno);
        return {};
    }
    // What ranks started and left behind becomes our child, so that it is seen.
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const std::set<std::string> files = files_in_dev_shm();
    const std::set<int> descriptors = descriptors_of_this_process();
    std::fflush(nullptr);

    const pid_t parent = getpid();
    std::vector<RankEnd> ends;
    {
        Children children(size);
        for (int rank = 0; rank < size; ++rank) {
            const pid_t pid = fork();
            if (pid == 0) {
                run_as_rank(*area, Rank(*area, rank, size, rules.exchange_limit), function, rules.look_for_leaks,
                            parent);
            }
            if (pid < 0) {
                ADD_FAILURE() << "no process for rank " << rank << ": " << std::strerror(errno);
                return {};
            }
            children.add(pid);
        }
        watch(children, *area, rules);
        ends = children.ends();
    }
    report_ends(ends, *area, rules);
    report_leftovers(files, descriptors);
    return ends;
}

}  // namespace peercoll::test
