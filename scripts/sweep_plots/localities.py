"""Reads the leaf switch or rack of hosts from lines `HOST LEAF`, as for find_slow_links --locality."""

import re

from sweep_plots.readings import BadInput, cannot_read, printable

MOST_HOSTS = 1_000_000  # more is an error


def read_leaves(path):
    """{host: leaf}. HOST may be a list such as `node[01-16,20]`; # begins a comment. Raises BadInput."""
    leaves = {}
    try:
        with open(path, encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                words = line.partition("#")[0].split()
                if words:
                    leaves.update(leaves_of(words, f"{path}:{number}"))
    except OSError as error:
        raise cannot_read(path, error) from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not a text file; --locality wants lines 'HOST LEAF'") from error
    return leaves


def leaves_of(words, place):
    if len(words) != 2:
        raise BadInput(
            f"{place}: '{' '.join(words)}' is not a locality; write a host and its leaf, such as node[01-16] leaf1"
        )
    try:
        return {printable(host): printable(words[1]) for host in expanded(words[0])}
    except ValueError as error:
        raise BadInput(
            f"{place}: '{words[0]}' is not a list of hosts ({error}); write something like node[01-16,20]"
        ) from error


def expanded(hosts):
    """The hosts in a list with commas, and with ranges in brackets. Raises ValueError."""
    names = []
    for item in re.split(r",(?![^\[]*\])", hosts):
        head, bracket, rest = item.partition("[")
        inside, closing, tail = rest.partition("]")
        if not bracket:
            names.append(item)
        elif not closing or not inside:
            raise ValueError("a bracket is not closed, or empty")
        else:
            tails = expanded(tail)
            names += [head + number + one for number in numbers_of(inside) for one in tails]
    return names


def numbers_of(ranges):
    """Expands `01-03,7` and `0-6/2` to texts with the leading zeros of the first number."""
    for part in ranges.split(","):
        found = re.fullmatch(r"(\d+)(?:-(\d+)(?:/(\d+))?)?", part)
        first, last, step = found.groups() if found else (None, None, None)
        if not found or last and int(last) < int(first) or step and int(step) == 0:
            raise ValueError(f"'{part}' is not a range")
        if last and int(last) - int(first) >= MOST_HOSTS:
            raise ValueError(f"'{part}' is more than {MOST_HOSTS:,} hosts")
        for number in range(int(first), int(last or first) + 1, int(step or 1)):
            yield str(number).zfill(len(first))
