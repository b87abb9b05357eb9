"""Two guests with two devices each, rxe0 and rxe1: which rank takes which, and pairs that are measured in turn."""

import json
import subprocess
from pathlib import Path

from guests import HOSTS, MISSING, OK, PATIENCE_S, PROGRAMS, USAGE, GuestTest, judged, shell, validate

SWEEP = Path(__file__).parents[3] / "scripts/sweep_pairs.sh"

FEW = ("-s", "16K", "-n", 10, "-t", 8)
RAILS = ["rxe0 port 1, rxe0 port 1", "rxe1 port 1, rxe1 port 1"]


class RailTest(GuestTest):

    hosts = HOSTS

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for host in HOSTS:
            shell("rdma link add rxe1 type rxe netdev c0", host)

    @classmethod
    def tearDownClass(cls):
        for host in HOSTS:
            shell("rdma link delete rxe1", host)
        super().tearDownClass()

    def pairs(self, program, *arguments, **how):
        """Runs well. Returns what it printed, the pairs, and the rows' bandwidths in GB/s by pair."""
        file = self.directory / "run.json"
        result = self.run_job(program, *arguments, "--json", file, "--force", **how)
        self.assertEqual((result.status, result.stderr), (OK, ""), result.stdout)
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        validate(lines)
        rates = {line["group"]: line["out_of_place"]["algbw_gb_per_s"] for line in lines if line["kind"] == "row"}
        return result.stdout, lines[0]["groups"], rates


class Rails(RailTest):

    def test_every_rail(self):
        """A figure for each, the worst by its name, and what they carry together."""
        shell("tc qdisc add dev c0 root tbf rate 4mbit burst 16k latency 1s")
        self.addCleanup(shell, "tc qdisc del dev c0 root")

        def measure():
            nonlocal stdout
            stdout, groups, rates = self.pairs("rdma_write_bw", "--devices", "all", *FEW, ranks=4)
            self.assertEqual([group["ports"] for group in groups], RAILS)
            self.assertEqual([group["ranks"] for group in groups], ["0, 2", "1, 3"])
            self.assertLess(rates[1], 0.00075)  # of 0.0005
            return rates

        stdout = ""
        judged(measure, lambda rates: rates[0] > 2 * rates[1])
        worst = "pair 1, rank 1 of host host1 (rxe1 port 1) -> rank 3 of host host2 (rxe1 port 1); together: "
        self.assertIn("slowest: " + worst, stdout)
        self.assertIn("# Slowest pair         : 1, rank 1 of host host1 (rxe1 port 1) -> ", stdout)

    def test_one_rail_after_the_other(self):
        stdout, groups, rates = self.pairs("rdma_write_bw", "--devices", "rxe1,rxe0", "--concurrent", 1, *FEW, ranks=4)
        self.assertEqual([(group["ports"], group["round"]) for group in groups], [(RAILS[1], 0), (RAILS[0], 1)])
        self.assertEqual(sorted(rates), [0, 1])
        self.assertIn("# Rounds: 2, one after the other, with at most 1 pair at the same time\n", stdout)
        self.assertNotIn("together", stdout)

    def test_rails_of_one_name(self):
        _, groups, _ = self.pairs("rdma_send_lat", "--devices", "rail", "-s", 8, "-n", 20, ranks=4)
        self.assertEqual([group["ports"] for group in groups], RAILS)

    def test_nearest(self):
        """Virtual devices are near to nothing."""
        stdout, groups, _ = self.pairs("rdma_send_lat", "--devices", "auto", "-s", 8, "-n", 20, ranks=4)
        self.assertEqual([group["ports"] for group in groups], RAILS)
        self.assertIn("# Devices: no rank is bound to the NUMA node of a device", stdout)

    def test_every_two_ranks(self):
        stdout, groups, rates = self.pairs("rdma_send_lat", "--pairs", "all", "-d", "rxe0", "-s", 8, "-n", 20, ranks=4)
        self.assertEqual([group["ranks"] for group in groups], ["0, 1", "0, 2", "0, 3", "1, 2", "1, 3", "2, 3"])
        self.assertEqual(sorted(rates), list(range(6)))
        self.assertIn("# Out of bounds values : 0 OK\n", stdout)


