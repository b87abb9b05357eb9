"""Which network devices of each host carried the bytes."""

from collections import defaultdict

from report_page import figure
from report_page.blocks import Cell, Plot, Section, Table, Number, Words, percent, whole
from report_page.rows import run_name
from report_page.words import natural, number_text, printable

MOST_HOSTS = 48  # drawn: the most unequal ones
LOOPBACK = "lo"
HOW_TO_READ = (
    "Each bar is a host, and its parts are the devices that carried its bytes, sent and received, over all rows of "
    "the run. Rails of equal speed should have equal parts. A device that carries all, or one that is missing, points "
    "at a wrong interface or a dead rail. The byte counters include other traffic of the hosts."
)


def section(results):
    runs = results.runs()
    views, rows, words = [], [], []
    for run in runs:
        bytes_of = bytes_by_host(run)
        name = f"{printable(run.context['program'])}, {run_name(run, runs)}"
        if bytes_of:
            views.append((name, share_figure(bytes_of)))
            rows += rows_of(name, bytes_of)
        words += [f"{run_name(run, runs)}: {printable(line)}" for line in (run.end and run.end["wires"]) or []]
    if not views:
        return None
    note = (
        ""
        if all(len(view["layout"]["yaxis"]["categoryarray"]) < MOST_HOSTS for _, view in views)
        else (f"At most {MOST_HOSTS} hosts are drawn, those with the most unequal devices; the table has all.")
    )
    tallest = max(len(view["layout"]["yaxis"]["categoryarray"]) for _, view in views)
    blocks = [
        Plot("Share of each network device in the bytes of its host", views, "run", note, 150 + 24 * tallest),
        Table(
            "Bytes of each device",
            [
                "run",
                "host",
                "device",
                Number("sent"),
                Number("received"),
                Number("share"),
                Number("beside an equal share"),
            ],
            rows,
        ),
    ]
    if words:
        blocks.append(Words("As the programs put it", words[:50]))
    return Section("nics", "Shares of NICs", [], blocks, HOW_TO_READ)


def bytes_by_host(run):
    """host -> {device: [sent, received]} over all rows; without the loopback and without idle devices."""
    found = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for row in run.rows:
        for measured in (row["out_of_place"], row["in_place"]):
            for wire in (measured and measured["wires"]) or []:
                carried = found[printable(wire["host"])][printable(wire["wire"])]
                carried[0] += wire["sent_bytes"]
                carried[1] += wire["received_bytes"]
    busy = {
        host: {wire: both for wire, both in of_host.items() if sum(both) and wire != LOOPBACK}
        for host, of_host in found.items()
    }
    return {host: of_host for host, of_host in busy.items() if of_host}


def shares_of(of_host):
    total = sum(sum(both) for both in of_host.values())
    return {wire: 100 * sum(both) / total for wire, both in of_host.items()}


def share_figure(bytes_of):
    shares = {host: shares_of(of_host) for host, of_host in bytes_of.items()}
    unequal = sorted(shares, key=lambda host: -(max(shares[host].values()) - min(shares[host].values())))
    hosts = sorted(unequal[:MOST_HOSTS], key=natural)
    wires = sorted({wire for host in hosts for wire in shares[host]}, key=natural)
    labels = [figure.plain(host) for host in hosts]
    data = []
    for place, wire in enumerate(wires):
        known = [(label, shares[host][wire]) for host, label in zip(hosts, labels) if wire in shares[host]]
        data.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": figure.plain(wire),
                "y": [label for label, _ in known],
                "x": [share for _, share in known],
                "tone": place % figure.TONES,
                "pattern": place // figure.TONES,
                "text": [f"{figure.plain(wire)} {number_text(share, 3)} %" for _, share in known],
                "textposition": "inside",
                "insidetextanchor": "middle",
                "hovertemplate": "%{y}: %{text} of its bytes<extra></extra>",
            }
        )
    return {
        "data": data,
        "layout": {
            "barmode": "stack",
            "xaxis": {"title": {"text": "share of the host's bytes (%)"}, "range": [0, 100]},
            "yaxis": {"type": "category", "categoryorder": "array", "categoryarray": labels, "autorange": "reversed"},
        },
    }


def rows_of(name, bytes_of):
    rows = []
    for host in sorted(bytes_of, key=natural):
        shares = shares_of(bytes_of[host])
        for wire, (sent, received) in bytes_of[host].items():
            equal = shares[wire] * len(shares) / 100
            mark = "unsure" if len(shares) > 1 and not 0.8 <= equal <= 1.25 else ""
            rows.append(
                [
                    name,
                    host,
                    wire,
                    whole(sent),
                    whole(received),
                    percent(shares[wire]),
                    Cell(f"{equal:.2f} times", equal, mark),
                ]
            )
    return rows
