"""What to measure next: hosts alone, then pairs, then collectives over 2, 4, ... all hosts that are left."""

import collections
import math
import os

from acceptance_run import collectives, folder, hosts_alone, pairs
from acceptance_run.folder import ACCEPTED, BROKEN, BROKEN_OFF, CUT, SLOW, UNKNOWN

MOST_ALONE = 16         # hosts that are measured again one by one; more are measured together
FEWEST_PEERS = 6        # hosts beside which repaired ones are measured
# Of --time, the share in which a stage has to end.
STAGE_ENDS = {"hosts": 0.25, "pairs": 0.7, "collectives": 1.0}
MARGIN = 1.5            # of the time of a job, for the next, larger one
SHORTEST_JOB_S = 0.1
FIRST_JOB_S = 15        # a collective, before one has been measured

Settings = collections.namedtuple("Settings", "programs allow tolerance keep_going recheck baseline time_s left_s")


class Next:
    """A batch of steps of one stage, which may run at the same time; or none."""

    def __init__(self, stage=None, steps=(), together=True, passed=(), limit_s=None):
        self.stage, self.steps, self.together, self.passed, self.limit_s = stage, list(steps), together, list(passed), limit_s


Job = collections.namedtuple("Job", "name records hosts program")


class Plan:
    """What the steps so far say of each host, and what is to be measured yet."""

    def __init__(self, state, settings):
        self.state, self.settings = state, settings
        self.scope = settings.recheck or state.hosts
        self.files = folder.file_names(state.hosts)
        self.verdicts = {}  # of steps of pairs, by name

    # Hosts alone

    def host_step(self, host):
        return self.state.step("hosts/" + host)

    def is_alive(self, host):
        """Whether a program ran on it."""
        step = self.host_step(host)
        return step is not None and not (step["outcome"] == BROKEN and step["exit_status"] != 0)

    def began_on(self, host):
        """Whether a program said anything there."""
        step = self.host_step(host)
        return bool(step and step["records"] and folder.read_records(os.path.join(self.state.path, step["records"])))

    def passed_alone(self, host):
        step = self.host_step(host)
        return step is not None and step["outcome"] == ACCEPTED

    def host_job(self, host, again, attempt=""):
        return Job("hosts/" + host, "hosts/{}{}{}".format(self.files[host], attempt, folder.AGAIN if again else ".jsonl"),
                   [host], None)

    def measured_again(self, host, done):
        step = self.host_step(host)
        return "{} again".format(step["name"]) in done or (step["records"] or "").endswith(folder.AGAIN)

    # Pairs

    def pairs_name(self):
        return "pairs/" + ",".join(self.settings.recheck) if self.settings.recheck else "pairs"

    def in_pairs(self):
        """Hosts of the next sweep. Hosts that are known to be unfit are left out, unless the run keeps going."""
        fit = self.is_alive if self.settings.keep_going else self.passed_alone
        if not self.settings.recheck:
            return [host for host in self.state.hosts if fit(host)]
        chosen = [host for host in self.settings.recheck if fit(host)]
        peers = [host for host in self.fit_hosts() if host not in chosen]
        peers = peers[:max(FEWEST_PEERS, 2 * len(chosen))]
        return [host for host in self.state.hosts if host in set(chosen + peers)] if chosen else []

    def pairs_of(self, host):
        """(step, verdict) of the sweep that decides on this host; (None, None) without one.

        That is the last one that it was measured for, or that blames it: the name of a sweep after a repair has the
        repaired hosts, and others only serve as peers."""
        found = None, None
        for step, verdict in self.sweeps():
            concerned = step["hosts"] if step["name"] == "pairs" else repaired_in(step)
            if host in step["hosts"] and (host in concerned or verdict and host in verdict.drained):
                found = step, verdict
        return found

    def findings(self):
        """[(step, hosts, short text, text)] of what is slow between hosts, without paths of which both ends were repaired."""
        found = []
        for step, verdict in self.sweeps():
            found = [one for one in found if not one[1] or not set(one[1]) <= set(repaired_in(step))]
            found += [(step, *finding) for finding in (verdict.findings if verdict else [])]
        return found

    def verdict_of(self, step):
        if step["name"] not in self.verdicts:
            path = step["records"] and os.path.join(self.state.path, step["records"].replace(".jsonl", "-verdict.jsonl"))
            line = pairs.read_verdict(path) if path else None
            self.verdicts[step["name"]] = line and pairs.PairsVerdict(line, self.settings.tolerance, self.settings.allow)
        return self.verdicts[step["name"]]

    def sweeps(self):
        """(step, verdict) of every sweep that counts."""
        return [(step, self.verdict_of(step)) for step in self.state.of_stage("pairs") if self.state.step(step["name"])]

    def fit_hosts(self):
        """Hosts without a finding so far that were measured alone and in pairs: what collectives run on."""
        found = []
        for host in self.state.hosts:
            step, verdict = self.pairs_of(host)
            if self.passed_alone(host) and step and verdict and host in verdict.fine:
                found.append(host)
        return found

    def next_pairs_file(self):
        if not self.settings.recheck:
            return "pairs.jsonl"
        number = 2
        while os.path.exists(os.path.join(self.state.path, "pairs-{}-verdict.jsonl".format(number))):
            number += 1
        return "pairs-{}.jsonl".format(number)

    # Collectives

    def collectives(self):
        """All jobs, in order: each size with each program."""
        hosts = self.fit_hosts()
        sizes = [2 ** power for power in range(1, 16) if 2 ** power < len(hosts)] + ([len(hosts)] if len(hosts) > 1 else [])
        return [Job("collectives/{}-{}".format(program, size), "collectives/{}-{}.jsonl".format(program, size),
                    hosts[:size], program) for size in sizes for program in self.settings.programs]

    def is_measured(self, job):
        """The job over all hosts has to be over these hosts; a smaller one over some hosts of their number."""
        step = self.state.step(job.name)
        return step is not None and (len(job.hosts) < len(self.fit_hosts()) or set(step["hosts"]) == set(job.hosts))

    def collectives_left(self):
        jobs = self.collectives()
        if self.settings.recheck:
            return [job for job in jobs if len(job.hosts) == len(jobs[-1].hosts) and self.can_clear(job)]
        return [job for job in jobs if not self.is_measured(job)]

    def can_clear(self, job):
        """Whether a repaired host takes part that has not taken part in it well."""
        repaired = set(self.settings.recheck) & set(job.hosts)
        step = self.state.step(job.name)
        well = step is not None and step["outcome"] == ACCEPTED and repaired <= set(step["hosts"])
        return bool(repaired) and not well

    # What stops a run

    def unexplained(self):
        """Names of steps with a finding that no host explains; measuring more would only repeat it."""
        found = [step["name"] for step, verdict in self.sweeps() if verdict is None and step["outcome"] == BROKEN]
        found += [finding[0]["name"] for finding in self.findings()]
        return found + [step["name"] for step in self.state.of_stage("collectives") if step["outcome"] in (SLOW, BROKEN)]

    def why_stopped(self):
        found = [] if self.settings.keep_going or self.settings.recheck else self.unexplained()
        return "not run after the finding of {}; --keep-going runs it".format(found[0]) if found else None


