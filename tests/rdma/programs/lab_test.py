"""The guest that the tests over RDMA verbs run in is what they take it for."""

import re
import subprocess
from pathlib import Path

from guests import DEVICE, GID_INDEX, PATIENCE_S, GuestTest, shell


class Guest(GuestTest):

    def test_device(self):
        self.assertIn(f"link {DEVICE}/1 state ACTIVE physical_state LINK_UP netdev e0", shell("rdma link"))
        attributes = shell(f"ibv_devinfo -d {DEVICE} -v")
        self.assertRegex(attributes, r"active_mtu:\s+4096 ")
        self.assertRegex(attributes, r"atomic_cap:\s+ATOMIC_HCA ")

    def test_gid(self):
        port = Path(f"/sys/class/infiniband/{DEVICE}/ports/1")
        self.assertEqual((port / f"gids/{GID_INDEX}").read_text(), "0000:0000:0000:0000:0000:ffff:0a4f:0001\n")
        self.assertEqual((port / f"gid_attrs/types/{GID_INDEX}").read_text(), "RoCE v2\n")

    def test_memory_may_be_locked(self):
        self.assertEqual(shell("ulimit -l"), "unlimited\n")

    def test_queue_pairs_of_one_device_reach_each_other(self):
        command = ["ibv_rc_pingpong", "-d", DEVICE, "-g", str(GID_INDEX), "-n", "100"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            said = shell(f"for _ in $(seq 500); do {' '.join(command)} localhost && exit; sleep 0.2; done; exit 1")
            self.assertEqual(server.wait(PATIENCE_S), 0)
            server.stdout.read()
        self.assertRegex(said, r"100 iters in ")

    def test_job(self):
        result = self.run_job("send_recv_lat", "-b", 8, "-e", 8, "-n", 20)
        self.assertEqual((result.status, result.stderr), (0, ""), result.stdout)
        self.assertEqual(set(re.findall(r" on +(\S+) device", result.stdout)), {"host1"})
        self.assertGreater(self.median_us(result.stdout), 0)
