"""scripts/findings.py: what findings are about, whatever their kinds, on a map."""

import sys
import types
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts"))
from report_page.judging import finding_of
from report_page.pair_marks import outlines_of

HOSTS = ["node1", "node2", "node3", "node4"]
LEAVES = [("leaf1", 0, 2), ("leaf2", 2, 4)]
AXIS = types.SimpleNamespace(lines=4, per_line=1, runs=LEAVES, places_of=lambda host, _: [HOSTS.index(host)])


def finding(blame, *hosts, leaves=(None, None), **changes):
    return {"blame": blame, "direction": "both", "hosts": list(hosts), "rail": None, "leaf": leaves[0], "other_leaf": leaves[1],
            "text": f"{blame} found", "bandwidth_gb_per_s": None, "expected_gb_per_s": None, "reason": None, **changes}  # fmt: skip


class Shapes(unittest.TestCase):  # 1 rank, 1 s

    def test_outlines(self):
        whole = [(0, 4, 0, 4)]
        for one, outlines in (
            (finding("a_new_kind", "node2"), [(1, 2, 0, 4), (0, 4, 1, 2)]),
            (finding("transient", "node1", "node4"), [(0, 1, 3, 4), (3, 4, 0, 1)]),
            (finding("device", "node1", "node4", direction="sends"), [(0, 1, 0, 4), (3, 4, 0, 4)]),
            (finding("leaf", leaves=("leaf2", None), direction="receives"), [(0, 4, 2, 4)]),
            (finding("leaf_pair", leaves=("leaf1", "leaf2"), direction="sends"), [(0, 2, 2, 4)]),
            (finding("rail", rail="mlx5_1"), whole),
            (finding("a_new_kind", *HOSTS[:3]), whole),
        ):
            self.assertEqual(outlines_of(finding_of(1, one), AXIS), outlines, one)


if __name__ == "__main__":
    unittest.main()
