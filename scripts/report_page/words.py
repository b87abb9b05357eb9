"""Numbers, sizes and names in words."""

import math
import re

UNITS = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B"))
# Characters that are invalid in XML, lone surrogates, which are valid in JSON and invalid in UTF-8, and the characters
# that src/common/core/plain_text.h replaces.
UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\ufffe\uffff]")
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
UNKNOWN = "\N{EN DASH}"
LONGEST_NAME = 26


def printable(text):
    return UNPRINTABLE.sub(REPLACEMENT, str(text))


def size_text(size):
    unit, name = next(((unit, name) for unit, name in UNITS if size >= unit and size % unit == 0), UNITS[-1])
    return f"{size // unit} {name}"


def number_text(value, digits=4):
    """The value with its significant digits, and never with an exponent."""
    if value is None:
        return UNKNOWN
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else UNKNOWN
    return f"{value:,.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}"


def percent_text(value):
    return UNKNOWN if value is None else f"{value:.0f} %" if abs(value) >= 100 else f"{value:.1f} %"


def counted(number, noun, plural=None):
    """`1 run`, `2 runs`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def natural(name):
    """Sorts node9 before node10."""
    return [(0, int(part), part) if part.isdecimal() else (1, 0, part) for part in re.split(r"(\d+)", name)]


def short_names(names):
    """Without the common domain, and shortened in the middle, because both ends distinguish hosts."""
    if not names:
        return []
    first, dot, domain = names[0].partition(".")
    if dot and not first.isdecimal() and all(name.partition(":r")[0].partition(".")[2] == domain for name in names):
        names = [name.replace(f".{domain}", "", 1) for name in names]
    half = (LONGEST_NAME - 1) // 2
    short = [
        name if len(name) <= LONGEST_NAME else f"{name[:half]}\N{HORIZONTAL ELLIPSIS}{name[-half:]}" for name in names
    ]
    return short if len(set(short)) == len(set(names)) else names
