// SPDX-License-Identifier: BSD-3-Clause
// Broken environments for the calling process: refused system calls, a small or full /dev/shm, other namespaces,
// limits. Each says in a sentence why it could not be made; then the test is skipped.
#pragma once

#include <sys/resource.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace peercoll::test {

// Empty if it was done, else why not.
using Refusal = std::string;

// From now on these system calls of this process fail with `error`, and nothing else changes. Cannot be undone.
Refusal refuse_system_calls(const std::vector<long>& numbers, int error);

// A /dev/shm of its own for this process and its children, with these mount options ("size=1m").
Refusal enter_private_dev_shm(const std::string& mount_options);
// Takes all free bytes of /dev/shm.
Refusal fill_dev_shm();

// Other processes' memory and descriptors are out of reach from there, and its ranks are other users.
Refusal enter_user_namespace();

// The soft limit alone.
Refusal set_limit(__rlimit_resource resource, std::size_t value);
// This process can open no further descriptor.
Refusal allow_no_more_descriptors();
// This process can map `slack` bytes more, and no more.
Refusal allow_no_more_memory(std::size_t slack);

// Whether `action` works here, tried in a process of its own.
Refusal tried(const std::function<Refusal()>& action);

}  // namespace peercoll::test
