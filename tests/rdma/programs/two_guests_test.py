"""Two guests on one wire are two hosts with an RDMA network between them, which a test can slow down and cut."""

import re
import signal
import subprocess
import time

from guests import ADDRESSES, DEVICE, FAILURE, GID_INDEX, HOSTS, OK, TIMEOUT, GuestTest, shell

# What begins a command that sends packets of host1 to classes of their own, 1:1 where no filter says otherwise.
CLASSES = "tc qdisc add dev e0 root handle 1: prio priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"
PINGPONG = f"ibv_rc_pingpong -d {DEVICE} -g {GID_INDEX} -n 20"


class TwoGuests(GuestTest):

    hosts = HOSTS

    def ping_ms(self, count=3):
        """The shortest round trip over the wire."""
        said = shell(f"busybox ping -c {count} {ADDRESSES['host2']}")
        return float(re.search(r"min/avg/max = ([\d.]+)/", said)[1])

    def test_devices(self):
        for host in HOSTS:
            self.assertIn(f"link {DEVICE}/1 state ACTIVE", shell("rdma link", host))
            self.assertRegex(shell(f"ibv_devinfo -d {DEVICE}", host), r"active_mtu:\s+4096 ")

    def test_status_and_output_of_the_other_guest(self):
        done = subprocess.run(["on_host.sh", "host2", "hostname; printf 'no end of line'; exit 3"],
                              capture_output=True, text=True, timeout=20, check=False)
        self.assertEqual((done.returncode, done.stdout), (3, "host2\nno end of line"))

    def test_job(self):
        result = self.run_job("send_recv_lat", "-b", 8, "-e", 8, "-n", 20)
        self.assertEqual((result.status, result.stderr), (0, ""), result.stdout)
        self.assertEqual(re.findall(r" on +(\S+) device", result.stdout), list(HOSTS))

    def test_queue_pairs_reach_each_other(self):
        with subprocess.Popen(PINGPONG.split(), stdout=subprocess.PIPE, text=True) as server:
            said = shell(f"for _ in $(seq 50); do {PINGPONG} host1 && exit; sleep 0.2; done; exit 1", "host2")
            self.assertEqual(server.wait(20), 0)
            server.stdout.read()
        self.assertRegex(said, r"20 iters in ")

    def test_delay(self):
        shell("tc qdisc add dev e0 root netem delay 150ms")
        self.addCleanup(shell, "tc qdisc del dev e0 root")
        self.assertGreater(self.ping_ms(), 150)

    def test_cut(self):
        """A wire that is cut and mended; the way to the other guest stays."""
        shell("ip link set e0 down", "host2")
        try:
            with self.assertRaisesRegex(AssertionError, "100% packet loss"):
                shell(f"busybox ping -c 1 -W 1 {ADDRESSES['host2']}")
        finally:
            shell("ip link set e0 up", "host2")
        self.assertGreater(self.ping_ms(), 0)


