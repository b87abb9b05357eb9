"""pairwise_bw --find and --measured. What processes of one host carry to each other is noisy: who is slow is not asserted."""

from launch import ProgramTest, fault
from sweeping import PAIRWISE, Sweeping

USAGE, MISSING, TIMEOUT, TOO_SLOW, NOT_JUDGED = 2, 3, 4, 6, 7
QUICK = ("-b", "64K", "-n", 3, "--window", 4, "--seed", 5)
JUDGED = {"clean": 0, "slow": TOO_SLOW, "unknown": NOT_JUDGED}


class Find(Sweeping):  # 5 ranks, 3 s

    def find(self, *arguments, ranks, **how):
        """Runs to its end, whatever it finds. Returns the result, the lines of JSON, and the verdict."""
        result, lines = self.sweep_to_end(None, *QUICK, "--find", *arguments, ranks=ranks, **how)
        (verdict,) = [line for line in lines if line["kind"] == "verdict"]
        self.assertEqual((lines[-2], lines[-1]["kind"]), (verdict, "end"))
        self.assertEqual(result.status, JUDGED[verdict["judged"]], result.stderr)
        self.assertEqual(lines[-1]["exit_status"], result.status)
        blames = [finding["blame"] for finding in verdict["findings"]]
        if any(blame != "undecided" for blame in blames):
            self.assertEqual(verdict["judged"], "slow")
        if verdict["judged"] == "slow":
            self.assertTrue(blames)  # undecided ones may be chance
        return result, lines, verdict

    def test_says_why_and_ends(self):
        for ranks in (3, 5):
            with self.subTest(ranks=ranks):
                result, lines, verdict = self.find(ranks=ranks)
                plans = [line for line in lines if line["kind"] == "plan"]
                readings = [line for line in lines if line["kind"] == "reading"]
                self.assertEqual([plan["round"] for plan in plans], list(range(len(plans))))
                for plan in plans:
                    self.assertIn(f"# Find: round {plan['round']}: {plan['why']}\n", result.stdout)
                    of_round = [reading for reading in readings if reading["round"] == plan["round"]]
                    self.assertEqual(len(of_round), 2 * plan["pairs"])  # in both directions
                    self.assertEqual({reading["concurrent"] for reading in of_round}, {plan["pairs"]})
                self.assertIn(f"# Find: over: {verdict['why_over']}\n", result.stdout)
                self.assertEqual(result.stdout.count("# Found"), len(verdict["findings"]))

    def test_two_ranks_cannot_be_told_apart(self):
        _, _, verdict = self.find(ranks=2)
        self.assertIn(verdict["judged"], ("slow", "unknown"))  # one direction may be slower than the other
        for finding in verdict["findings"]:
            self.assertEqual((finding["blame"], len(finding["endpoints"])), ("undecided", 2))

    def test_rounds_and_tolerance(self):
        _, lines, _ = self.find("--rounds", 1, "--tolerance", "90%", ranks=4)
        plans = [line["why"] for line in lines if line["kind"] == "plan"]
        self.assertEqual(plans[0], "round 1 of 1 for all hosts")
        self.assertNotIn("round 2 of", " ".join(plans))
        self.assertEqual(lines[0]["sweep"]["rounds"], 1)

    def test_a_busy_rank_is_not_judged(self):
        result, lines, verdict = self.find(ranks=5, variables={"FAKE_PROCESSOR_WAIT": "0.63", "FAKE_PROCESSOR_WAIT_RANK": "3"})
        busy = lines[0]["rank_map"][0]["host"] + ":r3"
        self.assertRegex(result.stdout, r"# Note: In \d+ of \d+ readings ranks waited for a processor ")
        self.assertIn(busy, verdict["not_judged"])
        self.assertNotIn(busy, [endpoint for finding in verdict["findings"] for endpoint in finding["endpoints"]])

    def test_messages_that_never_arrive(self):
        """What could not be measured goes before what is slow."""
        result, lines = self.sweep_to_end(TIMEOUT, *QUICK, "--find", "--pair-timeout", 2, ranks=4,
                                          variables=fault("message_lost", rank=2, peer=1))
        self.assertIn("verdict", [line["kind"] for line in lines])
        self.assertRegex(result.stderr, r"readings could not be taken within the time limit")


class Measured(ProgramTest):  # 4 ranks, 1 s

    def test_a_sweep_over_ranks_is_not_gone_on_with(self):
        file = self.directory / "measured"
        file.write_text("host\ta\n")
        result = self.run_program(*QUICK, "--measured", file, program=PAIRWISE, ranks=4)
        self.assertEqual((result.status, result.stdout), (USAGE, ""))
        self.assertIn("pairwise_bw: --measured continues a sweep over hosts", result.stderr)

    def test_files_that_cannot_be_used(self):
        for text, status, message in ((None, MISSING, "it cannot be read"),
                                      ("host\n", USAGE, "line 1, 'host', is not in the format")):
            with self.subTest(text):
                file = self.directory / "measured"
                if text:
                    file.write_text(text)
                result = self.run_program("--measured", file, program=PAIRWISE, ranks=2)
                self.assertEqual((result.status, result.stdout), (status, ""))
                self.assertIn(f"pairwise_bw: --measured {file}: {message}", result.stderr)


class Refusals(ProgramTest):  # 2 ranks, 1 s

    def refuse(self, message, *arguments):
        result = self.run_program(*arguments, program=PAIRWISE)
        self.assertEqual((result.status, result.stdout), (USAGE, ""), result.stderr)
        self.assertIn(f"pairwise_bw: {message}\n", result.stderr)

    def test_other_schedules(self):
        for schedule in ("shift", "random"):
            self.refuse(f"--find plans rounds of disjoint pairs, and --schedule {schedule} asks for others; leave out one",
                        "--find", "--schedule", schedule)

    def test_tolerance_of_nothing(self):
        self.refuse("--tolerance belongs to --find; add --find, or leave it out", "--tolerance", 0.1)
