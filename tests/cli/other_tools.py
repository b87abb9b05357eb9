"""Results of six hosts as other tools write them: files by their name, made of a rate in GB/s for each direction.

`rate(sender, receiver)` takes places of HOSTS and returns GB/s, or None for a pair that fails.
"""

import itertools
import json

from finding import CLEAN, FindingTest

HOSTS = [f"gpu-node-{number}" for number in range(1, 7)]
SLOW_HOST = 3
SIZE = 4194304


def healthy(sender, receiver):
    """A figure a little different for every pair."""
    return 12 * (1 + 0.01 * ((sender * 7 + receiver * 5) % 9 - 4) / 4)


def with_slow_host(sender, receiver):
    return healthy(sender, receiver) * (0.5 if SLOW_HOST in (sender, receiver) else 1)


def both_ways(rate, one, other):
    """The slower direction: what an exchange takes as long as."""
    figures = rate(one, other), rate(other, one)
    return None if None in figures else min(figures)


def pair_logs(rate, log, pairs, name="{}_{}.log"):
    return {name.format(HOSTS[a], HOSTS[b]): log(a, b, rate) for a, b in pairs(range(len(HOSTS)), 2)}


def nccl_log(a, b, rate):
    figure = both_ways(rate, a, b)
    text = (f"# nccl-tests version 2.17.6 nccl-headers=22807 nccl-library=22807\n"
            f"# Collective test starting: sendrecv_perf\n# nThread 1 nGpus 1 minBytes 1048576 maxBytes {SIZE}\n#\n"
            f"# Using devices\n#  Rank  0 Group  0 Pid   4001 on {HOSTS[a]} device  0 [0000:1b:00] NVIDIA H100\n"
            f"#  Rank  1 Group  0 Pid   4002 on {HOSTS[b]} device  0 [0000:1b:00] NVIDIA H100\n#\n"
            f"#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   "
            f"busbw  #wrong\n")
    if figure is None:
        return text + f"{HOSTS[b]}: Test NCCL failure common.cu:958 'unhandled system error'\n"
    for size in (SIZE // 4, SIZE):
        text += f"  {size}  {size // 4}  float  sum  -1  1.0  {figure:.2f}  {figure:.2f}  0  1.0  9.99  9.99  N/A\n"
    return text + "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 11.1\n#\n"


def osu_log(a, b, rate):
    figure = rate(a, b)
    if figure is None:
        return f"ssh: connect to host {HOSTS[b]} port 22: No route to host\n"
    return ("# OSU MPI Bandwidth Test v7.4\n# Datatype: MPI_CHAR.\n# Size      Bandwidth (MB/s)\n"
            f"1     3.50\n{SIZE}       {figure * 1000:.2f}\n")


def perftest_log(a, b, rate):
    figure = rate(a, b)
    if figure is None:
        return f"Couldn't connect to {HOSTS[b]}:18515\n"
    line = "-" * 80
    return (f"{line}\n                    RDMA_Write BW Test\n Device         : mlx5_0\n{line}\n"
            f" #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
            f" {SIZE}      5000             {figure * 8.1:.2f}             {figure * 8:.2f}     0.0029\n{line}\n")


def iperf3_log(a, b, rate):
    figure = rate(a, b)
    if figure is None:
        return "iperf3: error - unable to connect to server: Connection refused\n"
    return (f"Connecting to host {HOSTS[b]}, port 5201\n[ ID] Interval           Transfer     Bitrate         Retr\n"
            f"[  5]   0.00-10.00  sec  99.9 GBytes  {figure * 8 + 0.5:.2f} Gbits/sec    0             sender\n"
            f"[  5]   0.00-10.04  sec  99.9 GBytes  {figure * 8:.2f} Gbits/sec                  receiver\n\niperf Done.\n")


def iperf3_json(a, b, rate):
    figure = rate(a, b)
    start = {"version": "iperf 3.12", "test_start": {"protocol": "TCP", "reverse": 0}}
    if figure is None:
        return json.dumps({"start": {"version": "iperf 3.12"}, "end": {}, "error": "unable to connect to server"})
    sums = {"sum_sent": {"bits_per_second": figure * 8.1e9}, "sum_received": {"bits_per_second": figure * 8e9}}
    return json.dumps({"start": start, "intervals": [], "end": sums}, indent=1)


def iperf2_log(a, b, rate):
    figure = rate(a, b)
    line = "-" * 60
    text = f"{line}\nClient connecting to 10.0.0.{b}, TCP port 5001\nTCP window size: 85.0 KByte (default)\n{line}\n"
    if figure is None:
        return text + "connect failed: No route to host\n"
    return (text + f"[  3] local 10.0.0.{a} port 54321 connected with 10.0.0.{b} port 5001\n"
            "[ ID] Interval       Transfer     Bandwidth\n"
            f"[  3]  0.0-10.0 sec  9.99 GBytes  {figure * 8:.2f} Gbits/sec\n")


def perftest_json(a, b, rate):
    figure = rate(a, b)
    info = {"test": "RDMA_Write_BW_Test", "Device": "mlx5_0", "Number_of_qps": 1}
    results = {"MsgSize": SIZE, "n_iterations": 5000, "BW_peak": figure * 9, "BW_average": round(figure * 8, 2),
               "MsgRate": round(figure * 1000 / SIZE, 6)}
    return json.dumps({"test_info": info, "results": results}, indent=0)


def imb_log(a, b, rate):
    figure = both_ways(rate, a, b)
    line = "#" + "-" * 51
    return (f"#    Intel(R) MPI Benchmarks 2021.7, MPI-1 part\n{line}\n# Benchmarking PingPong \n# #processes = 2 \n"
            f"{line}\n       #bytes #repetitions      t[usec]   Mbytes/sec\n            0         1000         1.66         0.00\n"
            f"      {SIZE}           10      {SIZE / figure / 1000:.2f}     {figure * 1000:.2f}\n\n\n"
            "# All processes entering MPI_Finalize\n\n")


def mpigraph_of_fork(rate):
    names = [f"{host}:{rank}" for rank, host in enumerate(HOSTS)]
    text = f"START mpiGraph v1.6\nMsg Size: {SIZE} Bytes\nProcs: {len(HOSTS)}\n\n"
    for title, word, way in (("Send", "to", lambda a, b: (a, b)), ("Recv", "from", lambda a, b: (b, a))):
        text += f"\n{title} max: 1.0 MB/s\n\n{title:19}\t" + "".join(f"{name:20}\t" for name in names) + "\n"
        for a, name in enumerate(names):
            cells = [0 if a == b else rate(*way(a, b)) * 1000 for b in range(len(HOSTS))]
            text += f"{name:14} {word:>4}\t" + "".join(f"{cell:<15.3f}\t" for cell in cells) + "\n"
    return text + "\nEND mpiGraph\n"


def mpigraph_text(rate):
    names = [f"{host}:{rank}" for rank, host in enumerate(HOSTS)]
    text = f"START mpiGraph v1.5\nMsgSize\t{SIZE}\nTimes\t10\nWindow\t10\nProcs\t{len(HOSTS)}\n"
    for title, word, way in (("Send", "to", lambda a, b: (a, b)), ("Recv", "from", lambda a, b: (b, a))):
        text += f"\n{title} max\t1.0\n{title} avg\t1.0\n\n{title}\t" + "".join(name + "\t" for name in names) + "\n"
        for a, name in enumerate(names):
            cells = [0 if a == b else (rate(*way(a, b)) or 0) * 1e9 / 2**20 for b in range(len(HOSTS))]
            text += f"{name} {word}\t" + "".join(f"{cell:.3f}\t" for cell in cells) + "\n"
    return text + "END mpiGraph\n"


def hp2p_page(rate):
    rows = [[0 if a == b else (both_ways(rate, a, b) or 0) * 1e9 / 2**20 for b in range(len(HOSTS))]
            for a in range(len(HOSTS))]
    matrix = "".join("    [" + "".join(f" {cell:.2f}," for cell in row) + " ], " for row in rows)
    hosts = "".join(f'    "{host}", ' for host in HOSTS)
    return ("<!DOCTYPE html>\n<html>\n<script type=\"text/javascript\">\n// hostlist start\nvar hostlist = \n"
            f"[{hosts}    ]\n;\nvar msg_size = \n    {SIZE}\n    ;\nvar bandwidth = \n[{matrix}    ]\n;\n</script>\n")


def clusterkit_table(rate):
    text = "Rank:" + "".join(f"{rank:9}" for rank in range(len(HOSTS))) + "\n"
    for a, host in enumerate(HOSTS):
        cells = [0 if a == b else (both_ways(rate, a, b) or 0) * 1000 for b in range(len(HOSTS))]
        text += f"  {a} ({host} ):" + "".join(f"  {cell:.1f}" for cell in cells) + "\n"
    return text


def clusterkit_json(rate):
    rows = [[None if a == b else rate(a, b) for b in range(len(HOSTS))] for a in range(len(HOSTS))]
    return json.dumps({"tool": "ClusterKit", "hosts": HOSTS, "bandwidth": {"units": "GB/s", "values": rows}})


def csv_text(rate):
    lines = ["from,to,bandwidth (Gb/s),reason"]
    for a, b in itertools.permutations(range(len(HOSTS)), 2):
        figure = rate(a, b)
        lines.append(f"{HOSTS[a]},{HOSTS[b]}," + (",timed out" if figure is None else f"{figure * 8:.3f},"))
    return "\n".join(lines) + "\n"


def matrix_csv(rate):
    rows = [[HOSTS[a]] + ["-" if a == b else f"{rate(a, b) * 8:.3f}" for b in range(len(HOSTS))] for a in range(len(HOSTS))]
    return "\n".join(",".join(row) for row in [["from (Gb/s)"] + HOSTS] + rows) + "\n"


# By kind, as --import takes it: sets of files, each with a way to write it.
SETS = {
    "nccl-tests": [lambda rate: pair_logs(rate, nccl_log, itertools.combinations, "nccl_N2_{}_{}.log")],
    "osu": [lambda rate: pair_logs(rate, osu_log, itertools.permutations, "osu_bw_{}-to-{}.txt")],
    "perftest": [lambda rate: pair_logs(rate, perftest_log, itertools.permutations),
                 lambda rate: pair_logs(rate, perftest_json, itertools.permutations, "{}_{}.json")],
    "iperf3": [lambda rate: pair_logs(rate, iperf3_log, itertools.permutations),
               lambda rate: pair_logs(rate, iperf3_json, itertools.permutations, "{}_{}.json")],
    "iperf2": [lambda rate: pair_logs(rate, iperf2_log, itertools.permutations)],
    "imb": [lambda rate: pair_logs(rate, imb_log, itertools.combinations, "{}_{}.imb")],
    "mpigraph": [lambda rate: {"mpiGraph.out": mpigraph_text(rate)},
                 lambda rate: {"mpiGraph.out": mpigraph_of_fork(rate)},
                 lambda rate: {"mpiGraph.out": mpigraph_text(rate).expandtabs()}],
    "hp2p": [lambda rate: {"hp2p.html": hp2p_page(rate)}],
    "clusterkit": [lambda rate: {"bandwidth.txt": clusterkit_table(rate)},
                   lambda rate: {"bandwidth.json": clusterkit_json(rate)}],
    "csv": [lambda rate: {"pairs.csv": csv_text(rate)}, lambda rate: {"matrix.csv": matrix_csv(rate)}],
}


class ImportTest(FindingTest):

    def folder(self, files, name="logs"):
        path = self.directory / name
        path.mkdir()
        for file, text in files.items():
            (path / file).parent.mkdir(parents=True, exist_ok=True)
            (path / file).write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def records(self, *arguments):
        """What --convert makes of them."""
        stdout, _ = self.run_tool(CLEAN, "--import", *arguments, "--convert", "-")
        return [json.loads(line) for line in stdout.splitlines()]
