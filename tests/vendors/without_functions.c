/* SPDX-License-Identifier: BSD-3-Clause
 * A library that bears a vendor's name and has none of its functions: a broken installation. */
int peercoll_test_nothing(void);
int peercoll_test_nothing(void) {
    return 0;
}
