#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What compare_tables.py says about small tables."""
import unittest

from compare_tables import differences


def row(verdict, value, observation="code", behaviour="a behaviour"):
    return {
        "room": "a room",
        "behaviour": behaviour,
        "observation": observation,
        "verdict": verdict,
        "expected": "",
        "value": value,
    }


class Differences(unittest.TestCase):
    def expect(self, count, real, simulated):
        self.assertEqual(len(list(differences(real, simulated))), count)

    def test_the_same_answers_do_not_differ(self):
        table = [row("ok", "201"), row("observed", "1", "another"), row("noted", "7", "third")]
        self.expect(0, table, table)

    def test_another_value_differs(self):
        self.expect(1, [row("ok", "201")], [row("differs", "0")])
        self.expect(1, [row("observed", "201")], [row("observed", "0")])

    def test_what_only_the_real_device_answers_differs(self):
        self.expect(1, [row("ok", "201")], [])
        self.expect(1, [row("ok", "201")], [row("skipped", "no such function", "")])
        self.expect(1, [row("ok", "201")], [row("broken", "was ended by signal 11", "")])

    def test_what_the_real_device_could_not_answer_is_left_out(self):
        self.expect(0, [row("skipped", "needs 2 devices, 1 there", "")], [row("ok", "201")])

    def test_notes_are_left_out(self):
        self.expect(0, [row("noted", "3")], [row("noted", "4")])

    def test_a_real_device_that_did_not_do_as_expected_is_told(self):
        self.expect(1, [row("differs", "201")], [row("differs", "201")])
        self.expect(1, [row("broken", "did not end in time", "")], [])


if __name__ == "__main__":
    unittest.main()
