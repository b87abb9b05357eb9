#!/usr/bin/env python3
"""Counts the instructions of ours that a message over RDMA verbs costs.

usage: bench/message_cost.py --bin BUILD

Runs BUILD/bench/message_cost, a stream of writes of 8 bytes over a stub of libibverbs, under valgrind's callgrind with
1,000 and with 11,000 messages. The difference, divided by 10,000, is the cost of a message: of what lies in the program
itself, so neither of the stub nor of the C library. Needs no quiet machine, because no time is measured.

Exit status: 0 all within what is required, 1 not, 77 valgrind is missing.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FEW, MANY = 1_000, 11_000
# By the number of requests that are posted with one call (--post_list).
REQUIRED = {1: 120, 32: 25}
SHOWN = (1, 2, 8, 32)


def instructions(program, messages, post_list):
    """Those of the program itself, from callgrind's file: lines of costs follow the names of their object."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "costs"
        subprocess.run(["valgrind", "--tool=callgrind", "--compress-strings=no", f"--callgrind-out-file={path}",
                        program, str(messages), str(post_list)], check=True, capture_output=True, timeout=300)
        return cost_of_object(path.read_text().splitlines(), str(program))


def cost_of_object(lines, program):
    total, ours, is_call = 0, False, False
    for line in lines:
        if line.startswith("ob="):
            ours = line[3:] == program
        elif line.startswith("calls="):
            is_call = True  # the next line has the cost of what was called, which its own lines have too
        elif re.match(r"[+*\-0-9]", line):
            total += int(line.split()[1]) if ours and not is_call else 0
            is_call = False
    return total


def cost_of_message(program, post_list):
    return (instructions(program, MANY, post_list) - instructions(program, FEW, post_list)) / (MANY - FEW)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("--bin", type=Path, required=True)
    program = (parser.parse_args().bin / "bench/message_cost").resolve()
    if not shutil.which("valgrind"):
        print("message_cost: skipped: valgrind is missing (scripts/install_deps.sh --with-tests)")
        return 77
    print("posted at once  instructions of ours a message  required")
    failed = False
    for post_list in SHOWN:
        cost = cost_of_message(program, post_list)
        most = REQUIRED.get(post_list)
        failed = failed or cost <= 0 or (most is not None and cost > most)
        print(f"{post_list:14}  {cost:30.1f}  {'' if most is None else f'at most {most}'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
