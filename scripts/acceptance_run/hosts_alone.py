"""Compares hosts that were measured alone: what they are, and how fast the largest message was."""

import collections
import math
import os
import re
import statistics

from acceptance_run import folder
from acceptance_run.folder import BROKEN, SLOW, UNKNOWN

FALSE_ALARM = 0.01  # chance that any host of a healthy run exceeds the limit
FEWEST = 3          # hosts among which one can be the exception
# Interfaces of containers and virtual machines, which come and go, and the loopback.
NO_NIC = re.compile(r"(lo|docker|br-|virbr|veth|cali|cni|flannel|tun|tap|kube|nodelocaldns|vxlan|dummy|ifb|ovs|lxc|podman)")
NOTED_ONLY = ("kernel",)  # differs during every update


def facts_of(context):
    """What can be compared of a host: {(key, device or None): value}. Values that are unknown are left out."""
    host = context["hosts"][0]
    gpus = [rank["gpu"] for rank in context["rank_map"] if rank["gpu"]]
    facts = {("kernel", None): host["kernel"], ("processor", None): host["processor"],
             ("cores", None): host["processing_units"],
             ("memory", None): round(sum(node["memory_bytes"] for node in host["numa_nodes"] or []) / 2 ** 30),
             ("gpus", None): ", ".join("{} x {}".format(number, model) for model, number in
                                       sorted(collections.Counter(gpu["model"] for gpu in gpus).items())),
             ("gpu_driver", None): ", ".join(sorted({gpu["driver"] for gpu in gpus}))}
    for device in host["network_devices"] or []:
        if not NO_NIC.match(device["name"]):
            facts.update(facts_of_device(device))
    return {key: value for key, value in facts.items() if value is not None}


def facts_of_device(device):
    name = device["name"]
    return {("nics", name): "present", ("state", name): device["state"], ("speed", name): device["speed_mbit_per_s"],
            ("mtu", name): device["mtu_bytes"], ("driver", name): device["driver"], ("firmware", name): device["firmware"]}


def in_words(key, device, value, usual, others):
    """One host's value beside that of the others, as a clause."""
    if key == "nics":
        return "has no {}, which {} others have".format(device, others)
    if value is None:
        return "the {} of {} is unknown, of {} others {}".format(key, device, others, usual) if device else \
            "its {} is unknown, of {} others {}".format(key.replace("_", " "), others, usual)
    if key == "memory" and abs(value - usual) <= 1:
        return None
    return {"mtu": "{d} has an MTU of {v}, {n} others {u}", "state": "{d} is {v}, on {n} others {u}",
            "speed": "{d} runs at {v} Mbit/s, on {n} others at {u} Mbit/s",
            "driver": "the driver of {d} is {v}, on {n} others {u}",
            "firmware": "the firmware of {d} is {v}, on {n} others {u}",
            "kernel": "kernel {v}, {n} others {u}", "processor": "its processor is {v}, of {n} others {u}",
            "cores": "{v} processing units, {n} others {u}", "memory": "{v} GiB of memory, {n} others {u} GiB",
            "gpus": "its GPUs are {v}, of {n} others {u}",
            "gpu_driver": "its GPU driver is {v}, of {n} others {u}"}[key].format(
                d=device, v=value or "none", n=others, u=usual or "none")


def odd_values(of_hosts):
    """({host: [(key, words)]}, [(key, words)]): hosts unlike most others; values of which no host is the exception.

    `of_hosts` has what facts_of or another function says of each host."""
    odd, split = collections.defaultdict(list), []
    keys = collections.Counter(key for facts in of_hosts.values() for key in facts)
    for key in sorted(keys, key=lambda key: (key[0], key[1] or "")):
        values = {host: facts.get(key) for host, facts in of_hosts.items()}
        counts = collections.Counter(values.values())
        usual, agree = max(counts.items(), key=lambda item: (item[1], item[0] is not None))
        if usual is None or agree == len(values):
            continue  # a device that few have, or no difference
        if len(values) < FEWEST or agree < folder.enough(len(values)):
            if key[0] != "memory" and (key[0] != "nics" or len(values) < FEWEST):
                split.append((key[0], "{} differs: {}".format(
                    " ".join(part for part in (key[0].replace("_", " "), "of " + key[1] if key[1] else None) if part),
                    ", ".join("{} on {}".format(value if value is not None else "unknown", number)
                              for value, number in counts.most_common(4)))))
            continue
        for host, value in values.items():
            missing = ("nics", key[1]) in keys and ("nics", key[1]) not in of_hosts[host]
            words = None if value == usual or missing and key[0] != "nics" else in_words(*key, value, usual, agree)
            if words:
                odd[host].append((key[0], words))
    return odd, split


