"""preflight --site: what a site has accepted and expects, and the JUnit file, over recorded hosts."""

import json
import subprocess
import unittest
import xml.etree.ElementTree
from pathlib import Path
from tempfile import TemporaryDirectory

from launch import PROGRAMS, environment, text_of

OK, USAGE, FAILURES = 0, 2, 6


class Site(unittest.TestCase):  # 1 rank, 1 s

    def setUp(self):
        folder = TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.directory = Path(folder.name)
        self.site = self.directory / "site.jsonl"
        self.hosts = {f"node0{number}": "1500" if number == 2 else "9000" for number in range(1, 6)}
        for host, mtu in self.hosts.items():
            self.write(host, "sys/class/net/eno1/operstate", "up")
            self.write(host, "sys/class/net/eno1/mtu", mtu)
            self.write(host, "sys/class/net/eno1/speed", "100000")
            self.write(host, "sys/class/net/eno1/type", "1")
            (self.directory / "hosts" / host / "sys/class/net/eno1/device").mkdir()
            self.write(host, "@system/host_name", host)

    def write(self, host, path, text):
        file = self.directory / "hosts" / host / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n")

    def preflight(self, *options):
        return subprocess.run([f"{PROGRAMS}/preflight", "--recorded", self.directory / "hosts", *options],
                              env=environment(), capture_output=True, timeout=60, check=False)

    def test_what_is_accepted_is_no_failure_until_another_host_has_it(self):
        found = self.preflight("--site", self.site, "--accept-as-is")
        self.assertEqual(found.returncode, FAILURES, text_of(found.stdout))
        self.assertIn("FAIL  node02, eno1: mtu: 1500; expected 9000, as on 4 hosts", found.stdout.decode())
        self.site.write_text("# Until March.\n" + self.site.read_text())
        accepted = self.preflight("--site", self.site, "--accept-as-is")
        self.assertEqual(accepted.returncode, OK, text_of(accepted.stdout))
        self.assertIn(f"(accepted by {self.site}", " ".join(accepted.stdout.decode().split()))
        lines = self.site.read_text().splitlines()
        self.assertEqual(lines[0], "# Until March.")
        self.assertEqual(len(lines), 2, lines)
        self.assertRegex(json.loads(lines[1])["wanted_by"], r"^\S+ on \S+, \d{4}-\d\d-\d\d$")
        self.write("node04", "sys/class/net/eno1/mtu", "1501")
        self.assertEqual(self.preflight("--site", self.site).returncode, FAILURES)

    def test_a_value_that_is_expected_counts_more_than_the_majority(self):
        self.site.write_text(json.dumps({"kind": "expected", "check": "interface_links", "value_of": "mtu", "among": "eno1",
                                         "value": "1500", "wanted_by": "alice"}))
        found = self.preflight("--site", self.site)
        self.assertEqual(found.returncode, FAILURES, text_of(found.stdout))
        self.assertIn("FAIL  node[01,03-05], eno1: mtu: 9000; expected 1500", found.stdout.decode())

    def test_junit_has_a_case_for_each_check(self):
        junit = self.directory / "junit.xml"
        self.preflight("--junit", junit)
        cases = {case.get("name"): case for case in xml.etree.ElementTree.parse(junit).iter("testcase")}
        self.assertIn("node02: eno1: mtu: 1500", cases["interface_links"].find("failure").get("message"))
        self.assertIsNotNone(cases["memory_errors"].find("skipped"))  # nothing is known of it
        self.assertIsNotNone(cases["run"].find("failure"))

    def test_a_line_that_cannot_be_understood_is_refused(self):
        self.site.write_text('{"kind":"accepted","check":"kernel","devise":"x","wanted_by":"alice"}\n')
        refused = self.preflight("--site", self.site)
        self.assertEqual(refused.returncode, USAGE)
        self.assertIn("site.jsonl, line 1: there is no key 'devise'; the nearest is device", refused.stderr.decode())
        self.assertEqual(refused.stdout, b"")
        self.assertEqual(self.preflight("--accept-as-is").returncode, USAGE)
        self.assertEqual(self.preflight("--site", self.directory / "missing").returncode, USAGE)


if __name__ == "__main__":
    unittest.main()
