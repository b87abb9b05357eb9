"""What fabricbench compare says of runs beside the baselines that are given with them."""

import subprocess
import tempfile
from pathlib import Path

from constants import NOT_JUDGED, OK, TOO_SLOW
from report_page.judging import JUDGED, TIME_LIMIT_S, path_of_program
from report_page.reading import read_file
from report_page.words import printable

PROGRAM = "fabricbench"
WITH_FIGURES = (OK, TOO_SLOW, NOT_JUDGED)  # exit statuses of runs whose figures are right


def compare(results, given):
    """Adds the comparisons to the results where they have none. Returns why that was not possible, or an empty text."""
    baselines = [file for file in results.files if file.baselines]
    files = files_to_compare(results, programs_of(baselines)) if baselines else []
    if not files:
        return ""
    program = path_of_program(given.programs, PROGRAM)
    if program is None:
        return f"there is no {PROGRAM} in build/ or on the PATH"
    with tempfile.TemporaryDirectory(prefix="fabricbench-report-") as folder:
        made, why_not = run_compare(program, baselines, files, Path(folder) / "comparison.jsonl")
    if made is not None:
        assign_runs(made.comparisons, files, ", ".join(file.name for file in baselines))
        results.files.append(made)
    return why_not


def programs_of(baselines):
    launches = [launch for file in baselines for baseline in file.baselines for launch, _ in baseline.launches]
    return {(launch["identity"] or {}).get("program") for launch in launches}


def files_to_compare(results, programs):
    """Those whose runs nobody has compared. A run without an end, or without right figures, is judged by that."""
    if results.acceptance("acceptance") or any(comparison.run is None for comparison in results.comparisons()):
        return []
    compared = {id(comparison.run) for comparison in results.comparisons()}
    return [
        file
        for file in results.files
        if file.runs
        and all(run.end is not None and run.end["exit_status"] in WITH_FIGURES for run in file.runs)
        and any(id(run) not in compared and is_of_baseline(run, programs) for run in file.runs)
    ]


def is_of_baseline(run, programs):
    """Sweeps are judged by find_slow_links, and only beside launches of their program as well."""
    return run.context["figure"] != "sweep" or run.context["program"] in programs


def run_compare(program, baselines, files, out):
    """The file with the comparisons, or why there is none."""
    old = [word for file in baselines for word in ("--old", file.path)]
    try:
        done = subprocess.run(
            [program, "compare", "--json", out, *old, *(file.path for file in files)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            timeout=TIME_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, printable(error)
    said = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
    made = read_file(out, f"{PROGRAM} compare on these runs") if out.exists() else None
    if done.returncode in JUDGED and made is not None and made.comparisons:
        return made, ""
    why = said[0].removeprefix(f"{PROGRAM}: ") if said else f"it ended with status {done.returncode}"
    return None, f"{PROGRAM} compare refuses: {printable(why)}"


def assign_runs(comparisons, files, baselines):
    """A comparison is of all runs of a program, in the order of their first runs."""
    of_program = {}
    for run in (run for file in files for run in file.runs):
        of_program.setdefault(run.context["program"], []).append(run)
    if len(of_program) != len(comparisons):
        return
    for comparison, (program, runs) in zip(comparisons, of_program.items()):
        comparison.run, comparison.runs = runs[0], runs
        comparison.called = f"{printable(program)} beside {baselines}"
