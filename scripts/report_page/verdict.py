"""The verdict: what the results say in a word, and for each part why."""

from dataclasses import dataclass
from pathlib import Path

from constants import FAILED, MISSING, NOT_JUDGED, OK, TIMEOUT, TOO_SLOW, USAGE, WRONG_DATA
from findings import is_decided, state_of as state_of_finding
from report_page.blocks import Cell, Section, Table, Number, Words, number, whole
from report_page.reading import PLACES
from report_page.rows import run_name
from report_page.sweep import WRONG
from report_page.words import counted, printable

STATES = {  # worst first: (word, mark)
    "wrong": ("Wrong data", "bad"),
    "failed": ("Failed", "bad"),
    "dead": ("Dead", "bad"),
    "cut_off": ("Cut off", "bad"),
    "slow": ("Slow", "bad"),
    "unsteady": ("Unsteady", "bad"),
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
    WRONG_DATA: "wrong",
}
OF_JUDGEMENT = {"clean": "accepted", "slow": "slow", "unknown": "unknown"}
OF_OUTCOME = {"accepted": "accepted", "slow": "slow", "failed": "failed"}  # others: unknown
OF_REASON = {"dead": "dead", "cut off": "cut_off", "unsteady": "unsteady", "failed alone": "failed"}  # how it begins
OF_COMPARISON = {OK: "accepted", TOO_SLOW: "slow", NOT_JUDGED: "unknown"}
COMPARED_WITH_NOTHING = "it ran correctly, and its speed was compared with nothing"
MOST_PROBLEMS = 200
FEWEST_HOSTS = 3  # among which one can be the exception


@dataclass
class Part:
    name: str
    state: str
    reason: str
    decides: bool = True  # False: the verdict of its acceptance run does


class Acceptance:
    """An acceptance run: the last line of each step counts, and the last verdict."""

    def __init__(self, file):
        self.folder = Path(file.path).resolve().parent
        self.start, self.verdict, self.steps = {}, None, {}
        self.named = set()  # all files of records of its steps, also of those that were measured again
        for record in file.acceptance:
            if record["kind"] == "acceptance":
                self.start = self.start or record
            elif record["kind"] == "acceptance_verdict":
                self.verdict = record
            else:
                self.steps.pop(record.get("name"), None)
                self.steps[record.get("name")] = record
                self.named |= self.files_of(record)

    def files_of(self, step):
        """The records of a step, and the verdict on them."""
        names = step.get("records")
        return {self.folder / names, self.folder / names.replace(".jsonl", "-verdict.jsonl")} if names else set()

    def has(self, file):
        return self.folder in Path(file.path).resolve().parents

    def told_by_step(self, file):
        return Path(file.path).resolve() in self.named


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
    acceptances = acceptances_of(results)
    parts = [part for acceptance in acceptances for part in parts_of_acceptance(acceptance, results)]
    parts += parts_of_wrong_data(results)
    runs = results.runs()
    for part, file in [
        *((part_of_comparison(one), one.file) for one in results.comparisons()),
        *((part_of_run(run, runs, results), run.file) for run in runs),
        *((part_of_verdict(file, verdict), file) for file, verdict in results.verdicts()),
    ]:
        if not any(one.told_by_step(file) for one in acceptances):
            part.decides = not any(one.verdict and one.has(file) for one in acceptances)
            parts.append(part)
    if results.why_not_compared:
        parts.append(Part("beside the baseline", "unknown", f"not compared: {results.why_not_compared}"))
    parts += parts_without_verdict(results, runs)
    parts += [Part(name, "unknown", f"cannot be read: {reason}") for name, reason in results.unreadable]
    parts += [
        Part(file.name, "unknown", f"damaged: {counted(len(file.problems), 'problem')}, see below")
        for file in results.files
        if file.problems
    ]
    return parts


def acceptances_of(results):
    return [Acceptance(file) for file in results.files if file.acceptance]


def worst(states):
    """The first of all states that is there; unknown without any."""
    return next((state for state in STATES if state in states), "unknown")


