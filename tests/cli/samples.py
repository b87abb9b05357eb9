"""Tests that run_test.py gives to the runner."""

import unittest


class Passing(unittest.TestCase):
    def test(self):
        pass


class Failing(unittest.TestCase):
    def test(self):
        self.fail("as it should")


class Skipped(unittest.TestCase):
    def test(self):
        self.skipTest("for a reason")
