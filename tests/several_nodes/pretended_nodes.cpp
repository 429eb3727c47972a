// SPDX-License-Identifier: BSD-3-Clause
#include "tests/several_nodes/pretended_nodes.hpp"

#include <gtest/gtest.h>

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace peercoll::test {

namespace {

// Hidden below a mount in the group's own namespace, with which it goes.
const std::string folder = "/mnt";

std::string node_folder(int node) {
    return folder + "/node" + std::to_string(node);
}

std::string refusal(const char* what) {
    return std::string(what) + ": " + std::strerror(errno);
}

void write_file(const char* path, const std::string& text) {
    std::ofstream(path) << text;
}

// In the process from which all ranks are forked.
std::string make_nodes(int nodes) {
    const auto uid = std::to_string(::geteuid());
    const auto gid = std::to_string(::getegid());
    const bool root = ::geteuid() == 0;
    if (::unshare(root ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0) return refusal("no mount namespace");
    if (!root) {
        write_file("/proc/self/setgroups", "deny");
        write_file("/proc/self/uid_map", uid + " " + uid + " 1");
        write_file("/proc/self/gid_map", gid + " " + gid + " 1");
    }
    if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return refusal("cannot make mounts private");
    if (::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=1m") != 0) return refusal("cannot mount a folder");
    for (int node = 0; node < nodes; ++node) {
        const std::string here = node_folder(node);
        if (::mkdir(here.c_str(), 0700) != 0) return refusal("cannot make a folder");
        if (::mount("tmpfs", here.c_str(), "tmpfs", 0, "size=64m") != 0)
            return refusal("cannot mount a node's /dev/shm");
    }
    return "";
}

std::string enter_node(int node) {
    if (::unshare(CLONE_NEWNS) != 0) return refusal("no mount namespace");
    if (::mount(node_folder(node).c_str(), "/dev/shm", nullptr, MS_BIND, nullptr) != 0)
        return refusal("cannot bind /dev/shm");
    return "";
}

}  // namespace

std::vector<std::vector<int>> ranks_of_nodes(const std::vector<int>& node_of) {
    std::vector<std::vector<int>> ranks(
        static_cast<std::size_t>(1 + *std::max_element(node_of.begin(), node_of.end())));
    for (std::size_t rank = 0; rank < node_of.size(); ++rank)
        ranks[static_cast<std::size_t>(node_of[rank])].push_back(static_cast<int>(rank));
    return ranks;
}

std::string why_no_nodes() {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(make_nodes(1).empty() && enter_node(0).empty() ? 0 : 1);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "" : "this machine lets no process have its own /dev/shm";
}

void run_nodes(const std::vector<int>& node_of, const RankFunction& function, GroupRules rules) {
    // libucp and what it loads keep memory until the process ends.
    rules.look_for_leaks = false;
    GroupRules outer;
    outer.deadline = rules.deadline + std::chrono::seconds(20);
    outer.look_for_leaks = false;
    run_ranks(
        1,
        [&](Rank&) {
            const int nodes = static_cast<int>(ranks_of_nodes(node_of).size());
            ASSERT_EQ(make_nodes(nodes), "");
            run_ranks(
                static_cast<int>(node_of.size()),
                [&](Rank& rank) {
                    ASSERT_EQ(enter_node(node_of[static_cast<std::size_t>(rank.rank())]), "");
                    // What is between nodes: no shared memory of this machine's.
                    ASSERT_EQ(::setenv("PEERCOLL_UCX_TLS", "tcp,self", 0), 0);
                    function(rank);
                },
                rules);
        },
        outer);
}

}  // namespace peercoll::test
