"""find_slow_links on folders of logs as they are found: each a layout, or a version of a tool, that was once misread."""

from finding import SLOW, USAGE
from other_tools import ImportTest


class Matrices(ImportTest):  # 1 rank, 1 s

    def test_a_matrix_with_hosts_as_titles(self):
        file = self.directory / "matrix.csv"
        file.write_text(",n1,n2,n3,n4\nn1,-,24.1,24.0,14.2\nn2,24.1,-,24.2,14.1\nn3,24.0,24.0,-,14.0\nn4,24.2,24.1,24.0,-\n")
        _, stderr = self.run_tool(USAGE, "--import", "auto", file)
        self.assertIn(f"{file}:1: the matrix names no unit; give --unit", stderr)
        stdout, stderr = self.run_tool(SLOW, "--import", "auto", "--unit", "GB/s", file)
        self.assertIn("n4 receives slowly from all partners, and sends as fast as others", stdout)
        self.assertIn(f"{file}:1: its rows are taken for senders", stderr)
