"""Draws figures of curves (curves.py) with matplotlib: PNG, SVG or PDF."""

import html
import io
import logging
import re
import textwrap

from report_page.page import TEMPLATES

PANEL_IN = 7.875  # its width
PANEL_HEIGHT_IN = 3.4  # with the space below it
LEFT_IN = 0.9  # at least
RIGHT_IN = 0.225
LETTER_IN = 0.085  # of the labels of ticks
DOTS_PER_INCH = 150
TITLE_COLUMNS = 82
NOTE_COLUMNS = 120
NOTE_LINE_IN = 0.16
LEGEND_COLUMNS = 116  # letters in a line of the legend
LEGEND_MARK = 9  # letters, of the line beside a name
LEGEND_LINE_IN = 0.21
MARKS = {"circle": "o", "square": "s", "diamond": "D", "triangle-up": "^", "cross": "P", "x": "X", "star": "*",
         "triangle-down": "v"}  # fmt: skip
DASHES = {"solid": "-", "dot": ":", "dash": "--", "longdash": (0, (8, 3)), "dashdot": "-."}


def draw(figures, title, note, kind, dark):
    """The bytes of a file of that kind, with one figure below the other."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it warns where it keeps its fonts, also while it is imported
    from matplotlib import rc_context, rcdefaults  # imported only if needed
    from matplotlib.figure import Figure

    rcdefaults()
    colours = colours_of(dark)
    lines = textwrap.wrap(title, TITLE_COLUMNS) or [""]
    notes = textwrap.wrap(note, NOTE_COLUMNS)
    names = [trace["name"] for trace in figures[0]["data"] if trace.get("showlegend", True)]
    columns = columns_of(names)
    lines_of_legend = -(-len(names) // columns) if len(names) > 1 else 0
    below_legend = 0.11 + (0.09 + NOTE_LINE_IN * len(notes) if notes else 0)
    below = 0.51 + LEGEND_LINE_IN * lines_of_legend + below_legend
    above = 0.25 + 0.24 * len(lines)
    height = PANEL_HEIGHT_IN * len(figures) + above + below
    settings = {"font.size": 10, "svg.fonttype": "none", "svg.hashsalt": "fabricbench", "text.color": colours["ink"]}
    with rc_context(settings):
        picture = Figure(facecolor=colours["paper"])
        panels = picture.subplots(len(figures), 1, sharex=True, squeeze=False)[:, 0]
        for axes, figure in zip(panels, figures):
            draw_panel(axes, figure, colours)
        width = left_of(panels) + PANEL_IN + RIGHT_IN
        left = left_of(panels) / width
        picture.set_size_inches(width, height)
        picture.subplots_adjust(left=left, right=1 - RIGHT_IN / width, top=1 - above / height, bottom=below / height, hspace=0.08)
        picture.align_ylabels(panels)
        panels[-1].set_xlabel(figures[-1]["layout"]["xaxis"]["title"]["text"], color=colours["ink"])
        picture.text(left, 1 - 0.12 / height, as_text("\n".join(lines)), va="top", weight="bold", size=11)
        if notes:
            picture.text(left, 0.08 / height, as_text("\n".join(notes)), va="bottom", size=8.5, color=colours["faint"])
        if lines_of_legend:
            handles, labels = panels[0].get_legend_handles_labels()
            picture.legend(handles, labels, loc="lower left", ncol=columns, frameon=False, borderaxespad=0, fontsize=9,
                           bbox_to_anchor=(left, below_legend / height))  # fmt: skip
        file = io.BytesIO()
        picture.savefig(file, format=kind, dpi=DOTS_PER_INCH, facecolor=colours["paper"],
                        metadata={"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind))  # fmt: skip
    return file.getvalue()


def colours_of(dark):
    """Those of pages, by their names there."""
    css = (TEMPLATES / "report.css").read_text(encoding="utf-8")
    blocks = re.findall(r":root \{(.*?)\}", css, re.DOTALL)
    colours = dict(re.findall(r"--([a-z]+): ([^;]+);", blocks[1 if dark else 0]))
    return colours | {"tones": colours["tones"].split()}


def columns_of(names):
    longest = max((len(html.unescape(name)) for name in names), default=1) + LEGEND_MARK
    return max(1, min(len(names), LEGEND_COLUMNS // longest))


def left_of(panels):
    """Inches that their longest label and the title beside it need."""
    longest = max(len(label.get_text()) for axes in panels for label in axes.get_yticklabels())
    return max(LEFT_IN, 0.35 + LETTER_IN * longest)


def draw_panel(axes, figure, colours):
    layout = figure["layout"]
    axes.set_facecolor(colours["paper"])
    for trace in figure["data"]:
        trace = {**trace, "x": [float(at) for at in trace["x"]]}  # numpy takes large whole numbers for objects
        tone = trace["tone"]
        colour = colours["reference"] if tone == "reference" else colours["tones"][tone % len(colours["tones"])]
        if trace.get("band"):
            draw_band(axes, trace, colour, float(colours["shade"]))
        else:
            draw_line(axes, trace, colour, colours["paper"])
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    set_ticks(axes.xaxis, layout["xaxis"], axes.get_xlim)
    set_ticks(axes.yaxis, layout["yaxis"], axes.get_ylim)
    axes.set_ylabel(layout["yaxis"]["title"]["text"], color=colours["ink"])
    axes.grid(color=colours["grid"], linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=colours["ink"], length=3)
    for spine in axes.spines.values():
        spine.set_color(colours["grid"])


def set_ticks(axis, layout, limits):
    low, high = limits()
    ticks = [(at, text) for at, text in zip(layout["tickvals"], layout["ticktext"]) if low <= at <= high]
    axis.set_ticks([at for at, _ in ticks])
    axis.set_ticklabels([text for _, text in ticks])
    axis.set_ticks([], minor=True)


def draw_band(axes, trace, colour, shade):
    if len(set(trace["x"])) == 1:  # of a single size
        axes.vlines(trace["x"][0], min(trace["y"]), max(trace["y"]), color=colour, linewidth=6, alpha=shade)
    else:
        axes.fill(trace["x"], trace["y"], color=colour, alpha=shade, linewidth=0)


def draw_line(axes, trace, colour, paper):
    dash = DASHES[trace["line"]["dash"]]
    if "marker" not in trace:
        axes.plot(trace["x"], trace["y"], color=colour, linestyle=dash, linewidth=1.4, label=as_name(trace["name"]))
        return
    symbols = trace["marker"]["symbol"]
    symbols = [symbols] * len(trace["x"]) if isinstance(symbols, str) else symbols
    mark = MARKS[symbols[0].removesuffix("-open")]
    axes.plot(trace["x"], trace["y"], color=colour, linestyle=dash, linewidth=1.6, marker=mark, markersize=5,
              label=as_name(trace["name"]))  # fmt: skip
    cut = [(x, y) for x, y, symbol in zip(trace["x"], trace["y"], symbols) if symbol.endswith("-open")]
    if cut:
        axes.plot(*zip(*cut), linestyle="", marker=mark, markersize=5, markerfacecolor=paper, markeredgecolor=colour)


def as_text(words):
    """matplotlib takes a pair of $ for a formula."""
    return words.replace("$", r"\$")


def as_name(escaped):
    """matplotlib leaves names that begin with _ out of the legend."""
    name = as_text(html.unescape(escaped))
    return f" {name}" if name.startswith("_") else name
