#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the node files of this folder.

    tests/topologies/make_topologies.py [FOLDER]

hwloc's lstopo (package hwloc-nox) turns a synthetic description into XML; this script takes out what hwloc fills in by
itself, so that the files stay small, and hangs PCI devices and NVLink distances into them, which synthetic descriptions
lack. The devices are inventions: no file shows a real machine.
"""

import pathlib
import subprocess
import sys
import xml.etree.ElementTree as xml

GIB = 1 << 30
MIB = 1 << 20
KIB = 1 << 10
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n'

OSDEV_GPU, OSDEV_NET, OSDEV_OPENFABRICS, OSDEV_COPROC = "1", "2", "3", "5"
KIND_LATENCY, KIND_BANDWIDTH = "5", "9"  # from the operating system
KIND_NVLINK = "25"  # from the operating system, a bandwidth, between objects of several types


def synthetic(description):
    """The tree that hwloc makes of a synthetic description, without what no test reads. The complete_ sets stay, though
    they repeat the others: hwloc 2.9 crashes where they lack."""
    text = subprocess.run(["lstopo-no-graphics", "-i", description, "--of", "xml", "-"],
                          check=True, capture_output=True, text=True).stdout
    root = xml.fromstring(text)
    for parent in root.iter():
        for child in list(parent):
            if child.tag in ("support", "page_type", "info", "cpukind", "memattr"):
                parent.remove(child)
        if len(parent) == 0:
            parent.text = None
    return root


def write(path, root):
    xml.indent(root, space=" ")
    path.write_text(HEAD + xml.tostring(root, encoding="unicode") + "\n")
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


def find(root, kind, number):
    return [element for element in root.iter("object") if element.get("type") == kind][number]


class Devices:
    """Hangs devices into a tree. hwloc wants a number of its own (gp_index) for each object."""

    def __init__(self, root):
        self.root = root
        self.next_index = 1 + max(int(element.get("gp_index")) for element in root.iter("object"))

    def add(self, parent, **attributes):
        element = xml.SubElement(parent, "object", gp_index=str(self.next_index), **attributes)
        self.next_index += 1
        return element

    def host_bridge(self, parent, first, last):
        return self.add(parent, type="Bridge", bridge_type="0-1", depth="0",
                        bridge_pci=f"0000:[{first:02x}-{last:02x}]")

    def switch(self, parent, bus, first, last, depth):
        return self.add(parent, type="Bridge", bridge_type="1-1", depth=str(depth),
                        bridge_pci=f"0000:[{first:02x}-{last:02x}]", pci_busid=f"0000:{bus:02x}:00.0",
                        pci_type="0604 [1000:c030] [0000:0000] b0", pci_link_speed="31.507692")

    def pci(self, parent, bus, pci_class, vendor, device, names=()):
        element = self.add(parent, type="PCIDev", pci_busid=f"0000:{bus:02x}:00.0",
                           pci_type=f"{pci_class} [{vendor}:{device}] [0000:0000] 00", pci_link_speed="31.507692")
        for name, value in zip(("PCIVendor", "PCIDevice"), names):
            xml.SubElement(element, "info", name=name, value=value)
        return element

    def os_device(self, parent, name, kind, subtype=None, infos=()):
        attributes = {"subtype": subtype} if subtype else {}
        element = self.add(parent, type="OSDev", name=name, osdev_type=kind, **attributes)
        for key, value in infos:
            xml.SubElement(element, "info", name=key, value=value)
        return element

    def nvidia_gpu(self, parent, bus, number):
        gpu = self.pci(parent, bus, "0302", "10de", "2330", ("NVIDIA Corporation", "GH100"))
        uuid = f"GPU-00000000-0000-4000-8000-{number:012x}"
        self.os_device(gpu, f"cuda{number}", OSDEV_COPROC, "CUDA")
        return self.os_device(gpu, f"nvml{number}", OSDEV_GPU, "NVML",
                              (("GPUModel", "Example GPU 80GB"), ("NVIDIAUUID", uuid)))

    def amd_gpu(self, parent, bus, number):
        gpu = self.pci(parent, bus, "0380", "1002", "7408")
        return self.os_device(gpu, f"rsmi{number}", OSDEV_GPU, "RSMI", (("AMDUUID", f"{number:016x}"),))

    def infiniband(self, parent, bus, number):
        card = self.pci(parent, bus, "0207", "15b3", "1021", ("Mellanox Technologies", "ConnectX-7"))
        self.os_device(card, f"ib{number}", OSDEV_NET)
        self.os_device(card, f"mlx5_{number}", OSDEV_OPENFABRICS)

    def nvswitch(self, parent, bus):
        card = self.pci(parent, bus, "0680", "10de", "22a3")
        card.set("subtype", "NVSwitch")
        return card


def numbers(tag, values, **attributes):
    text = " ".join(str(value) for value in values) + " "
    element = xml.Element(tag, length=str(len(text)), **attributes)
    element.text = text
    return element


def add_nvlink(root, objects, bandwidth):
    """`bandwidth(a, b)` in MB/s between two of `objects`."""
    count = len(objects)
    matrix = xml.SubElement(root, "distances2hetero", nbobjs=str(count), kind=KIND_NVLINK, name="NVLinkBandwidth")
    matrix.append(numbers("indexes", [f'{o.get("type")}:{o.get("gp_index")}' for o in objects]))
    for row in range(count):
        matrix.append(numbers("u64values", [bandwidth(row, column) for column in range(count)]))


def add_numa_latency(root, rows):
    matrix = xml.SubElement(root, "distances2", type="NUMANode", nbobjs=str(len(rows)), kind=KIND_LATENCY,
                            name="NUMALatency", indexing="os")
    matrix.append(numbers("indexes", range(len(rows))))
    for row in rows:
        matrix.append(numbers("u64values", row))


def epyc_2_sockets_128_cores():
    """Hyper-threads numbered as Linux does: the first of every core, then the second of every core."""
    root = synthetic(f"pack:2 [numa(memory={256 * GIB})] l3:8(size={32 * MIB}) core:8 "
                     "pu:2(indexes=2*128:1*2)")
    add_numa_latency(root, [[10, 32], [32, 10]])
    return root


def four_numa_nodes():
    """One socket cut in four, without any L3: cores share an L2 by twos."""
    root = synthetic(f"pack:1 group:4 [numa(memory={96 * GIB})] l2:4(size={2 * MIB}) core:2 pu:1")
    add_numa_latency(root, [[10 if a == b else 12 for a in range(4)] for b in range(4)])
    return root


def eight_amd_gpus():
    """Each GPU hangs beside one L3, in another order than the cores', with a network card beside every second. Two
    neighbouring GPUs are dies of one card, and nearer to each other than to the rest."""
    root = synthetic(f"pack:1 group:4 [numa(memory={128 * GIB})] l3:2(size={32 * MIB}) core:8 pu:1")
    devices = Devices(root)
    gpu_beside_cache = [4, 5, 2, 3, 6, 7, 0, 1]
    gpus = {}
    for cache, number in enumerate(gpu_beside_cache):
        bus = 0xc0 + 8 * cache
        bridge = devices.host_bridge(find(root, "L3Cache", cache), bus, bus + 7)
        gpus[number] = devices.amd_gpu(bridge, bus + 1, number)
        if cache % 2 == 1:
            card = devices.pci(bridge, bus + 2, "0200", "17db", "0501")
            devices.os_device(card, f"hsi{cache // 2}", OSDEV_NET)
    matrix = xml.SubElement(root, "distances2", type="OSDev", nbobjs="8", kind=KIND_BANDWIDTH, name="XGMIBandwidth",
                            indexing="gp")
    matrix.append(numbers("indexes", [gpus[number].get("gp_index") for number in range(8)]))
    for a in range(8):
        row = [1000000 if a == b else 200000 if a // 2 == b // 2 else 50000 for b in range(8)]
        matrix.append(numbers("u64values", row))
    return root


def sixteen_nvidia_gpus():
    """Two sockets; on each, two PCIe switches with four GPUs and an InfiniBand card; all GPUs on one NVSwitch."""
    root = synthetic(f"pack:2 [numa(memory={512 * GIB})] l3:1(size={48 * MIB}) l2:8(size={MIB}) core:1 pu:1")
    devices = Devices(root)
    gpus = []
    for package in range(2):
        for half in range(2):
            bus = 0x10 + 0x40 * package + 0x20 * half
            bridge = devices.host_bridge(find(root, "Package", package), bus, bus + 0xf)
            switch = devices.switch(bridge, bus, bus + 1, bus + 0xf, 1)
            for slot in range(4):
                gpus.append(devices.nvidia_gpu(switch, bus + 2 + slot, len(gpus)))
            devices.infiniband(switch, bus + 8, 2 * package + half)
    switch = devices.nvswitch(devices.host_bridge(find(root, "Package", 1), 0xa0, 0xa1), 0xa1)
    objects = gpus + [switch]
    links = {True: 1000000, False: 0}
    add_nvlink(root, objects, lambda a, b: 450000 if (a == 16) != (b == 16) else links[a == b])
    add_numa_latency(root, [[10, 21], [21, 10]])
    return root


def hbm_and_cxl():
    """Two packages, each with DRAM and HBM equally near; memory on CXL that hangs on the machine as a whole."""
    root = synthetic(f"[numa(memory={1024 * GIB})] pack:2 [numa(memory={64 * GIB})] [numa(memory={16 * GIB})] "
                     f"l3:1(size={30 * MIB}) core:4 pu:1")
    for node in root.iter("object"):
        if node.get("type") == "NUMANode" and node.get("local_memory") == str(16 * GIB):
            node.set("subtype", "HBM")
    return root


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
    for make in (epyc_2_sockets_128_cores, four_numa_nodes, eight_amd_gpus, sixteen_nvidia_gpus, hbm_and_cxl):
        write(folder / f"{make.__name__}.xml", make())


if __name__ == "__main__":
    main()
