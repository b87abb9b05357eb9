"""Converts results of other tools to records with find_slow_links."""

import contextlib
import subprocess
import tempfile
from pathlib import Path

from constants import MISSING, NOT_JUDGED, USAGE
from report_page.judging import PROGRAM, path_of_program
from report_page.results import BadInput
from report_page.words import printable


@contextlib.contextmanager
def files_of_records(paths, kind, unit, programs):
    """The files to read: `paths` themselves, or with a kind one that holds what is in them, as long as the block runs.

    Also gives what find_slow_links has to say of them. Raises BadInput.
    """
    if kind is None:
        yield paths, []
        return
    with tempfile.TemporaryDirectory(prefix="fabricbench-import-") as folder:
        records = Path(folder) / "records.jsonl"
        yield [str(records)], convert(paths, kind, unit, programs, records)


def convert(paths, kind, unit, programs, records):
    program = path_of_program(programs)
    if program is None:
        raise BadInput(
            f"--import takes {PROGRAM}, which is neither in build/ nor on the PATH; build it (make)", MISSING
        )
    command = [program, "--import", kind, *(["--unit", unit] if unit else []), "--convert", records, *paths]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    said = [printable(line.removeprefix(f"{PROGRAM}: ")) for line in done.stderr.decode(errors="replace").splitlines()]
    if done.returncode != 0:
        status = USAGE if done.returncode == NOT_JUDGED else done.returncode
        raise BadInput(said[-1] if said else f"{PROGRAM} ended with status {done.returncode}", status)
    return said
