#!/usr/bin/env python3
"""Counts and times a ctest run by suite, lists skipped tests with reasons and the
slowest tests, and fails if a suite had no test."""

import argparse
import json
import sys
import xml.etree.ElementTree as ElementTree

EPILOG = """\
A suite is a ctest label. Labels come from standard input, which is what
ctest --show-only=json-v1 prints. A suite whose tests were all skipped, each
with its reason, is reported; a suite without tests is a failure.

Exit status: 0 every suite had a test, 1 a suite had none, 2 usage.
"""
RAN = ("run", "fail")
SLOWEST = 10


def labels_by_test(listing):
    """{test name: [labels]} from what ctest --show-only=json-v1 printed."""
    return {
        test["name"]: next((p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"), [])
        for test in listing["tests"]
    }


def read_results(junit_path):
    """[(test name, status, output, seconds)]; empty if ctest failed at the start."""
    try:
        root = ElementTree.parse(junit_path).getroot()
    except FileNotFoundError:
        return []
    return [(case.get("name"), case.get("status"), case.findtext("system-out") or "", float(case.get("time") or 0))
            for case in root.iter("testcase")]


def skip_reason(output):
    """GoogleTest prints the reason after a line that ends in 'Skipped'; our scripts print it last."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for here, below in zip(lines, lines[1:]):
        if here.endswith(": Skipped"):
            return below
    return lines[-1].removeprefix("skipped: ") if lines else "no reason given"


def print_slowest(results):
    slowest = sorted(results, key=lambda result: -result[3])[:SLOWEST]
    print("slowest: " + ", ".join(f"{name} {seconds:.1f} s" for name, _, _, seconds in slowest))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, epilog=EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("junit_file", metavar="JUNIT_FILE", help="results, from ctest --output-junit")
    parser.add_argument("suites", metavar="SUITE", nargs="*", help="suite (default: those of the tests that ran)")
    return parser.parse_args()


def main():
    given = parse_arguments()
    labels = labels_by_test(json.load(sys.stdin))
    results = read_results(given.junit_file)
    suites = given.suites or sorted({labels[name][0] for name, *_ in results if labels.get(name)})
    idle = []

    print(f"{'suite':<10} {'ran':>6} {'failed':>7} {'skipped':>8} {'seconds':>8}  (of all its tests together)")
    for suite in suites:
        of_suite = [result for result in results if suite in labels.get(result[0], [])]
        statuses = [status for _, status, _, _ in of_suite]
        ran = sum(status in RAN for status in statuses)
        seconds = sum(took for _, _, _, took in of_suite)
        print(f"{suite:<10} {ran:>6} {statuses.count('fail'):>7} {len(statuses) - ran:>8} {seconds:>8.0f}")
        if not statuses:
            idle.append(suite)
        elif ran == 0:
            print(f"{suite}: every test was skipped, for the reasons below")
    for name, status, output, _ in results:
        if status not in RAN:
            print(f"skipped: {name}: {skip_reason(output)}")
    print_slowest(results)
    sys.stdout.flush()
    for suite in idle:
        print(f"suite '{suite}' ran no test, and skipped none; see above, or leave it out with --without {suite}", file=sys.stderr)
    return 1 if idle else 0


if __name__ == "__main__":
    sys.exit(main())
