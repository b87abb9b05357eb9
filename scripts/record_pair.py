#!/usr/bin/env python3
"""Reports the end of a job of check_node_pair.sh: one line for readers, and a line of JSON for each direction.

Reads the benchmark's standard output (a table with lines of JSON in between) and standard error, the job's exit status,
and the settings. Exit status: 0 ok, 1 failed, 2 usage, 4 timeout, 5 wrong data, 6 slow, 7 ranks waited for a processor, so
that what is required cannot be judged.
"""

import argparse
import datetime
import fcntl
import json
import os
import re
import signal
import sys

sys.dont_write_bytecode = True  # the folder may be shared, or not ours
import records
from constants import FAILED, NOT_JUDGED, OK, TIMEOUT, TOO_SLOW, USAGE, WRONG_DATA

# Worst first: the worst reading decides the job's status.
STATUSES = (("wrong", WRONG_DATA), ("timeout", TIMEOUT), ("failed", FAILED), ("not_tried", FAILED), ("slow", TOO_SLOW),
            ("ok", OK))
MPIRUN_TIMED_OUT = 110  # Open MPI's --timeout
TIMEOUT_TIMED_OUT = (124, 128 + signal.SIGKILL)  # coreutils' timeout: ended, or killed
TELLS_DIRECTIONS = ("pairwise_bw", "send_recv_bibw", "tcp_bibw", "rdma_write_bw", "rdma_read_bw", "rdma_send_bw")
ONE_WAY = ("send_recv_bw", "tcp_bw")
LONGEST_REASON = 400
WAITED = "{}: ranks waited for a processor {:.0f} % of the time: these are not figures of the network"
NEARLY_ALL = 0.9  # share of the bytes of a host's interfaces; a bond and its interfaces count them twice
EMPTY_WORDS = ("WARNING", "Primary job", "mpirun detected that one or more processes exited")
ENDED_WORDS = ("[mpiexec@", "srun: ", "slurmstepd")  # what hydra and Slurm say when the time limit ends them


def read_command_line():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hosts", nargs=2)
    parser.add_argument("--test", required=True)
    parser.add_argument("--size", required=True)
    parser.add_argument("--status", type=int, required=True, help="exit status of the job")
    parser.add_argument("--limit", type=int, required=True, help="time limit of the job in seconds")
    parser.add_argument("--seconds", type=int, required=True, help="duration of the job")
    parser.add_argument("--round", type=int, required=True)
    parser.add_argument("--concurrent", type=int, required=True)
    parser.add_argument("--rail", help="rail of both hosts; of the RDMA programs also several, A,B,...")
    parser.add_argument("--rails", type=int, default=1, help="number of GPUs measured at once, each of them a rail")
    parser.add_argument("--min-bandwidth", type=float, help="GB/s")
    parser.add_argument("--records", help="file to append to")
    parser.add_argument("--quiet", action="store_true", help="print nothing on success")
    parser.add_argument("--out", required=True, help="file with the job's standard output")
    parser.add_argument("--err", required=True, help="file with the job's standard error")
    parser.add_argument("--logs", required=True, help="folder for both files if the job failed")
    parser.add_argument("--private-logs", action="store_true", help="others must have no access to that folder")
    return parser.parse_args()


def bytes_of(size):
    """The bytes of a size such as 64K, or None if it is malformed; the benchmark reports the error."""
    match = re.fullmatch(r"(\d+)([KMGT]?)(i?B)?", size.strip(), re.IGNORECASE)
    if not match:
        return None
    return int(match.group(1)) << (10 * " KMGT".index(match.group(2).upper() or " "))


