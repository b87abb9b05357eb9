#!/usr/bin/env python3
"""Plants one fault each in generated fabrics and counts how many build/tests/unit/judge_fabric names with both ends.

    bench/fabric/judge_fabric.py --bin build [--cases 1000] [--healthy 200] [--show 10]

Exit status 1 if fewer than 99 % are named, or if a fabric without a fault has a finding.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

import fabric_texts


def findings(program, text):
    with tempfile.NamedTemporaryFile("w", suffix=".ibnetdiscover") as file:
        file.write(text)
        file.flush()
        done = subprocess.run([program, file.name], capture_output=True, text=True, timeout=120, check=False)
    lines = done.stdout.splitlines()
    return [line for line in lines if line.startswith(("warn: ", "note: ", "error: "))] + done.stderr.splitlines()


def numbers_of(folded):
    """The names in node[01-03,07],login1: as a set."""
    names = set()
    for item in re.findall(r"[^,\[\]]+(?:\[[^\]]*\])?(?:[^,\[\]]*(?:\[[^\]]*\])?)*", folded):
        names |= expand(item)
    return names


def expand(item):
    found = re.search(r"\[([^\]]*)\]", item)
    if not found:
        return {item}
    names = set()
    for part in found.group(1).split(","):
        first, _, last = part.partition("-")
        for number in range(int(first), int(last or first) + 1):
            names |= expand(item[: found.start()] + str(number).zfill(len(first)) + item[found.end():])
    return names


def is_named(lines, kind, expected):
    for line in lines:
        if f": {kind}: " not in line:
            continue
        if kind != "absent switch":
            if all(re.search(rf"(?<![\w-]){re.escape(end)}(?!\d)", line) for end in expected):
                return True
            continue
        ports = expected["ports"]
        of = f"port {ports[0]} of" if len(ports) == 1 else f"ports {ports[0]}-{ports[-1]} of"
        behind = line.partition("behind it: ")[2]
        if of in line or (behind and numbers_of(behind) == set(expected["hosts"])):
            return True
    return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default="build")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--healthy", type=int, default=200)
    parser.add_argument("--show", type=int, default=10)
    parser.add_argument("--keep", help="a folder for the texts of what was missed")
    given = parser.parse_args()
    program = str(pathlib.Path(given.bin) / "tests/unit/judge_fabric")
    named, tried, extra = collections.Counter(), collections.Counter(), 0
    false_alarms = 0
    for seed in range(given.healthy):
        random_, shape, hosts, fabric = fabric_texts.healthy(seed)
        lines = findings(program, fabric_texts.text_of(fabric, random_))
        if lines:
            false_alarms += 1
            print(f"healthy {seed}: {shape}, {hosts} hosts", *lines[:3], sep="\n    ")
    shown = 0
    for seed in range(given.cases):
        random_, shape, hosts, fabric = fabric_texts.healthy(10_000 + seed)
        fault = list(fabric_texts.FAULTS)[seed // 3 % len(fabric_texts.FAULTS)]
        kind, expected = fabric_texts.FAULTS[fault](random_, fabric)
        text = fabric_texts.text_of(fabric, random_)
        lines = findings(program, text)
        tried[shape, fault] += 1
        found = is_named(lines, kind, expected)
        named[shape, fault] += found
        extra += len(lines) > 1
        if not found and shown < given.show:
            shown += 1
            print(f"missed {10_000 + seed}: {shape}, {hosts} hosts, {fault}: {expected}", *(line[:300] for line in lines[:4]), sep="\n    ")
            if given.keep:
                pathlib.Path(given.keep, f"{10_000 + seed}.txt").write_text(text)
    print("| " + " | ".join(["", *fabric_texts.FAULTS]) + " |")
    print("|---" * (len(fabric_texts.FAULTS) + 1) + "|")
    for shape in fabric_texts.SHAPES:
        print("| " + " | ".join([shape, *(f"{named[shape, fault]} of {tried[shape, fault]}" for fault in fabric_texts.FAULTS)]) + " |")
    total, all_ = sum(named.values()), sum(tried.values())
    print(f"named with both ends: {total} of {all_} ({100 * total / max(all_, 1):.1f} %); more than one finding: {extra}; "
          f"healthy fabrics with a finding: {false_alarms} of {given.healthy}")
    return 0 if total >= 0.99 * all_ and false_alarms == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
