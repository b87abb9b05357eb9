"""Puts the sections into one page that needs nothing else."""

import json
from pathlib import Path

from report_page import (
    configuration,
    curves,
    differences,
    distributions,
    history,
    nic_shares,
    pair_map,
    slow_ranks,
    verdict,
)
from report_page.blocks import Plot, Table, Words
from report_page.packing import packed

TEMPLATES = Path(__file__).resolve().parent.parent / "templates"
LIBRARY = "plotly"


def make_page(results, title, subtitle, why_not_judged):
    return page_of(sections_of(results, why_not_judged), title, subtitle)


def page_of(sections, title, subtitle):
    import jinja2  # imported only if needed

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.tests |= {
        "plot": lambda block: isinstance(block, Plot),
        "table": lambda block: isinstance(block, Table),
        "words": lambda block: isinstance(block, Words),
    }
    environment.filters["json"] = json_in_page
    return environment.get_template("report.html.jinja").render(
        title=title,
        subtitle=subtitle,
        sections=sections,
        library=packed(library().encode()),
    )


def sections_of(results, why_not_judged):
    made = [
        verdict.section(results),
        curves.section(results),
        distributions.section(results),
        pair_map.section(results, why_not_judged),
        nic_shares.section(results),
        slow_ranks.section(results),
        history.section(results),
        differences.section(results),
        configuration.section(results),
    ]
    return [section for section in made if section is not None]


def library():
    """plotly.js, as the Python package ships it."""
    from plotly.offline import get_plotlyjs  # imported only if needed

    return get_plotlyjs()


def json_in_page(value):
    """JSON that cannot end the script element that holds it."""
    import markupsafe

    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return markupsafe.Markup(text)
