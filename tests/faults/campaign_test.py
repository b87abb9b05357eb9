"""A hundred combinations of the campaign, drawn with a fixed seed. With --all there are 5,000 (campaign.py itself)."""

import unittest

from campaign import HEADER, Suite, drawn, line_of, run_all, why_excepted

SEED = 1
COMBINATIONS = 100
PARTS = 4  # which ctest runs at the same time
JOBS = 3  # of each; they wait most of the time


def run_part(test, number):
    suite = Suite.of_environment()
    chosen = drawn(suite, suite.programs(), COMBINATIONS, SEED, JOBS)[number::PARTS]
    test.assertEqual(len(chosen), COMBINATIONS // PARTS)
    outcomes = list(run_all(suite, chosen, JOBS))
    broken = [f"{line_of(outcome)}\n{outcome.said}" for outcome in outcomes if outcome.problem and not why_excepted(outcome)]
    test.assertEqual(broken, [], "\n".join((HEADER, *broken)))
    test.assertGreater(sum(outcome.reached != "no" for outcome in outcomes), len(outcomes) / 2)


class First(unittest.TestCase):  # 2 ranks, 120 s

    def test_combinations(self):
        run_part(self, 0)


class Second(unittest.TestCase):  # 2 ranks, 120 s

    def test_combinations(self):
        run_part(self, 1)


class Third(unittest.TestCase):  # 2 ranks, 120 s

    def test_combinations(self):
        run_part(self, 2)


class Fourth(unittest.TestCase):  # 2 ranks, 120 s

    def test_combinations(self):
        run_part(self, 3)
