// SPDX-License-Identifier: BSD-3-Clause
// Tests of the simulated driver: each runs in processes of its own, because a process reads the node's description
// once.
#pragma once

#include "tests/simulated_devices/cuda/entry_points.hpp"
#include "tests/support/process_group.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace peercoll::simulator::cuda {

using test::Rank;

// Runs `function` in `processes` processes that have the node `text` (a file of nodes/ as "@name") and have called
// cuInit; `prepare` is called before that.
void on_node(const std::string& text, int processes, const std::function<void(Rank&)>& function,
             const std::function<void(Rank&)>& prepare = {}, const test::GroupRules& rules = {});

// Sets what the process reads at its first call.
void describe_node(const std::string& text);

// Current on this thread while it lives.
class CurrentContext {
public:
    explicit CurrentContext(CUdevice device = 0);
    ~CurrentContext();
    CurrentContext(const CurrentContext&) = delete;
    CurrentContext& operator=(const CurrentContext&) = delete;

    CUcontext get() const { return context_; }

private:
    CUdevice device_;
    CUcontext context_ = nullptr;
};

CUdeviceptr allocate(std::size_t bytes);
CUstream make_stream(unsigned flags = CU_STREAM_NON_BLOCKING);

// The bytes of device memory, by a copy that has come to its end.
std::vector<unsigned char> read_bytes(CUdeviceptr address, std::size_t bytes);
void write_bytes(CUdeviceptr address, unsigned char value, std::size_t bytes);
std::size_t bytes_in_use();

// The kernel of kernels.cpp: stores `value` to `count` bytes at `address`.
CUresult launch_store(CUstream stream, CUdeviceptr address, unsigned char value, std::uint64_t count);

// Holds a stream from now on until it is opened.
class Gate {
public:
    explicit Gate(CUstream stream);
    ~Gate() { open(); }
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;
    void open() { open_->store(true); }

private:
    std::shared_ptr<std::atomic<bool>> open_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace peercoll::simulator::cuda
