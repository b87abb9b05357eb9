"""The parts of drawings: SVG elements that browsers and cairosvg render alike.

ElementTree escapes what hosts are called. Colours that change with a dark page have a class, the others an attribute.
"""

import textwrap
import xml.etree.ElementTree as ElementTree

FONT = "Arial, Liberation Sans, Helvetica, sans-serif"  # cairosvg uses only the first one
MEAN_WIDTH = 0.53  # of a character, in sizes of the font

# Text is `ink` or `faint`; findings are drawn with `mark`, on a `halo` that sets it off from any colour of the scale.
LIGHT = """
.paper{fill:#ffffff} .ink{fill:#1d2127} .faint{fill:#5b6470} .blamed{fill:#c01050}
.line{stroke:#5b6470;fill:none} .grid{stroke:#dde1e6;fill:none} .cross{stroke:#16191d;fill:none}
.blank{fill:#eff1f4} .failed{fill:#c9ced6} .block{stroke:#16191d;fill:none}
.host{fill:#8fb3dc} .host-line{stroke:#1d4f8c;fill:none} .host-dot{fill:#1d4f8c}
.slow{fill:#f2b8a8} .slow-line{stroke:#b3210f;fill:none} .slow-dot{fill:#b3210f}
.mark{stroke:#d4145a;fill:none} .halo{stroke:#ffffff;fill:none} .tag{fill:#d4145a} .tag-ink{fill:#ffffff}
"""
DARK = """
.paper{fill:#14171b} .ink{fill:#e8eaed} .faint{fill:#a3acb8} .blamed{fill:#ff7fb0}
.line{stroke:#a3acb8} .grid{stroke:#343a42} .cross{stroke:#ffffff}
.blank{fill:#22262c} .failed{fill:#6b7480}
.host{fill:#35608f} .host-line{stroke:#a9cdf5} .host-dot{fill:#8fbcf0}
.slow{fill:#8c3a2a} .slow-line{stroke:#ff9c85} .slow-dot{fill:#ff9c85}
"""


def element(parent, tag, title=None, **attributes):
    """Appends an element to `parent`; underscores in attribute names become hyphens, and `css` is class."""
    names = {name: "class" if name == "css" else name.replace("_", "-") for name in attributes}
    made = ElementTree.SubElement(parent, tag, {names[name]: number(value) for name, value in attributes.items()})
    if title is not None:
        ElementTree.SubElement(made, "title").text = title
    return made


def number(value):
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def rectangle(parent, x, y, width, height, **attributes):
    return element(parent, "rect", x=x, y=y, width=width, height=height, **attributes)


def line(parent, x1, y1, x2, y2, **attributes):
    return element(parent, "path", d=f"M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}", **attributes)


def cross(parent, x, y, half, css="cross", **attributes):
    """A cross at (x, y), the mark of a failure."""
    near, far = number(float(x - half)), number(float(x + half))
    low, high = number(float(y - half)), number(float(y + half))
    return element(parent, "path", css=css, d=f"M{near} {low}L{far} {high}M{far} {low}L{near} {high}", **attributes)


def text(parent, x, y, words, size=11, css="ink", turned=None, **attributes):
    """`turned`: degrees, clockwise, around (x, y)."""
    if turned is not None:
        attributes["transform"] = f"rotate({turned} {number(float(x))} {number(float(y))})"
    made = element(parent, "text", x=float(x), y=float(y), font_size=size, css=css, **attributes)
    if len(made):  # a title follows the words
        made[0].tail = words
    else:
        made.text = words
    return made


def width_of(words, size=11):
    return len(words) * size * MEAN_WIDTH


def wrapped(words, width, size):
    return textwrap.wrap(words, max(12, int(width / (size * MEAN_WIDTH))), break_long_words=True)


def new_drawing(width, height, label):
    """An <svg> that takes at most its natural width."""
    return ElementTree.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {width:.0f} {height:.0f}",
            "width": f"{width:.0f}",
            "height": f"{height:.0f}",
            "font-family": FONT,
            "role": "img",
            "aria-label": label,
            "class": "sheet",
        },
    )


def markup(drawing):
    return ElementTree.tostring(drawing, encoding="unicode")
