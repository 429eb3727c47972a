// SPDX-License-Identifier: BSD-3-Clause
// Ranks in several hwloc groups on any machine with two processors: an XML file in which no two processors of this
// machine share a cache, and ranks bound to one of two processors.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace peercoll::test {

class ProcessorGroups {
public:
    // Empty if this process may use fewer than two processors.
    static std::optional<ProcessorGroups> make();
    ~ProcessorGroups();
    ProcessorGroups(ProcessorGroups&& other) noexcept;
    ProcessorGroups(const ProcessorGroups&) = delete;
    ProcessorGroups& operator=(const ProcessorGroups&) = delete;
    ProcessorGroups& operator=(ProcessorGroups&&) = delete;

    const std::string& topology_file() const { return file_; }
    // Binds the calling process to the first or second processor (group 0 or 1).
    void bind_to(int group) const;

private:
    ProcessorGroups(std::string file, std::vector<int> processors);
    std::string file_;
    std::vector<int> processors_;
};

}  // namespace peercoll::test
