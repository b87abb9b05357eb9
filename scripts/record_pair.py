"""What a job has printed: the records in it, and why it failed."""

import fcntl
import os
import re
import signal
import sys

sys.dont_write_bytecode = True  # the folder may be shared, or not ours
import records

MPIRUN_TIMED_OUT = 110  # Open MPI's --timeout
TIMEOUT_TIMED_OUT = (124, 128 + signal.SIGKILL)  # coreutils' timeout: ended, or killed
LONGEST_REASON = 400
EMPTY_WORDS = ("WARNING", "Primary job", "mpirun detected that one or more processes exited")


def read_text(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def json_lines(text):
    """The lines of JSON in a text, by kind. A launcher may have put text before one, or truncated it."""
    found = {}
    for line in text.splitlines():
        begin = line.find('{"kind":')
        if begin < 0:
            continue
        try:
            record = records.read(line[begin:])
        except ValueError:
            continue
        found.setdefault(record["kind"], []).append(record)
    return found


def short_name(host):
    """The part of a host's name to compare: node01 for alice@node01.cluster; an address as a whole."""
    name = host.rpartition("@")[2].strip("[]").lower()
    return name if re.fullmatch(r"[0-9.]+|.*:.*", name) else name.partition(".")[0]


def clean(text):
    """One line without control characters, short enough for a table."""
    text = " ".join("".join(character if character.isprintable() else " " for character in text).split())
    return text if len(text) <= LONGEST_REASON else text[:LONGEST_REASON - 3] + "..."


def blocks_of(text):
    """A launcher's messages between dashed lines, and the lines outside such blocks. Leaves out warnings and messages
    that come with every failed job."""
    parts = re.split(r"^-{20,}$", text, flags=re.MULTILINE)
    blocks = [block.strip() for block in parts[1::2] if not block.strip().startswith(EMPTY_WORDS)]
    return blocks, [line for part in parts[0::2] for line in part.splitlines()]


def said_by_agent(texts, without=()):
    """The first line of the launch agent or of srun that does not begin with these words; empty if there is none."""
    for text in texts:
        for line in blocks_of(text)[1]:
            if line.strip() and not line.startswith(("{", "#", *without)) and "warning" not in line.lower():
                return clean(line)
    return ""


def said_by_launcher(texts):
    """The first line of the launch agent or of srun, or mpirun's explanation, shortened, or its first paragraph."""
    line = said_by_agent(texts)
    if line:
        return line
    blocks = [block for text in texts for block in blocks_of(text)[0]]
    for block in blocks:
        ends = re.search(r"unable to complete a TCP connection.*Local host: *(\S+).*Remote host: *(\S+)", block, re.DOTALL)
        if ends:
            return "no TCP connection from {} to {}, where mpirun runs".format(*ends.groups())
    if any("unable to reliably start one or more daemons" in block for block in blocks):
        return "mpirun could not start its daemon on a host, and the launch agent said nothing"
    return next((clean(re.split(r"\n\s*\n", block)[0]) for block in blocks if block), "")


def first_complaint(program, texts):
    """Why a job failed: the benchmark's own first message, or else the launcher's."""
    own = re.compile(r"(?:^|\s){}: (?!warning|note)".format(re.escape(program)), re.IGNORECASE)
    for text in texts:
        for line in text.splitlines():
            if not line.startswith("{") and own.search(line):
                return clean(line)
    return said_by_launcher(texts)


def append(path, lines):
    """Appends whole lines in one write; safe with concurrent writers, also on file systems without atomic O_APPEND."""
    data = "".join(line + "\n" for line in lines).encode("utf-8")
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX)
        while data:
            data = data[os.write(descriptor, data):]
    finally:
        os.close(descriptor)
