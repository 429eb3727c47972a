// SPDX-License-Identifier: BSD-3-Clause
// Whether this process uses ACL, or has only loaded it.
#pragma once

namespace peercoll::ascend {

// 0 while ACL answers that nothing has called aclInit. 1 where a release does not mind.
int is_started();
// Lets go of the library.
void forget_question();

}  // namespace peercoll::ascend
