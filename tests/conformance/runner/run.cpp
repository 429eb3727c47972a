// SPDX-License-Identifier: BSD-3-Clause
#include "tests/conformance/runner/run.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace peercoll::conformance {

namespace {

using Clock = std::chrono::steady_clock;

struct Process {
    pid_t pid = -1;
    Descriptor report;
    std::string text;
    int status = 0;
    bool late = false;
};

[[noreturn]] void play(Role role, Descriptor report, Channel other) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    {
        Scene scene(std::move(report), std::move(other));
        try {
            role(scene);
        } catch (const SkipReason& reason) {
            scene.record({Kind::Skipped, "", "", reason.what()});
        } catch (const OtherProcessLost& loss) {
            scene.record_lost(loss.what());
        } catch (const std::exception& error) {
            scene.record({Kind::Broken, "", "", error.what()});
        }
        scene.record_complete();
    }
    std::exit(0);  // with the runtime's own exit handlers, as in an application
}

Process start(Role role, Channel other, std::vector<Channel>& others_ends) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe for a process of a behaviour");
    Descriptor reading(ends[0]);
    Descriptor writing(ends[1]);
    std::fflush(nullptr);
    const pid_t pid = fork();
    if (pid < 0) throw std::runtime_error("no process for a behaviour");
    if (pid == 0) {
        others_ends.clear();
        reading.reset();
        play(role, std::move(writing), std::move(other));
    }
    Process process;
    process.pid = pid;
    process.report = std::move(reading);
    return process;
}

// Reads reports until all processes have closed theirs, or `until`.
void collect(std::vector<Process>& processes, Clock::time_point until) {
    for (;;) {
        std::vector<pollfd> ready;
        std::vector<Process*> whose;
        for (Process& process : processes) {
            if (process.report.get() < 0) continue;
            ready.push_back({process.report.get(), POLLIN, 0});
            whose.push_back(&process);
        }
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
        if (ready.empty() || left <= 0) return;
        if (poll(ready.data(), ready.size(), static_cast<int>(left)) <= 0) continue;
        for (std::size_t i = 0; i < ready.size(); ++i) {
            if (ready[i].revents == 0) continue;
            std::array<char, 4096> part;
            const ssize_t got = read(ready[i].fd, part.data(), part.size());
            if (got > 0) whose[i]->text.append(part.data(), static_cast<std::size_t>(got));
            if (got == 0) whose[i]->report.reset();
        }
    }
}

void reap(Process& process, Clock::time_point until) {
    while (waitpid(process.pid, &process.status, WNOHANG) == 0) {
        if (!process.late && Clock::now() >= until) {
            process.late = true;
            kill(process.pid, SIGKILL);
        }
        usleep(500);
    }
}

std::string ending(const Process& process, const Report& report) {
    if (process.late) return "did not end in time";
    if (WIFSIGNALED(process.status)) {
        if (report.died_on_purpose) return "";
        return std::string("was ended by signal ") + std::to_string(WTERMSIG(process.status)) + " (" +
               strsignal(WTERMSIG(process.status)) + ")";
    }
    if (WEXITSTATUS(process.status) != 0) return "ended with code " + std::to_string(WEXITSTATUS(process.status));
    return report.complete ? "" : "ended before its function did";
}

}  // namespace

Outcome run(const Behaviour& behaviour, std::chrono::seconds limit) {
    const auto until = Clock::now() + limit;
    const bool pair = behaviour.roles.size() == 2;
    std::vector<Channel> ends;
    if (pair) {
        auto [first, second] = Channel::make_pair();
        ends.push_back(std::move(second));
        ends.push_back(std::move(first));
    }
    std::vector<Process> processes;
    for (const Role role : behaviour.roles) {
        Channel mine;
        if (pair) {
            mine = std::move(ends.back());
            ends.pop_back();
        }
        processes.push_back(start(role, std::move(mine), ends));
    }
    collect(processes, until);
    for (Process& process : processes) reap(process, until);

    Outcome outcome{behaviour.room, behaviour.name, {}};
    std::vector<Observation> losses;
    bool explained = false;
    for (std::size_t i = 0; i < processes.size(); ++i) {
        const Report report = parse_report(processes[i].text);
        const std::string who = pair ? (i == 0 ? "the owner" : "the reader") : "the process";
        for (const Observation& observation : report.observations) {
            // Both processes of a pair may skip for the same reason.
            if (observation.kind == Kind::Skipped && outcome.skipped()) continue;
            outcome.observations.push_back(observation);
            explained |= observation.kind == Kind::Skipped || observation.kind == Kind::Broken;
        }
        if (!report.lost.empty()) losses.push_back({Kind::Broken, who, "", report.lost});
        if (const std::string end = ending(processes[i], report); !end.empty()) {
            outcome.observations.push_back({Kind::Broken, who, "", who + " " + end});
            explained = true;
        }
    }
    if (!explained) outcome.observations.insert(outcome.observations.end(), losses.begin(), losses.end());
    if (outcome.observations.empty())
        outcome.observations.push_back({Kind::Broken, "", "", "the behaviour looked at nothing"});
    return outcome;
}

}  // namespace peercoll::conformance
