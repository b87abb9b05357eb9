"""Slow ranks: how long each rank takes beside the others, and how often it is the last."""

import statistics
from dataclasses import dataclass, field

from report_page import figure
from report_page.blocks import Cell, Plot, Section, Table, Number, Words, percent, whole
from report_page.rows import run_name
from report_page.words import number_text, percent_text, printable

MOST_VIEWS = 40
MOST_NOTES = 20
LEAST_EXCESS = 1.0  # %; below it, and within three times the scatter of the ranks, no rank is pointed at
SCATTERS = 3
HOW_TO_READ = (
    "Each mark is a rank: its own median time relative to the median rank's, the median over the rows. A diamond with "
    f"its name is a rank that takes at least {LEAST_EXCESS:g} % longer, and stands out from the scatter of all ranks. The "
    "table says in how many rows a rank was the slowest most often: who finished last, which need not be the cause."
)


@dataclass
class Standing:
    """A rank among those of its group."""

    excess: list = field(default_factory=list)  # % over the median rank, by row
    slowest_in: int = 0  # rows
    shares: list = field(default_factory=list)  # of samples in which it was slowest, for those rows
    rows: int = 0


def section(results):
    runs = [run for run in results.runs() if run.rows]
    views, rows, notes, largest = [], [], [], []
    for run in runs:
        for group, standings in standings_of(run).items():
            name = view_name(run, runs, group)
            largest.append(max((over, stands_out(standings)) for over in excesses_of(standings)))
            views.append((name, rank_figure(run, group, standings)))
            rows += rows_of(name, run, group, standings)
    for run in results.runs():
        notes += [
            f"{run_name(run, results.runs())}: {printable(note)}" for note in (run.end and run.end["notes"]) or []
        ]
    if not views and not notes:
        return None
    blocks = []
    if views:
        rows.sort(key=lambda row: -(row[3].sort or 0))
        note = f"The first {MOST_VIEWS} of {len(views):,} groups are drawn; the table has all."
        blocks = [
            Plot(
                "Time of each rank relative to the median rank",
                views[:MOST_VIEWS],
                "run and group",
                note if len(views) > MOST_VIEWS else "",
                340,
            ),
            Table(
                "Ranks, the slowest first",
                [
                    "run",
                    Number("rank"),
                    "host",
                    Number("over the median rank"),
                    Number("slowest in rows"),
                    Number("of rows"),
                    Number("share of samples"),
                ],
                rows,
            ),
        ]
    if notes:
        blocks.append(Words("Notes of the programs", notes[:MOST_NOTES]))
    return Section("ranks", "Slow ranks", words_on(largest), blocks, HOW_TO_READ)


def words_on(largest):
    """`largest`: excess of the slowest rank of each group, and whether that stands out."""
    if not largest or any(out for _, out in largest):
        return []
    return [f"No rank stands out: the slowest takes {number_text(max(largest)[0], 2)} % longer than the median rank."]


def excesses_of(standings):
    """By rank, in the order of ranks."""
    return [statistics.median(standings[rank].excess) for rank in sorted(standings)]


def stands_out(standings):
    """Whether the slowest rank is one to look at."""
    excess = excesses_of(standings)
    scatter = statistics.median(abs(over) for over in excess)
    return max(excess) >= max(LEAST_EXCESS, SCATTERS * scatter)


def view_name(run, runs, group):
    name = f"{printable(run.context['program'])}, {run_name(run, runs)}"
    groups = run.context["groups"] or []
    return f"{name}, group {group}: ranks {printable(groups[group]['ranks'])}" if 1 < len(groups) > group else name


def standings_of(run):
    """group -> its ranks' standings, if a row has the times of two ranks or more."""
    found = {}
    for row in run.rows:
        for measured in (row["out_of_place"], row["in_place"]):
            times = (measured and measured["rank_times_us"]) or []
            median = statistics.median(times) if len(times) > 1 else 0
            if median <= 0:
                continue
            ranks = found.setdefault(row["group"] or 0, {})
            for rank, time in enumerate(times):
                standing = ranks.setdefault(rank, Standing())
                standing.excess.append(100 * (time / median - 1))
                standing.rows += 1
            if measured["slowest_rank"] in ranks:
                slowest = ranks[measured["slowest_rank"]]
                slowest.slowest_in += 1
                slowest.shares.append(measured["slowest_rank_share"] or 0)
    return found


def host_of(run, group, rank):
    """Ranks are numbered within their group."""
    for one in run.context["rank_map"] or []:
        if (one["group"] or 0) == group and one["group_rank"] == rank:
            return printable(one["host"])
    groups = run.context["groups"] or []
    names = printable(groups[group]["hosts"]).split(", ") if group < len(groups) else []
    return names[rank] if rank < len(names) else "unknown"


def rank_figure(run, group, standings):
    ranks = sorted(standings)
    excess = excesses_of(standings)
    texts = [
        f"rank {rank} on {figure.plain(host_of(run, group, rank))}: {number_text(over, 3)} % over the median rank, "
        f"slowest in {standings[rank].slowest_in} of {standings[rank].rows} rows"
        for rank, over in zip(ranks, excess)
    ]
    worst = max(range(len(ranks)), key=lambda place: excess[place]) if stands_out(standings) else None
    marks = {
        "symbol": ["diamond" if place == worst else "circle" for place in range(len(ranks))],
        "size": [13 if place == worst else 8 for place in range(len(ranks))],
    }
    data = [
        {
            "type": "scatter",
            "mode": "markers",
            "x": ranks,
            "y": excess,
            "text": texts,
            "marker": marks,
            "tone": 0,
            "name": "ranks",
            "showlegend": False,
            "hovertemplate": "%{text}<extra></extra>",
        }
    ]
    beside = max(0.5, 0.03 * (ranks[-1] - ranks[0]))  # so that there is no tick beside the ranks
    layout = {
        "xaxis": {
            "title": {"text": "rank"},
            "range": [ranks[0] - beside, ranks[-1] + beside],
            **({"dtick": 1} if len(ranks) <= 32 else {}),
        },
        "yaxis": {"title": {"text": "time over the median rank (%)"}, "zeroline": True},
    }
    if worst is not None:
        layout["annotations"] = [
            {
                "x": ranks[worst],
                "y": excess[worst],
                "text": figure.plain(f"rank {ranks[worst]}, {host_of(run, group, ranks[worst])}"),
                "xanchor": "left" if worst < len(ranks) / 3 else "right" if worst > 2 * len(ranks) / 3 else "center",
                "showarrow": True,
                "ax": 0,
                "ay": -28,
            }
        ]
    return {"data": data, "layout": layout}


def rows_of(name, run, group, standings):
    rows = []
    for rank, standing in standings.items():
        over = statistics.median(standing.excess)
        share = 100 * statistics.fmean(standing.shares) if standing.shares else None
        rows.append(
            [
                name,
                whole(rank),
                host_of(run, group, rank),
                Cell(percent_text(over), over),
                whole(standing.slowest_in),
                whole(standing.rows),
                percent(share),
            ]
        )
    return rows
