"""The pages in Markdown: links lead somewhere, and tables are whole."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(path for pattern in ("*.md", "docs/**/*.md", "bench/*.md", "results/*.md") for path in ROOT.glob(pattern))


def without_code(text):
    """Blocks of code are empty lines then."""
    return re.sub(r"(?ms)^```.*?^```$", lambda block: "\n" * block[0].count("\n"), text)


def anchors_of(text):
    """Those of its headings, as GitHub makes them."""
    anchors = []
    for heading in re.findall(r"(?m)^#+ (.*)$", without_code(text)):
        words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        anchors.append(re.sub(r"[^\w\- ]", "", words).replace(" ", "-"))
    return anchors


def links_of(text):
    """(line, target) of each."""
    for number, line in enumerate(without_code(text).splitlines(), 1):
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line)):
            yield number, target


def broken_links(page, text):
    for number, target in links_of(text):
        path, _, anchor = target.partition("#")
        if re.match(r"\w+:", path):
            continue  # on another host
        file = (page.parent / path).resolve() if path else page
        if not file.exists():
            yield f"{page.name}:{number}: there is no {path}"
        elif anchor and anchor not in anchors_of(text if file == page else file.read_text()):
            yield f"{page.name}:{number}: there is no heading #{anchor} in {file.name}"


def cells_of(line):
    """How many a row of a table has: a bar that is escaped does not end one, in code neither."""
    return len(re.split(r"(?<!\\)\|", line.strip())) - 2


def broken_tables(page, text):
    rows = []
    for number, line in enumerate([*without_code(text).splitlines(), ""], 1):
        if line.startswith("|"):
            rows.append((number, line))
            continue
        if rows:
            counts = {cells_of(row) for _, row in rows}
            if len(counts) > 1:
                yield f"{page.name}:{rows[0][0]}: rows of {sorted(counts)} cells"
            if len(rows) < 2 or not re.fullmatch(r"(\| *:?-+:? *)+\|", rows[1][1].strip()):
                yield f"{page.name}:{rows[0][0]}: no line of dashes below the head"
            rows = []


class Pages(unittest.TestCase):  # 1 rank, 1 s

    def check(self, find):
        self.assertGreater(len(PAGES), 15)
        self.assertEqual([problem for page in PAGES for problem in find(page, page.read_text())], [])

    def test_links(self):
        self.check(broken_links)

    def test_tables(self):
        self.check(broken_tables)

    def test_broken_ones_are_noticed(self):
        page = ROOT / "README.md"
        self.assertEqual(list(broken_links(page, "# A\n[a](docs/none.md) [b](#b) [c](#a) [d](docs/output.md#no-such)\n")),
                         ["README.md:2: there is no docs/none.md", "README.md:2: there is no heading #b in README.md",
                          "README.md:2: there is no heading #no-such in output.md"])  # fmt: skip
        self.assertEqual(list(broken_tables(page, "| a | b |\n|---|---|\n| `x|y` | c |\n\n| a |\n| b |\n")),
                         ["README.md:1: rows of [2, 3] cells", "README.md:5: no line of dashes below the head"])
        self.assertEqual(list(broken_tables(page, "| a | b |\n|---|---|\n| `x\\|y` | c |\n")), [])

    def test_every_page_is_listed(self):
        """The README leads to every page of docs."""
        targets = {target.partition("#")[0] for _, target in links_of((ROOT / "README.md").read_text())}
        for page in (ROOT / "docs").glob("*.md"):
            self.assertIn(f"docs/{page.name}", targets)


if __name__ == "__main__":
    unittest.main()
