// SPDX-License-Identifier: BSD-3-Clause
// One emulated rank on its way through the jobs.
#pragma once

#include "collectives/task.hpp"
#include "tests/unit/host_team/emulated_team.hpp"
#include "tests/unit/host_team/jobs.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace peercoll::test {

// What all ranks are given; nobody changes it.
struct Program {
    std::vector<Job> jobs;
    std::vector<std::vector<std::byte>> expected;  // of each job
    std::uint64_t seed = 0;

    static Program make(EmulatedTeam& team, std::vector<Job> jobs, std::uint64_t seed);
};

class EmulatedRank {
public:
    EmulatedRank(EmulatedTeam& team, const Program& program, int rank)
        : team_(&team), program_(&program), rank_(rank) {}

    bool is_done() const { return job_ == program_->jobs.size() && !task_; }
    // Polls the task of the current job once; begins it first if need be. When it is done, compares the result and
    // gives the buffers back at once, so that whoever still reads them is found out.
    Progress step();
    std::size_t job() const { return job_; }
    // What went wrong; empty while nothing has.
    const std::string& failure() const { return failure_; }

private:
    // Memory of exactly the size asked for, at an odd place if `offset` is odd.
    class Buffer {
    public:
        Buffer() = default;
        Buffer(std::size_t bytes, std::size_t offset) : memory_(new std::byte[bytes + offset]), offset_(offset) {}
        std::byte* data() { return memory_.get() + offset_; }

    private:
        std::unique_ptr<std::byte[]> memory_;
        std::size_t offset_ = 0;
    };

    void begin();
    void begin_allreduce(const Job& job);
    void begin_broadcast(const Job& job);
    void begin_time_agreement(const Job& job);
    void end();

    EmulatedTeam* team_;
    const Program* program_;
    int rank_;
    std::size_t job_ = 0;
    Buffer source_;
    Buffer destination_;
    std::byte* result_ = nullptr;
    std::function<Progress()> task_;
    std::string failure_;
};

}  // namespace peercoll::test
