// SPDX-License-Identifier: BSD-3-Clause
// Three generations of events with rules of their own: plain ones, those of aclrtCreateEventWithFlag(), which must be
// reset before they are recorded again, and those of aclrtCreateEventExWithFlag(), which must not.
#pragma once

#include "plugin/device/ascend/acl_api.hpp"

namespace peercoll::ascend {

// The newest kind there is.
AclError create_event(const AclFunctions& acl, AclEvent& event, bool& needs_reset);
// The two questions there are say "complete" by opposite numbers.
AclError query_event(const AclFunctions& acl, AclEvent event, bool& done);

}  // namespace peercoll::ascend
