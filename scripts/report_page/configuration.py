"""What was run where, and the files that were read."""

import shlex

from report_page.blocks import Cell, Section, Table, Number, text_or_unknown, whole
from report_page.words import counted, printable


def section(results):
    blocks = []
    if results.runs():
        blocks.append(run_table(results.runs()))
        blocks += host_tables(results.runs())
    blocks.append(file_table(results))
    return Section("configuration", "Runs, hosts and files", [], blocks)


def run_table(runs):
    columns = [
        "file",
        "program",
        "began",
        Number("exit status"),
        "backend",
        "library",
        Number("ranks"),
        Number("hosts"),
        "version",
        "command",
    ]
    rows = []
    for run in runs:
        context = run.context
        status = Cell("no end", None, "bad") if run.end is None else whole(run.end["exit_status"])
        rows.append(
            [
                run.file.name,
                context["program"],
                text_or_unknown(context["started_utc"]),
                status,
                text_or_unknown(context["backend"]),
                text_or_unknown(context["library"]),
                whole(context["ranks"]),
                whole(len(context["hosts"] or [])),
                text_or_unknown(context["fabricbench_version"]),
                shlex.join(map(printable, context["command_line"] or [])),
            ]
        )
    return Table("Runs", columns, rows)


def host_tables(runs):
    hosts = {}
    for run in runs:
        for host in run.context["hosts"] or []:
            hosts.setdefault(host["name"], host)
    rows, devices = [], []
    for name, host in hosts.items():
        rows.append(
            [
                name,
                text_or_unknown(host["kernel"]),
                text_or_unknown(host["processor"]),
                whole(host["processing_units"]),
                whole(len(host["numa_nodes"] or [])),
                text_or_unknown(host["switches"]),
            ]
        )
        for device in host["network_devices"] or []:
            speed = device["speed_mbit_per_s"]
            devices.append(
                [
                    name,
                    device["name"],
                    text_or_unknown(device["kind"]),
                    text_or_unknown(device["state"]),
                    whole(speed),
                    whole(device["mtu_bytes"]),
                    text_or_unknown(device["driver"]),
                    text_or_unknown(device["firmware"]),
                ]
            )
    tables = [
        Table(
            "Hosts", ["host", "kernel", "processor", Number("hardware threads"), Number("NUMA nodes"), "switches"], rows
        )
    ]
    if devices:
        columns = ["host", "device", "kind", "state", Number("Mbit/s"), Number("MTU"), "driver", "firmware"]
        tables.append(Table("Network devices", columns, devices))
    return tables


def file_table(results):
    rows = [
        [
            file.name,
            contents_of(file),
            Cell(
                counted(len(file.problems), "problem") if file.problems else "none",
                None,
                "bad" if file.problems else "",
            ),
        ]
        for file in results.files
    ]
    rows += [[name, "cannot be read", Cell(reason, None, "bad")] for name, reason in results.unreadable]
    return Table("Files", ["file", "lines by kind", "problems"], rows)


def contents_of(file):
    return ", ".join(f"{count:,} {kind}" for kind, count in file.kinds.items() if count) or "nothing"
