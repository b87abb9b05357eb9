"""The progress line goes to a terminal, or wherever --progress sends it, and never into the results."""

import os
import pty
import re

from launch import Job, ProgramTest, command, environment

MEASURING = ("-b", 1024, "-e", 4096, "-f", 4, "--time-budget", 0.2)
PROGRESS = re.compile(r"\r# epoch \d+ of \d+, about [\d.]+ s left; now [14] KiB float sum, (out of|in) place")


class Progress(ProgramTest):  # 2 ranks, 6 s

    def test_none_on_a_pipe(self):
        self.run_well(*MEASURING)  # which has nothing on stderr

    def test_asked_for_on_a_pipe(self):
        result = self.run_program(*MEASURING, "--progress")
        self.assertEqual(result.status, 0)
        self.assertRegex(result.stderr, PROGRESS)
        self.assertNotIn("# epoch ", result.stdout)
        self.assertNotIn("\r", result.stdout)

    def test_cleared_before_the_end(self):
        result = self.run_program(*MEASURING, "--progress")
        self.assertRegex(result.stderr, r"\r *\r\n?\Z")

    def test_on_a_terminal(self):
        terminal, end_of_program = pty.openpty()
        with Job(command(2, MEASURING), stderr=end_of_program, env=environment()) as job:
            os.close(end_of_program)
            result = job.finish()
        shown = self.read_all(terminal)
        self.assertEqual(result.status, 0, shown)
        self.assertRegex(shown, PROGRESS)
        self.assertNotIn("# epoch ", result.stdout)

    def test_within_a_measurement(self):
        """One measurement of -n may take long."""
        with Job(command(2, ("-b", 1024, "-e", 1024, "-n", 10**9, "--progress")), env=environment()) as job:
            shown = ""
            while not re.search(r"\r# measurement 1 of 2; now 1 KiB float sum, out of place: \d+ of 1\d{9} operations, about .* left", shown):
                chunk = os.read(job.process.stderr.fileno(), 4096)
                self.assertTrue(chunk, shown)
                shown += chunk.decode()

    def read_all(self, terminal):
        text = b""
        try:
            while chunk := os.read(terminal, 4096):
                text += chunk
        except OSError:  # Linux says so when the other end is closed
            pass
        os.close(terminal)
        return text.decode()