class SickDevices(RailTest):
    """Pairs with a device that cannot be used are left out, and the others are measured."""

    def test_device_that_one_host_lacks(self):
        shell("rdma link delete rxe1", "host2")
        self.addCleanup(shell, "rdma link add rxe1 type rxe netdev c0", "host2")
        file = self.directory / "run.json"
        result = self.run_job("rdma_write_bw", "--devices", "rxe0,rxe1", *FEW, "--json", file, ranks=4)
        self.assertEqual(result.status, MISSING, result.stderr)
        self.assertIn("1 of 2 pairs was left out for want of a usable device; the others were measured", result.stderr)
        self.assertIn("# Left out: the pair of ranks 1 and 3, because of rank 3 on host host2: there is no RDMA device "
                      "'rxe1'; choose one of: rxe0\n", result.stdout)
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        validate(lines)
        self.assertEqual(lines[0]["left_out_pairs"], 1)
        self.assertEqual([group["ports"] for group in lines[0]["groups"]], RAILS[:1])
        self.assertEqual([line["group"] for line in lines if line["kind"] == "row"], [0])

    def test_no_pair_is_left(self):
        shell("rdma link delete rxe1", "host2")
        self.addCleanup(shell, "rdma link add rxe1 type rxe netdev c0", "host2")
        self.refused(MISSING, "rank 1, host host2: there is no RDMA device 'rxe1'; choose one of: rxe0$",
                     "rdma_write_bw", "-d", "rxe1", *FEW)


class Sweep(RailTest):

    def test_device_that_one_host_lacks(self):
        """One job for all rails of the pair, and one for what that could not measure."""
        shell("rdma link delete rxe1", "host2")
        self.addCleanup(shell, "rdma link add rxe1 type rxe netdev c0", "host2")
        file = self.directory / "sweep.jsonl"
        done = subprocess.run([SWEEP, "-H", ",".join(HOSTS), "--rdma", "--rails", "rxe1,rxe0", "--rounds", "1", "--programs", PROGRAMS,
                               "--timeout", str(PATIENCE_S), "--records", file, "--", *map(str, FEW)],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        readings = [line for line in map(json.loads, file.read_text().splitlines()) if line["kind"] == "reading"]
        self.assertEqual([(line["from_rail"], line.get("from_nic"), line["status"], line["reason"]) for line in readings],
                         2 * [("rxe0", "rxe0", "ok", None)] +
                         2 * [("rxe1", None, "failed", "rdma_write_bw: rank 1, host host2: there is no RDMA device 'rxe1'; "
                                                       "choose one of: rxe0")], done.stdout)


class Refusals(RailTest):

    def test_number_of_ranks(self):
        self.refused(USAGE, r"--devices all: 1 rank of host host1 is in pairs, and 2 devices \(rxe0, rxe1\) need 2; "
                            r".* --map-by ppr:2:node", "rdma_write_bw", "--devices", "all", *FEW)

    def test_unknown_device(self):
        self.refused(MISSING, "--devices rxe0,mlx5_3: no host has an RDMA device 'mlx5_3'; those of host1: rxe0, rxe1$",
                     "rdma_write_bw", "--devices", "rxe0,mlx5_3", *FEW, ranks=4)

    def test_rail_between_two_names(self):
        self.refused(USAGE, "--devices rail: pair 0 would be between rxe0 of rank 0, host host1, and rxe1 of rank 3",
                     "rdma_write_bw", "--devices", "rail", "--pairs", "0-3,1-2", *FEW, ranks=4)

    def test_two_ways_to_choose(self):
        self.refused(USAGE, "-d names one device for all ranks, and --devices names one for each",
                     "rdma_write_bw", "--devices", "all", "-d", "rxe0", *FEW)


class Loopback(RailTest):
    """Each device of a host with itself."""

    hosts = HOSTS[:1]

    def test_device_by_device(self):
        _, groups, rates = self.pairs("rdma_write_bw", "--devices", "all", *FEW, ranks=4)
        self.assertEqual([group["ports"] for group in groups], RAILS)
        self.assertEqual([group["ranks"] for group in groups], ["0, 1", "2, 3"])
        self.assertEqual(sorted(rates), [0, 1])
