"""Runs test classes by name: run.py golden_test.Golden. Exit status 0: all passed, 77: all skipped, else 1.

No test at all counts as a failure: a class that was renamed must not pass for ever.
"""

import sys
import unittest

SKIPPED = 77


def main(names):
    suite = unittest.defaultTestLoader.loadTestsFromNames(names)
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    if result.testsRun == 0:
        print(f"no tests in {' '.join(names) or 'an empty list'}", file=sys.stderr)
        return 1
    if not result.wasSuccessful():
        return 1
    return SKIPPED if len(result.skipped) == result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
