// SPDX-License-Identifier: BSD-3-Clause
// What the user must tell, because ACL does not: two words of the environment, read by open().
//
// PEERCOLL_ASCEND_POINTERS, heeded where ACL cannot say what a pointer is (before CANN 8.3 to 8.5):
//     host    every buffer is host memory. The default: a wrong guess would break programs that are right.
//     device  buffers that processors cannot read are memory of the calling thread's current device
// PEERCOLL_ASCEND_APPLICATION_MEMORY, heeded where ACL can say where an allocation begins (CANN 9):
//     staged  the application's allocations are copied through host memory. The default: ACL tells nobody that memory
//             was freed and its address handed out again, so what others have mapped of it may be no longer that memory
//     shared  the application frees no device memory that collectives have used before it is done with them, and its
//             allocations are mapped by the other processes
#pragma once

#include "plugin/common/status.hpp"

namespace peercoll::ascend {

struct Settings {
    bool unreadable_is_device = false;
    bool share_application_memory = false;
};

// INVALID_ARGUMENT: a word that is none of these; the sentence names it.
Status read_settings(Settings& settings);

}  // namespace peercoll::ascend
