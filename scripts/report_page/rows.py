"""The rows of runs as series over sizes, with the keys of baselines (src/cluster/run/launch_recorder.cpp)."""

import statistics
from collections import namedtuple
from dataclasses import dataclass, field

from report_page.words import printable

Key = namedtuple("Key", "subject test datatype reduction root placement")  # None: none

OF_PAIRS = ("latency", "bandwidth", "both_ways")
PLACEMENTS = {"out_of_place": "out of place", "in_place": "in place"}


@dataclass
class Point:
    size: int
    time_us: float
    low_us: float | None = None  # the interval of the time
    high_us: float | None = None
    rate: float | None = None  # GB/s: bus bandwidth; None: none
    bound: float | None = None  # GB/s
    measured: object = None  # the record with all figures
    finished: bool = True


@dataclass
class Series:
    run: object
    key: Key
    points: list = field(default_factory=list)


def name_of(key, among=()):
    """What distinguishes it from others, in words."""
    parts = [key.test and key.test.replace("_", " "), key.subject]
    if differ(among, "datatype") or not among:
        parts.append(key.datatype)
    if key.reduction not in (None, "none") and (differ(among, "reduction") or not among):
        parts.append(key.reduction)
    if key.root not in (None, -1):
        parts.append(f"root {key.root}")
    parts.append(PLACEMENTS.get(key.placement))
    return printable(", ".join(part for part in parts if part)) or "the whole job"


def differ(keys, field_name):
    return len({getattr(key, field_name) for key in keys}) > 1


def key_of(record):
    """Of a row of a baseline or a comparison."""
    return Key(*(record[name] for name in Key._fields))


def series_of(run):
    """All series of a run, each with ascending sizes."""
    found = {}
    for row in run.rows:
        for placement in PLACEMENTS:
            if row[placement] is not None and row[placement]["time_us_median"] is not None:
                point = point_of(row["size_bytes"], row[placement])
                point.finished = not row["cut_short"]
                add(found, run, key_of_row(run, row, placement), point)
    for copy in run.copies:
        add(found, run, key_of_copy(copy), point_of_copy(copy))
    add_unfinished(found, run)
    limits = {(key_of(row), row["size_bytes"]): row["limit_gb_per_s"] for row in run.expected}
    for series in found.values():
        series.points.sort(key=lambda point: point.size)
        for point in series.points:
            point.bound = point.bound or limits.get((series.key, point.size))
    return list(found.values())


def add(found, run, key, point):
    found.setdefault(key, Series(run, key)).points.append(point)


def key_of_row(run, row, placement):
    groups = run.context["groups"] or []
    subject = None
    if len(groups) > 1 and 0 <= (row["group"] or 0) < len(groups):
        group = groups[row["group"] or 0]
        subject = f"ranks {group['ranks']} ({group['hosts']})"
    if run.context["figure"] in OF_PAIRS and placement == "out_of_place":
        placement = None
    reduction = None if row["reduction"] == "none" else row["reduction"]
    root = -1 if row["root"] is None else row["root"]
    return Key(subject, None, row["datatype"], reduction, root, placement)


def point_of(size, measured):
    interval = measured["time_us_interval"]
    return Point(
        size,
        measured["time_us_median"],
        interval and interval["low_us"],
        interval and interval["high_us"],
        measured["busbw_gb_per_s"] or None,
        measured=measured,
    )


def key_of_copy(copy):
    subject, test = f"{copy['host']} GPU {copy['gpu']['pci']}", copy["copy"]
    if copy["peer"]:
        subject += f" to GPU {copy['peer']['pci']}"
    if copy["memory_node"] is not None:
        test += f" NUMA node {copy['memory_node']}"
    if copy["over_host"]:
        test += " over host memory"
    return Key(subject, test, None, None, -1, None)


def point_of_copy(copy):
    point = point_of(copy["size_bytes"], {**copy, "busbw_gb_per_s": copy["bandwidth_gb_per_s"]})
    point.bound = copy["bound_gb_per_s"]
    point.measured = None
    return point


def add_unfinished(found, run):
    """Sizes of which only epochs are known, because the run was broken off before their rows."""
    times = {}
    for epoch in run.epochs:
        placement = "in_place" if epoch["in_place"] else "out_of_place"
        times.setdefault((key_of_row(run, epoch, placement), epoch["size_bytes"]), []).append(epoch["time_us_median"])
    for (key, size), medians in times.items():
        if not any(point.size == size for point in found.get(key, Series(run, key)).points):
            add(found, run, key, Point(size, statistics.median(medians), finished=False))


def run_name(run, runs):
    """What distinguishes a run from others of its program: its label, else its file, else the time it began."""
    label = run.context["options"].get("label") if run.context["options"] else None
    if label and sum((one.context["options"] or {}).get("label") == label for one in runs) == 1:
        return printable(label)
    if sum(one.file is run.file for one in runs) == 1:
        return run.file.name
    return f"{run.file.name}, {printable(run.context['started_utc'])}"
