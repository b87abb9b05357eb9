"""Combines drawings into a self-contained HTML page or a picture."""

import datetime
from pathlib import Path

from sweep_plots.drawing import DARK, LIGHT, element, markup, new_drawing, rectangle, text

TEMPLATES = Path(__file__).resolve().parent.parent / "templates"
HEADER, LINE = 48, 16  # px, above the first drawing of a picture, and of each line below the title
MOST_PIXELS = 30_000  # of a picture's side: cairo's surfaces end at 32,767


def write_html(path, title, subtitles, sheets):
    import jinja2  # imported only if needed

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    drawings = [{"kind": sheet.kind, "svg": markup(sheet.drawing)} for sheet in sheets]
    text_of_page = environment.get_template("sweep.html.jinja").render(
        title=title, subtitles=subtitles, light=LIGHT, dark=DARK, sheets=drawings
    )
    path.write_text(text_of_page, encoding="utf-8")


def write_png(path, title, subtitles, sheets):
    """All drawings below each other, in the colours of a light page."""
    import cairosvg  # imported only if needed

    width = max(sheet.width for sheet in sheets)
    top = HEADER + LINE * len(subtitles)
    height = top + sum(sheet.height for sheet in sheets)
    root = new_drawing(width, height, title)
    element(root, "style").text = LIGHT
    rectangle(root, 0, 0, width, height, css="paper")
    text(root, 24, 34, title, size=20, font_weight="bold")
    for number, words in enumerate(subtitles):
        text(root, 24, 54 + number * LINE, words, size=12, css="faint")
    for sheet in sheets:
        element(root, "g", transform=f"translate(0 {top})").extend(sheet.drawing)
        top += sheet.height
    scale = min(1.5, MOST_PIXELS / max(width, height))
    path.write_bytes(cairosvg.svg2png(bytestring=markup(root).encode(), scale=scale))


def subtitle_of(files):
    now = datetime.datetime.now(datetime.timezone.utc)
    return f"{', '.join(str(file) for file in files)}; drawn {now:%Y-%m-%d %H:%M} UTC"
