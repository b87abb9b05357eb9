#!/usr/bin/env python3
"""Programs over hosts made of network namespaces, while an interface goes down, a host is gone or frozen, a link is slow,
a disk is full, or a folder vanishes: each job must end, say what happened, and leave whole records (docs/reliability.md).
"""

import argparse
import json
import os
import random
import re
import signal
import sys
import time
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jsonschema

from judging import rows
from namespace_hosts import Hosts, where_hosts_can_be_made
from network_jobs import (FAULTS, GOOD, GRACE_S, HOSTS, LAUNCHERS, OK, PROGRAMS, SCRIPT_FAULTS, SCRIPT_RUNS, TIMEOUT,
                          make_job, patience_s)
from page import read_table, write_summary

sys.path.append(str(Path(__file__).parents[1] / "cli"))
from schema import validate  # noqa: E402

TRIES = 3  # other work on the machine can use up a limit of seconds
MPIRUNS_LIMIT = 110  # its status where it ended a job by its own limit
Combination = namedtuple("Combination", "program fault victim")
Outcome = namedtuple("Outcome", "combination status seconds said_after_s problem said memory")


def can_meet(name, label):
    if name in SCRIPT_RUNS:
        return label in SCRIPT_FAULTS
    return not (name == "barrier_perf" and "short limit" in label)  # it has no data


def combinations(programs, faults):
    for name in programs:
        for label in faults:
            if not can_meet(name, label):
                continue
            victims = FAULTS[label].victims[:1 if name == "pairwise_bw" or name in SCRIPT_RUNS else None]
            yield from (Combination(name, label, victim) for victim in victims)


def attempt(hosts, programs, combination, more):
    """One job. `more`: how much longer the time limit is than usual."""
    fault = {**FAULTS, GOOD.label: GOOD}[combination.fault]
    with make_job(hosts, programs, combination.program, fault, fault.limit_s * more) as job:
        job.start()
        job.plant(combination.victim)
        status = job.wait()
        seconds = time.monotonic() - job.planted
        hosts.plug_in(combination.victim)
        hosts.signal(combination.victim, signal.SIGCONT)
        left = hosts.left_over(GRACE_S)
        problem = Judge(combination, job, status, left).problem()
        said = job.own_lines() if job.own_lines() and not problem else [job.text("err")]
        return Outcome(combination, status, seconds, job.said_after_s, problem, "\n".join(said), memory_of(job))


def memory_of(job):
    """Peak bytes of the largest rank, as the end of the record says."""
    text = job.record.read_text(errors="replace") if job.record.exists() else ""
    found = re.findall(r'"peak_memory_bytes":(\d+)', text)
    return int(found[-1]) if found else 0


def run(programs, combination):
    """The outcome. What other work on the machine may have caused is tried again, with more time."""
    for this in range(TRIES):
        with Hosts(HOSTS) as hosts:
            outcome = attempt(hosts, programs, combination, 2**this)
        if not outcome.problem:
            break
        print(f"try {this + 1} of {TRIES}: {line_of(outcome)}\n{outcome.said}", file=sys.stderr, flush=True)
    return outcome


class Judge:
    """Whether a job kept what the project promises."""

    def __init__(self, combination, job, status, left):
        self.combination, self.job, self.status, self.left = combination, job, status, left
        self.fault = job.fault if job.has_met else GOOD
        self.said = job.text("err")

    def problem(self):
        """What was not kept; empty: nothing."""
        if self.status is None:
            return "did not end"
        checks = (self.of_status, self.of_message, self.of_host, self.of_time, self.of_rows, self.of_record, self.of_rest)
        return next((problem for check in checks if (problem := check())), "")

    def of_status(self):
        if self.combination.program in SCRIPT_RUNS:
            return self.of_status_of_script()
        if self.fault.statuses is LAUNCHERS:
            return "exit status 0" if self.status == OK else ""
        return "" if self.status in self.fault.statuses else f"status {self.status} instead of {self.fault.statuses}"

    def of_status_of_script(self):
        if self.combination.program == "check_node_pair.sh":
            most = {OK} if self.fault is GOOD else {OK, 1, TIMEOUT}  # it may have measured already
        else:
            most = {OK, 6, 7}  # verdicts
        return "" if self.status in most else f"status {self.status} of the script"

    def of_message(self):
        if self.combination.program in SCRIPT_RUNS:
            named = self.job.hosts.names[self.combination.victim] in self.said + self.job.text("out")
            return "" if named or not self.fault.named or self.status == OK else "does not name the host"
        return "" if re.search(self.fault.says, self.said) else f"does not say /{self.fault.says}/"

    def of_host(self):
        """Who is gone, and who waits."""
        if not self.fault.named or self.combination.program in SCRIPT_RUNS:
            return ""
        if self.job.hosts.names[self.combination.victim] not in self.said:
            return "does not name the host"
        waits = r"waits? for|to meet|nothing moved between|lost the connection|did not answer|communication"
        return "" if re.search(waits, self.said) else "does not say who waits"

    def of_time(self):
        """The program's message, before the launcher's part of the end."""
        if self.status != TIMEOUT or self.job.said_after_s is None:
            return ""
        most_s = patience_s(self.job.limit_s) + GRACE_S
        return f"said it after {self.job.said_after_s:.1f} s" if self.job.said_after_s > most_s else ""

    def of_rows(self):
        printed = rows(self.job.text("out"))
        wrong = [field for row in printed for field in row if re.fullmatch(r"nan|inf|-\d.*", field) and field != "-1"]
        if wrong:
            return f"printed {wrong[0]}"
        no_table = self.combination.program in SCRIPT_RUNS
        return "exit status 0 without a row" if self.status == OK and not printed and not no_table else ""

    def of_record(self):
        """Lines are whole and as the schema says, where the folder is there."""
        if not self.job.record.exists():
            return ""
        text = self.job.record.read_text(errors="replace")
        if text and not text.endswith("\n") and "cut" not in self.said:
            return "the record ends in half a line, and no message says so"
        try:
            lines = [json.loads(line) for line in text.splitlines()]
            validate(lines)
        except (ValueError, jsonschema.ValidationError) as problem:
            return f"the record is damaged: {str(problem).splitlines()[0]}"
        ends = [line["exit_status"] for line in lines if line["kind"] == "end"]
        writer_is_frozen = self.combination.victim == 0 and self.combination.fault == "host frozen"
        if self.combination.program in SCRIPT_RUNS:
            return ""
        if self.status in (OK, TIMEOUT) and ends != [self.status] and not writer_is_frozen:
            return f"the record has ends {ends}, and the job {self.status}"
        return "wrong data" if any(line.get("wrong_checks") for line in lines) else ""

    def of_rest(self):
        """The daemon of a host that was out of reach has not heard of the end yet."""
        left = [each for each in self.left if not ("interface down" in self.fault.label and each.startswith("orted"))]
        return f"left {left}" if left else ""