def repaired_in(step):
    return step["name"].partition("/")[2].split(",")


def next_batch(plan, passed, done):
    """The next steps. `passed` are names of steps that this call of the script leaves out, `done` those that it ran."""
    settings = plan.settings
    found = next_hosts(plan, passed, done)
    if found:
        return found
    if plan.pairs_name() not in passed | done:
        hosts = plan.in_pairs()
        step = plan.state.step(plan.pairs_name())
        if len(hosts) < 2:
            reason = "no repaired host is fit for it" if settings.recheck else "fewer than two hosts are left"
            return Next(passed=[(Job(plan.pairs_name(), None, hosts or plan.scope, None), reason)])
        if settings.recheck or step is None or (step["reason"] or "").startswith((CUT, BROKEN_OFF)):
            limit = time_for(settings, "pairs")
            job = Job(plan.pairs_name(), plan.next_pairs_file(), hosts, None)
            if limit is not None and limit < 1:
                return Next(passed=[(job, no_time(settings))])
            return Next("pairs", [job], limit_s=limit)
    return next_collective(plan, passed, done)


def time_for(settings, stage):
    """Seconds that a stage may still take; None: no limit."""
    if settings.left_s is None:
        return None
    return int(settings.left_s - settings.time_s * (1 - STAGE_ENDS[stage]))


def no_time(settings):
    return "no time was left of --time {} s".format(settings.time_s)