def read_text(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def json_lines(text):
    """The lines of JSON in a text, by kind. A launcher may have put text before one, or truncated it."""
    found = {}
    for line in text.splitlines():
        begin = line.find('{"kind":')
        if begin < 0:
            continue
        try:
            record = records.read(line[begin:])
        except ValueError:
            continue
        found.setdefault(record["kind"], []).append(record)
    return found


def short_name(host):
    """The part of a host's name to compare: node01 for alice@node01.cluster; an address as a whole."""
    name = host.rpartition("@")[2].strip("[]").lower()
    return name if re.fullmatch(r"[0-9.]+|.*:.*", name) else name.partition(".")[0]


def hosts_of_ranks(lines):
    """The hosts of the ranks, in order; empty if the job failed earlier."""
    context = lines.get("context")
    return [rank["host"] for rank in context[0]["rank_map"]] if context else []


def ranks_of(text):
    """The ranks of a group: `0-1`, or for a pair the first and the second rank, `8, 0`."""
    for part in text.split(", "):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def devices_of(lines, group, wires):
    """The known devices at both ends of a group's readings, as keys of a record."""
    context = lines["context"][0] if lines.get("context") else {}
    groups = context.get("groups", [])
    ranks = list(ranks_of(groups[group]["ranks"])) if group < len(groups) else []
    if len(ranks) != 2:
        return {}, {}
    ports = (groups[group]["ports"] or ", ").split(", ")
    known = {rank["rank"]: rank for rank in context["rank_map"]}  # without those that were left out
    ends = [(known[rank], port) for rank, port in zip(ranks, ports)]
    return tuple({**gpu_of(rank), **(nic_of(context, rank, port) if port else interface_of(context, rank, wires))}
                 for rank, port in ends)


def gpu_of(rank):
    return {"gpu": rank["gpu"]["pci"], "gpu_uuid": rank["gpu"].get("uuid")} if rank.get("gpu") else {}


def network_devices(context, rank):
    return [device for host in context.get("hosts", []) if host["name"] == rank["host"] for device in host["network_devices"]]


def interface_of(context, rank, wires):
    """The interface or port that carried nearly all bytes of a row on a rank's host; empty if several did."""
    own = {wire["wire"]: wire["sent_bytes"] + wire["received_bytes"] for wire in wires or [] if wire["host"] == rank["host"]}
    devices = {device["name"]: device for device in network_devices(context, rank) if own.get(device["name"])}
    name = max(devices, key=own.get, default=None)
    if name is None or own[name] < NEARLY_ALL * sum(own[other] for other in devices):
        return {}
    speed = devices[name].get("speed_mbit_per_s")
    return {"nic": name.partition(":")[0], "nic_guid": devices[name].get("guid"),
            "port_gb_per_s": speed / 8000 if speed else None}


def nic_of(context, rank, port):
    """The NIC of a port such as `mlx5_0 port 1`; empty if unknown."""
    name, _, number = port.partition(" port ")
    if not number:
        return {}
    devices = network_devices(context, rank)
    guid = next((device.get("guid") for device in devices if device["name"] == name + ":" + number), None)
    return {"nic": name, "nic_guid": guid, "port_gb_per_s": context.get("wire_rate_gb_per_s")}


def is_swapped(hosts, ranks):
    """Whether rank 0 ran on the second host: some launchers sort hosts."""
    first = short_name(ranks[0])
    return first == short_name(hosts[1]) and first != short_name(hosts[0])


def reading(sender, receiver, rail, status, bandwidth=None, latency=None, reason=None, size=None, both_ways=False,
            devices=({}, {}), waited=None):
    """One direction; hosts are numbered by their position on the command line."""
    return {"sender": sender, "receiver": receiver, "rail": rail, "status": status, "bandwidth": bandwidth,
            "latency": latency, "reason": reason, "size": size, "both_ways": both_ways, "devices": devices,
            "waited": waited}


def readings_of_sweep(lines, swapped, rail):
    """The readings of pairwise_bw, which measures one direction after the other."""
    found = []
    for line in lines.get("reading", []):
        sender, receiver = (line["to"], line["from"]) if swapped else (line["from"], line["to"])
        devices = [{key: line.get("{}_{}".format(end, key)) for key in ("gpu", "gpu_uuid")} for end in ("from", "to")]
        found.append(reading(sender, receiver, rail, line["status"], line["bandwidth_gb_per_s"], line["latency_us"],
                             line["reason"], line["size_bytes"], devices=devices, waited=line["processor_wait_share"]))
    return found


def readings_of_row(line, swapped, rail, both_ways, devices):
    """The readings of a row: two directions, one, or the sum of both. Empty for a skipped size."""
    measured = line["out_of_place"]
    if measured is None:
        return []
    status = "wrong" if measured["wrong_elements"] else "ok"
    reason = "{} wrong elements".format(measured["wrong_elements"]) if status == "wrong" else None
    size = line["size_bytes"]
    first, second = (1, 0) if swapped else (0, 1)
    directions, waited = measured["directions_gb_per_s"], measured["processor_wait_share"]
    if directions:
        return [reading(first, second, rail, status, directions[0], None, reason, size, False, devices, waited),
                reading(second, first, rail, status, directions[1], None, reason, size, False, devices[::-1], waited)]
    return [reading(first, second, rail, status, measured["busbw_gb_per_s"], None, reason, size, both_ways, devices, waited)]


def shares_job(options):
    """Whether several RDMA devices were measured one after the other, so that one may have kept others from their turn."""
    return options.test.startswith("rdma_") and "," in (options.rail or "")


def rails_of(options):
    """The rails of the job: GPUs, several RDMA devices, or one rail, which may have no name."""
    if options.rails > 1:
        return ["gpu{}".format(number) for number in range(options.rails)]
    return options.rail.split(",") if shares_job(options) else [options.rail]


def rail_of(lines, options, group):
    """The rail of a group of ranks. RDMA devices are told by name, since a pair without a usable one is no group."""
    if options.rails > 1:
        return "gpu{}".format(group)
    if not shares_job(options):
        return options.rail
    device = lines["context"][0]["groups"][group]["ports"].partition(" port ")[0]
    return next((rail for rail in rails_of(options) if rail.partition(":")[0] == device), device)


def readings_of(lines, options, swapped):
    if options.test == "pairwise_bw":
        return readings_of_sweep(lines, swapped, options.rail)
    found = []
    for line in lines.get("row", []):
        rail = rail_of(lines, options, line["group"])
        devices = devices_of(lines, line["group"], (line["out_of_place"] or {}).get("wires"))
        found += readings_of_row(line, swapped, rail, options.test not in ONE_WAY, devices)
    return found


def directions_of(options):
    """The readings that a job should give: sender, receiver, rail, and whether the figure sums both directions."""
    for rail in rails_of(options):
        if options.test in TELLS_DIRECTIONS:
            yield 0, 1, rail, False
            yield 1, 0, rail, False
        else:
            yield 0, 1, rail, options.test not in ONE_WAY


def clean(text):
    """One line without control characters, short enough for a table."""
    text = " ".join("".join(character if character.isprintable() else " " for character in text).split())
    return text if len(text) <= LONGEST_REASON else text[:LONGEST_REASON - 3] + "..."


def blocks_of(text):
    """A launcher's messages between dashed lines, and the lines outside such blocks. Leaves out warnings and messages
    that come with every failed job."""
    parts = re.split(r"^-{20,}$", text, flags=re.MULTILINE)
    blocks = [block.strip() for block in parts[1::2] if not block.strip().startswith(EMPTY_WORDS)]
    return blocks, [line for part in parts[0::2] for line in part.splitlines()]


def said_by_agent(texts, without=()):
    """The first line of the launch agent or of srun that does not begin with these words; empty if there is none."""
    for text in texts:
        for line in blocks_of(text)[1]:
            if line.strip() and not line.startswith(("{", "#", *without)) and "warning" not in line.lower():
                return clean(line)
    return ""


def said_by_launcher(texts):
    """The first line of the launch agent or of srun, or mpirun's explanation, shortened, or its first paragraph."""
    line = said_by_agent(texts)
    if line:
        return line
    blocks = [block for text in texts for block in blocks_of(text)[0]]
    for block in blocks:
        ends = re.search(r"unable to complete a TCP connection.*Local host: *(\S+).*Remote host: *(\S+)", block, re.DOTALL)
        if ends:
            return "no TCP connection from {} to {}, where mpirun runs".format(*ends.groups())
    if any("unable to reliably start one or more daemons" in block for block in blocks):
        return "mpirun could not start its daemon on a host, and the launch agent said nothing"
    return next((clean(re.split(r"\n\s*\n", block)[0]) for block in blocks if block), "")


def first_complaint(program, texts):
    """Why a job failed: the benchmark's own first message, or else the launcher's."""
    own = re.compile(r"(?:^|\s){}: (?!warning|note)".format(re.escape(program)), re.IGNORECASE)
    for text in texts:
        for line in text.splitlines():
            if not line.startswith("{") and own.search(line):
                return clean(line)
    return said_by_launcher(texts)


def why_nothing(options, lines, out, err):
    """Status and reason of a direction without a figure."""
    said = first_complaint(options.test, (err, out))
    if options.status == MPIRUN_TIMED_OUT or options.status in TIMEOUT_TIMED_OUT:
        own = said if said.startswith(options.test) else ""
        # The first line of a record comes when all ranks have met.
        how_far = own or ("the ranks had met, and then got stuck" if lines else "the ranks had not even met")
        # Hydra waits until the time limit where ssh has long ended.
        if options.status in TIMEOUT_TIMED_OUT and not own and not lines:
            how_far = "; ".join(filter(None, (how_far, said_by_agent((err,), ENDED_WORDS))))
        return "timeout", "no result within {} s: {}".format(options.limit, how_far)
    if options.status == TIMEOUT and (lines.get("end") or said):
        return "timeout", said or clean(lines["end"][-1]["reason"])
    if options.status == WRONG_DATA:
        return "wrong", said or "wrong data"
    skipped = [line["skipped"] for line in lines.get("row", []) if line["skipped"]]
    if skipped:
        return "failed", clean(skipped[0])
    ended = "the job ended with status {}".format(options.status)
    if not said:
        return "failed", ended + " and said nothing"
    return "failed", said if said.startswith(options.test) else "{}: {}".format(ended, said)


def complete(found, options, lines, out, err):
    """One reading for each direction: the existing ones, and failed ones with the reason for the rest."""
    known = {(one["sender"], one["receiver"], one["rail"]) for one in found}
    status, reason = None, None
    for sender, receiver, rail, both_ways in directions_of(options):
        if both_ways and (receiver, sender, rail) in known or (sender, receiver, rail) in known:
            continue
        if status is None:
            status, reason = why_nothing(options, lines, out, err)
        found.append(reading(sender, receiver, rail, status, reason=reason, both_ways=both_ways))
    return found


def same_host(ranks):
    """Why the figures are invalid if all ranks ran on one host."""
    if len(set(ranks)) > 1:
        return None
    return "all ranks ran on {}, so both names are the same host, or the launcher ignored them".format(ranks[0])


def judge_rate(one, least):
    if least is None or one["waited"]:  # which is no figure of the network
        return
    if one["status"] == "ok" and one["bandwidth"] is not None and one["bandwidth"] < least:
        one["status"] = "slow"
        one["reason"] = "{:.4g} GB/s is below --min-bandwidth {:g}".format(one["bandwidth"], least)


def judge(options, out, err):
    """All readings of the job, each with its status."""
    lines = json_lines(out)
    ranks = hosts_of_ranks(lines)
    problem = same_host(ranks) if ranks else None
    if problem:
        return [reading(*direction[:3], "failed", reason=problem, both_ways=direction[3])
                for direction in directions_of(options)]
    found = readings_of(lines, options, bool(ranks) and is_swapped(options.hosts, ranks))
    found = sorted(complete(found, options, lines, out, err), key=lambda one: (one["rail"] or "", one["sender"]))
    for one in found:
        judge_rate(one, options.min_bandwidth)
        # Requirements given by the benchmark's own options.
        if options.status == TOO_SLOW and one["status"] == "ok":
            one["status"], one["reason"] = "slow", first_complaint(options.test, (err, out)) or "slower than required"
    return found


def open_folder(path, private):
    """A descriptor of a folder, which is made if it is not there. Throws OSError if it is to be private and is not: in a
    folder that all may write to, somebody else can have made it, or a link in its place."""
    os.makedirs(path, mode=0o700, exist_ok=True)
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | (os.O_NOFOLLOW if private else 0))
    status = os.fstat(descriptor)
    if private and (status.st_uid != os.geteuid() or status.st_mode & 0o077):
        os.close(descriptor)
        raise OSError("{} belongs to somebody else, or others have access to it; remove it, or give --logs DIR".format(path))
    return descriptor