class Verbs(GuestTest):
    """The programs over RDMA verbs, one rank on each host."""

    hosts = HOSTS

    def test_programs(self):
        for program in ("rdma_write_bw", "rdma_send_lat", "rdma_read_lat", "rdma_atomic_bw"):
            with self.subTest(program):
                self.measured(program, "-n", 20)

    def test_delay(self):
        """A round trip waits for the netem of one guest once, and a latency is half of it."""
        shell("tc qdisc add dev e0 root netem delay 50ms")
        self.addCleanup(shell, "tc qdisc del dev e0 root")
        row, = self.measured("rdma_send_lat", "-s", 8, "-n", 5, "--warmup-iters", 1).values()
        self.assertGreater(row["time_us_median"], 25000)
        self.assertLess(row["time_us_median"], 60000)

    def test_loss(self):
        """What is lost is sent again, unnoticed by the program."""
        shell("tc qdisc add dev e0 root netem loss 2%")
        self.addCleanup(shell, "tc qdisc del dev e0 root")
        self.measured("rdma_write_bw", "-s", "64K", "-n", 50)

    def test_over_rdma_cm(self):
        for arguments in (("rdma_write_bw", "-q", 4), ("rdma_send_lat", "-c", "UD"), ("rdma_send_bw", "--use-srq")):
            with self.subTest(arguments):
                self.measured(*arguments, "-R", "-n", 20)

    def test_datagrams_that_are_lost(self):
        """What leaves host1 for a queue pair other than the first, which rdma_cm's own messages go to."""
        lossy = (CLASSES,
                 "tc qdisc add dev e0 parent 1:3 netem loss 20%",
                 "tc filter add dev e0 parent 1: protocol ip prio 1 u32 match u32 1 0xffffff at 32 flowid 1:1",
                 "tc filter add dev e0 parent 1: protocol ip prio 2 u32 match u16 4791 0xffff at 22 flowid 1:3")
        shell(" && ".join(lossy))
        self.addCleanup(shell, "tc qdisc del dev e0 root")
        result = self.run_job("rdma_cm_connect", "-c", "UD", "-n", 5, "-C", 40, timeout=100)
        self.assertEqual((result.status, result.stderr), (OK, ""), result.stdout)
        lost = re.search(r"Pair 0: (\d+) of 400 datagrams were lost", result.stdout)
        self.assertTrue(lost, result.stdout)
        self.assertLess(int(lost[1]), 300)

    def test_directions(self):
        """What leaves host1 goes slowly: the way there of both ways, whether it is written, or read by the other."""
        slow = (CLASSES,
                "tc qdisc add dev e0 parent 1:3 tbf rate 20mbit burst 64k latency 400ms",
                # Full packets only: the way back is not to wait for its acknowledgements.
                "tc filter add dev e0 parent 1: protocol ip u32 match u16 0x1000 0x1000 at 2 flowid 1:3")
        shell(" && ".join(slow))
        self.addCleanup(shell, "tc qdisc del dev e0 root")
        for program in ("rdma_write_bw", "rdma_read_bw"):
            with self.subTest(program):
                row, = self.measured(program, "-b", "-s", "16K", "-n", 30, "-t", 8).values()
                there, back = row["directions_gb_per_s"]
                self.assertLess(there, 0.0027, f"{back} back")
                self.assertGreater(back, 2 * there)

    def packets_of_class_3(self):
        return int(re.search(r"class prio 1:3 .*\n\s*Sent \d+ bytes (\d+) pkt", shell("tc -s class show dev e0"))[1])

    def test_traffic_class(self):
        """What leaves host1 with that in its header, as switches see it."""
        shell(f"{CLASSES} && tc filter add dev e0 parent 1: protocol ip u32 match ip tos 96 0xfc flowid 1:3")
        self.addCleanup(shell, "tc qdisc del dev e0 root")
        for arguments, some in (((), False), (("--tclass", 96), True), (("--tclass", 96, "-R"), True)):
            with self.subTest(arguments):
                before = self.packets_of_class_3()
                self.measured("rdma_write_bw", "-s", "4K", "-n", 20, *arguments)
                self.assertEqual(self.packets_of_class_3() - before >= 20, some)

    def check_cut(self, command, host, limit_s, program="rdma_write_bw"):
        """While messages flow, runs the command that stops them, in which {peer} is the rank of host2. Returns what the
        program says of it, in time."""
        with self.start(program, "-s", "4K", "--time-budget", 120, "--stall-timeout", 2) as job:
            job.read_pids(2)
            time.sleep(3)
            shell(command.format(peer=job.pids[1]), host)
            result = job.finish(limit_s)
        self.assertEqual(result.status, TIMEOUT, result.stderr)
        # Nothing completes any more, or a request does with an error: whichever comes first.
        self.assertRegex(result.stderr, rf"{program}: rank 0 on host1: verbs: (waited 2 s in vain|a request with) .*"
                                        r"rxe0 port 1 of host host2, queue pair 0x")
        return result.stderr

    def test_port_that_goes_down(self):
        # The port of host1: packets for a device of host2 that is down would fill QEMU's buffers and then the sender's,
        # and a kernel takes up to a minute to give up the queue pair of a packet that it still holds; so may this one.
        self.addCleanup(shell, "ip link set e0 up")
        said = self.check_cut("ip link set e0 down", "host1", limit_s=120)
        self.assertIn("rxe0 port 1 of this host is DOWN", said)

    def test_wire_that_is_cut(self):
        self.addCleanup(shell, "tc qdisc del dev e0 root", "host2")
        said = self.check_cut("tc qdisc add dev e0 root netem loss 100%", "host2", limit_s=30)
        self.assertIn("rxe0 port 1 of this host is ACTIVE", said)

    def test_peer_that_is_stopped(self):
        # Its device goes on taking writes without it, but nobody makes room for what is sent.
        said = self.check_cut("kill -STOP {peer}", "host2", limit_s=40, program="rdma_send_bw")
        self.assertIn("rxe0 port 1 of this host is ACTIVE", said)

    def test_peer_that_is_killed(self):
        with self.start("rdma_write_bw", "-s", "4K", "--time-budget", 120, "--stall-timeout", 2) as job:
            job.read_pids(2)
            time.sleep(2)
            shell(f"kill -KILL {job.pids[1]}", "host2")
            result = job.finish(40)
        self.assertIn(result.status, (FAILURE, TIMEOUT, 128 + signal.SIGKILL), result.stderr)
        # Whichever comes first: the launcher's word, or that of the rank whose requests fail.
        self.assertRegex(result.stderr, "signal 9|rank 0 on host1: verbs: .* rxe0 port 1 of host host2, queue pair 0x")


class Ipv6(GuestTest):
    """The same wire, to whose addresses one of IPv6 is added, and whose IPv4 ones are taken away."""

    hosts = HOSTS

    def setUp(self):
        super().setUp()
        gids = "/sys/class/infiniband/rxe0/ports/1/gids/*"
        for number, host in enumerate(HOSTS, 1):
            self.addCleanup(shell, "ip -6 address flush dev e0 scope global && "
                                   f"ip address add {ADDRESSES[host]}/24 dev e0", host)
            shell(f"ip -6 address add fd00:79::{number}/64 dev e0 nodad && ip -4 address flush dev e0; "
                  f"for _ in $(seq 100); do grep -qs ^fd00 {gids} && ! grep -qs :0a4f: {gids} && exit; sleep 0.1; "
                  "done; exit 1", host)

    def check(self, program, *arguments):
        result = self.run_job(program, "-n", 20, *arguments)
        self.assertEqual((result.status, result.stderr), (OK, ""), result.stdout)
        self.assertRegex(result.stdout, r"# RDMA: rxe0 port 1 to rxe0 port 1, RoCE v2, IPv6, one subnet, GID indices ")
        self.assertIn("# Out of bounds values : 0 OK\n", result.stdout)

    def test_programs(self):
        for arguments in (("rdma_write_bw", "-s", "64K"), ("rdma_send_lat", "-c", "UD")):
            with self.subTest(arguments):
                self.check(*arguments)
