"""The verdict: what the results say in a word, and for each part why."""

from dataclasses import dataclass

from constants import FAILED, MISSING, NOT_JUDGED, OK, TIMEOUT, TOO_SLOW, USAGE, WRONG_DATA
from report_page.blocks import Cell, Section, Table, Number, Words, number, whole
from report_page.reading import PLACES
from report_page.rows import run_name
from report_page.words import counted, printable

STATES = {  # worst first: (word, mark)
    "failed": ("Failed", "bad"),
    "slow": ("Slow", "bad"),
    "unknown": ("Not judged", "unsure"),
    "measured": ("Measured, held against nothing", "unsure"),
    "accepted": ("Accepted", "good"),
}
OF_STATUS = {
    OK: "measured",
    TOO_SLOW: "slow",
    NOT_JUDGED: "unknown",
    FAILED: "failed",
    USAGE: "failed",
    MISSING: "failed",
    TIMEOUT: "failed",
    WRONG_DATA: "failed",
}
OF_JUDGEMENT = {"clean": "accepted", "slow": "slow", "unknown": "unknown"}
OF_OUTCOME = {
    "accepted": "accepted",
    "slow": "slow",
    "failed": "failed",
    "not_judged": "unknown",
    "not_measured": "unknown",
}
OF_COMPARISON = {OK: "accepted", TOO_SLOW: "slow", NOT_JUDGED: "unknown"}
MOST_PROBLEMS = 200


@dataclass
class Part:
    name: str
    state: str
    reason: str


def section(results):
    parts = parts_of(results)
    state = state_of(parts)
    word, mark = STATES[state]
    words = [headline_of(results, parts, state)]
    blocks = blocks_of_acceptance(results)
    blocks += [table_of(parts)] if parts else []
    blocks += problems_of(results)
    made = Section("verdict", "Verdict", words, blocks)
    made.state, made.mark = word, mark
    return made


def parts_of(results):
    parts = []
    for record in results.acceptance("acceptance_verdict"):
        state = "accepted" if record.get("exit_status") == OK else OF_STATUS.get(record.get("exit_status"), "failed")
        parts.append(Part("acceptance run", state, printable(record.get("headline") or "no headline")))
    if results.acceptance("acceptance") and not results.acceptance("acceptance_verdict"):
        parts.append(Part("acceptance run", "unknown", "it was broken off before its verdict"))
    parts += [part_of_step(step) for step in results.acceptance("acceptance_step")]
    parts += [part_of_comparison(comparison) for comparison in results.comparisons()]
    if results.why_not_compared:
        parts.append(Part("beside the baseline", "unknown", f"not compared: {results.why_not_compared}"))
    runs = results.runs()
    parts += [part_of_run(run, runs, results) for run in runs]
    for file, verdict in results.verdicts():
        state = OF_JUDGEMENT.get(verdict["judged"], "unknown")
        parts.append(Part(f"pairs of hosts, {file.name}", state, printable(verdict["headline"])))
    parts += parts_without_verdict(results, runs)
    parts += [Part(name, "unknown", f"cannot be read: {reason}") for name, reason in results.unreadable]
    parts += [
        Part(file.name, "unknown", f"damaged: {counted(len(file.problems), 'problem')}, see below")
        for file in results.files
        if file.problems
    ]
    return parts


def part_of_step(step):
    state = OF_OUTCOME.get(step.get("outcome"), "unknown")
    return Part(
        f"step {printable(step.get('name'))}", state, printable(step.get("reason") or step.get("outcome") or "")
    )


def part_of_run(run, runs, results):
    name = f"{printable(run.context['program'])}, {run_name(run, runs)}"
    if run.end is None:
        return Part(name, "unknown", "no end: the run was killed or is still running")
    status = run.end["exit_status"]
    state = OF_STATUS.get(status, "failed")
    if status == OK and (run.end["wrong_checks"] or run.end["fast_enough"] is False or has_wrong_data(run)):
        return Part(name, "failed", "the data were wrong, or too slow, although the exit status is 0")
    if status == OK and not any((run.rows, run.copies, run.steps, run.readings, run.endpoints, run.verdict)):
        return Part(name, "unknown", "exit status 0, and nothing was measured")
    if state == "measured" and (run.end["fast_enough"] or is_judged(run, results)):
        state = "accepted"
    return Part(name, state, f"exit status {status}: {printable(run.end['reason'] or 'no reason given')}")


def has_wrong_data(run):
    figures = [row[place] for row in run.rows for place in PLACES if row[place]]
    return any(one["wrong_elements"] for one in figures + run.copies)


