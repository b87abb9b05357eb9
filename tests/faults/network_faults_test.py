"""An excerpt of the campaign over hosts made of network namespaces: one combination of each kind of fault. With --all there
are all of them (network_faults.py itself)."""

import os
import unittest

from network_faults import HEADER, Combination, line_of, run_all

EXCERPT = (
    Combination("all_reduce_perf", "interface down", 0),
    Combination("multi_pair_bw", "host frozen", 3),
    Combination("tcp_bw", "host gone", 3),
    Combination("send_recv_bw", "disk full", 3),
    Combination("tcp_lat", "output full", 3),
    Combination("barrier_perf", "folder of records gone", 3),
)
JOBS = 2  # at the same time: ranks that wait poll


class NetworkFaults(unittest.TestCase):  # 2 ranks, 60 s

    def test_excerpt(self):
        outcomes = list(run_all(os.environ["FABRICBENCH_PROGRAMS"], EXCERPT, JOBS))
        broken = [f"{line_of(outcome)}\n{outcome.said}" for outcome in outcomes if outcome.problem]
        self.assertEqual(broken, [], "\n".join((HEADER, *broken)))


if __name__ == "__main__":
    unittest.main()
