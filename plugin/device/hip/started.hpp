// SPDX-License-Identifier: BSD-3-Clause
// Whether this process uses HIP, or has only loaded it.
#pragma once

namespace peercoll::hip {

// Every function of HIP starts it, so it is not asked itself: the runtime below it (ROCr) is, which HIP starts first of
// all, and which answers that it is not started. 1 where there is no ROCr to ask.
int is_started();
// Lets go of the libraries.
void forget_question();

}  // namespace peercoll::hip
