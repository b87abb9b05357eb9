"""Summaries of campaigns in pages of docs/."""


def read_table(table, header):
    """The rows of a table whose columns are separated by tabs, each by the names of its header."""
    return [dict(zip(header.split("\t"), line.split("\t"))) for line in table.read_text().splitlines()[1:]]


def write_summary(page, mark, lines):
    """Puts lines between the marks `MARK` and `end of MARK` of a page."""
    begin, end = f"<!-- {mark} -->\n", f"<!-- end of {mark} -->"
    before, _, rest = page.read_text().partition(begin)
    page.write_text(before + begin + "\n" + "\n".join(lines) + "\n\n" + end + rest.partition(end)[2])
