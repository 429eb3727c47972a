// SPDX-License-Identifier: BSD-3-Clause
// The kernels as PTX that every driver since CUDA 9 translates for its device, so that no toolkit is needed.
#include "tests/conformance/cuda/kernels.hpp"

namespace peercoll::conformance::cuda {

const char kernel_image[] = R"ptx(
.version 6.0
.target sm_60
.address_size 64

.visible .entry peercoll_conformance_store(.param .align 8 .b8 parameters[40])
{
    .reg .pred %p<4>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<12>;
    ld.param.u64 %rd1, [parameters];
    ld.param.u64 %rd2, [parameters+8];
    ld.param.u64 %rd3, [parameters+16];
    ld.param.u64 %rd4, [parameters+24];
    ld.param.u64 %rd5, [parameters+32];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ntid.x;
    cvt.u64.u32 %rd6, %r1;
    cvt.u64.u32 %rd7, %r2;
next:
    setp.ge.u64 %p1, %rd6, %rd3;
    @%p1 bra stored;
    shl.b64 %rd8, %rd6, 3;
    add.u64 %rd8, %rd1, %rd8;
    add.u64 %rd9, %rd2, %rd6;
    st.u64 [%rd8], %rd9;
    add.u64 %rd6, %rd6, %rd7;
    bra next;
stored:
    membar.sys;
    bar.sync 0;
    setp.ne.u32 %p2, %r1, 0;
    @%p2 bra end;
    setp.eq.u64 %p3, %rd4, 0;
    @%p3 bra end;
    membar.sys;
    st.volatile.u64 [%rd4], %rd5;
end:
    ret;
}

.visible .entry peercoll_conformance_copy(.param .align 8 .b8 parameters[24])
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<10>;
    ld.param.u64 %rd1, [parameters];
    ld.param.u64 %rd2, [parameters+8];
    ld.param.u64 %rd3, [parameters+16];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ntid.x;
    cvt.u64.u32 %rd4, %r1;
    cvt.u64.u32 %rd5, %r2;
next:
    setp.ge.u64 %p1, %rd4, %rd3;
    @%p1 bra end;
    shl.b64 %rd6, %rd4, 3;
    add.u64 %rd7, %rd1, %rd6;
    add.u64 %rd8, %rd2, %rd6;
    ld.u64 %rd9, [%rd8];
    st.u64 [%rd7], %rd9;
    add.u64 %rd4, %rd4, %rd5;
    bra next;
end:
    ret;
}

.visible .entry peercoll_conformance_wait(.param .align 8 .b8 parameters[32])
{
    .reg .pred %p<4>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [parameters];
    ld.param.u64 %rd2, [parameters+8];
    ld.param.u64 %rd3, [parameters+16];
    ld.param.u64 %rd4, [parameters+24];
    mov.u32 %r1, %tid.x;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra end;
    mov.u64 %rd6, 2;
look:
    setp.eq.u64 %p2, %rd3, 0;
    @%p2 bra tell;
    sub.u64 %rd3, %rd3, 1;
    ld.volatile.u64 %rd5, [%rd1];
    setp.ne.u64 %p3, %rd5, %rd2;
    @%p3 bra look;
    mov.u64 %rd6, 1;
tell:
    membar.sys;
    st.volatile.u64 [%rd4], %rd6;
end:
    ret;
}
)ptx";

}  // namespace peercoll::conformance::cuda
