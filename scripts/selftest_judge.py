"""Holds what a program of the suite has reported against what scripts/selftest.sh has planted.

usage: selftest_judge.py KIND RECORD PLANTED PERCENT

Prints three columns: planted, reported, and the difference with what it may be. KIND is one of the functions of KINDS.
Exit status: 0 it is true, 5 it is wrong, 6 it is wrong as other work on this machine could make it, 7 the record does not
show what it is about."""

import argparse
import json
import statistics
import sys

TRUE, WRONG, MAYBE_LOAD, UNKNOWN = 0, 5, 6, 7


class Unknown(Exception):
    """The record does not show it."""


def records(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def rows(path):
    return [line["out_of_place"] for line in records(path) if line["kind"] == "row" and line["out_of_place"] is not None]


def the_row(path):
    found = rows(path)
    if len(found) != 1:
        raise Unknown(f"the record has {len(found)} rows, and not one")
    return found[0]


def compare(planted, reported, percent, unit, load_makes_it):
    """`load_makes_it` is 1 where other work makes the reported figure larger, and -1 where it makes it smaller."""
    difference = 100 * (reported / planted - 1)
    print(f"{planted:.2f} {unit}\t{reported:.2f} {unit}\t{difference:+.1f} %, at most {percent:g}")
    if abs(difference) <= percent:
        return TRUE
    return MAYBE_LOAD if difference * load_makes_it > 0 else WRONG


def rate(path, planted, percent):
    """PLANTED is the Mbit/s of the payload."""
    return compare(float(planted), the_row(path)["busbw_gb_per_s"] * 8000, percent, "Mbit/s", -1)


def time(path, planted, percent):
    """PLANTED is in ms."""
    return compare(float(planted), the_row(path)["time_us_median"] / 1000, percent, "ms", 1)


def clock(path, planted, percent):
    """The same, by the rows that began by the common clock of two that were told apart."""
    common = [row for row in rows(path) if row["common_start"]]
    if not common:
        raise Unknown("ranks were late in all rows, so barriers began the operations instead of the common clock")
    if min(row["clock_error_us"] for row in common) == 0:
        print("two clocks\tone clock\t")
        return WRONG
    reported = statistics.median(row["time_us_median"] for row in common) / 1000
    return compare(float(planted), reported, percent, "ms", 1)


def ends_of(reading):
    """The numbers of the two hosts."""
    return tuple(reading[end].rpartition("-h")[2] for end in ("from_host", "to_host"))


def pairs(path, planted, percent):
    """PLANTED is FROM:TO:MBIT:REST, the payload's Mbit/s of the slow pair and of all others. The worst reading counts."""
    sender, receiver, slow, rest = planted.split(":")
    readings = {ends_of(line): line["bandwidth_gb_per_s"] * 8000 for line in records(path)
                if line["kind"] == "reading" and line["status"] == "ok"}
    if (sender, receiver) not in readings:
        raise Unknown("the slow pair has no reading")
    expected = {ends: float(slow if ends == (sender, receiver) else rest) for ends in readings}
    worst = max(readings, key=lambda ends: abs(readings[ends] / expected[ends] - 1))
    return compare(expected[worst], readings[worst], percent, "Mbit/s", -1)


def slow_link(path, planted, _percent):
    """PLANTED is the number of the host that receives slowly."""
    verdicts = [line for line in records(path) if line["kind"] == "verdict"]
    if len(verdicts) != 1:
        raise Unknown("the record has no verdict")
    findings = [" ".join([finding["blame"], *(name.rpartition("-h")[2] for name in finding["endpoints"]),
                          finding["direction"]]) for finding in verdicts[0]["findings"]]
    wanted = f"host {planted} receives"
    if findings != [wanted] and any(line["kind"] == "reading" and line.get("processor_wait_share") for line in records(path)):
        raise Unknown("ranks waited for a processor, so that nothing is judged: this machine has too few for four hosts")
    print(f"{wanted}, 5 % slower\t{', '.join(findings) or 'nothing'}\t{verdicts[0]['judged']}")
    return TRUE if findings == [wanted] else MAYBE_LOAD


def slow_rank(path, planted, percent):
    """PLANTED is RANK:MS, the time of an operation on that rank."""
    rank, slow = planted.split(":")
    row = the_row(path)
    reported = row["slowest_rank"]
    print(f"rank {rank}, {slow} ms\trank {reported}, {row['time_us_median'] / 1000:.2f} ms\t"
          f"{100 * row['slowest_rank_share']:.0f} % of samples")
    if str(reported) != rank:
        return MAYBE_LOAD
    return TRUE if abs(row["time_us_median"] / 1000 / float(slow) - 1) <= percent / 100 else MAYBE_LOAD


KINDS = {kind.__name__: kind for kind in (rate, time, clock, pairs, slow_link, slow_rank)}


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0], allow_abbrev=False)
    options.add_argument("kind", choices=KINDS)
    options.add_argument("record")
    options.add_argument("planted")
    options.add_argument("percent", type=float)
    given = options.parse_args()
    try:
        return KINDS[given.kind](given.record, given.planted, given.percent)
    except Unknown as problem:
        print(problem)
        return UNKNOWN


if __name__ == "__main__":
    sys.exit(main())
