"""scripts/sweep_pairs.sh over several rails of RDMA devices, which a pair of hosts measures in one job.

The launcher makes up what rdma_write_bw prints; tests/rdma/programs/rails_test.py has the program itself on devices.
"""

import collections
import os
import unittest

from sweep_script import PROGRAMS, SweepScriptTest

# rdma_write_bw with --devices A,B: one device after the other. Over mlx5_1 it is a little slower. Files are faults, a line
# `HOST DEVICE` each. `absent`: there is no such device, so its pair is left out, also of the groups and the map of ranks, and
# the status is 3. `silent`: the job ends as it comes to that device. `slow`: half as fast. `one_rank`: no job has more than
# one rank on a host.
LAUNCHER = """#!/usr/bin/env python3
import json, pathlib, sys
folder = pathlib.Path(__file__).parent
if sys.argv[1:] == ["--version"]:
    print("mpirun (Open MPI) 4.1.4")
    sys.exit()
def value_of(option):
    return sys.argv[sys.argv.index(option) + 1]
def has(fault, device):
    path = folder / fault
    return path.exists() and any(host + " " + device in path.read_text().splitlines() for host in hosts)
lines = open(value_of("--hostfile")).read().split()
hosts = lines[::2]
devices = value_of("--devices" if "--devices" in sys.argv else "-d").split(",")
assert lines[1::2] == ["slots=%d" % len(devices)] * 2 and value_of("-np") == str(2 * len(devices))
with open(folder / "jobs", "a") as file:
    print(*sys.argv[sys.argv.index(next(word for word in sys.argv if word.endswith("/rdma_write_bw"))) + 1:], file=file)
if len(devices) > 1 and (folder / "one_rank").exists():
    sys.exit("There are not enough slots available")
groups = [place for place, device in enumerate(devices) if not has("absent", device)]
if not groups:
    print("rdma_write_bw: there is no RDMA device '%s'" % devices[0], file=sys.stderr)
    sys.exit(3)
ranks = [(end * len(devices) + place, host) for end, host in enumerate(hosts) for place in groups]
print(json.dumps(dict(
    kind="context", rank_map=[dict(rank=rank, host=host) for rank, host in ranks],
    groups=[dict(ranks="%d, %d" % (place, place + len(devices)), ports="{0} port 1, {0} port 1".format(devices[place]))
            for place in groups])))
for group, place in enumerate(groups):
    if has("silent", devices[place]):
        sys.exit("rdma_write_bw: rank %d: %s is silent" % (place, devices[place]))
    rate = (11.8 if devices[place] == "mlx5_1" else 12.0) / (2 if has("slow", devices[place]) else 1)
    print(json.dumps(dict(kind="row", size_bytes=1 << 20, group=group, skipped=None, out_of_place=dict(
        directions_gb_per_s=[rate, rate], busbw_gb_per_s=2 * rate, wrong_elements=0, processor_wait_share=None))))
if len(groups) < len(devices):
    print("rdma_write_bw: a pair was left out; the others were measured", file=sys.stderr)
    sys.exit(3)
"""
RAILS = ("--rdma", "--rails", "mlx5_0,mlx5_1,mlx5_2")
ALL = "--devices mlx5_0,mlx5_1,mlx5_2 --concurrent 1"