def parts_of_acceptance(acceptance, results):
    steps = [part_of_step(step, acceptance, results) for step in acceptance.steps.values()]
    if acceptance.verdict is None:
        return [Part("acceptance run", "unknown", "it was broken off before its verdict"), *steps]
    for step in steps:
        step.decides = False
    state = state_of_acceptance(acceptance.verdict, steps)
    return [Part("acceptance run", state, printable(acceptance.verdict.get("headline") or "no headline")), *steps]


def state_of_acceptance(verdict, steps):
    if verdict.get("exit_status") == OK:
        return "accepted"
    state = OF_STATUS.get(verdict.get("exit_status"), "failed")
    if state != "slow":
        return state
    found = {state_of_reason(one["reason"]) for one in verdict.get("drain") or []}
    return worst({state, *found, *(step.state for step in steps if STATES[step.state][1] == "bad")})


def state_of_reason(reason):
    return next((state for words, state in OF_REASON.items() if str(reason).startswith(words)), "slow")


def part_of_step(step, acceptance, results):
    state, reason = OF_OUTCOME.get(step.get("outcome"), "unknown"), step.get("reason") or step.get("outcome") or ""
    drained = {one["host"]: one["reason"] for one in (acceptance.verdict or {}).get("drain") or []}
    hosts = step.get("hosts") or []
    verdicts = [verdict for file, verdict in results.verdicts() if Path(file.path).resolve() in acceptance.files_of(step)]
    if state == "accepted" and is_held_against_nothing(step, acceptance):
        state, reason = "measured", step.get("reason") or COMPARED_WITH_NOTHING
    elif step.get("exit_status") == WRONG_DATA:
        state = "wrong"
    elif state == "slow" and verdicts:
        state = state_of_verdict(verdicts[-1])
    elif state == "failed" and step.get("stage") == "hosts" and hosts and hosts[0] in drained:
        state = state_of_reason(drained[hosts[0]]).replace("slow", "failed")
    return Part(f"step {printable(step.get('name'))}", state, printable(reason))


def is_held_against_nothing(step, acceptance):
    """Hosts are held against each other, alone and in pairs; collectives, and hosts of which there are too few, are not."""
    if acceptance.start.get("held_against") != "each other":
        return False
    few = step.get("stage") == "hosts" and len(acceptance.start.get("hosts") or []) < FEWEST_HOSTS
    return few or step.get("stage") == "collectives"


def parts_of_wrong_data(results):
    """Whatever a verdict on the same readings says of their speed."""
    parts = []
    for file in results.files:
        wrong = [why for readings in file.sweep.kinds.values() for why in readings.why.values() if why[0] == WRONG]
        if wrong:
            words = f"{counted(len(wrong), 'reading')} with wrong data; the first: {wrong[0][1]}"
            parts.append(Part(f"pairs of hosts, {file.name}", "wrong", words))
    return parts


def part_of_verdict(file, verdict):
    return Part(f"pairs of hosts, {file.name}", state_of_verdict(verdict), printable(verdict["headline"]))


def state_of_verdict(verdict):
    """The worst that it blames a host or a pair for."""
    state = OF_JUDGEMENT.get(verdict["judged"], "unknown")
    if state != "slow":
        return state
    return worst({state_of_finding(one) for one in verdict["findings"] or [] if is_decided(one)} or {"slow"})


def part_of_run(run, runs, results):
    name = f"{printable(run.context['program'])}, {run_name(run, runs)}"
    if run.end is None:
        return Part(name, "unknown", "no end: the run was killed or is still running")
    status = run.end["exit_status"]
    state = OF_STATUS.get(status, "failed")
    if status == OK and (run.end["wrong_checks"] or has_wrong_data(run)):
        return Part(name, "wrong", "the data were wrong, although the exit status is 0")
    if status == OK and run.end["fast_enough"] is False:
        return Part(name, "slow", "it was too slow, although the exit status is 0")
    if status == OK and not any((run.rows, run.copies, run.steps, run.readings, run.endpoints, run.verdict)):
        return Part(name, "unknown", "exit status 0, and nothing was measured")
    reason = f"exit status {status}: {printable(run.end['reason'] or 'no reason given')}"
    if state == "measured":
        judged = judgements_of(run, results)
        state = worst([one for one, _ in judged]) if judged else state
        reason += "".join(f"; {words}" for one, words in judged if one == state and one != "accepted")
    return Part(name, state, reason)


