#!/usr/bin/env python3
"""Changes the sources in one place at a time, and checks whether the default suite notices.

usage: scripts/mutants.py [--count N] [--seed N] [--folder FOLDER]... [--suite SUITE]... [--only-draw]

Mutants are drawn by universalmutator's rules for C++, the same number from each folder, in an order given by the
seed. A mutant that does not compile, or that changes no test program, does not count and is replaced. The others run
the unit tests of their folder and then all suites, fast ones first, until a test fails. Everything happens in build-
mutants/: a clone of HEAD, its build, and results.jsonl with a line per trial. An interrupted run continues from
there; a run with more suites tries the survivors of fewer suites.
Needs universalmutator (pip install universalmutator); `make mutants` installs it into build-mutants/.
Exit status: 0 all tried, 1 the suite fails without a change, 2 usage, 3 something needed is missing.
"""

import argparse
import contextlib
import hashlib
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections import Counter, namedtuple
from pathlib import Path

from constants import FAILED, MISSING

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build-mutants"
TREE, BUILD, RESULTS = WORK / "tree", WORK / "build", WORK / "results.jsonl"
FOLDERS = [f"src/common/{name}" for name in ("core", "options", "record", "report", "mpi", "watch", "nic_counters", "measure",
                                            "engine", "copies", "backends/sockets", "backends/verbs")] + ["src/cluster"]
SUITES = ("unit", "mpi", "nccl", "cli", "cluster", "rdma")  # the fast ones first
TEST_LIMIT_S = 300
FLAGS = "-O1 -fmax-errors=1"  # after a missing brace, GCC may run for ever behind the first error
# Statements and conditions are changed. Changed declarations, type names or angle brackets would not compile, and
# nothing depends on memory that is reserved early.
IGNORED = [r"^\s*//", r"^\s*#", r"static_assert", r"\[\[nodiscard\]\][^{]*;", r"\) (const )?override;", r"= default;",
           r"^\s*(public|private|protected):", r"\bnamespace\b", r"\.reserve\("]
BROKEN = re.compile(r"int[-(+][^ ]*_t\b|(_cast|template|std::(vector|optional|map|span|array|atomic|function|unique_ptr|string))"
                    r"\s*([<>=!]=|[-+|/*>])|[pbs](begin|end)ing?_|s(begin|end)s\b")

# A line of a file, and its replacement.
Mutant = namedtuple("Mutant", "folder file line was changed")


def quit_with(status, message):
    print(f"mutants.py: {message}", file=sys.stderr)
    sys.exit(status)


def run(*command, log=os.devnull, **how):
    """Whether the command succeeded."""
    with open(log, "w", encoding="utf-8") as output:
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False, **how)
    return ended.returncode == 0


def clone():
    """Makes a clone of HEAD and returns its commit."""
    WORK.mkdir(exist_ok=True)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    if not TREE.exists():
        run("git", "clone", "--quiet", "--shared", ROOT, TREE)
    if not (run("git", "fetch", "--quiet", cwd=TREE) and run("git", "checkout", "--quiet", "--force", "--detach", head, cwd=TREE)):
        quit_with(FAILED, f"{TREE} cannot be set to {head}; remove it")
    return head


def configure_and_build():
    linker = ["-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld"] if shutil.which("ld.lld") else []
    if not run("cmake", "-S", TREE, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_CXX_FLAGS_DEBUG={FLAGS}",
               "-DFABRICBENCH_TESTS=ON", *linker, log=WORK / "configure.log"):
        quit_with(FAILED, f"configuring failed; see {WORK / 'configure.log'}")
    if not build():
        quit_with(FAILED, f"the build failed; see {WORK / 'build.log'}")


def build(*targets):
    return run("cmake", "--build", BUILD, *(["--target", *targets] if targets else []), log=WORK / "build.log")


def candidates(folder):
    """All mutants of a folder."""
    try:
        from universalmutator import mutator
    except ImportError:
        quit_with(MISSING, "the Python module universalmutator is missing; run 'make mutants', or pip install it")
    if not (TREE / folder).is_dir():
        quit_with(FAILED, f"there is no folder {folder}")
    found = []
    for file in sorted((TREE / folder).rglob("*.cpp")) + sorted((TREE / folder).rglob("*.h")):
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        with contextlib.redirect_stdout(io.StringIO()):  # it prints the rules it reads
            mutants = mutator.mutants_regexp(lines, ["universal.rules", "c_like.rules", "cpp.rules"], ignorePatterns=IGNORED,
                                             ignoreStringOnly=True)
        name = str(file.relative_to(TREE))
        found += [Mutant(folder, name, number, lines[number - 1], changed) for number, changed, *_ in mutants
                  if not BROKEN.search(changed)]
    return found


def shares(count, folders):
    """The number of mutants of each folder, `count` in all."""
    return {folder: count // len(folders) + (i < count % len(folders)) for i, folder in enumerate(folders)}


def draw(folder, seed):
    """A folder's mutants in the order of trials."""
    mutants = candidates(folder)
    random.Random(f"{seed} {folder}").shuffle(mutants)
    return mutants


def fingerprint():
    """Of all programs that tests run."""
    files = [path for path in BUILD.rglob("*") if path.is_file() and not path.is_symlink() and os.access(path, os.X_OK)]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files if "CMakeFiles" not in path.parts}


def failing_test(*choice):
    """The name of the first test that fails, of those that ctest's options choose; None where all pass."""
    log = WORK / "ctest.log"
    if run("ctest", "--test-dir", BUILD, *choice, "--label-exclude", "^extended$", "--timeout", str(TEST_LIMIT_S),
           "--stop-on-failure", "-j", str(2 * os.cpu_count()), log=log):
        return None
    said = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((line.split(":", 1)[1].split()[0] for line in said if "***" in line), "?")


