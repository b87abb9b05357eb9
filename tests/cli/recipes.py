"""The blocks of docs/recipes.md, and what runs them.

A comment above each block, which the page does not show, says how it is run:
    <!-- run: shell NAME -->            by bash; `status=6,7` behind it: it ends with one of these, not with 0
    <!-- run: file NAME -->             it is a file that later blocks use
    <!-- run: slurm NAME -->            as shell, on nodes with Slurm (tests/cluster/slurm_test.sh)
    <!-- run: ssh NAME -->              as shell, on nodes with sshd (tests/cluster/ssh_test.sh)

By itself: recipes.py NAME... runs these blocks in the current folder, behind all files that the page has above them.
"""

import re
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

from launcher_faults import launcher_blames_wrongly

PAGE = Path(__file__).resolve().parents[2] / "docs" / "recipes.md"
WAYS = ("shell", "file", "slurm", "ssh")
FENCE = "```"

Block = namedtuple("Block", "section way name statuses text")
Ended = namedtuple("Ended", "status stdout stderr")


def blocks_of(page):
    """The blocks of a page. Raises ValueError for one that does not say how it is run."""
    blocks, section, how, inside = [], "", None, None
    for number, line in enumerate(page.splitlines(), 1):
        if inside is not None and line == FENCE:
            blocks.append(Block(section, *how, "".join(inside)))
            how = inside = None
        elif inside is not None:
            inside.append(line + "\n")
        elif line.startswith(FENCE):
            if how is None:
                raise ValueError(f"line {number}: nothing says how this block is run")
            inside = []
        elif how is not None:
            raise ValueError(f"line {number}: the comment above is not followed by a block")
        elif line.startswith("## "):
            section = line[3:]
        elif line.startswith("<!--"):
            match = re.fullmatch(r"<!-- run: (\w+) ([\w.]+)(?: status=([\d,]+))? -->", line)
            if not match or match[1] not in WAYS:
                raise ValueError(f"line {number}: '{line}' is no way to run a block")
            how = match[1], match[2], tuple(map(int, (match[3] or "0").split(",")))
    if inside is not None or how is not None:
        raise ValueError("the last block has no end")
    return blocks


def run(block, folder, timeout_s, environment=None):
    """Raises AssertionError if it does not end as it should."""
    if block.way == "file":
        (Path(folder) / block.name).write_text(block.text)
        return None
    before = set(Path(folder).iterdir())
    for last in (False, True):
        done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", block.text], cwd=folder, env=environment, text=True, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout_s)
        if last or done.returncode != 1 or not launcher_blames_wrongly(done.stdout, done.stderr):
            break
        print(f"mpirun blamed a rank that had ended, and the recipe runs again: {done.stderr}", file=sys.stderr, flush=True)
        for made in set(Path(folder).iterdir()) - before:
            made.unlink()
    if done.returncode not in block.statuses:
        raise AssertionError(f"recipe '{block.name}' ended with {done.returncode}, not with {block.statuses}:\n{block.text}\n"
                             f"{done.stdout}\n{done.stderr}")
    return Ended(done.returncode, done.stdout, done.stderr)


def main(names):
    blocks = blocks_of(PAGE.read_text())
    if unknown := set(names) - {block.name for block in blocks}:
        sys.exit(f"docs/recipes.md has no recipe {', '.join(sorted(unknown))}")
    for block in blocks:
        if block.way == "file" or block.name in names:
            done = run(block, Path.cwd(), timeout_s=600)
            print(block.name, *(done or ()), sep="\n", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
