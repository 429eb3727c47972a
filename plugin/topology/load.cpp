// SPDX-License-Identifier: BSD-3-Clause
// Topology::load: this machine, or a node described by an XML file that lstopo or hwloc-gather-topology wrote.
#include "plugin/topology/hwloc_topology.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace peercoll {
namespace {

// A node of 2000 processors and 100 devices takes about 3 MB. What is larger is not a topology.
constexpr std::size_t max_xml_bytes = std::size_t{64} << 20;

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

Status bad_file(const std::string& path, const std::string& what) {
    return {PEERCOLL_ERR_INVALID_ARGUMENT,
            fmt::format("topology file '{}': {}; expected an hwloc 2 XML file, as 'lstopo node.xml' writes it", path,
                        what)};
}

Status out_of_memory() {
    return {PEERCOLL_ERR_OUT_OF_MEMORY, "no memory for hwloc's topology of the node"};
}

// Reading the file ourselves tells a missing file from a malformed one, which hwloc does not.
Status read_file(const std::string& path, std::string& text) {
    const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "re"));
    if (!file) {
        return bad_file(path, fmt::format("cannot be opened ({})", std::strerror(errno)));
    }
    char block[1 << 16];
    while (const std::size_t bytes = std::fread(block, 1, sizeof block, file.get())) {
        if (text.size() + bytes > max_xml_bytes) {
            return bad_file(path, fmt::format("is larger than {} MiB", max_xml_bytes >> 20));
        }
        text.append(block, bytes);
    }
    if (std::ferror(file.get()) != 0) {
        return bad_file(path, fmt::format("cannot be read ({})", std::strerror(errno)));
    }
    if (text.empty()) {
        return bad_file(path, "is empty");
    }
    return {};
}

unsigned long load_flags(bool with_io) {
    // Logical indexes must be the same on all ranks of a node, also where each rank has a cgroup of its own: so
    // processors that this process may not use are part of the picture.
    unsigned long flags = HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED;
#if HWLOC_API_VERSION >= 0x00020500
    // We are a guest in somebody's process: never move its threads around to ask each processor about itself.
    flags |= HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING;
#endif
#if HWLOC_API_VERSION >= 0x00020800
    flags |= HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS | HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS;
    if (!with_io) {
        flags |= HWLOC_TOPOLOGY_FLAG_NO_DISTANCES;
    }
#else
    static_cast<void>(with_io);
#endif
    return flags;
}

void choose_what_to_look_at(hwloc_topology_t topology, bool with_io) {
    hwloc_topology_set_flags(topology, load_flags(with_io));
    // Groups only where they add structure. Packages, cores and caches are kept even where they do not: the only
    // package of a node is still what its ranks share.
    hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
    for (const hwloc_obj_type_t type :
         {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_CORE, HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE}) {
        hwloc_topology_set_type_filter(topology, type, HWLOC_TYPE_FILTER_KEEP_ALL);
    }
    // Of the first level only who asks for the full picture hears: for each processor it costs files to read.
    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_L1CACHE,
                                   with_io ? HWLOC_TYPE_FILTER_KEEP_ALL : HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_icache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_MISC, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_io_types_filter(topology,
                                       with_io ? HWLOC_TYPE_FILTER_KEEP_IMPORTANT : HWLOC_TYPE_FILTER_KEEP_NONE);
    // These start a device runtime or open an X display. Looking must not do that: PCI, network and management
    // libraries say enough. An hwloc that was built without one of them refuses its name, and that is as good.
    for (const char* component : {"cuda", "opencl", "levelzero", "gl"}) {
        static_cast<void>(hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component));
    }
}

}  // namespace

Status Topology::load(const std::string& xml_file, bool with_io, std::unique_ptr<Topology>& topology) {
    // Another library of the process may have brought an hwloc of another major version, with other layouts.
    if (hwloc_get_api_version() >> 16 != HWLOC_API_VERSION >> 16) {
        return {PEERCOLL_ERR_NOT_SUPPORTED,
                fmt::format("the hwloc library in this process has API version {:#x}; expected {}.x",
                            hwloc_get_api_version(), HWLOC_API_VERSION >> 16)};
    }
    std::string xml;
    if (!xml_file.empty()) {
        if (Status status = read_file(xml_file, xml); !status.ok()) {
            return status;
        }
    }
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0) {
        return out_of_memory();
    }
    HwlocTopologyHandle handle(raw);
    choose_what_to_look_at(raw, with_io);
    if (!xml_file.empty()) {
        // hwloc wants the ending NUL counted. Which of the two calls notices what depends on the XML parser it was
        // built with.
        if (hwloc_topology_set_xmlbuffer(raw, xml.c_str(), static_cast<int>(xml.size() + 1)) != 0 ||
            hwloc_topology_load(raw) != 0) {
            return bad_file(xml_file, "is not a topology that hwloc can read");
        }
    } else if (hwloc_topology_load(raw) != 0) {
        return {PEERCOLL_ERR_SYSTEM,
                fmt::format("hwloc cannot look at this machine ({}); expected a readable /sys and /proc",
                            std::strerror(errno))};
    }
    topology = std::make_unique<HwlocTopology>(std::move(handle));
    return {};
}

}  // namespace peercoll
