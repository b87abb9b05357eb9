"""What a section of the report consists of: words, plots, and a table under each plot."""

from dataclasses import dataclass, field

from report_page.words import UNKNOWN, number_text, percent_text, printable, size_text

MOST_ROWS = 2000  # of a table in the page; more would make it slow


@dataclass
class Cell:
    text: str
    sort: float | None = None  # a number to sort by; None: sorted as text, unknown numbers last
    mark: str = ""  # good, bad or unsure, beside the words and never in their place


@dataclass
class Table:
    caption: str
    columns: list  # titles; those of numbers as Number
    rows: list  # lists of cells
    is_open: bool = False  # shown at once, not folded
    left_out: int = 0  # rows

    def __post_init__(self):
        self.left_out += max(0, len(self.rows) - MOST_ROWS)
        self.rows = [
            [cell if isinstance(cell, Cell) else Cell(printable(cell)) for cell in row] for row in self.rows[:MOST_ROWS]
        ]


class Number(str):
    """The title of a column of numbers."""


@dataclass
class Plot:
    """One drawing area. Each view is (name, figure) of which the reader chooses one."""

    label: str  # for those who do not see it
    views: list
    choice: str = ""  # what the views differ by
    note: str = ""
    height: int = 420
    is_map: bool = False  # with fields to look up a pair


@dataclass
class Section:
    key: str
    title: str
    words: list = field(default_factory=list)
    blocks: list = field(default_factory=list)  # Plot, Table, Words
    how_to_read: str = ""


@dataclass
class Words:
    """A heading and a list of sentences."""

    title: str
    items: list


def number(value, digits=4):
    return Cell(number_text(value, digits), value)


def whole(value):
    return Cell(UNKNOWN if value is None else f"{value:,}", value)


def percent(value):
    return Cell(percent_text(value), value)


def size(value):
    return Cell(UNKNOWN if value is None else size_text(value), value)


def text_or_unknown(value):
    return UNKNOWN if value is None or value == "" else printable(value)