def new_file(folder, name):
    """A file for writing that was not there before, in a folder given by its descriptor."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    return open(name, "w", encoding="utf-8", opener=lambda path, _: os.open(path, flags, 0o600, dir_fd=folder))


def keep_log(options, out, err):
    """Writes the job's output to a file. Returns its path, or None if that fails, which is not an error of the pair."""
    names = [re.sub(r"[^A-Za-z0-9_.@-]", "_", name) for name in options.hosts + ([options.rail] if options.rail else [])]
    stamp = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%S")
    name = "{}.round{}.{}.{}.log".format("-".join(names)[:150], options.round, stamp, os.getpid())
    try:
        folder = open_folder(options.logs, options.private_logs)
        with new_file(folder, name) as file:
            file.write("# {} {} of {}: exit status {} after {} s\n".format(
                options.test, options.size, " and ".join(options.hosts), options.status, options.seconds))
            file.write("# standard error:\n{}\n# standard output:\n{}\n".format(err, out))
    except OSError as error:
        print("record_pair: no log is kept: {}".format(error), file=sys.stderr)
        return None
    os.close(folder)
    return os.path.abspath(os.path.join(options.logs, name))


def device_keys(devices):
    """The known keys of the devices."""
    return {"{}_{}".format(end, key): value for end, keys in zip(("from", "to"), devices) for key, value in keys.items()
            if value is not None}


