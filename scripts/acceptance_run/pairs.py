"""What the verdict of find_slow_links on the pairs means for an acceptance run."""

import collections
import contextlib

from acceptance_run.folder import read_records
from findings import is_decided, is_on_hosts

NOT_BLAMED = ("suspect", "not_judged", "fine")  # the lists of all other hosts
MOST_GROUPS = 4  # named in a sentence
WAYS = {"both": "slow", "sends": "slow to send", "receives": "slow to receive"}


class PairsVerdict:
    """Hosts to drain and undecided hosts with reasons; findings that no host explains; what the readings left open."""

    def __init__(self, line, tolerance, allow=()):
        self.drained, self.undecided, self.findings, self.open = {}, {}, [], []
        lists = {name: names["hosts"] for name, names in (line["lists"] or {}).items() if isinstance(names, dict)}
        about = collections.defaultdict(list)
        for finding in line["findings"] or []:
            for host in finding["hosts"]:
                about[host].append(finding)
        for name in [name for name in lists if name not in NOT_BLAMED]:
            for host in lists[name]:
                self.drained[host] = reason_of(name, about[host])
        self.fine = set(lists.get("fine", []))
        for finding in line["findings"] or []:
            if is_decided(finding) and not is_on_hosts(finding):
                text = finding["text"]
                self.findings.append((finding["hosts"], text.partition(":")[0], with_rates(finding, text)))
        self.add_undecided(lists, line, about)
        if "groups" not in allow and not self.findings:  # which explain the groups
            self.open += open_groups(line, tolerance)
        if line["kinds"]:
            self.open.append("there are two kinds of hosts, {}: readings alone cannot tell which is as it should be".format(
                " and ".join("{} with {}".format(one["folded"], rate(one["bandwidth_gb_per_s"])) for one in line["kinds"])))
        if line["judged"] == "unknown" and not self.undecided and not self.open:
            self.open.append(line["headline"])

    def add_undecided(self, lists, line, about):
        questions = {}
        for question in line["questions"] or []:
            for host in (question["host"], question["other_host"]):
                if host:
                    questions.setdefault(host, question["why"])
        for name, words in (("suspect", "suspect"), ("not_judged", "not judged")):
            for host in lists.get(name, []):
                texts = [one["text"] for one in about[host] if not is_decided(one)]
                more = texts[0] if texts else questions.get(host)
                more = more or (line["headline"] if name == "not_judged" else None)
                self.undecided.setdefault(host, "pairs: {}{}".format(words, ": " + more if more else ""))
        for question in line["questions"] or []:  # about a path between two hosts that are fine
            ends = [host for host in (question["host"], question["other_host"]) if host]
            if len(ends) == 2 and not set(ends) & set(self.undecided):
                self.open.append("{} and {}: {}".format(ends[0], ends[1], question["why"]))


def rate(value):
    return "unknown" if value is None else "{:.3g} GB/s".format(value)


def with_rates(finding, text):
    if finding["bandwidth_gb_per_s"] is None or finding["expected_gb_per_s"] is None:
        return text
    return "{}: {:.3g} of {:.3g} GB/s".format(text, finding["bandwidth_gb_per_s"], finding["expected_gb_per_s"])


def reason_of(listed, findings):
    own = [finding for finding in findings if is_decided(finding) and is_on_hosts(finding)]
    short = listed.replace("_", " ")
    if not own:
        return short
    finding = own[0]
    if listed == "slow":
        over = " over {}".format(finding["rail"]) if finding["rail"] else ""
        short = WAYS.get(finding["direction"], "slow") + over
    return "{} ({}{})".format(with_rates(finding, short), finding["text"],
                              "; " + finding["reason"] if finding["reason"] else "")


def open_groups(line, tolerance):
    """Groups of hosts with slower paths between them: only the site knows whether these are meant."""
    found = []
    for grouping in line["groupings"] or []:
        if grouping["across_percent_of_within"] < 100 * (1 - tolerance) and len(grouping["groups"]) > 1:
            names = [group["folded"] for group in grouping["groups"]]
            found.append("{} groups of hosts ({}{}) have {:.0f} % of the bandwidth between them that they have within; {}".format(
                len(names), "; ".join(names[:MOST_GROUPS]), "; ..." if len(names) > MOST_GROUPS else "",
                grouping["across_percent_of_within"], "if they are meant to, say --allow groups" if grouping["given"] else
                "--locality tells leaves from slow uplinks, and --allow groups accepts them"))
    return found


def read_verdict(path):
    """The line of find_slow_links in a file; None without one."""
    with contextlib.suppress(IndexError):
        return read_records(path).get("slow_links", [])[0]
    return None
