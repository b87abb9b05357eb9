"""The verdict of an acceptance run: hosts to admit, to drain, and undecided ones, in one sentence and one exit status."""

import collections

from acceptance_run import collectives
from acceptance_run.folder import ACCEPTED, BROKEN, BROKEN_OFF, CUT, SLOW, UNKNOWN
from constants import NOT_JUDGED, OK, TOO_SLOW

MOST_NAMED = 3
STATES = ("slow", "dead", "failed", "unsteady", "cut off")  # words that follow a host's name


class Verdict:
    """Everything that the outputs say."""

    def __init__(self, plan, compared):
        self.plan, self.state, self.compared = plan, plan.state, compared
        self.drain = collections.OrderedDict()
        self.undecided = collections.OrderedDict()
        self.findings = [text for _, _, _, text in plan.findings()]
        self.in_short = [text for _, _, text, _ in plan.findings()]
        self.open = list(compared.split)
        self.unmeasured = []
        self.notes, self.warnings = [], []
        odd, differ = ({}, []) if "carried_by" in plan.settings.allow else collectives.odd_carriers(self.state)
        self.open += differ
        self.judge_collectives()
        for host in self.state.hosts:
            self.judge_host(host, odd)
        for step, verdict in plan.sweeps():
            if verdict:
                self.open += verdict.open
            elif step["outcome"] == BROKEN:
                self.findings.append("pairs: {}".format(step["reason"]))
                self.in_short.append(self.findings[-1])
            elif step["outcome"] == UNKNOWN:
                self.open.append("pairs: {}".format(step["reason"]))
        self.list_unmeasured()
        self.add_notes()
        self.admit = [host for host in self.state.hosts if host not in self.drain and host not in self.undecided]
        self.exit_status = self.status()
        self.headline = self.sentence()

    def judge_host(self, host, odd_carriers):
        plan = self.plan
        alone, (step, verdict) = plan.host_step(host), plan.pairs_of(host)
        if alone and alone["outcome"] in (SLOW, BROKEN):
            short = "" if plan.is_alive(host) else "failed alone: " if plan.began_on(host) else "dead: "
            self.drain[host] = short + (alone["reason"] or "failed alone")
        elif verdict and host in verdict.drained:
            self.drain[host] = verdict.drained[host]
        elif host in odd_carriers:
            self.drain[host] = odd_carriers[host]
        elif alone is None:
            self.undecided[host] = self.why_not("hosts/" + host, "not measured alone")
        elif alone["outcome"] == UNKNOWN:
            self.undecided[host] = alone["reason"] or "could not be judged alone"
        elif step is None:
            self.undecided[host] = self.why_not(plan.pairs_name(), "not measured with other hosts")
        elif verdict is None:
            self.undecided[host] = "pairs: {}".format(step["reason"] or "no verdict")
        elif host not in verdict.fine:
            self.undecided[host] = verdict.undecided.get(host, "not measured with other hosts")
            for ended_early in (CUT, BROKEN_OFF):
                if (step["reason"] or "").startswith(ended_early):
                    self.undecided[host] += "; the pairs were {}".format(ended_early)
        elif host in self.suspects:
            self.undecided[host] = self.suspects[host]

    def why_not(self, name, words):
        step = self.state.steps.get(name)
        return "{}: {}".format(words, step["reason"]) if step and step["reason"] else words

    def judge_collectives(self):
        """Hosts of a collective that failed, if it never succeeded with them, are suspects."""
        self.suspects = {}
        steps = [step for step in self.state.of_stage("collectives") if step["name"] in {
            job.name for job in self.plan.collectives()}]
        well = collections.defaultdict(set)
        for step in steps:
            if step["outcome"] == ACCEPTED:
                well[program_of(step)].update(step["hosts"])
        for step in steps:
            words = "{} over {} hosts: {}".format(program_of(step), len(step["hosts"]), step["reason"] or step["outcome"])
            if step["outcome"] in (SLOW, BROKEN):
                self.findings.append(words)
                self.in_short.append(words)
                for host in step["hosts"]:
                    if host not in well[program_of(step)]:
                        self.suspects.setdefault(host, "{} over {} hosts {}, and never succeeded with it".format(
                            program_of(step), len(step["hosts"]), "was slow" if step["outcome"] == SLOW else "failed"))
            elif step["outcome"] == UNKNOWN:
                self.open.append(words)

    def list_unmeasured(self):
        for host in self.state.hosts:
            if self.plan.host_step(host) is None:
                self.unmeasured.append(self.why_not("hosts/" + host, "hosts/" + host))
        if not self.plan.sweeps():
            self.unmeasured.append(self.why_not("pairs", "pairs"))
        jobs = self.plan.collectives()
        for job in jobs:
            if not self.plan.is_measured(job):
                self.unmeasured.append(self.why_not(job.name, job.name))
        if not jobs:
            self.unmeasured.append("collectives: fewer than two hosts have passed the pairs")

    def add_notes(self):
        """Differences that are only told, which are warnings, and what was compared with nothing."""
        for host, words in sorted(self.compared.noted.items()):
            self.warnings += ["{}: {}".format(host, text) for text in words if text]
        self.warnings += self.compared.noted_split
        self.notes += self.warnings
        if self.state.start["held_against"] == "each other" and len(self.state.hosts) == 2:
            self.notes.append("two hosts cannot tell which of them is as it should be; --expect or more hosts can")
        if self.state.start["held_against"] == "each other" and any(
                step["outcome"] == ACCEPTED for step in self.state.of_stage("collectives")):
            self.notes.append("collectives ran correctly, and their speed was compared with nothing; "
                              "--baseline, --preset or --expect judges it")

    def status(self):
        if self.drain or self.findings:
            return TOO_SLOW
        return NOT_JUDGED if self.undecided or self.open or self.unmeasured else OK

    def sentence(self):
        parts = ["{} of {} hosts accepted".format(len(self.admit), len(self.state.hosts))]
        named = ["{}{} {}".format(host, "" if reason.startswith(STATES) else ":", short(reason))
                 for host, reason in self.drain.items()]
        if named:
            parts.append(enumerated(named))
        parts += [one_line(text) for text in self.in_short[:MOST_NAMED]]
        if self.undecided:
            parts.append("{} undecided ({})".format(len(self.undecided), enumerated(
                list(self.undecided) if len(set(self.undecided.values())) > 1 else [next(iter(self.undecided.values()))])))
        parts += [text for text in self.open[:1] if not self.undecided]
        if self.unmeasured:
            parts.append("{} not measured".format(counted(len(self.unmeasured), "step")))
        return one_line("; ".join(parts))

    def record(self, seconds, exit_status=None):
        def listed(reasons):
            return [{"host": host, "reason": one_line(reason)} for host, reason in reasons.items()]

        return {"kind": "acceptance_verdict", "exit_status": self.exit_status if exit_status is None else exit_status,
                "headline": self.headline, "admit": self.admit, "drain": listed(self.drain),
                "undecided": listed(self.undecided), "seconds": round(float(seconds), 1)}


def program_of(step):
    return step["name"].partition("/")[2].rpartition("-")[0]


def short(reason):
    """The beginning of a reason: without figures behind a colon, and what stands in brackets."""
    text = reason.partition(" (")[0]
    head, _, tail = text.rpartition(": ")
    return one_line(head if head and tail[:1].isdigit() else text)


def enumerated(words, most=MOST_NAMED):
    more = len(words) - most
    return ", ".join(words[:most]) + (" and {} more".format(more) if more > 0 else "")


def counted(number, noun):
    return "{} {}{}".format(number, noun, "" if number == 1 else "s")


def one_line(text):
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())