def record_line(one, options, log):
    return json.dumps({
        "kind": "reading", "round": options.round, "concurrent": options.concurrent,
        "from_host": options.hosts[one["sender"]], "to_host": options.hosts[one["receiver"]],
        "from_rail": one["rail"], "to_rail": one["rail"], **device_keys(one["devices"]), "test": options.test,
        "size_bytes": one["size"] if one["size"] is not None else bytes_of(options.size),
        "status": one["status"], "both_ways": one["both_ways"], "bandwidth_gb_per_s": one["bandwidth"],
        "latency_us": one["latency"], **({"processor_wait_share": one["waited"]} if one["waited"] else {}),
        "reason": one["reason"], "log": log if one["status"] != "ok" else None,
        "finished_utc": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "seconds": max(options.seconds, 1)}, separators=(",", ":"))


def append(path, lines):
    """Appends whole lines in one write; safe with concurrent writers, also on file systems without atomic O_APPEND."""
    data = "".join(line + "\n" for line in lines).encode("utf-8")
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX)
        while data:
            data = data[os.write(descriptor, data):]
    finally:
        os.close(descriptor)


def in_words(one):
    rail = "{}: ".format(one["rail"]) if one["rail"] else ""
    if one["bandwidth"] is None:
        return "{}no figure".format(rail)
    way = "both ways" if one["both_ways"] else "there" if one["sender"] == 0 else "back"
    return "{}{:.4g} GB/s {}".format(rail, one["bandwidth"], way)


