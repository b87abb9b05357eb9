"""plan_sweep: the next round of a sweep, from the records of those before."""

import itertools
import json

from planning import Planning

USAGE, MISSING, NOT_JUDGED = 2, 3, 7


class Sweeps(Planning):  # 1 rank, 1 s

    def test_all_pairs(self):
        self.write_hosts(7)
        rounds = self.sweep("--seed", 3)
        met = [frozenset(pair) for each in rounds for pair in each.pairs]
        every = {frozenset(pair) for pair in itertools.combinations((f"h{number}" for number in range(1, 8)), 2)}
        self.assertEqual((len(met), set(met)), (21, every))
        self.assertEqual([each.number for each in rounds], [*range(7), None])

    def test_rounds_and_limit(self):
        self.write_hosts(8)
        rounds = self.sweep("--rounds", 2, "--max-concurrent", 3)
        self.assertEqual([len(each.pairs) for each in rounds], [2, 2, 2, 2, 0])

    def test_seed(self):
        self.write_hosts(16)
        pairs = [self.next_round("--seed", seed).pairs for seed in (1, 1, 2)]
        self.assertEqual(pairs[0], pairs[1])
        self.assertNotEqual(pairs[0], pairs[2])

    def test_a_round_that_was_broken_off(self):
        self.write_hosts(8)
        whole = self.next_round()
        self.record(whole, whole.pairs[:3])
        rest = self.next_round()
        self.assertEqual((rest.number, rest.pairs), (whole.number, whole.pairs[3:]))
        self.assertIn("the rest of round 1 of 7", rest.why)
        self.record(rest)
        self.assertEqual(self.next_round().number, 1)

    def test_a_line_that_was_cut_off(self):
        self.write_hosts(8)
        whole = self.next_round()
        self.record(whole, whole.pairs[:2])
        with self.records.open("a") as file:
            file.write('{"kind":"reading","round":0,"conc')
        self.assertEqual(self.next_round().pairs, whole.pairs[2:])

    def test_a_dead_host(self):
        self.write_hosts(8)
        rounds = self.sweep(rate=lambda sender, receiver: 0 if "h3" in (sender, receiver) else 10)
        with_it = [each for each in rounds if any("h3" in pair for pair in each.pairs)]
        self.assertEqual(len(with_it), 2)
        self.assertIn("left out: h3", rounds[-1].why)

    def test_find(self):
        self.write_hosts(16)
        rounds = self.sweep("--find", rate=lambda sender, receiver: 5 if receiver == "h9" else 10)
        self.assertEqual([len(each.pairs) for each in rounds[:3]], [8, 8, 8])
        self.assertLess(len(rounds), 33)
        self.assertIn("everything slow has been found", rounds[-1].why)

    def test_find_where_all_is_well(self):
        self.write_hosts(16)
        rounds = self.sweep("--find")
        self.assertEqual([len(each.pairs) for each in rounds], 28 * [8] + [0])
        self.assertIn("nothing is slow", rounds[-1].why)

    def test_find_in_few_rounds(self):
        self.write_hosts(16)
        rounds = self.sweep("--find", "--rounds", "3")
        self.assertEqual([len(each.pairs) for each in rounds], [8, 8, 8, 0])

    def test_rounds_left(self):
        self.write_hosts(6)
        self.assertEqual([each.left for each in self.sweep()], [5, 4, 3, 2, 1, 0])

    def test_hosts_from_standard_input(self):
        stdout = self.plan("--hosts", "-", stdin="node[01-04]\n").stdout
        self.assertEqual(len(stdout.splitlines()), 4)
        self.assertEqual(self.plan("--hosts", "-", stdin="alone\n").stdout,
                         "# fewer than two hosts are left to measure\n")

    def test_other_hosts_of_the_records(self):
        self.write_hosts(4)
        self.sweep()
        self.hosts.write_text("h1\nh3\nnew\n")
        met = {frozenset(pair) for each in self.sweep() for pair in each.pairs}
        self.assertEqual(met, {frozenset(("h1", "new")), frozenset(("h3", "new"))})


class Readings(Planning):  # 1 rank, 1 s

    def test_list(self):
        self.write_hosts(2)
        planned = self.next_round()
        self.record(planned, rate=lambda sender, receiver: 10 if sender == "h1" else 0)
        lines = self.plan("--records", self.records, "--list-readings").stdout.splitlines()
        self.assertEqual(sorted(lines[:2]), ["host\th1", "host\th2"])
        self.assertEqual(sorted(lines[2:]), ["reading\t0\t1\th1\th2\t1e+10", "reading\t0\t1\th2\th1\tfailed"])

    def test_of_ranks_that_waited_for_a_processor(self):
        self.write_hosts(2)
        self.record(self.next_round())
        lines = [dict(json.loads(line), processor_wait_share=0.63) for line in self.records.read_text().splitlines()]
        self.records.write_text("".join(json.dumps(line) + "\n" for line in lines))
        lines = self.plan("--records", self.records, "--list-readings").stdout.splitlines()
        self.assertEqual(sorted(lines[2:]), ["reading\t0\t1\th1\th2\t0", "reading\t0\t1\th2\th1\t0"])

    def test_of_two_tests(self):
        self.write_hosts(2)
        planned = self.next_round()
        self.record(planned)
        self.record(planned, program="send_recv_bw")
        result = self.plan("--records", self.records, "--list-readings", status=USAGE)
        self.assertIn("a sweep can continue with one test only", result.stderr)


class Refusals(Planning):  # 1 rank, 1 s

    def refuse(self, status, message, *arguments, stdin=""):
        result = self.plan(*arguments, status=status, stdin=stdin)
        self.assertEqual(result.stdout, "")
        self.assertRegex(result.stderr, f"^plan_sweep: .*{message}")

    def test_hosts(self):
        self.refuse(USAGE, "--hosts is missing")
        self.refuse(USAGE, "it contains no host", "--hosts", "-", stdin="# none\n")
        self.refuse(MISSING, "nowhere", "--hosts", "/nowhere")

    def test_options(self):
        for arguments in (("--rounds", 0), ("--rounds", 3, "--all-pairs"), ("--tolerance", "5%"),
                          ("--find", "--tolerance", "often"), ("--max-concurrent", -1), ("--unknown",)):
            with self.subTest(arguments):
                self.refuse(USAGE, "", "--hosts", "-", *arguments, stdin="a\nb\n")

    def test_records(self):
        self.records.write_text("no records\n")
        self.refuse(NOT_JUDGED, "records.jsonl", "--hosts", "-", "--records", self.records, stdin="a\nb\n")
