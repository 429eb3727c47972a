// SPDX-License-Identifier: BSD-3-Clause
// Binding changes belong to the process, so each test makes them in a child.
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <thread>

#include "nodes.hpp"

namespace peercoll {
namespace {

std::vector<unsigned> allowed_processors() {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    EXPECT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
    std::vector<unsigned> allowed;
    for (unsigned processor = 0; processor < CPU_SETSIZE; ++processor) {
        if (CPU_ISSET(processor, &mask)) {
            allowed.push_back(processor);
        }
    }
    return allowed;
}

// Binds the calling thread.
bool bind_to(const std::vector<unsigned>& processors) {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    for (const unsigned processor : processors) {
        CPU_SET(processor, &mask);
    }
    return sched_setaffinity(0, sizeof mask, &mask) == 0;
}

// What `find` answers in a child process. Processors is -1 if the child did not answer.
RankPlace in_a_child(const std::function<RankPlace()>& find) {
    RankPlace place;
    place.processors = -1;
    int ends[2];
    if (pipe(ends) != 0) {
        ADD_FAILURE() << "no pipe";
        return place;
    }
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);  // a child that hangs must not outlive the test
        const RankPlace found = find();
        _exit(write(ends[1], &found, sizeof found) == sizeof found ? 0 : 1);
    }
    close(ends[1]);
    EXPECT_GT(child, 0);
    RankPlace answer;
    if (child > 0) {
        if (read(ends[0], &answer, sizeof answer) == static_cast<ssize_t>(sizeof answer)) {
            place = answer;
        }
        int how = 0;
        EXPECT_EQ(waitpid(child, &how, 0), child);
        EXPECT_EQ(how, 0);
    }
    close(ends[0]);
    return place;
}

RankPlace place_when_bound_to(const std::vector<unsigned>& processors, const std::string& file) {
    return in_a_child([&] {
        std::unique_ptr<Topology> topology;
        if (!bind_to(processors) || !Topology::load(file, false, topology).ok()) {
            _exit(2);
        }
        return topology->place_of_this_process();
    });
}

TEST(PlaceOfThisProcess, IsThatOfTheProcessorItIsBoundTo) {
    const std::unique_ptr<Topology> topology = load_node("");
    ASSERT_TRUE(topology);
    for (const unsigned processor : allowed_processors()) {
        const RankPlace place = place_when_bound_to({processor}, "");
        EXPECT_EQ(place.processors, 1);
        EXPECT_GE(place.numa, 0);
        EXPECT_EQ(place, topology->place_of({processor}));
    }
}

TEST(PlaceOfThisProcess, IsThatOfAllItsProcessorsWhenItIsBoundToSeveral) {
    const std::vector<unsigned> allowed = allowed_processors();
    const std::unique_ptr<Topology> topology = load_node("");
    ASSERT_TRUE(topology);
    const RankPlace place = place_when_bound_to(allowed, "");
    EXPECT_EQ(place.processors, static_cast<int>(allowed.size()));
    EXPECT_EQ(place, topology->place_of(allowed));
}

// The file has 256 PUs; PU p belongs to core p % 128, L3 core / 8, package core / 64.
TEST(PlaceOfThisProcess, IsLookedUpInTheFileOfAnotherMachine) {
    const std::string file = node_file("epyc_2_sockets_128_cores");
    for (const unsigned processor : allowed_processors()) {
        if (processor < 256) {
            const int core = static_cast<int>(processor % 128);
            const RankPlace expected{core / 64, core / 64, core / 8, core, 1};
            EXPECT_EQ(place_when_bound_to({processor}, file), expected) << "processor " << processor;
        }
    }
}

TEST(PlaceOfThisProcess, FollowsHwlocsOwnVariableForAnotherMachine) {
    const unsigned processor = allowed_processors().front();
    if (processor >= 256) {
        GTEST_SKIP() << "this process may not use a processor that the node file has";
    }
    const RankPlace place = in_a_child([&] {
        std::unique_ptr<Topology> topology;
        const std::string file = node_file("epyc_2_sockets_128_cores");
        if (!bind_to({processor}) || setenv("HWLOC_XMLFILE", file.c_str(), 1) != 0 ||
            !Topology::load("", false, topology).ok()) {
            _exit(2);
        }
        return topology->place_of_this_process();
    });
    const int core = static_cast<int>(processor % 128);
    EXPECT_EQ(place, (RankPlace{core / 64, core / 64, core / 8, core, 1}));
}

TEST(PlaceOfThisProcess, IsThatOfItsMainThreadWhicheverThreadAsks) {
    const std::vector<unsigned> allowed = allowed_processors();
    if (allowed.size() < 2) {
        GTEST_SKIP() << "needs two processors to bind two threads apart; this process may use " << allowed.size();
    }
    const std::unique_ptr<Topology> topology = load_node("");
    ASSERT_TRUE(topology);
    const RankPlace place = in_a_child([&] {
        RankPlace seen_by_helper;
        bool bound = bind_to({allowed[0]});
        std::thread([&] {
            bound = bind_to({allowed[1]}) && bound;
            seen_by_helper = topology->place_of_this_process();
        }).join();
        if (!bound) {
            _exit(2);
        }
        return seen_by_helper;
    });
    EXPECT_EQ(place, topology->place_of({allowed[0]}));
}

TEST(LoadingATopology, LeavesTheBindingOfTheProcessAlone) {
    const std::vector<unsigned> before = allowed_processors();
    ASSERT_TRUE(load_node(""));
    ASSERT_TRUE(load_node("", true));
    EXPECT_EQ(allowed_processors(), before);
}

}  // namespace
}  // namespace peercoll