def largest_time(lines):
    """The largest message: the 5th percentile of its samples, by the faster of both placements.

    What else runs on a host only ever makes it slower, so its fast samples show what it is able to do."""
    found = []
    for row in lines.get("row", []):
        for place in ("out_of_place", "in_place"):
            figure = row[place]
            if figure and (figure["time_us_median"] or 0) > 0 and figure["busbw_gb_per_s"] is not None:
                found.append((row["size_bytes"], -(figure["time_us_p5"] or figure["time_us_median"]), figure))
    if not found:
        return None
    size, time_us, best = max(found, key=lambda one: one[:2])
    interval = best["time_us_interval"]
    return Largest(size, math.log(-time_us), interval["half_width_percent"] / 196 if interval else 0.0,
                   best["busbw_gb_per_s"] * best["time_us_median"] / -time_us)


Largest = collections.namedtuple("Largest", "size_bytes log_time error busbw")


def limit_of(logs, errors, tolerance):
    """How far above the median the logarithm of a host's time may be.

    The spread is 1.4826 times the median absolute deviation. By sqrt(2 ln(n / a)) of these, no host of n exceeds the
    median with a probability of 1 - a if logarithms are normal; few hosts show their spread badly, so it is widened for
    them, and is not taken to be less than the error of the figures themselves."""
    number = len(logs)
    middle = statistics.median(logs)
    spread = 1.4826 * statistics.median(abs(one - middle) for one in logs) * (1 + 3 / (number - 2))
    spread = max(spread, statistics.median(errors))
    return middle, max(math.log(1 + tolerance), math.sqrt(2 * math.log(number / FALSE_ALARM)) * spread)


def slow_hosts(figures, tolerance):
    """{host: (outcome, words)} of hosts that are slower than the others by more than chance and tolerance explain."""
    sizes = collections.Counter(figure.size_bytes for figure in figures.values())
    if not sizes:
        return {}
    size = sizes.most_common(1)[0][0]
    figures = {host: figure for host, figure in figures.items() if figure.size_bytes == size}
    if len(figures) < FEWEST:
        return two_hosts(figures, tolerance)
    middle, limit = limit_of([one.log_time for one in figures.values()], [one.error for one in figures.values()], tolerance)
    usual = statistics.median(one.busbw for one in figures.values())
    return {host: (SLOW, "{:.3g} of {:.3g} GB/s alone at {}, the median of {} hosts".format(
        one.busbw, usual, bytes_in_words(size), len(figures)))
            for host, one in figures.items() if one.log_time - middle > limit}


def two_hosts(figures, tolerance):
    if len(figures) < 2:
        return {}
    (fast, one), (slow, other) = sorted(figures.items(), key=lambda item: item[1].log_time)
    if other.log_time - one.log_time <= max(math.log(1 + tolerance), 4 * (one.error + other.error)):
        return {}
    return {slow: (UNKNOWN, "{:.3g} GB/s alone, {} {:.3g} GB/s: which is usual, two hosts cannot tell".format(
        other.busbw, fast, one.busbw))}


def bytes_in_words(size):
    for unit, name in ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")):
        if size % unit == 0:
            return "{}{}".format(size // unit, name)
    return str(size)


def same_machines(contexts):
    """{host: words} of hosts that are one machine under several names."""
    names = collections.defaultdict(list)
    for host, context in contexts.items():
        names[context["hosts"][0]["name"]].append(host)
    return {host: "{} ran on {}, as did {}".format(host, name, ", ".join(one for one in same if one != host)[:80])
            for name, same in names.items() if len(same) > 1 for host in same}


def context_of(lines):
    """The context of a job on one host; None if it has none, or of several."""
    for context in lines.get("context", [])[:1]:
        if context["hosts"] and len(context["hosts"]) == 1 and context["rank_map"]:
            return context
    return None


def read(lines):
    """(facts, figure, context) of a job on one host; None for what it has not."""
    context = context_of(lines)
    return context and facts_of(context), largest_time(lines), context


class Comparison:
    """All hosts that ran alone, beside each other."""

    def __init__(self, state, allow, tolerance):
        self.contexts, self.figures, facts = {}, {}, {}
        for step in state.of_stage("hosts"):
            if step["outcome"] == BROKEN and step["exit_status"] != 0 or not step["records"]:
                continue
            lines = folder.read_records(os.path.join(state.path, step["records"]))
            facts[step["hosts"][0]], figure, context = read(lines)
            if context:
                self.contexts[step["hosts"][0]] = context
                if figure:
                    self.figures[step["hosts"][0]] = figure
        odd, split = odd_values({host: facts[host] for host in self.contexts})
        self.odd = {host: [words for key, words in found if key not in NOTED_ONLY and key not in allow]
                    for host, found in odd.items()}
        self.noted = {host: [words for key, words in found if key in NOTED_ONLY or key in allow]
                      for host, found in odd.items()}
        self.split = [words for key, words in split if key not in NOTED_ONLY and key not in allow]
        self.noted_split = [words for key, words in split if key in NOTED_ONLY or key in allow]
        self.same = same_machines(self.contexts)
        self.slow = slow_hosts(self.figures, tolerance)

    def judge(self, host, judged_by_baseline):
        """(outcome, reason) of a host that ran; None: it is like the others."""
        if host in self.same:
            return BROKEN, self.same[host]
        if self.odd.get(host):
            return BROKEN, "; ".join(self.odd[host])
        return None if judged_by_baseline else self.slow.get(host)
