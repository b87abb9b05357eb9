"""The distribution of each host's readings as a sender and as a receiver, below the host's column of the map."""

from sweep_plots.cells import figure_text
from sweep_plots.drawing import cross, element, line, rectangle, text
from sweep_plots.heat_map import blamed_positions, has_room_for_leaves, labelled_positions
from sweep_plots.scale import round_numbers

HEIGHT = 150  # px, of the distributions of one side
LANE = 16  # px below them, for failures
BETWEEN = 34  # px from one side to the next
MOST_DOTS = 20  # maximum number of readings of a host drawn singly
MOST_HOSTS_ONE_BY_ONE = 128
QUARTILES = (0.75, 0.5, 0.25)  # from above


def height_of(panels):
    return panels * (HEIGHT + LANE + BETWEEN)


def draw_panels(parent, frame, axis, panels, top, readings, findings):
    """`panels`: (title, directions whose findings are marked, sides of all hosts)."""
    low, high = range_of([side for _, _, sides in panels for side in sides])
    blamed_in_any = set()
    for title, directions, sides in panels:
        group = element(parent, "g", css="panel")
        blamed = set().union(*(blamed_positions(findings, direction) for direction in directions))
        blamed_in_any |= blamed
        panel = Panel(group, frame, axis, top, low, high)
        panel.draw_grid(title, sides)
        if len(sides) > MOST_HOSTS_ONE_BY_ONE:
            panel.draw_together({position: side for position, side in enumerate(sides) if position not in blamed})
        else:
            for position in sorted(set(range(len(sides))) - blamed):
                panel.draw_side(position, sides[position], "host", readings)
        for position in sorted(blamed):  # on top of the others
            panel.draw_side(position, sides[position], "slow", readings)
        top += HEIGHT + LANE + BETWEEN
    draw_names(parent, frame, axis, top - BETWEEN + 6, blamed_in_any)


def draw_legend(root, x, y, panels, axis, findings):
    """Returns the lower end."""
    group = element(root, "g", css="legend")
    all_sides = [side for _, _, sides in panels for side in sides]
    words = ["Bar: the median of a host's readings. Box: the middle half of them."]
    if any(len(side.figures) > MOST_DOTS for side in all_sides):
        words.append("Thin line: from the 5th to the 95th percentile. Dot: the lowest reading.")
    if any(0 < len(side.figures) <= MOST_DOTS for side in all_sides):
        words.append(f"With up to {MOST_DOTS} readings, the thin line is from the lowest to the highest.")
    if any(dotted(side, axis) for side in all_sides):
        words.append("Dots: its readings in order of time, from left to right.")
    if any(side.failed for side in all_sides):
        words.append("Cross in the lowest lane: some of its readings failed; thick cross: most.")
    if any(blamed_positions(findings, direction) for _, directions, _ in panels for direction in directions):
        words.append("Red: a blamed host.")
    text(group, x, y - 8, "Each host", size=12, font_weight="bold")
    for number, line_of_words in enumerate(words):
        text(group, x, y + 12 + 16 * number, line_of_words, css="faint")
    return y + 16 * len(words)


def dotted(side, axis):
    """Whether its readings are drawn singly."""
    return 0 < len(side.figures) <= MOST_DOTS and len(axis.hosts) <= MOST_HOSTS_ONE_BY_ONE


def range_of(sides):
    """GB/s at the bottom and at the top."""
    figures = [side.figures for side in sides if side.figures]
    if not figures:
        return 0.0, 1.0
    low, high = min(of_side[0][0] for of_side in figures), max(of_side[-1][0] for of_side in figures)
    room = max(0.06 * (high - low), 0.02 * high, 1e-9)
    return max(0.0, low - room), high + room


