#!/usr/bin/env python3
"""Writes and reads the records of sweep_pairs.sh: JSON Lines.

    sweep_record.py begin FILE --hosts FILE [--locality FILE] [--set NAME=VALUE]...   writes the first lines of a new file
    sweep_record.py hosts FILE          prints the sweep's hosts, one per line; nobody else may be at work on it
    sweep_record.py get FILE NAME       prints a value of --set; nothing if it was not set
    sweep_record.py count FILE ROUND    prints the number of readings of a round by status
    sweep_record.py only_failures FILE  prints the most frequent reason if no reading has a figure; otherwise nothing
    sweep_record.py last FILE           prints the number of the last round; -1 without readings
    sweep_record.py unmeasured FILE RAILS
                                        prints lines of a round on standard input once for each rail that they have no
                                        reading over, behind its name, with the number of such lines as that of pairs
    sweep_record.py of_rail FILE RAIL   prints the file without readings of other rails
    sweep_record.py part FILE --hosts FILE --from FILE [--rail RAIL]
                                        appends the readings of one run of pairwise_bw, and prints silent hosts
"""

import argparse
import collections
import contextlib
import datetime
import json
import sys

sys.dont_write_bytecode = True  # the folder may be shared, or not ours
import records
from record_pair import append, clean, json_lines, read_text, short_name


def lines_of(path):
    """The records in a file. Skips other lines: a truncated last line, or another program's output."""
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            with contextlib.suppress(ValueError):
                yield records.read(line)


def names_in(path):
    return [line.strip() for line in read_text(path).splitlines() if line.strip()]


def dump(value):
    return json.dumps(value, separators=(",", ":"))


def leafs_in(path, hosts):
    """The leaves of the sweep's hosts, from a file of lines `HOST LEAF`."""
    known = set(hosts)
    found = {}
    for number, line in enumerate(read_text(path).splitlines(), 1):
        words = line.partition("#")[0].split()
        if words and len(words) != 2:
            sys.exit("sweep_record: {}, line {}: '{}' is not a host and its leaf".format(path, number, line.strip()))
        if words and words[0] in known:
            found[words[0]] = words[1]
    return found


def begin(options):
    hosts = names_in(options.hosts)
    first = {"kind": "sweep", "hosts": hosts,
             "began_utc": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")}
    first.update(setting.split("=", 1) for setting in options.set)
    lines = [dump(first)]
    if options.locality:
        leafs = leafs_in(options.locality, hosts)
        if len(leafs) < len(hosts):
            print("sweep_record: {} has no leaf for {} of the {} hosts".format(
                options.locality, len(hosts) - len(leafs), len(hosts)), file=sys.stderr)
        lines += [dump({"kind": "locality", "host": host, "leaf": leaf}) for host, leaf in leafs.items()]
    append(options.file, lines)


def sweep_line(path):
    return next((value for value in lines_of(path) if value.get("kind") == "sweep"), None)


def hosts(options):
    records.lock(options.file)
    sweep = sweep_line(options.file)
    if sweep is None:
        raise ValueError("{} has no line of kind `sweep`, so sweep_pairs.sh did not write it".format(options.file))
    for host in records.host_names(sweep["hosts"], 2):
        print(host)


def get(options):
    print((sweep_line(options.file) or {}).get(options.name, ""))


def readings_of(path):
    return (value for value in lines_of(path) if value.get("kind") == "reading")


def count(options):
    ends = collections.Counter(value["status"] for value in readings_of(options.file) if value["round"] == options.round)
    print(", ".join("{} {}".format(number, status.replace("_", " ")) for status, number in ends.most_common()) or "nothing")


def only_failures(options):
    reasons = collections.Counter()
    for value in readings_of(options.file):
        if value["bandwidth_gb_per_s"] is not None:
            return
        reasons[value["reason"]] += 1
    for reason, number in reasons.most_common(1):
        print("{} of {} readings say: {}".format(number, sum(reasons.values()), reason))


def last(options):
    print(max((value["round"] for value in readings_of(options.file)), default=-1))


def unmeasured(options):
    lines = [line.rstrip("\n").split("\t") for line in sys.stdin]
    known = {(str(value["round"]), value["from_host"], value["to_host"], value["from_rail"])
             for value in readings_of(options.file)}
    for rail in options.name.split(","):
        left = [(number, *pair) for number, _, *pair in lines if (number, *pair, rail) not in known]
        for number, first, second in left:
            print(rail, number, len(left), first, second, sep="\t")


def of_rail(options):
    for value in lines_of(options.file):
        if value.get("kind") != "reading" or (value.get("from_rail") or "") == options.name:
            print(dump(value))


def names_of_ranks(names, lines):
    """The listed names of hosts by rank: matched by the hosts' own names, else in the launcher's order."""
    context = lines.get("context")
    if not context:
        return {}
    by_short_name = collections.defaultdict(list)
    for name in names:
        by_short_name[short_name(name)].append(name)
    found = {}
    for rank in context[0]["rank_map"]:
        same = by_short_name[short_name(rank["host"])]
        found[rank["rank"]] = same[0] if len(same) == 1 else names[rank["rank"]] if rank["rank"] < len(names) else rank["host"]
    return found


def part(options):
    """Renames only the hosts of readings, to their names in the list."""
    lines = json_lines(read_text(options.source))
    names = names_of_ranks(names_in(options.hosts), lines)
    own = {rank["host"]: names[rank["rank"]] for context in lines.get("context", [])[:1] for rank in context["rank_map"]}
    readings = []
    for value in lines.get("reading", []):
        value["from_host"] = names.get(value["from_rank"], value["from_host"])
        value["to_host"] = names.get(value["to_rank"], value["to_host"])
        value.setdefault("test", "pairwise_bw")
        if options.rail:
            value["from_rail"] = value["to_rail"] = options.rail
        readings.append(dump(value))
    append(options.file, readings + [dump(value) for value in lines.get("plan", [])])
    for value in lines.get("silent", []):
        for host in value["hosts"]:
            print(own.get(host, host))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command")
    commands.required = True
    for work in (begin, hosts, get, count, only_failures, last, unmeasured, of_rail, part):
        command = commands.add_parser(work.__name__)
        command.set_defaults(work=work)
        command.add_argument("file")
        if work in (begin, part):
            command.add_argument("--hosts", required=True)
        if work is begin:
            command.add_argument("--locality")
            command.add_argument("--set", action="append", default=[])
        if work in (get, unmeasured, of_rail):
            command.add_argument("name")
        if work is count:
            command.add_argument("round", type=int)
        if work is part:
            command.add_argument("--from", dest="source", required=True)
            command.add_argument("--rail")
    options = parser.parse_args()
    try:
        with records.expected(options.file):
            options.work(options)
    except (OSError, ValueError) as problem:
        sys.exit("sweep_record: {}".format(clean(str(problem))))


if __name__ == "__main__":
    main()
