"""fabricbench preflight --fabric: what is wrong in a fabric, from what ibnetdiscover has printed."""

import json
import subprocess
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory

from launch import PROGRAMS, environment, text_of

OK, USAGE, MISSING, FAILURES, NOT_JUDGED = 0, 2, 3, 6, 7
LEAVES, HOSTS, SPINES = 4, 4, 2  # leaves, hosts on each of them, spines with a cable to each leaf


def cables():
    """By their ends, which are names and ports: the rate."""
    made = {}
    for leaf in range(1, LEAVES + 1):
        for port in range(1, HOSTS + 1):
            made[f"node{(leaf - 1) * HOSTS + port:02d} mlx5_0", 1, f"leaf{leaf}", port] = "4xHDR"
        for spine in range(1, SPINES + 1):
            made[f"leaf{leaf}", HOSTS + spine, f"spine{spine}", leaf] = "4xHDR"
    return made


def discovered(made, lid=1):
    """The text, with what ibnetdiscover prints of each node."""
    names = sorted({name for a, _, b, _ in made for name in (a, b)})
    guid = {name: f"{'H' if ' ' in name else 'S'}-{0x0c42a10300000000 + 16 * i:016x}" for i, name in enumerate(names)}
    lines = ["#", "# Topology file: generated on Mon Jan 15 10:00:00 2024", "#"]
    for name in names:
        is_switch = guid[name].startswith("S")
        kind = f'Switch\t{8}' if is_switch else "Ca\t1"
        lines += ["", "vendid=0x2c9", "devid=0xd2f0" if is_switch else "devid=0x101b",
                  f'{kind} "{guid[name]}"\t\t# "{name}"' + (f" enhanced port 0 lid {lid} lmc 0" if is_switch else "")]
        ends = [(pa, b, pb, rate) for (a, pa, b, pb), rate in made.items() if a == name]
        ends += [(pb, a, pa, rate) for (a, pa, b, pb), rate in made.items() if b == name]
        lines += [f'[{port}]\t"{guid[peer]}"[{far}]\t\t# "{peer}" lid {lid} {rate}' for port, peer, far, rate in sorted(ends)]
    return "\n".join(lines) + "\n"


class Fabric(unittest.TestCase):  # 1 rank, 1 s

    def setUp(self):
        folder = TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.directory = Path(folder.name)

    def write(self, name, text):
        (self.directory / name).write_text(text)

    def look(self, status, *arguments):
        result = subprocess.run([PROGRAMS / "fabricbench", "preflight", *arguments], cwd=self.directory, timeout=60,
                                capture_output=True, check=False, stdin=subprocess.DEVNULL, env=environment())
        self.assertEqual(result.returncode, status, text_of(result.stdout) + text_of(result.stderr))
        return text_of(result.stdout), text_of(result.stderr)

    def look_at(self, status, made, *arguments, **how):
        self.write("fabric.txt", discovered(made, **how))
        return self.look(status, "--fabric", "fabric.txt", *arguments)[0]

    def test_nothing_is_wrong(self):
        stdout = self.look_at(OK, cables(), "--locality", "leaves.txt")
        self.assertIn("\nok    on every host that has it: fabric_cables, fabric_rates, subnet_manager\n", stdout)
        self.assertIn("\n# no failure was found on 16 hosts\n", stdout)
        lines = (self.directory / "leaves.txt").read_text().splitlines()
        self.assertEqual((len(lines), lines[0], lines[-1]), (16, "node01 leaf1", "node16 leaf4"))

    def test_a_missing_cable_is_no_failure(self):
        made = cables()
        del made["leaf2", 6, "spine2", 2]
        stdout = self.look_at(OK, made)
        self.assertIn("\nWARN  node[05-08], leaf2 port 6 <-> spine2 port 2: missing cable (0 of 1 cables); expected", stdout)

    def test_a_slow_cable_of_a_host_is_one(self):
        made = cables()
        made["node07 mlx5_0", 1, "leaf2", 3] = "1xHDR"
        stdout = self.look_at(FAILURES, made, "--json", "records.jsonl")
        self.assertIn("\nFAIL  node07, leaf2 port 3 <-> node07 mlx5_0 port 1: reduced width (1xHDR, where most", stdout)
        records = [json.loads(line) for line in (self.directory / "records.jsonl").read_text().splitlines()]
        found = [each for each in records if each["kind"] == "preflight_finding"]
        self.assertEqual([(each["check"], each["hosts"], each["level"]) for each in found], [("fabric_rates", "node07", "fail")])

    def test_no_subnet_manager(self):
        self.assertIn("\nFAIL  all 16 hosts: no subnet manager", self.look_at(FAILURES, cables(), lid=0))

    def test_one_leaf_cannot_be_judged(self):
        made = {ends: rate for ends, rate in cables().items() if ends[2] == "leaf1"}
        self.assertIn("\n????  all 4 hosts: could not check fabric_cables", self.look_at(NOT_JUDGED, made))

    def test_errors_have_both_ends(self):
        self.write("errors.txt", 'Errors for "leaf2"\n   GUID 0xc42a10300000010 port 3: [SymbolErrorCounter == 65535]\n')
        stdout = self.look_at(OK, cables(), "--errors", "errors.txt")
        self.assertIn("\nWARN  leaf2 port 3 <-> node07 mlx5_0 port 1: SymbolErrorCounter at least 65535; age unknown", stdout)

    def test_what_is_refused(self):
        self.write("fabric.txt", "hello\n")
        self.assertIn("fabric.txt:1: a node, a port or a property expected: 'hello'", self.look(1, "--fabric", "fabric.txt")[1])
        self.assertIn("none.txt", self.look(MISSING, "--fabric", "none.txt")[1])
        self.assertIn("either --ssh or --fabric", self.look(USAGE, "--ssh", "--fabric", "fabric.txt")[1])
        self.assertIn("--hosts and --hostfile go with --ssh", self.look(USAGE, "--fabric", "fabric.txt", "--hosts", "a")[1])
