"""What the commands that draw results share: messages, Python modules, and the file that they write."""

import argparse
import contextlib
import difflib
import importlib.util
import os
import re
import sys
from pathlib import Path

import records
from constants import FAILED, MISSING, NOT_JUDGED, USAGE
from report_page.results import BadInput
from report_page.words import counted, printable

SYSTEM_PYTHON = "/usr/bin/python3"  # packages install Python modules for this one
MOST_SAID = 20  # problems on stderr
MOST_NEAR = 3  # options that a misspelt one may mean
NUMBER = re.compile(r"-\d+$|-\d*\.\d+$")  # what argparse takes for a value, not for an option


class CommandLine(argparse.ArgumentParser):
    """Refuses what is wrong in one line. An unknown option comes first, because it may be a required one misspelt."""

    def __init__(self, description, epilog):
        self.options = []
        super().__init__(prog=name(), description=description, epilog=epilog, allow_abbrev=False,
                         formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip

    def add_argument(self, *names, **settings):
        action = super().add_argument(*names, **settings)
        self.options += action.option_strings
        return action

    def parse_known_args(self, args=None, namespace=None):
        arguments = list(sys.argv[1:] if args is None else args)
        if not {"-h", "--help"} & set(arguments):
            self.refuse_unknown_options(arguments)
        return super().parse_known_args(arguments, namespace)

    def refuse_unknown_options(self, arguments):
        for argument in arguments[: arguments.index("--") if "--" in arguments else None]:
            if not argument.startswith("-") or argument == "-" or " " in argument or NUMBER.match(argument):
                continue
            option = argument.partition("=")[0]
            if option not in self.options and (argument.startswith("--") or argument[:2] not in self.options):
                self.error(f"unknown option '{option}'{self.nearest(option)}; --help lists them all")

    def nearest(self, option):
        long_names = [one.removeprefix("--") for one in self.options if one.startswith("--")]
        near = [f"--{one}" for one in difflib.get_close_matches(option.lstrip("-"), long_names, MOST_NEAR)]
        return f"; the nearest {'is' if len(near) == 1 else 'are'} {', '.join(near)}" if near else ""

    def error(self, message):
        say(message)
        sys.exit(USAGE)


def name():
    """What a user has called."""
    return os.environ.get("FABRICBENCH_COMMAND", Path(sys.argv[0]).name)


@contextlib.contextmanager
def ending_by_status(output):
    """Ends the process where results cannot be drawn, or `output` not be written."""
    try:
        with records.expected("one of the files"):
            yield
    except BadInput as error:
        say(str(error))
        sys.exit(error.status)
    except ValueError as error:  # of records.expected
        say(str(error))
        sys.exit(NOT_JUDGED)
    except OSError as error:
        say(f"{error.filename or output}: {error.strerror}")
        sys.exit(FAILED)


def say(words):
    print(f"{name()}: {printable(words)}", file=sys.stderr)


def say_problems(results, where_all_are):
    problems = results.problems()
    for file, line, words in problems[:MOST_SAID]:
        say(f"{file}:{line}: {words}" if line else f"{file}: {words}")
    if len(problems) > MOST_SAID:
        say(f"and {counted(len(problems) - MOST_SAID, 'more problem')}{where_all_are}")


def require_modules(modules):
    """Restarts under the system's Python if only that one has the modules."""
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    if not missing:
        return
    if sys.executable != SYSTEM_PYTHON and os.access(SYSTEM_PYTHON, os.X_OK):
        os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, *sys.argv])
    packages = " ".join(f"python3-{module}" for module in missing)
    raise BadInput(
        f"{sys.executable} has no module {' and no module '.join(missing)}; install {packages}, "
        "or run scripts/install_deps.sh --with-reports",
        MISSING,
    )


def refuse_output(given, results, force, kind):
    output = Path(given)
    if output.is_dir():
        raise BadInput(f"'{output}' is a folder; give the name of a file")
    if not output.parent.is_dir():
        raise BadInput(f"there is no folder '{output.parent}'; make it, or give another name", MISSING)
    if output.exists() and output.resolve() in {Path(path).resolve() for path in results}:
        raise BadInput(f"'{output}' is one of the results, which the {kind} would overwrite; give another name")
    if output.exists() and not force:
        raise BadInput(f"'{output}' exists; give another name, or --force to overwrite it")


def write_whole(path, contents):
    """Replaces the file at once, so that nobody sees half of it."""
    part = path.with_name(f".{path.name}.part{os.getpid()}")
    try:
        part.write_bytes(contents)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
