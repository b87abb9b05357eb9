"""Judges jobs of programs: how they ended, what a baseline says of them, and what carried their data."""

import collections
import os

import record_pair
import records
from acceptance_run import folder, hosts_alone
from acceptance_run.folder import ACCEPTED, BROKEN, UNKNOWN
from constants import NOT_JUDGED, OK, TIMEOUT, TOO_SLOW, WRONG_DATA

KEPT = ("context", "row", "end", "row_comparison", "history_change", "baseline_comparison")
LEAST_SHARE = 0.2       # of a host's busiest device, for another one to have carried data
LEAST_BYTES = 16 << 20  # that a host sent, before anything is said of its devices


def outcome_of(status, limit, program, out, err):
    """(outcome, reason) of a job that has ended."""
    lines = record_pair.json_lines(out)
    end = lines["end"][-1] if lines.get("end") else None
    if status == OK:
        return figures_of(program, lines) if end else (
            BROKEN, "{} ended with status 0 and without a line of kind `end`".format(program))
    said = record_pair.first_complaint(program, (err, out))
    reason = said or record_pair.clean(end["reason"] if end and end["reason"] else "")
    if status in (TOO_SLOW, NOT_JUDGED, WRONG_DATA, TIMEOUT) and reason:
        return (folder.outcome_of_status(status), reason)
    if status == record_pair.MPIRUN_TIMED_OUT or status in record_pair.TIMEOUT_TIMED_OUT:
        return BROKEN, "no result within {} s (--timeout){}".format(limit, ": " + reason if reason.startswith(program) else "")
    return folder.outcome_of_status(status), reason or "{} ended with status {}".format(program, status)


def figures_of(program, lines):
    """(outcome, reason) of a run that says that it ended well: what its rows say."""
    measured = 0
    for row in lines.get("row", []):
        if row["skipped"]:
            continue
        figures = [row[place] for place in ("out_of_place", "in_place") if row[place]]
        wrong = max((figure["wrong_elements"] or 0 for figure in figures), default=0)
        if wrong:
            return BROKEN, "{} delivered {} wrong elements at {} bytes".format(program, wrong, row["size_bytes"])
        if not figures or any(figure["time_us_median"] is None for figure in figures):
            return BROKEN, "{} has no time at {} bytes".format(program, row["size_bytes"])
        measured += 1
    return (ACCEPTED, None) if measured else (BROKEN, "{} measured nothing: it has no row".format(program))


def wrong_hosts(lines, hosts):
    """Why the figures are not of the hosts that were asked for; None: they are."""
    if not lines.get("context"):
        return None
    ran = {rank["host"] for rank in lines["context"][0]["rank_map"] or []}
    if len(ran) != len(hosts):
        return "{} host{} given, and the ranks ran on {}: {}".format(
            len(hosts), " was" if len(hosts) == 1 else "s were", len(ran), ", ".join(sorted(ran))[:80])
    return None


def kept_lines(out):
    """The lines of a program's JSON to keep, in order, as text: without epochs, of which rows have the medians."""
    found = []
    for line in out.splitlines():
        record = folder.RECORD.search(line)
        if record and record.group(1) in KEPT:
            found.append(line[record.start():])
    return found


def comparison_of(lines):
    """(outcome, reason) of the last baseline_comparison; None without one."""
    if not lines.get("baseline_comparison"):
        return None
    last = lines["baseline_comparison"][-1]
    reason = record_pair.clean(last["headline"] or "")
    return folder.outcome_of_status(last["exit_status"]), reason or None


def own_names(context, hosts):
    """{host of a context: its name in the list}: by name, and else by order."""
    by_short = collections.defaultdict(list)
    for host in hosts:
        by_short[record_pair.short_name(host)].append(host)
    seen = []
    for rank in context["rank_map"] or []:
        if rank["host"] not in seen:
            seen.append(rank["host"])
    names = {}
    for number, name in enumerate(seen):
        same = by_short[record_pair.short_name(name)]
        names[name] = same[0] if len(same) == 1 else hosts[number] if number < len(hosts) else name
    return names


def sent_by_device(state):
    """{host: {device: bytes sent}} over all collectives between hosts."""
    sent = collections.defaultdict(collections.Counter)
    for step in state.of_stage("collectives"):
        lines = folder.read_records(os.path.join(state.path, step["records"])) if step["records"] else {}
        for context in lines.get("context", [])[:1]:
            names = own_names(context, step["hosts"])
            for row in lines.get("row", []):
                for place in ("out_of_place", "in_place"):
                    for wire in (row[place]["wires"] if row[place] else None) or []:
                        if not hosts_alone.NO_NIC.match(wire["wire"]):
                            sent[names.get(wire["host"], wire["host"])][wire["wire"]] += wire["sent_bytes"]
    return sent


def carriers(sent):
    """{host: devices that carried what it sent}, of hosts that sent enough."""
    found = {}
    for host, devices in sent.items():
        most = max(devices.values(), default=0)
        if sum(devices.values()) >= LEAST_BYTES:
            found[host] = ", ".join(sorted(name for name, bytes_sent in devices.items() if bytes_sent >= LEAST_SHARE * most))
    return found


def odd_carriers(state):
    """({host: words}, [words]): hosts whose data went over other devices than most others', and differences of two."""
    found = carriers(sent_by_device(state))
    counts = collections.Counter(found.values())
    if len(counts) < 2:
        return {}, []
    usual, agree = counts.most_common(1)[0]
    if len(found) < hosts_alone.FEWEST or agree < folder.enough(len(found)):
        return {}, ["data went over {}".format(", ".join("{} on {}".format(devices, ", ".join(sorted(
            host for host, own in found.items() if own == devices))[:60]) for devices in sorted(counts)))]
    return {host: "its data went over {}, that of {} others over {}".format(devices, agree, usual)
            for host, devices in found.items() if devices != usual}, []


def judge_job(job, compare):
    """(outcome, reason, lines to keep) of a job; `compare` runs the comparison with a baseline and returns its lines."""
    out, err = record_pair.read_text(job.out), record_pair.read_text(job.err)
    lines = record_pair.json_lines(out)
    try:
        with records.expected(job.program):
            outcome, reason = outcome_of(job.status, job.limit, job.program, out, err)
            problem = wrong_hosts(lines, job.hosts)
            hosts_alone.read(lines)
    except ValueError as odd:
        return BROKEN, str(odd), []
    kept = kept_lines(out)
    if problem:
        return BROKEN, problem, kept
    if outcome == ACCEPTED and compare:
        extra, failure = compare(kept)
        kept += extra
        judged = comparison_of(record_pair.json_lines("\n".join(extra)))
        outcome, reason = judged or (UNKNOWN, failure)
    return outcome, reason, kept