def next_hosts(plan, passed, done):
    def is_open(host):
        name = "hosts/" + host
        return name not in passed | done and (plan.settings.recheck or plan.host_step(host) is None)

    limit = time_for(plan.settings, "hosts")
    jobs = [plan.host_job(host, False, plan.settings.recheck and attempt_of(plan, host) or "")
            for host in plan.scope if is_open(host)]
    if jobs:
        if limit is not None and limit < 1:
            return Next(passed=[(job, no_time(plan.settings)) for job in jobs])
        return Next("hosts", jobs, limit_s=limit)
    if plan.pairs_name() in passed | done or not plan.settings.recheck and plan.state.step("pairs"):
        return None  # they are judged
    judge_hosts(plan)
    return repeat_hosts(plan, passed, done, limit)


def attempt_of(plan, host):
    """`@2` for the second measurement of a host after a repair, and so on; file_name leaves @ out of names."""
    number = 2
    while any(os.path.exists(os.path.join(plan.state.path, "hosts", "{}@{}{}".format(plan.files[host], number, end)))
              for end in (".jsonl", folder.AGAIN)):
        number += 1
    return "@{}".format(number)


def repeat_hosts(plan, passed, done, limit):
    """A host that failed or was slow is measured again, a slow one without others beside it: one launch may be unlucky."""
    def is_suspect(host):
        step = plan.host_step(host)
        if step is None or step["name"] in passed or plan.measured_again(host, done):
            return False
        return step["outcome"] in (SLOW, UNKNOWN) or not plan.is_alive(host)

    suspects = [host for host in plan.scope if is_suspect(host)]
    if not suspects or limit is not None and limit < 1:
        return None
    dead = [host for host in suspects if not plan.is_alive(host)]
    together = bool(dead) or len(suspects) > MOST_ALONE
    jobs = [plan.host_job(host, True, attempt_part(plan.host_step(host)["records"])) for host in dead or suspects]
    return Next("hosts", jobs, together=together, limit_s=limit)


def attempt_part(records):
    """`@2` of hosts/node01@2.jsonl, so that the second measurement has a name of its own."""
    _, at, number = (records or "").rpartition("/")[2][:-len(".jsonl")].partition("@")
    return at + number


def baseline_outcome(step, path):
    """(outcome, reason) by a baseline that has launches of this host; None without such launches."""
    lines = folder.read_records(os.path.join(path, step["records"])) if step["records"] else {}
    judged = collectives.comparison_of(lines)
    return judged if judged and judged[0] in (ACCEPTED, SLOW) else None


def judge_hosts(plan):
    """Adds a line for each host about which the comparison of all hosts says something new. Returns the comparison."""
    compared = hosts_alone.Comparison(plan.state, plan.settings.allow, plan.settings.tolerance)
    new = []
    for step in plan.state.of_stage("hosts"):
        if not plan.is_alive(step["hosts"][0]) or step["outcome"] == folder.UNMEASURED:
            continue
        before = baseline_outcome(step, plan.state.path)
        judged = compared.judge(step["hosts"][0], before is not None) or before
        if judged is None and step["exit_status"] != 0:
            continue  # as the program itself said
        outcome, reason = judged or (ACCEPTED, None)
        if (outcome, reason) != (step["outcome"], step["reason"]):
            new.append(folder.changed(step, outcome, reason))
    if new:
        plan.state.add(*new)
    return compared


def next_collective(plan, passed, done):
    jobs = [job for job in plan.collectives_left() if job.name not in passed | done]
    if not jobs:
        return Next()
    stopped = plan.why_stopped()
    if stopped:
        return Next(passed=[(job, stopped) for job in jobs])
    limit = time_for(plan.settings, "collectives")
    chosen = jobs if limit is None else affordable(plan, jobs, limit)
    left_out = [job for job in jobs if job not in chosen]
    if left_out:
        return Next(passed=[(job, no_time(plan.settings)) for job in left_out])
    return Next("collectives", chosen[:1], limit_s=limit)


def affordable(plan, jobs, limit_s):
    """The jobs for which the time is expected to suffice: those over all hosts first, then from the smallest up."""
    took = [step["seconds"] for step in plan.state.of_stage("collectives") if step["outcome"] != folder.UNMEASURED]
    number = math.floor(limit_s / (MARGIN * max(took[-1], SHORTEST_JOB_S) if took else FIRST_JOB_S)) if limit_s >= 1 else 0
    largest = [job for job in jobs if len(job.hosts) == len(jobs[-1].hosts)]
    chosen = largest[:number]
    chosen += [job for job in jobs if job not in largest][:number - len(chosen)]
    return [job for job in jobs if job in chosen]
