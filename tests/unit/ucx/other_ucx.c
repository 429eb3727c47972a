/* SPDX-License-Identifier: BSD-3-Clause
 * A file with the name of one of UCX's libraries, in a folder of its own: what a second UCX in a process looks like. */
int peercoll_test_other_ucx(void);
int peercoll_test_other_ucx(void) {
    return 1;
}