def tell(found, worst, options, log):
    # In a sweep, what a job for several rails could not measure is news, rather than its figures.
    lacking = options.quiet and shares_job(options)
    parts = [worst, *dict.fromkeys(in_words(one) for one in found if (one["bandwidth"] is None) == lacking)]
    reason = next((one["reason"] for one in found if one["status"] == worst and one["reason"]), None)
    line = "{} {}: {}".format(options.hosts[0], options.hosts[1], ", ".join(parts))
    if reason:
        line += "; " + reason
    print(line + ("; see {}".format(log) if log else ""))


def main():
    options = read_command_line()
    out, err = read_text(options.out), read_text(options.err)
    if options.status == USAGE and "row" not in json_lines(out):
        # Every pair would end like this, so no record is written.
        print(first_complaint(options.test, (err, out)), file=sys.stderr)
        return USAGE
    found = judge(options, out, err)
    worst, status = next((name, code) for name, code in STATUSES if any(one["status"] == name for one in found))
    waited = max(one["waited"] or 0 for one in found)
    if status == OK and waited and (options.min_bandwidth is not None or options.status == NOT_JUDGED):
        print(WAITED.format(" ".join(options.hosts), 100 * waited), file=sys.stderr)
        status = NOT_JUDGED
    log = keep_log(options, out, err) if worst != "ok" else None
    if options.records:
        kept = [one for one in found if one["bandwidth"] is not None or not shares_job(options)]
        append(options.records, [record_line(one, options, log) for one in kept])
    if worst != "ok" or not options.quiet:
        tell(found, worst, options, log)
    return status


if __name__ == "__main__":
    sys.exit(main())
