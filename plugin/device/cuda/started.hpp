// SPDX-License-Identifier: BSD-3-Clause
// Whether this process uses CUDA, or has only loaded it.
#pragma once

namespace peercoll::cuda {

// 0 while nothing has called cuInit: the driver can be asked, and then refuses all questions. In a child of a process
// that had called it, too, where CUDA cannot be used any more.
int is_started();
// Lets go of the library.
void forget_question();

}  // namespace peercoll::cuda
