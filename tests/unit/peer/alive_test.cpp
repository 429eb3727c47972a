// SPDX-License-Identifier: BSD-3-Clause
// Whether a process is alive: running, stopped, a zombie, gone, or another one with the same pid.
#include "plugin/peer/identity.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <csignal>
#include <cstddef>
#include <cstdint>

namespace peercoll {
namespace {

// A forked child that tells who it is and then waits for its end.
class Child {
public:
    Child() {
        int ends[2];
        if (pipe(ends) != 0) return;
        pid_ = fork();
        if (pid_ == 0) {
            const ProcessIdentity self = ProcessIdentity::of_this_process();
            if (write(ends[1], &self, sizeof self) != static_cast<ssize_t>(sizeof self)) _exit(1);
            for (;;) pause();
        }
        std::array<std::byte, sizeof identity_> told{};
        if (read(ends[0], told.data(), told.size()) == static_cast<ssize_t>(told.size()))
            identity_ = std::bit_cast<ProcessIdentity>(told);
        close(ends[0]);
        close(ends[1]);
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        kill_it();
        reap();
    }
    const ProcessIdentity& identity() const { return identity_; }
    void stop() const {
        kill(pid_, SIGSTOP);
        int status = 0;
        waitpid(pid_, &status, WUNTRACED);
    }
    // Afterwards it is a zombie.
    void kill_it() const {
        if (pid_ <= 0) return;
        kill(pid_, SIGKILL);
        siginfo_t info;
        waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
    }
    void reap() {
        if (pid_ > 0) waitpid(pid_, nullptr, 0);
        pid_ = -1;
    }

private:
    pid_t pid_ = -1;
    ProcessIdentity identity_;
};

struct AliveTest : testing::Test {
    ProcessIdentity self = ProcessIdentity::of_this_process();
    Child child;
    void SetUp() override { ASSERT_GT(child.identity().pid, 0); }
};

TEST_F(AliveTest, ARunningProcessIs) {
    EXPECT_TRUE(is_alive(child.identity(), self));
    EXPECT_TRUE(is_alive(self, self));
}

TEST_F(AliveTest, AStoppedProcessIs) {
    child.stop();
    EXPECT_TRUE(is_alive(child.identity(), self)) << "it may be continued";
}

TEST_F(AliveTest, AZombieIsNot) {
    child.kill_it();
    ASSERT_EQ(kill(child.identity().pid, 0), 0) << "the pid is still taken";
    EXPECT_FALSE(is_alive(child.identity(), self));
}

TEST_F(AliveTest, AProcessThatIsGoneIsNot) {
    child.kill_it();
    child.reap();
    EXPECT_FALSE(is_alive(child.identity(), self));
}

TEST_F(AliveTest, AnotherProcessWithTheSamePidIsNotIt) {
    ProcessIdentity before = child.identity();
    --before.start_time;
    EXPECT_FALSE(is_alive(before, self));
}

TEST_F(AliveTest, NothingIsSaidOfAnotherPidNamespace) {
    ProcessIdentity elsewhere = child.identity();
    elsewhere.pid_namespace += 1;
    elsewhere.start_time += 1;
    EXPECT_TRUE(is_alive(elsewhere, self)) << "its pid means nothing here";
}

}  // namespace
}  // namespace peercoll
