#!/usr/bin/env python3
"""Plans and judges the acceptance run of accept.sh in a folder.

    acceptance.py begin FOLDER --hosts FILE --held-against TEXT --words FILE
        writes the first line; FILE has the words of the command, each ended
        by a NUL
    acceptance.py words FOLDER
        prints the options of the command, each ended by a NUL; the folder has
        to be as accept.sh makes them
    acceptance.py hosts FOLDER
        prints the hosts, one per line; nobody else may be at work there
    acceptance.py collect FOLDER --work DIR
        judges jobs that have ended, and adds their lines
    acceptance.py next FOLDER --work DIR
        does that, and prints the next steps: STAGE MODE LIMIT, then NAME
        RECORDS PROGRAM HOST... each
    acceptance.py sweep FOLDER --work DIR
        judges the sweep that has ended, and adds its line
    acceptance.py verdict FOLDER
        writes verdict, summary.txt, junit.xml; prints the summary or the line
        of Nagios

All but the first three take the settings of accept.sh; see --help.
"""

import argparse
import collections
import datetime
import os
import shlex
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # the folder may be shared, or not ours
import record_pair
import records
from acceptance_run import collectives, folder, outputs
from acceptance_run.folder import ACCEPTED, BROKEN, BROKEN_OFF, CUT, UNKNOWN, UNMEASURED
from acceptance_run.plan import Plan, Settings, judge_hosts, next_batch
from acceptance_run.verdict import Verdict
from constants import FAILED, NOT_JUDGED, OK, SCHEMA_VERSION, TOO_SLOW, USAGE

JOB_FILES = ("status", "seconds", "limit", "cut", "name", "records", "program", "command")
INTERRUPTED = 130
Job = collections.namedtuple("Job", "folder out err status seconds limit cut name records program command hosts")


def say(*words):
    print("accept.sh:", *words, file=sys.stderr, flush=True)


def names_in(path):
    return [line.strip() for line in record_pair.read_text(path).splitlines() if line.strip()]


def share_of(text):
    """A share such as 5% or 0.05."""
    try:
        value = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        value = -1
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError("'{}' is not a share; write one such as 5% or 0.05".format(text))
    return value


def listed(text):
    return [word.strip() for word in text.split(",") if word.strip()]


def settings_of(options):
    return Settings(options.programs, options.allow, options.tolerance, options.keep_going, options.recheck or [],
                    options.baseline, options.time, options.left)


def plan_of(options):
    return Plan(folder.State(options.folder), settings_of(options))


def begin(options):
    records.lock(options.folder)
    os.makedirs(os.path.join(options.folder, "hosts"), exist_ok=True)
    os.makedirs(os.path.join(options.folder, "collectives"), exist_ok=True)
    started = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    record_pair.append(os.path.join(options.folder, folder.STATE), [folder.dump({
        "kind": "acceptance", "schema_version": SCHEMA_VERSION, "fabricbench_version": options.version, "began_utc": started,
        "hosts": names_in(options.hosts), "held_against": options.held_against,
        "command": " ".join(shlex.quote(word) for word in record_pair.read_text(options.words).split("\0")[:-1])})])
    return OK


def words(options):
    folder.check(options.folder)
    for word in shlex.split(folder.State(options.folder).start["command"])[1:]:
        sys.stdout.write(word + "\0")
    return OK


def hosts(options):
    records.lock(options.folder)
    folder.repair(os.path.join(options.folder, folder.STATE))
    for host in folder.State(options.folder).hosts:
        print(host)
    return OK


def lines_in(work, name):
    """The lines of a file of this call of accept.sh; empty before the first one."""
    path = os.path.join(work, name)
    return set(names_in(path)) if os.path.exists(path) else set()


def next_steps(options):
    status = collect(options)
    if status != OK:
        return status
    plan = plan_of(options)
    while True:
        batch = next_batch(plan, lines_in(options.work, "passed"), lines_in(options.work, "done"))
        if not batch.passed:
            break
        for job, reason in batch.passed:
            stage = job.name.partition("/")[0]
            plan.state.add(folder.make_step(job.name, stage, job.hosts, UNMEASURED, reason))
            say("{}: not measured: {}".format(job.name, reason))
        record_pair.append(os.path.join(options.work, "passed"), [job.name for job, _ in batch.passed])
    if batch.stage:
        print("\t".join((batch.stage, "together" if batch.together else "alone",
                         "" if batch.limit_s is None else str(batch.limit_s))))
        for job in batch.steps:
            print("\t".join([job.name, job.records, job.program or "-"] + job.hosts))
    return OK


def job_in(path):
    values = {name: record_pair.read_text(os.path.join(path, name)).strip() for name in JOB_FILES}
    values.update(status=int(values["status"]), seconds=float(values["seconds"]), limit=int(values["limit"]),
                  cut=values["cut"] == "yes")
    return Job(folder=path, out=os.path.join(path, "out"), err=os.path.join(path, "err"),
               hosts=names_in(os.path.join(path, "hosts")), **values)