class Panel:
    """One side of all hosts."""

    def __init__(self, group, frame, axis, top, low, high):
        self.group, self.frame, self.axis, self.top = group, frame, axis, top
        self.low, self.high = low, high
        self.half = min(11.0, max(0.5, 0.36 * frame.host_step))  # of a box

    def y(self, rate):
        return self.top + HEIGHT * (self.high - rate) / (self.high - self.low)

    def draw_grid(self, title, sides):
        left, right = self.frame.left, self.frame.left + self.frame.side
        text(self.group, left, self.top - 8, title, size=12, font_weight="bold")
        rectangle(self.group, left, self.top, self.frame.side, HEIGHT + LANE, css="blank")
        for tick in round_numbers(self.low, self.high, 5):
            line(self.group, left, self.y(tick), right, self.y(tick), css="grid")
            text(self.group, left - 6, self.y(tick) + 4, f"{tick:g}", css="faint", text_anchor="end")
        text(self.group, left - 42, self.top + HEIGHT / 2, "GB/s", css="faint", text_anchor="middle", turned=-90)
        for _, first, _ in self.axis.leaves[1:] if has_room_for_leaves(self.frame, self.axis) else ():
            line(self.group, self.frame.x(first), self.top, self.frame.x(first), self.top + HEIGHT + LANE, css="grid")
        if any(side.failed for side in sides):
            text(self.group, left - 6, self.top + HEIGHT + 12, "failed", css="faint", text_anchor="end")

    def draw_together(self, sides):
        """Draws many hosts: one path for all boxes, another one for all medians, and so on."""
        paths = {"boxes": [], "medians": [], "lines": [], "lowest": [], "failures": []}
        half = max(0.3, self.half)
        for position, side in sides.items():
            x = self.frame.x(position + 0.5)
            if side.failed:
                paths["failures"].append(f"M{x:.2f} {self.top + HEIGHT + 5:.1f}v6")
            if side.figures:
                upper, median, lower = (self.y(side.quantile(share)) for share in QUARTILES)
                top, bottom = self.ends_of_line(side)
                paths["boxes"].append(f"M{x - half:.2f} {upper:.1f}h{2 * half:.2f}V{lower:.1f}h{-2 * half:.2f}z")
                paths["medians"].append(f"M{x - half:.2f} {median:.1f}h{2 * half:.2f}")
                paths["lines"].append(f"M{x:.2f} {top:.1f}V{bottom:.1f}")
                if len(side.figures) > MOST_DOTS:
                    paths["lowest"].append(f"M{x - 0.6:.2f} {self.y(side.figures[0][0]):.1f}h1.2")
        thin = min(1.0, 0.6 * self.frame.host_step)
        for name, css, width in (
            ("lines", "host-line", 0.5 * thin),
            ("boxes", "host", 0),
            ("medians", "host-line", 1.4),
            ("lowest", "host-line", 1.2),
            ("failures", "line", thin),
        ):
            element(self.group, "path", d="".join(paths[name]), css=css, stroke_width=width)
        for position, side in sides.items() if self.axis.tells_hosts else ():
            if side.figures or side.failed:
                rectangle(
                    self.group,
                    self.frame.x(position),
                    self.top,
                    self.frame.host_step,
                    HEIGHT + LANE,
                    fill_opacity=0,
                    css="side",
                    title=self.text_of(position, side),
                )

    def draw_side(self, position, side, style, readings):
        if not side.figures and not side.failed:
            return
        x = self.frame.x(position + 0.5)
        host = element(self.group, "g", css="side", title=self.text_of(position, side))
        # The pointer finds it anywhere in the column.
        rectangle(host, self.frame.x(position), self.top, self.frame.host_step, HEIGHT + LANE, fill_opacity=0)
        if side.figures:
            self.draw_box(host, x, side, style)
        if dotted(side, self.axis):
            self.draw_dots(host, x, side, f"{style}-dot", readings)
        if side.failed:
            self.draw_failures(host, x, side)

    def draw_box(self, host, x, side, style):
        half = max(1.5, self.half) if style == "slow" else self.half
        top, bottom = self.ends_of_line(side)
        line(host, x, top, x, bottom, css=f"{style}-line", stroke_width=min(1.2, max(0.5, 0.5 * self.frame.host_step)))
        upper, median, lower = (self.y(side.quantile(share)) for share in QUARTILES)
        rectangle(host, x - half, upper, 2 * half, max(1.0, lower - upper), css=style)
        line(host, x - half, median, x + half, median, css=f"{style}-line", stroke_width=2 if half > 2 else 1.2)
        if len(side.figures) > MOST_DOTS:
            element(
                host,
                "circle",
                cx=x,
                cy=self.y(side.figures[0][0]),
                r=min(1.8, max(0.9, 0.3 * half)),
                css=f"{style}-dot",
            )

    def ends_of_line(self, side):
        """The range of all readings if they are few, else without the extremes."""
        return [self.y(side.quantile(share)) for share in ((1, 0) if len(side.figures) <= MOST_DOTS else (0.95, 0.05))]

    def draw_failures(self, host, x, side):
        middle = self.top + HEIGHT + LANE / 2
        if side.failed > len(side.figures):
            cross(host, x, middle, 4, css="slow-line", stroke_width=2.2)
        else:
            cross(host, x, middle, min(4.0, max(1.0, 0.3 * self.frame.host_step)), css="line", stroke_width=1)

    def draw_dots(self, host, x, side, css, readings):
        """Draws one dot per reading, side by side in order of time."""
        ordered = sorted(side.figures, key=lambda figure: figure[1])
        for number, (rate, place) in enumerate(ordered):
            across = (number + 0.5) / len(ordered) - 0.5
            radius = min(2.2, max(1.0, 0.2 * self.half))
            element(
                host,
                "circle",
                cx=x + 1.7 * self.half * across,
                cy=self.y(rate),
                r=radius,
                css=css,
                title=self.reading_text(readings, place),
            )

    def reading_text(self, readings, place):
        sender, receiver = (
            self.axis.hosts[self.axis.position[ends[place]]] for ends in (readings.senders, readings.receivers)
        )
        taken = f", round {readings.rounds[place]}" if readings.rounds[place] >= 0 else ""
        return f"{sender} to {receiver}{taken}: {figure_text(readings.rates[place])} GB/s"

    def text_of(self, position, side):
        parts = []
        if side.figures:
            least, low, median, high, most = (figure_text(side.quantile(share)) for share in (0, 0.25, 0.5, 0.75, 1))
            readings = f"median {median} GB/s of {len(side.figures)} readings"
            parts.append(f"{readings}, half from {low} to {high}, all from {least} to {most}")
        if side.failed:
            parts.append(f"{side.failed} failed")
        return f"{self.axis.hosts[position]}: {'; '.join(parts)}"


def draw_names(parent, frame, axis, top, blamed):
    group = element(parent, "g", css="names")
    for position in labelled_positions(len(axis.hosts), frame.host_step, blamed):
        css = {"css": "blamed", "font_weight": "bold"} if position in blamed else {"css": "ink"}
        text(
            group,
            frame.x(position + 0.5) + 4,
            top,
            axis.labels[position],
            text_anchor="end",
            turned=-90,
            title=axis.hosts[position],
            **css,
        )