@unittest.skipUnless(os.path.exists(os.path.join(PROGRAMS, "rdma_write_bw")), "the verbs of this machine are too old")
class SweepRails(SweepScriptTest):  # 2 ranks, 30 s

    LAUNCHER = LAUNCHER

    def put(self, fault, *lines):
        (self.folder / fault).write_text("".join(line + "\n" for line in lines))

    def jobs(self):
        """How many there were with each choice of devices; forgets them."""
        path = self.folder / "jobs"
        jobs = collections.Counter(line.partition(" -s 1M -b --timeout 41 --quiet ")[0] for line in path.read_text().splitlines())
        path.unlink()
        return jobs

    def readings(self, rail):
        """Those of a rail: the pair, the number of pairs at the same time, the status and the figure."""
        return sorted((*sorted((line["from_host"], line["to_host"])), line["concurrent"], line["status"], line["bandwidth_gb_per_s"])
                      for line in self.lines("reading") if line["from_rail"] == line["to_rail"] == rail)

    def test_one_job_a_pair(self):
        status, out, err = self.sweep("-H", "node[11-14]", "--rounds", "1", "--rdma", "--rails", "mlx5_0:1,mlx5_1:1")
        self.assertIn(status, (0, 7), out + err)
        self.assertEqual(self.jobs(), {"--devices mlx5_0,mlx5_1 --concurrent 1 -i 1": 2})
        for rail, rate in (("mlx5_0:1", 12.0), ("mlx5_1:1", 11.8)):
            self.assertEqual([reading[2:] for reading in self.readings(rail)], 4 * [(2, "ok", rate)])
        self.assertEqual(len(self.lines("reading")), 8)

    def test_goes_on(self):
        self.assertIn(self.sweep("-H", "node[11-14]", "--rounds", "1", "--seed", "9", *RAILS)[0], (0, 7))
        kept = self.records.read_text()
        status, out, err = self.sweep("--resume", "--all-pairs", *RAILS)
        self.assertEqual(status, 0, out + err)
        self.assertTrue(self.records.read_text().startswith(kept))
        self.assertEqual(self.jobs(), {ALL: 6})
        meetings = collections.Counter((line["from_host"], line["to_host"], line["from_rail"]) for line in self.lines("reading"))
        self.assertEqual((len(meetings), set(meetings.values())), (36, {1}))

    def test_finds_the_slow_nic(self):
        self.put("slow", "node3 mlx5_1")
        status, out, err = self.sweep("-H", "node[1-6]", "--find", "--rounds", "5", "--seed", "5", *RAILS)
        self.assertEqual(status, 6, out + err)
        self.assertRegex(out, r"SLOW NIC +node3 .* is slow with all partners over rail mlx5_1, .* it is fine over 2 of 2 other rails")

    def test_device_that_a_host_lacks(self):
        """The others are measured in the job, and the reason of its own job is on record."""
        self.put("absent", "node12 mlx5_0")
        status, out, err = self.sweep("-H", "node[11-14]", "--rounds", "1", *RAILS)
        self.assertIn(status, (6, 7), out + err)
        self.assertEqual(self.jobs(), {ALL: 2, "-d mlx5_0": 1})
        for rail, rate in (("mlx5_1", 11.8), ("mlx5_2", 12.0)):
            self.assertEqual([reading[2:] for reading in self.readings(rail)], 4 * [(2, "ok", rate)])
        self.assertEqual(collections.Counter(reading[2:] for reading in self.readings("mlx5_0")),
                         {(2, "ok", 12.0): 2, (1, "failed", None): 2})
        self.assertEqual({(line["from_rail"], line["reason"]) for line in self.lines("reading") if line["status"] == "failed"},
                         {("mlx5_0", "rdma_write_bw: there is no RDMA device 'mlx5_0'")})

    def test_device_that_ends_the_job(self):
        """What comes behind it has its turn in jobs of their own."""
        self.put("silent", "node12 mlx5_1")
        status, out, err = self.sweep("-H", "node[11-14]", "--rounds", "1", *RAILS)
        self.assertIn(status, (6, 7), out + err)
        self.assertEqual(self.jobs(), {ALL: 2, "-d mlx5_1": 1, "-d mlx5_2": 1})
        self.assertIn(": failed, mlx5_1: no figure, mlx5_2: no figure; rdma_write_bw: rank 1: mlx5_1 is silent; see ", out)
        self.assertEqual([reading[2:] for reading in self.readings("mlx5_0")], 4 * [(2, "ok", 12.0)])
        self.assertEqual([reading[2:] for reading in self.readings("mlx5_1") if "node12" in reading], 2 * [(1, "failed", None)])
        self.assertEqual([reading[2:] for reading in self.readings("mlx5_2") if "node12" in reading], 2 * [(1, "ok", 12.0)])

    def test_where_hosts_take_one_rank(self):
        """As in a job of Slurm with one task a node."""
        self.put("one_rank")
        status, out, err = self.sweep("-H", "node[11-14]", "--rounds", "2", *RAILS)
        self.assertIn(status, (0, 7), out + err)
        self.assertEqual(self.jobs(), {ALL: 2, "-d mlx5_0": 4, "-d mlx5_1": 4, "-d mlx5_2": 4})
        self.assertEqual({(line["status"], line["concurrent"]) for line in self.lines("reading")}, {("ok", 2)})
        self.assertEqual(err.count("no pair could be measured over all rails in one job"), 1, err)

    def test_ports_of_one_device(self):
        """The program takes one port for all devices."""
        status, out, err = self.sweep("-H", "node[11-12]", "--rounds", "1", "--rdma", "--rails", "mlx4_0:1,mlx4_0:2")
        self.assertIn(status, (0, 7), out + err)
        self.assertEqual(self.jobs(), {"-d mlx4_0 -i 1": 1, "-d mlx4_0 -i 2": 1})
        self.assertEqual([len(self.readings(f"mlx4_0:{port}")) for port in (1, 2)], [2, 2])

    def test_dry_run(self):
        status, out, err = self.sweep("-H", "node[11-14]", "--dry-run", *RAILS)
        self.assertEqual((status, out.count(f" {ALL} "), len(out.splitlines())), (0, 2, 2), err)