def has_wrong_data(run):
    figures = [row[place] for row in run.rows for place in PLACES if row[place]]
    return any(one["wrong_elements"] for one in figures + run.copies)


def judgements_of(run, results):
    """[(state, words)] of all that says how good its figures are. A comparison of unknown runs may be of this one."""
    found = [("accepted", "")] if run.end["fast_enough"] else []
    if run.expectation and run.expectation["required_percent"]:
        found.append((OF_COMPARISON.get(run.expectation["exit_status"], "failed"), printable(run.expectation["headline"])))
    if run.verdict:
        found.append((state_of_verdict(run.verdict), printable(run.verdict["why_over"])))
    if run.context["figure"] == "sweep":
        found += [(state_of_verdict(verdict), printable(verdict["headline"])) for _, verdict in results.verdicts()]
    for comparison in results.comparisons():
        if comparison.run is None or any(other is run for other in comparison.runs):
            part = part_of_comparison(comparison)
            found.append((part.state, part.reason))
    return found


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
                f"{counted(len(results.sweep), 'reading')}, not judged: find_slow_links did not run",
            )
        ]
    return [
        Part(f"pairs of hosts, {run.file.name}", state_of_verdict(run.verdict), printable(run.verdict["why_over"]))
        for run in runs
        if run.verdict
    ]


def state_of(parts):
    """The worst of all that decide."""
    return worst({part.state for part in parts if part.decides})


def headline_of(results, parts, state):
    for acceptance in acceptances_of(results):
        if acceptance.verdict:
            return printable(acceptance.verdict.get("headline") or "")
    if not parts:
        baselines = results.baselines()
        launches = sum(len(baseline.launches) for baseline in baselines)
        return f"Nothing was judged: these are baselines only, with {counted(launches, 'launch', 'launches')}."
    deciding = [part for part in parts if part.state == state and part.decides]
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
    for acceptance in acceptances_of(results):
        start, verdict = acceptance.start, acceptance.verdict
        if start:
            blocks.append(
                Words(
                    "Acceptance run",
                    [
                        f"Held against: {printable(start.get('held_against') or 'unknown')}.",
                        f"Began: {printable(start.get('began_utc'))}.",
                        f"Command: {printable(start.get('command'))}",
                    ],
                )
            )
        if verdict:
            blocks.append(table_of_hosts(verdict))
        if acceptance.steps:
            blocks.append(
                Table(
                    "Steps of the acceptance run",
                    ["step", "outcome", Number("exit status"), Number("seconds"), "reason", "command"],
                    [row_of_step(step, acceptance, results) for step in acceptance.steps.values()],
                )
            )
    return blocks


def table_of_hosts(verdict):
    rows = [
        [printable(one["host"]), Cell("drain", None, "bad"), printable(one["reason"])]
        for one in verdict.get("drain") or []
    ]
    rows += [
        [printable(one["host"]), Cell("undecided", None, "unsure"), printable(one["reason"])]
        for one in verdict.get("undecided") or []
    ]
    rows += [[printable(host), Cell("admit", None, "good"), ""] for host in verdict.get("admit") or []]
    return Table("Hosts to drain, to look at and to admit", ["host", "what to do", "reason"], rows, is_open=True)


def row_of_step(step, acceptance, results):
    part = part_of_step(step, acceptance, results)
    word, _, mark = word_of(part.state)
    return [
        printable(step.get("name")),
        Cell("Not measured" if step.get("outcome") == "not_measured" else word, None, mark),
        whole(step.get("exit_status")),
        number(step.get("seconds")),
        part.reason,
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
