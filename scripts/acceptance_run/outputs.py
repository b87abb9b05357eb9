"""The files of a verdict: summary.txt, junit.xml, a textfile for Prometheus, the line of a Nagios plugin."""

import collections
import os
import re
import subprocess
import xml.etree.ElementTree as xml

from acceptance_run import folder
from acceptance_run.folder import ACCEPTED, BROKEN, SLOW, UNKNOWN, UNMEASURED
from acceptance_run.verdict import enumerated, one_line
from constants import NOT_JUDGED, OK, TOO_SLOW

NAGIOS = {"OK": 0, "WARNING": 1, "CRITICAL": 2, "UNKNOWN": 3}
MOST_IN_A_LINE = 8
STAGES = (("hosts", "hosts alone"), ("pairs", "pairs"), ("collectives", "collectives"))
WORDS = {ACCEPTED: "accepted", SLOW: "slow", BROKEN: "failed", UNKNOWN: "not judged", UNMEASURED: "not measured"}
NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def folded(hosts, list_hosts):
    """Hosts in Slurm's notation."""
    if not hosts:
        return ""
    try:
        ended = subprocess.run([list_hosts, "--fold", "--hostfile", "-"], input="\n".join(hosts) + "\n", timeout=60,
                               check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True)
        return ended.stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ",".join(hosts)


def summary(verdict, seconds, list_hosts):
    lines = [verdict.headline, ""]
    lines += ["Held against: {}".format(one_line(verdict.state.start["held_against"])), "Took: {:.0f} s".format(seconds)]
    for stage, title in STAGES:
        lines.append("{}: {}".format(title.capitalize(), stage_in_words(verdict, stage)))
    for title, hosts in (("Admit", verdict.admit), ("Drain", list(verdict.drain)), ("Undecided", list(verdict.undecided))):
        if hosts:
            lines += ["", "{}: {}".format(title, folded(hosts, list_hosts))] if title == "Admit" else [
                "{}: {}".format(title, folded(hosts, list_hosts))]
            reasons = {"Drain": verdict.drain, "Undecided": verdict.undecided}.get(title, {})
            lines += grouped(reasons)
    for title, texts in (("Slow or failed", verdict.findings), ("Not judged", verdict.open),
                         ("Not measured", verdict.unmeasured), ("Note", verdict.notes)):
        lines += ["{}: {}".format(title, one_line(text)) for text in texts]
    return "\n".join(lines) + "\n"


def grouped(reasons):
    """A line for each reason, with its hosts."""
    hosts_of = {}
    for host, reason in reasons.items():
        hosts_of.setdefault(one_line(reason), []).append(host)
    return ["  {}: {}".format(enumerated(hosts, MOST_IN_A_LINE), reason) for reason, hosts in hosts_of.items()]


def stage_in_words(verdict, stage):
    steps = verdict.state.of_stage(stage)
    if not steps:
        return "not measured"
    if stage == "pairs" and len(steps) > 1:  # after a repair, with other hosts
        return "{}, in the last of {} sweeps".format(WORDS[steps[-1]["outcome"]], len(steps))
    counts = [(outcome, sum(step["outcome"] == outcome for step in steps)) for outcome in folder.OUTCOMES]
    return ", ".join("{} {}".format(number, WORDS[outcome]) for outcome, number in counts if number)


def junit(verdict, seconds):
    root = xml.Element("testsuites", name="fabricbench acceptance")
    for stage, _ in STAGES:
        steps = verdict.state.of_stage(stage)
        cases = [(step["name"].partition("/")[2] or stage, step["seconds"], step["outcome"],
                  step["reason"] or WORDS[step["outcome"]]) for step in steps]
        add_suite(root, "acceptance." + stage, cases)
    cases = [(host, 0, ACCEPTED, "") for host in verdict.admit]
    cases += [(host, 0, BROKEN, reason) for host, reason in verdict.drain.items()]
    cases += [(host, 0, UNKNOWN, reason) for host, reason in verdict.undecided.items()]
    add_suite(root, "acceptance.verdict", cases)
    whole = {OK: ACCEPTED, TOO_SLOW: BROKEN}.get(verdict.exit_status, UNKNOWN)
    add_suite(root, "acceptance.run", [("run", seconds, whole, verdict.headline)])
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + xml.tostring(root, encoding="unicode") + "\n"