def is_judged(run, results):
    """Whether something else in the results says how good its figures are: then that decides."""
    if results.acceptance("acceptance_verdict") or run.verdict:
        return True
    if run.expectation and run.expectation["required_percent"]:
        return True
    if run.context["figure"] == "sweep":
        return bool(results.verdicts())
    comparisons = results.comparisons()
    return any(one.run is None or any(other is run for other in one.runs) for one in comparisons)


def part_of_comparison(comparison):
    name = comparison.called or f"beside the baseline, {comparison.name}"
    if comparison.outcome is None:
        return Part(name, "unknown", "the comparison did not end")
    return Part(
        name, OF_COMPARISON.get(comparison.outcome["exit_status"], "failed"), printable(comparison.outcome["headline"])
    )


def parts_without_verdict(results, runs):
    if len(results.sweep) and not results.verdicts() and not any(run.verdict for run in runs):
        return [
            Part(
                "pairs of hosts",
                "unknown",
                f"{counted(len(results.sweep), 'reading')}, not judged: " "find_slow_links did not run",
            )
        ]
    return [
        Part(
            f"pairs of hosts, {run.file.name}",
            OF_JUDGEMENT.get(run.verdict["judged"], "unknown"),
            printable(run.verdict["why_over"]),
        )
        for run in runs
        if run.verdict
    ]


def state_of(parts):
    """The worst of all."""
    states = {part.state for part in parts}
    return next((state for state in STATES if state in states), "unknown")


def headline_of(results, parts, state):
    for record in results.acceptance("acceptance_verdict"):
        return printable(record.get("headline") or "")
    if not parts:
        baselines = results.baselines()
        launches = sum(len(baseline.launches) for baseline in baselines)
        return f"Nothing was judged: these are baselines only, with {counted(launches, 'launch', 'launches')}."
    deciding = [part for part in parts if part.state == state]
    first = f"{deciding[0].name}: {deciding[0].reason}" if deciding else ""
    more = f" (and {len(deciding) - 1} more like this, below)" if len(deciding) > 1 else ""
    return first + more


def table_of(parts):
    order = list(STATES)
    rows = [
        [part.name, Cell(*word_of(part.state)), part.reason]
        for part in sorted(parts, key=lambda part: order.index(part.state))
    ]
    return Table("What was judged", ["part", "outcome", "reason"], rows, is_open=True)


def word_of(state):
    word, mark = STATES[state]
    return word, None, mark


def blocks_of_acceptance(results):
    blocks = []
    for record in results.acceptance("acceptance"):
        against = printable(record.get("held_against") or "unknown")
        blocks.append(
            Words(
                "Acceptance run",
                [
                    f"Held against: {against}.",
                    f"Began: {printable(record.get('began_utc'))}.",
                    f"Command: {printable(record.get('command'))}",
                ],
            )
        )
    for record in results.acceptance("acceptance_verdict"):
        rows = [
            [printable(one["host"]), Cell("drain", None, "bad"), printable(one["reason"])]
            for one in record.get("drain") or []
        ]
        rows += [
            [printable(one["host"]), Cell("undecided", None, "unsure"), printable(one["reason"])]
            for one in record.get("undecided") or []
        ]
        rows += [[printable(host), Cell("admit", None, "good"), ""] for host in record.get("admit") or []]
        blocks.append(
            Table("Hosts to drain, to look at and to admit", ["host", "what to do", "reason"], rows, is_open=True)
        )
    steps = results.acceptance("acceptance_step")
    if steps:
        blocks.append(
            Table(
                "Steps of the acceptance run",
                ["step", "outcome", Number("exit status"), Number("seconds"), "reason", "command"],
                [row_of_step(step) for step in steps],
            )
        )
    return blocks


def row_of_step(step):
    state = OF_OUTCOME.get(step.get("outcome"), "unknown")
    return [
        printable(step.get("name")),
        Cell(printable(step.get("outcome")).replace("_", " "), None, STATES[state][1]),
        whole(step.get("exit_status")),
        number(step.get("seconds")),
        printable(step.get("reason") or ""),
        printable(step.get("command") or ""),
    ]


def problems_of(results):
    problems = results.problems()
    if not problems:
        return []
    rows = [[name, whole(line or None), words] for name, line, words in problems[:MOST_PROBLEMS]]
    return [
        Table(
            "Damaged or missing parts, which count as not judged",
            ["file", Number("line"), "what is wrong"],
            rows,
            is_open=True,
            left_out=max(0, len(problems) - MOST_PROBLEMS),
        )
    ]