def first_failure(suites):
    """The name of the first test that fails, suite by suite; None where all pass."""
    return next(filter(None, (failing_test("--label-regex", f"^{suite}$") for suite in suites)), None)


def nearest(folder):
    """(names' prefix, program) of a folder's own tests, which build/tests.txt lists."""
    for line in (BUILD / "tests.txt").read_text(encoding="utf-8").splitlines():
        prefix, source, program, *_ = line.split()
        if source == folder:
            return prefix, program
    return quit_with(FAILED, f"{BUILD / 'tests.txt'} lists no tests of {folder}")


@contextlib.contextmanager
def changed(mutant):
    """The tree with the mutant in it."""
    file = TREE / mutant.file
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    lines[mutant.line - 1] = mutant.changed
    file.write_text("".join(lines), encoding="utf-8")
    try:
        yield
    finally:
        file.write_text(text, encoding="utf-8")


def try_mutant(mutant, suites, unchanged):
    """What became of it: invalid, equivalent, killed or survived, and by which test."""
    with changed(mutant):
        prefix, program = nearest(mutant.folder)
        if not build(program):
            return {"fate": "invalid"}
        if "unit" in suites and (test := failing_test("--tests-regex", rf"^{prefix}\.")):
            return {"fate": "killed", "test": test}
        if not build():
            return {"fate": "invalid"}
        if fingerprint() == unchanged:
            return {"fate": "equivalent"}
        test = first_failure(suites)
        return {"fate": "killed", "test": test} if test else {"fate": "survived"}


class Results:
    """What became of the mutants of this HEAD and seed; every trial is written down as it ends."""

    def __init__(self, head, seed):
        self.of_run = {"head": head, "seed": seed}
        self.known = {}
        lines = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
        for one in map(json.loads, lines):
            if {name: one[name] for name in self.of_run} == self.of_run:
                self.known[self.key(**one)] = one

    @staticmethod
    def key(file, line, changed, **_):
        return file, line, changed

    def untried(self, mutant, suites):
        """The suites that a mutant has not met yet and has to; None where its fate is known."""
        one = self.known.get(self.key(**mutant._asdict()))
        if not one:
            return suites
        left = [suite for suite in suites if suite not in one["survived"]]
        return left if one["fate"] == "survived" and left else None

    def add(self, mutant, suites, found, seconds):
        one = self.known.get(self.key(**mutant._asdict()), {"survived": []})
        survived = [*one["survived"], *suites] if found["fate"] == "survived" else one["survived"]
        one = {**self.of_run, **mutant._asdict(), **found, "survived": survived, "seconds": round(seconds)}
        self.known[self.key(**one)] = one
        with RESULTS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(one) + "\n")
        print(f"{one['fate']}: {mutant.file}:{mutant.line} {one.get('test') or ''}", flush=True)

    def of(self, mutant):
        return self.known[self.key(**mutant._asdict())]


def try_mutants(mutants, share, suites, results, unchanged):
    """Tries mutants until `share` of them counted. Returns what became of these."""
    counted = []
    for mutant in mutants:
        if len(counted) == share:
            break
        left = results.untried(mutant, suites)
        if left is not None:
            began = time.monotonic()
            results.add(mutant, left, try_mutant(mutant, left, unchanged), time.monotonic() - began)
        if results.of(mutant)["fate"] in ("killed", "survived"):
            counted.append(results.of(mutant))
    return counted


def summarise(results):
    print(f"{'folder':<22} {'killed':>7} {'survived':>9} {'share':>6}")
    for folder in [*dict.fromkeys(one["folder"] for one in results), "all"]:
        fates = Counter(one["fate"] for one in results if folder in (one["folder"], "all"))
        print(f"{folder:<22} {fates['killed']:>7} {fates['survived']:>9} {fates['killed'] / max(fates.total(), 1):>6.0%}")
    for one in results:
        if one["fate"] == "survived":
            print(f"survived: {one['file']}:{one['line']}: {one['was'].strip()}  ->  {one['changed'].strip()}")


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=150, help="mutants that count, all folders together (150)")
    parser.add_argument("--seed", type=int, default=1, help="decides which are drawn (1)")
    parser.add_argument("--folder", action="append", help="of this folder only; may be given several times")
    parser.add_argument("--suite", action="append", choices=SUITES, help="run this suite only; may be given several times")
    parser.add_argument("--only-draw", action="store_true", help="print what would be tried first, and build nothing")
    return parser.parse_args()


def main():
    given = options()
    share_of = shares(given.count, given.folder or FOLDERS)
    head = clone()
    drawn = {folder: draw(folder, given.seed) for folder in share_of}
    if given.only_draw:
        for mutant in [mutant for folder, share in share_of.items() for mutant in drawn[folder][:share]]:
            print(f"{mutant.file}:{mutant.line}: {mutant.was.strip()}  ->  {mutant.changed.strip()}")
        return
    configure_and_build()
    unchanged = fingerprint()
    suites = [suite for suite in SUITES if suite in (given.suite or SUITES)]
    if test := first_failure(suites):
        quit_with(FAILED, f"{test} fails without any change; see {WORK / 'ctest.log'}")
    results = Results(head, given.seed)
    summarise([one for folder, share in share_of.items()
               for one in try_mutants(drawn[folder], share, suites, results, unchanged)])


if __name__ == "__main__":
    main()