def add_suite(root, name, cases):
    """A test case for each (name, seconds, outcome, reason). What is unknown is an error, and not skipped: it is not ok."""
    suite = xml.SubElement(root, "testsuite", name=name, tests=str(len(cases)),
                           failures=str(sum(case[2] in (SLOW, BROKEN) for case in cases)),
                           errors=str(sum(case[2] in (UNKNOWN, UNMEASURED) for case in cases)), skipped="0",
                           time="{:.1f}".format(sum(case[1] for case in cases)))
    for case_name, seconds, outcome, reason in cases:
        case = xml.SubElement(suite, "testcase", classname=name, name=clean(case_name), time="{:.1f}".format(seconds))
        if outcome != ACCEPTED:
            kind = "failure" if outcome in (SLOW, BROKEN) else "error"
            xml.SubElement(case, kind, type=outcome, message=clean(reason)).text = clean(reason)


def clean(text):
    return NO_XML.sub("\ufffd", one_line(text))


def prometheus(verdict, seconds, finished_s):
    """Metrics for the textfile collector of node_exporter."""
    lines = []
    names = {"admitted": verdict.admit, "drained": verdict.drain, "undecided": verdict.undecided}
    add_metric(lines, "exit_status", "0 accepted, 6 slow or failed, 7 could not be judged", [({}, verdict.exit_status)])
    add_metric(lines, "hosts", "number of hosts by verdict",
               [({"verdict": name}, len(hosts)) for name, hosts in names.items()])
    add_metric(lines, "host_status", "0 admitted, 6 drained, 7 undecided",
               [({"host": host}, status) for status, hosts in ((OK, verdict.admit), (TOO_SLOW, verdict.drain),
                                                               (NOT_JUDGED, verdict.undecided)) for host in hosts])
    counts = collections.Counter((step["stage"], step["outcome"]) for step in verdict.state.steps.values())
    add_metric(lines, "steps", "number of steps by stage and outcome",
               [({"stage": stage, "outcome": outcome}, counts[stage, outcome])
                for stage, _ in STAGES for outcome in folder.OUTCOMES])
    add_metric(lines, "findings", "number of findings that no host explains", [({}, len(verdict.findings))])
    add_metric(lines, "duration_seconds", "duration of the run", [({}, "{:.1f}".format(seconds))])
    add_metric(lines, "finished_timestamp_seconds", "when the run ended", [({}, "{:.0f}".format(finished_s))])
    return "\n".join(lines) + "\n"


def add_metric(lines, name, meaning, values):
    name = "fabricbench_acceptance_" + name
    lines += ["# HELP {} {}".format(name, meaning), "# TYPE {} gauge".format(name)]
    for labels, value in values:
        inside = ",".join('{}="{}"'.format(key, escaped(text)) for key, text in labels.items())
        lines.append("{}{} {}".format(name, "{" + inside + "}" if inside else "", value))


def escaped(text):
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def nagios(verdict, seconds, interrupted):
    """(line, exit status) of a Nagios plugin."""
    if interrupted:
        state = "UNKNOWN"
    elif verdict.exit_status == TOO_SLOW:
        state = "CRITICAL"
    elif verdict.exit_status == NOT_JUDGED:
        state = "UNKNOWN"
    else:
        state = "WARNING" if verdict.warnings else "OK"
    words = verdict.headline if state != "WARNING" else "{}; {}".format(verdict.headline, verdict.warnings[0])
    number = len(verdict.state.hosts)
    return "ACCEPTANCE {} - {} | admitted={};;;0;{n} drained={};;;0;{n} undecided={};;;0;{n} time={:.0f}s".format(
        state, one_line(words).replace("|", "/"), len(verdict.admit), len(verdict.drain), len(verdict.undecided), seconds,
        n=number), NAGIOS[state]


def context_line(state):
    """The context of the run: that of the job over most hosts."""
    best = None
    for step in state.of_stage("hosts") + state.of_stage("collectives"):
        if step["records"] and step["outcome"] != UNMEASURED and (best is None or len(step["hosts"]) >= len(best["hosts"])):
            best = step
    if best is not None:
        try:
            with open(os.path.join(state.path, best["records"]), encoding="utf-8", errors="replace") as file:
                return next((line for line in file if folder.kind_of(line) == "context"), "")
        except OSError:
            pass
    return ""
