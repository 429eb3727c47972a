// SPDX-License-Identifier: BSD-3-Clause
// Node files, and how the tests of this folder write places.
#pragma once

#include <gtest/gtest.h>

#include <numeric>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "plugin/topology/topology.hpp"

namespace peercoll {

inline std::string node_file(const std::string& name) {
    return std::string(PEERCOLL_NODE_FILES) + "/" + name + ".xml";
}

// Null, and a failed test, if the file does not load.
inline std::unique_ptr<Topology> load_node(const std::string& file, bool with_io = false) {
    std::unique_ptr<Topology> topology;
    const Status status = Topology::load(file, with_io, topology);
    EXPECT_TRUE(status.ok()) << status.sentence();
    return topology;
}

// PUs first, first + 1, ... last.
inline std::vector<unsigned> processors(unsigned first, unsigned last) {
    std::vector<unsigned> all(last - first + 1);
    std::iota(all.begin(), all.end(), first);
    return all;
}

inline std::vector<unsigned> operator+(std::vector<unsigned> a, const std::vector<unsigned>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

inline bool operator==(const RankPlace& a, const RankPlace& b) {
    return std::tie(a.package, a.numa, a.cache, a.core, a.processors) ==
           std::tie(b.package, b.numa, b.cache, b.core, b.processors);
}

inline void PrintTo(const RankPlace& place, std::ostream* out) {
    *out << "package " << place.package << ", NUMA node " << place.numa << ", cache " << place.cache << ", core "
         << place.core << ", " << place.processors << " processors";
}

}  // namespace peercoll
