#!/usr/bin/env python3
"""Changes the sources one place at a time, and looks whether the default suite notices.

usage: scripts/mutants.py [--count N] [--seed N] [--folder FOLDER] [--only-draw]

Mutants are drawn by universalmutator's rules for C++, as many of each folder, in an order that the seed decides. One that
does not compile, or leaves all test programs as they were, does not count, and the next is drawn. The others meet the
suites in turn, the fast ones first, until a test fails. Everything happens in build-mutants/: a clone of HEAD, its build,
and results.jsonl, a line a mutant; a run that was broken off goes on from there.
Needs universalmutator (pip install universalmutator); `make mutants` installs it into build-mutants/.
Exit status: 0 all have been tried, 1 the suite fails without a change, 2 usage, 3 something needed is missing.
"""

import argparse
import contextlib
import hashlib
import io
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build-mutants"
TREE, BUILD, RESULTS = WORK / "tree", WORK / "build", WORK / "results.jsonl"
FOLDERS = [f"src/common/{name}" for name in ("core", "harness", "report", "mpi", "sockets", "verbs")] + ["src/cluster"]
SUITES = ("unit", "mpi", "nccl", "cli", "cluster", "rdma")  # the fast ones first
TEST_LIMIT_S = 300
FAILED, MISSING = 1, 3
IGNORED = [r"^\s*//", r"^\s*#", r"static_assert", r"\[\[nodiscard\]\] virtual .*= 0;"]


def quit_with(status, message):
    print(f"mutants.py: {message}", file=sys.stderr)
    sys.exit(status)


def run(*command, log=None, **how):
    """Whether it ended well."""
    with open(log or os.devnull, "w", encoding="utf-8") as output:
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False, **how).returncode == 0


def candidates(folder):
    """(file, line number, line, changed line) of all mutants of a folder."""
    try:
        from universalmutator import mutator
    except ImportError:
        quit_with(MISSING, "the Python module universalmutator is missing; run 'make mutants', or pip install it")
    found = []
    for file in sorted((TREE / folder).rglob("*.cpp")) + sorted((TREE / folder).rglob("*.h")):
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        with contextlib.redirect_stdout(io.StringIO()):  # it says which rules it reads
            mutants = mutator.mutants_regexp(lines, ["universal.rules", "c_like.rules", "cpp.rules"], ignorePatterns=IGNORED,
                                             ignoreStringOnly=True)
        name = str(file.relative_to(TREE))
        found += [(name, number, lines[number - 1], changed) for number, changed, *_ in mutants]
    return found


def prepare():
    """A clone of HEAD, and what is built of it."""
    WORK.mkdir(exist_ok=True)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    if not TREE.exists():
        run("git", "clone", "--quiet", "--shared", ROOT, TREE)
    run("git", "checkout", "--quiet", "--force", "--detach", head, cwd=TREE)
    if not run("cmake", "-S", TREE, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O1",
               "-DFABRICBENCH_TESTS=ON", log=WORK / "configure.log"):
        quit_with(FAILED, f"cannot be configured; see {WORK / 'configure.log'}")
    if not build():
        quit_with(FAILED, f"cannot be built; see {WORK / 'build.log'}")
    return head


def build():
    return run("cmake", "--build", BUILD, log=WORK / "build.log")


def fingerprint():
    """Of all programs that tests run."""
    files = [path for path in BUILD.rglob("*") if path.is_file() and not path.is_symlink() and os.access(path, os.X_OK)]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files if "CMakeFiles" not in path.parts}


def failing_test():
    """(suite, test) of the first one that fails, or (None, None)."""
    for suite in SUITES:
        log = WORK / "ctest.log"
        if run("ctest", "--test-dir", BUILD, "--label-regex", f"^{suite}$", "--label-exclude", "^extended$", "--timeout",
               str(TEST_LIMIT_S), "--stop-on-failure", "-j", str(2 * os.cpu_count()), log=log):
            continue
        failed = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if "***" in line]
        return suite, failed[0].split(":", 1)[1].split()[0] if failed else "?"
    return None, None


def try_mutant(mutant, unchanged):
    """What became of it: invalid, equivalent, killed or survived, and by which test."""
    name, number, _, changed = mutant
    file = TREE / name
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    lines[number - 1] = changed
    file.write_text("".join(lines), encoding="utf-8")
    began = time.monotonic()
    try:
        if not build():
            return {"fate": "invalid"}
        if fingerprint() == unchanged:
            return {"fate": "equivalent"}
        suite, test = failing_test()
        return {"fate": "killed" if suite else "survived", "suite": suite, "test": test,
                "seconds": round(time.monotonic() - began)}
    finally:
        file.write_text(text, encoding="utf-8")


def earlier_results(head, seed):
    if not RESULTS.exists():
        return {}
    results = [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()]
    return {(one["file"], one["line"], one["changed"]): one for one in results if (one["head"], one["seed"]) == (head, seed)}


def summarise(results):
    print(f"{'folder':<22} {'killed':>7} {'survived':>9} {'share':>6}")
    for folder in [*dict.fromkeys(one["folder"] for one in results), "all"]:
        fates = Counter(one["fate"] for one in results if folder in (one["folder"], "all"))
        tried = fates["killed"] + fates["survived"]
        print(f"{folder:<22} {fates['killed']:>7} {fates['survived']:>9} {fates['killed'] / max(tried, 1):>6.0%}")
    for one in results:
        if one["fate"] == "survived":
            print(f"survived: {one['file']}:{one['line']}: {one['was'].strip()}  ->  {one['changed'].strip()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=150, help="mutants that count, all folders together (150)")
    parser.add_argument("--seed", type=int, default=1, help="decides which are drawn (1)")
    parser.add_argument("--folder", action="append", help="of this folder only; may be given several times")
    parser.add_argument("--only-draw", action="store_true", help="print what would be tried first, and build nothing")
    given = parser.parse_args()
    folders = given.folder or FOLDERS
    head = None if given.only_draw else prepare()
    if given.only_draw and not TREE.exists():
        run("git", "clone", "--quiet", "--shared", ROOT, TREE)
    shares = {folder: given.count // len(folders) + (i < given.count % len(folders)) for i, folder in enumerate(folders)}
    drawn = {}
    for folder in folders:
        drawn[folder] = candidates(folder)
        random.Random(f"{given.seed} {folder}").shuffle(drawn[folder])
    if given.only_draw:
        for folder in folders:
            for name, number, was, changed in drawn[folder][:shares[folder]]:
                print(f"{name}:{number}: {was.strip()}  ->  {changed.strip()}")
        return
    unchanged = fingerprint()
    suite, test = failing_test()
    if suite:
        quit_with(FAILED, f"{test} of the suite {suite} fails without any change; see {WORK / 'ctest.log'}")
    known, counted = earlier_results(head, given.seed), []
    for folder in folders:
        tried = 0
        for mutant in drawn[folder]:
            if tried == shares[folder]:
                break
            result = known.get((mutant[0], mutant[1], mutant[3])) or {
                "head": head, "seed": given.seed, "folder": folder, "file": mutant[0], "line": mutant[1], "was": mutant[2],
                "changed": mutant[3], **try_mutant(mutant, unchanged)}
            if (mutant[0], mutant[1], mutant[3]) not in known:
                with RESULTS.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(result) + "\n")
                print(f"{result['fate']}: {mutant[0]}:{mutant[1]} {result.get('test') or ''}", flush=True)
            if result["fate"] in ("killed", "survived"):
                counted.append(result)
                tried += 1
    summarise(counted)


if __name__ == "__main__":
    main()