def comparer(options, all_hosts, job):
    """Compares lines of a run with the baseline; None without one."""
    if not options.baseline:
        return None
    allowed = list(options.allow)
    if not is_beginning(job.hosts, all_hosts):
        allowed.append("hosts")  # some are left out, so these are others than those of the baseline

    def call(run, result, keys):
        command = [options.fabricbench, "compare", options.baseline, run, "--json", result, "--force"]
        return subprocess.run(command + (["--allow", ",".join(keys)] if keys else []), timeout=300, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True)

    def compare(kept):
        run, result = os.path.join(job.folder, "run.jsonl"), os.path.join(job.folder, "comparison.jsonl")
        folder.replace(run, "\n".join(kept) + "\n")
        try:
            ended = call(run, result, allowed)
            if ended.returncode == USAGE:  # some keys are of hosts, or of other launches
                ended = call(run, result, [key for key in allowed if call(run, result, [key]).returncode != USAGE])
        except (OSError, subprocess.SubprocessError) as problem:
            return [], "cannot be compared with the baseline: {}".format(record_pair.clean(str(problem)))
        extra = names_in(result) if os.path.exists(result) else []
        return extra, record_pair.clean(ended.stderr) or "cannot be compared with the baseline"

    return compare


def is_beginning(some, all_hosts):
    return len(some) == 1 or list(some) == list(all_hosts[:len(some)])


def keep_log(options, job):
    """Keeps the output of a job that did not end well. Returns the log's path in the folder."""
    os.makedirs(os.path.join(options.folder, "logs"), exist_ok=True)
    path = os.path.join("logs", folder.file_name(job.name.replace("/", "-")) + ".log")
    folder.replace(os.path.join(options.folder, path), "$ {}\n{}\n{}".format(
        job.command, record_pair.read_text(job.err), record_pair.read_text(job.out)))
    return path


def step_of(options, state, job):
    stage = job.name.partition("/")[0]
    common = {"command": job.command, "seconds": job.seconds}
    if job.cut and job.status != OK:
        return folder.make_step(job.name, stage, job.hosts, UNMEASURED, CUT, **common)
    outcome, reason, kept = collectives.judge_job(job, comparer(options, state.hosts, job))
    records = job.records if kept else None
    if kept:
        folder.replace(os.path.join(options.folder, job.records), "\n".join(kept) + "\n")
    status = job.status
    if job.status == OK and outcome != ACCEPTED:
        status = {BROKEN: FAILED, UNKNOWN: NOT_JUDGED}.get(outcome, TOO_SLOW) if stage != "hosts" or outcome == BROKEN else OK
    if outcome not in (ACCEPTED, UNKNOWN) or job.status not in (OK, TOO_SLOW, NOT_JUDGED):
        keep_log(options, job)
    return folder.make_step(job.name, stage, job.hosts, outcome, reason, records, exit_status=status, **common)


def collect(options):
    """Judges jobs whose folder has a file `ended`. Exit status 2: the program refused its options, as it would every time."""
    state = folder.State(options.folder)
    jobs = os.path.join(options.work, "jobs")
    for name in sorted(os.listdir(jobs)):
        path = os.path.join(jobs, name)
        if not os.path.exists(os.path.join(path, "ended")):
            continue
        job = job_in(path)
        if job.status == USAGE:
            say("{}: {}".format(job.name, record_pair.first_complaint(job.program, (
                record_pair.read_text(job.err), record_pair.read_text(job.out))) or "the options were refused"))
            return USAGE
        step = step_of(options, state, job)
        state.add(step)
        again = " again" if job.records.endswith(folder.AGAIN) else ""
        record_pair.append(os.path.join(options.work, "done"), [job.name + again])
        shutil.rmtree(path, ignore_errors=True)
        if step["outcome"] != ACCEPTED or step["stage"] != "hosts":
            say("{}: {} in {:.0f} s{}".format(step["name"], outputs.WORDS[step["outcome"]], step["seconds"],
                                              ": " + step["reason"] if step["reason"] else ""))
    return OK


