// SPDX-License-Identifier: BSD-3-Clause
// What peercoll-info prints, a section each.
#pragma once

#include "session.hpp"

#include <string>

namespace peercoll::info {

void print_version();
// Whether this job's MPI has the plugin too, or would, with the export line.
void print_component();
void print_options(const Session& session);
void print_topology(const Session& session);
// Runtimes and devices as rank 0 sees them. `why_not`: why rank 0 itself has none, or empty.
void print_devices(const Session& session, const std::string& why_not);
// Collective over the communicator if it has run no collective yet; prints on the `speaker` only.
void print_communicator(const Session& session, bool speaker);
void print_statistics(const Session& session);

}  // namespace peercoll::info
