// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/ascend/event_kinds.hpp"

namespace peercoll::ascend {

AclError create_event(const AclFunctions& acl, AclEvent& event, bool& needs_reset) {
    needs_reset = false;
    // These may be asked only by aclrtQueryEventStatus().
    if (acl.event_create_ex != nullptr && acl.event_query_recorded != nullptr)
        return acl.event_create_ex(&event, event_sync);
    if (acl.event_create_with_flag != nullptr && acl.event_reset != nullptr) {
        needs_reset = true;
        return acl.event_create_with_flag(&event, event_sync);
    }
    return acl.event_create(&event);
}

AclError query_event(const AclFunctions& acl, AclEvent event, bool& done) {
    int status = 0;
    if (acl.event_query_recorded != nullptr) {
        const AclError error = acl.event_query_recorded(event, &status);
        done = status == event_recorded_complete;
        return error;
    }
    if (acl.event_query == nullptr) return code::api_not_support;
    const AclError error = acl.event_query(event, &status);
    done = status == event_complete;
    return error;
}

}  // namespace peercoll::ascend