def sweep(options):
    """Judges the readings of a sweep. It may have been ended early, by --time or by a signal."""
    ended_early = BROKEN_OFF if options.interrupted else CUT if options.cut else None
    state = folder.State(options.folder)
    records = os.path.join(options.folder, options.records)
    verdict = records[:-len(".jsonl")] + "-verdict.jsonl"
    status, said = options.status, ""
    if os.path.exists(records):
        ended = subprocess.run([options.find_slow_links, "--tolerance", str(options.tolerance)] + (
            ["--expect", options.expect_of_pairs] if options.expect_of_pairs else []) + ["--json", verdict, records],
            check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        said = record_pair.clean(ended.stderr)
        if not (ended_early or status in (OK, TOO_SLOW, NOT_JUDGED)):
            said = options.complaint or said
        else:
            status = ended.returncode
    step_hosts = names_in(os.path.join(options.work, "pair_hosts"))
    plan = Plan(state, settings_of(options))
    step = folder.make_step(options.name, "pairs", step_hosts, folder.outcome_of_status(status), None, options.records,
                            options.command, status, options.seconds)
    found = plan.verdict_of(step) if status in (OK, TOO_SLOW, NOT_JUDGED) else None
    if options.interrupted and found is None:  # before the first reading
        return OK
    outcome, reason = judge_sweep(found, status, said)
    if ended_early:
        outcome = UNKNOWN if outcome == ACCEPTED and found is None else outcome
        reason = "{}{}".format(ended_early, "; " + reason if reason else "")
    state.add(dict(step, outcome=outcome, reason=reason))
    record_pair.append(os.path.join(options.work, "done"), [options.name])
    say("{}: {} in {:.0f} s{}".format(options.name, outputs.WORDS[outcome], options.seconds, ": " + reason if reason else ""))
    return OK


def judge_sweep(found, status, said):
    if found is None:
        outcome = UNKNOWN if status in (OK, NOT_JUDGED) else BROKEN
        return outcome, said or "the sweep ended with status {}".format(status)
    reasons = ["{} {}".format(host, reason.partition(" (")[0]) for host, reason in found.drained.items()]
    reasons += [text for _, _, text in found.findings]
    if reasons:
        return folder.SLOW, "; ".join(reasons[:4])
    if found.open or found.undecided or status == NOT_JUDGED:
        undecided = ["{}: {}".format(*item) for item in list(found.undecided.items())[:2]]
        return UNKNOWN, "; ".join(found.open[:2] + undecided) or said
    return folder.outcome_of_status(status), None


def verdict(options):
    plan = plan_of(options)
    compared = judge_hosts(plan)
    found = Verdict(plan, compared)
    status = INTERRUPTED if options.interrupted else found.exit_status
    plan.state.add_verdict(found.record(options.seconds, status))
    write = {"summary.txt": outputs.summary(found, options.seconds, options.list_hosts),
             "junit.xml": outputs.junit(found, options.seconds),
             "admit.txt": "".join(host + "\n" for host in found.admit),
             "drain.txt": "".join(host + "\n" for host in found.drain),
             "context.jsonl": outputs.context_line(plan.state)}
    for name, text in write.items():
        folder.replace(os.path.join(options.folder, name), text)
    if options.prometheus:
        folder.replace(options.prometheus, outputs.prometheus(found, options.seconds, time.time()))
    line, code = outputs.nagios(found, options.seconds, options.interrupted)
    print(line if options.nagios else write["summary.txt"], end="\n" if options.nagios else "")
    return code if options.nagios else status


def read_command_line():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work_to_do", metavar="COMMAND", choices=sorted(COMMANDS))
    parser.add_argument("folder", metavar="FOLDER")
    parser.add_argument("--work", help="folder of the files of this call")
    parser.add_argument("--hosts", help="begin: file with the hosts")
    parser.add_argument("--held-against", help="begin: what figures are compared with")
    parser.add_argument("--version", default="", help="begin: version of the programs")
    parser.add_argument("--words", help="begin: file with the words of the command")
    for name in ("programs", "allow", "recheck"):
        parser.add_argument("--" + name, type=listed, default=[])
    parser.add_argument("--tolerance", type=share_of, default=0.05)
    parser.add_argument("--keep-going", action="store_true")
    for name in ("baseline", "fabricbench", "list-hosts", "find-slow-links", "expect-of-pairs", "prometheus"):
        parser.add_argument("--" + name)
    for name in ("time", "left", "seconds"):
        parser.add_argument("--" + name, type=float)
    for name in ("name", "records", "command", "complaint"):
        parser.add_argument("--" + name, help="sweep: about the sweep")
    parser.add_argument("--status", type=int, help="sweep: how it ended")
    for name in ("cut", "interrupted", "nagios"):
        parser.add_argument("--" + name, action="store_true")
    return parser.parse_args()


COMMANDS = {"begin": begin, "words": words, "hosts": hosts, "next": next_steps, "collect": collect, "sweep": sweep,
            "verdict": verdict}


def main():
    options = read_command_line()
    try:
        with records.expected(options.folder):
            return COMMANDS[options.work_to_do](options)
    except KeyboardInterrupt:  # accept.sh has it, too
        return INTERRUPTED
    except (OSError, ValueError) as problem:
        say(record_pair.clean(str(problem)))
        return FAILED


if __name__ == "__main__":
    sys.exit(main())
