"""What tests of programs that send messages between two GPUs share."""

from launch import PROGRAMS
from on_gpus import GpuTest
from pair_program import PairTest

PAIR_TESTS = ("send_recv_lat", "send_recv_bw", "send_recv_bibw", "multi_pair_bw")
FEW = ("-b", 0, "-e", "64K", "-f", 16, "-n", 10)
FEW_SIZES = [0, 1, 16, 256, 4096, 65536]
ONE = ("-b", 4096, "-e", 4096, "-n", 5)


class GpuPairTest(GpuTest, PairTest):

    def measure_gpus(self, name, *arguments, **how):
        """Runs well on the nccl backend. Returns stdout, the context and the rows of JSON."""
        stdout, context, found = self.measure(name, *arguments, **how)
        self.assertEqual(context["backend"], "nccl")
        return stdout, context, found

    def run_pairs(self, name, *arguments, **how):
        return self.run_program(*arguments, program=str(PROGRAMS / name), **how)

    def said(self, status, name, *arguments, **how):
        """Ends with the status. Returns what the program said on stderr."""
        result = self.run_pairs(name, *arguments, **how)
        self.assertEqual(result.status, status, result.stdout + result.stderr)
        return "\n".join(line for line in result.stderr.splitlines() if line.startswith((f"{name}: ", "fabricbench: ")))

    def refused_pairs(self, status, pattern, name, *arguments, **how):
        """Is refused before anything is measured, with one line that `pattern` matches as a whole."""
        result = self.run_pairs(name, *arguments, **how)
        self.assertEqual((result.status, result.stdout), (status, ""), result.stderr)
        lines = [line for line in result.stderr.splitlines() if line.startswith(f"{name}: ")]
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertRegex(lines[0], f"^{name}: {pattern}$")