HEADER = "program\tfault\thost\tstatus\tseconds\tsaid after\tverdict\tmessage"


def line_of(outcome):
    said_after = "" if outcome.said_after_s is None else f"{outcome.said_after_s:.1f}"
    first = re.sub(r"\s+", " ", " | ".join(outcome.said.splitlines()[:4]))
    return "\t".join(map(str, (*outcome.combination, outcome.status, f"{outcome.seconds:.1f}", said_after,
                               outcome.problem or "kept", first)))


def run_all(programs, chosen, jobs, table=None):
    """The outcomes as they come, each a line in the table."""
    lines = table.open("w") if table else None
    if lines:
        print(HEADER, file=lines, flush=True)
    pool = ThreadPoolExecutor(jobs)
    try:
        for outcome in pool.map(lambda each: run(programs, each), chosen):
            if lines:
                print(line_of(outcome), file=lines, flush=True)
            yield outcome
    finally:
        pool.shutdown(cancel_futures=True)  # who ends the campaign does not wait for those that have not begun


def summary(found):
    """The table of docs/reliability.md: a row for each fault."""
    yield "| fault | combinations | exit status 0 | 4 | 1 | others | message after, median and most | promises broken |"
    yield "|---|---|---|---|---|---|---|---|"
    for label in FAULTS:
        rows_of_fault = [row for row in found if row["fault"] == label]
        if not rows_of_fault:
            continue
        statuses = [row["status"] for row in rows_of_fault]
        own = [statuses.count(status) for status in ("0", "4", "1")]
        after = sorted(float(row["said after"]) for row in rows_of_fault if row["said after"])
        times = f"{after[len(after) // 2]:.1f} s, {after[-1]:.1f} s" if after else "-"
        broken = sum(1 for row in rows_of_fault if row["verdict"] != "kept")
        yield "| " + " | ".join(map(str, (label, len(statuses), *own, len(statuses) - sum(own), times, broken))) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", default=os.environ.get("FABRICBENCH_PROGRAMS"), help="folder of the programs")
    parser.add_argument("--program", action="append", choices=(*PROGRAMS, *SCRIPT_RUNS),
                        help="only this one; may be repeated")
    parser.add_argument("--fault", action="append", choices=FAULTS, help="only this one; may be repeated")
    parser.add_argument("--sample", type=int, help="draw so many combinations; default: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="jobs at the same time, whose ranks poll")
    parser.add_argument("--table", type=Path, help="write a line for each combination to this file")
    parser.add_argument("--page", type=Path, help="then put the summary of the table into this page")
    options = parser.parse_args()
    chosen = list(combinations(options.program or (*PROGRAMS, *SCRIPT_RUNS), options.fault or FAULTS))
    if options.sample:
        chosen = random.Random(options.seed).sample(chosen, options.sample)
    print(f"{len(chosen)} combinations", flush=True)
    outcomes = list(run_all(options.programs, chosen, options.jobs, options.table))
    broken = [outcome for outcome in outcomes if outcome.problem]
    for outcome in broken:
        print(f"{line_of(outcome)}\n{outcome.said}\n", flush=True)
    print(f"{len(outcomes)} were run, {len(broken)} broke a promise")
    if options.page and options.table:
        write_summary(options.page, "network", summary(read_table(options.table, HEADER)))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(where_hosts_can_be_made(main))
