// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace peercoll::ascend {

// Whether a processor could read the byte there: the kernel is asked to, so that nothing happens if not. About a
// microsecond. True if that cannot be found out.
bool is_readable(const void* address);

}  // namespace peercoll::ascend
