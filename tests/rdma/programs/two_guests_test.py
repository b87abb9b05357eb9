"""Two guests on one wire are two hosts with an RDMA network between them, which a test can slow down and cut."""

import re
import signal
import subprocess

from guests import ADDRESSES, DEVICE, FAILURE, GID_INDEX, HOSTS, OK, PATIENCE_S, STALL_S, TIMEOUT, WATCHDOG_S, GuestTest, \
    judged, shell, wait_for_traffic

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
                              capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        self.assertEqual((done.returncode, done.stdout), (3, "host2\nno end of line"))

    def test_job(self):
        result = self.run_job("send_recv_lat", "-b", 8, "-e", 8, "-n", 20)
        self.assertEqual((result.status, result.stderr), (0, ""), result.stdout)
        self.assertEqual(re.findall(r" on +(\S+) device", result.stdout), list(HOSTS))

    def test_queue_pairs_reach_each_other(self):
        with subprocess.Popen(PINGPONG.split(), stdout=subprocess.PIPE, text=True) as server:
            said = shell(f"for _ in $(seq 500); do {PINGPONG} host1 && exit; sleep 0.2; done; exit 1", "host2")
            self.assertEqual(server.wait(PATIENCE_S), 0)
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

    def test_every_program(self):
        """Once, and every kind of queue pair and way to connect them too."""
        for program, *arguments in (("rdma_write_bw", "-q", 4, "-R"), ("rdma_write_lat", "--check", "all"), ("rdma_read_bw",),
                                    ("rdma_read_lat", "-s", "64K"), ("rdma_send_bw", "--use-srq", "-q", 2, "-b", "-s", "4K"),
                                    ("rdma_send_lat", "-c", "UD"), ("rdma_atomic_bw",), ("rdma_atomic_lat", "-R"),
                                    ("gpudirect_rdma_lat", "--seen-by", "cq+flush", "-s", 64),
                                    ("gpudirect_rdma_lat", "--seen-by", "gpu", "-s", 64)):
            with self.subTest(program):
                self.assertEqual(len(self.measured(program, "-n", 20, *arguments)), 1)

    def test_connections(self):
        result = self.run_job("rdma_cm_connect", "-n", 3)
        self.assertEqual((result.status, result.stderr), (OK, ""), result.stdout)
        self.assertIn("# Out of bounds values : 0 OK\n", result.stdout)

    def test_delay(self):
        """A round trip waits for the netem of one guest once, and a latency is half of it."""
        shell("tc qdisc add dev e0 root netem delay 400ms")
        self.addCleanup(shell, "tc qdisc del dev e0 root")

        def measure():
            row, = self.measured("rdma_send_lat", "-s", 8, "-n", 5, "--warmup-iters", 1).values()
            self.assertGreaterEqual(row["time_us_min"], 200e3)
            return row["time_us_min"]

        judged(measure, lambda least_us: least_us < 350e3)

    def test_loss(self):
        """What is lost is sent again, unnoticed by the program."""
        shell("tc qdisc add dev e0 root netem loss 2%")
        self.addCleanup(shell, "tc qdisc del dev e0 root")
        self.measured("rdma_write_bw", "-s", "64K", "-n", 50)
        self.assertGreater(self.counted("dropped", "qdisc"), 0)

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
        result = self.run_job("rdma_cm_connect", "-c", "UD", "-n", 5, "-C", 40)
        self.assertEqual((result.status, result.stderr), (OK, ""), result.stdout)
        lost = re.search(r"Pair 0: (\d+) of 400 datagrams were lost", result.stdout)
        self.assertTrue(lost, result.stdout)
        self.assertGreaterEqual(int(lost[1]), self.counted("dropped"))

    def counted(self, what, kind="class", words="netem|prio 1:3"):
        """Of what leaves host1: of the class 1:3, or of the only queue."""
        said = shell(f"tc -s {kind} show dev e0")
        pattern = {"bytes": r"Sent (\d+) bytes", "packets": r"Sent \d+ bytes (\d+) pkt", "dropped": r"dropped (\d+)"}[what]
        return int(re.search(rf"{kind} (?:{words}).*\n\s*.*?{pattern}", said)[1])

    def test_directions(self):
        """What leaves host1 goes slowly: the way there of both ways, whether it is written, or read by the other."""
        slow = (CLASSES,
                "tc qdisc add dev e0 parent 1:3 tbf rate 2mbit burst 16k latency 2s",
                # Full packets only: the way back is not to wait for its acknowledgements.
                "tc filter add dev e0 parent 1: protocol ip u32 match u16 0x1000 0x1000 at 2 flowid 1:3")
        shell(" && ".join(slow))
        self.addCleanup(shell, "tc qdisc del dev e0 root")
        for program in ("rdma_write_bw", "rdma_read_bw"):
            with self.subTest(program):
                judged(lambda: self.directions(program), lambda rates: rates[1] > 2 * rates[0])

    def directions(self, program):
        before = self.counted("bytes")
        row, = self.measured(program, "-b", "-s", "16K", "-n", 20, "-t", 2).values()
        self.assertGreaterEqual(self.counted("bytes") - before, 20 * 16384)
        there, back = row["directions_gb_per_s"]
        self.assertLess(there, 0.00033, f"{back} back, over a queue of 0.00025 GB/s there")
        return there, back

    def test_traffic_class(self):
        """What leaves host1 with that in its header, as switches see it."""
        shell(f"{CLASSES} && tc filter add dev e0 parent 1: protocol ip u32 match ip tos 96 0xfc flowid 1:3")
        self.addCleanup(shell, "tc qdisc del dev e0 root")
        for arguments, some in (((), False), (("--tclass", 96), True), (("--tclass", 96, "-R"), True)):
            with self.subTest(arguments):
                before = self.counted("packets")
                self.measured("rdma_write_bw", "-s", "4K", "-n", 20, *arguments)
                self.assertEqual(self.counted("packets") - before >= 20, some)

    def check_cut(self, command, host, undo="true", program="rdma_write_bw"):
        """While messages flow, runs the command that stops them, in which {peer} is the rank of host2, and the one that
        undoes it when the job is over. Returns what the program says of it."""
        def run():
            # More messages in one go than any queue has room for; epochs are short where guests are slow.
            with self.start(program, "-s", "4K", "-n", 1000000, "--stall-timeout", STALL_S,
                            "--timeout", WATCHDOG_S) as job:
                job.read_pids(2)
                wait_for_traffic()
                try:
                    shell(command.format(peer=job.pids[1]), host)
                    return job.finish(PATIENCE_S)
                finally:
                    shell(undo, host)

        # Nothing completes any more, or a request does with an error: whichever comes first. Where ranks met over MPI just
        # then, neither.
        said = (rf"{program}: rank 0 on host1: verbs: (waited {STALL_S} s in vain|a request with) .*"
                r"rxe0 port 1 of host host2, queue pair 0x")
        result = judged(run, lambda result: re.search(said, result.stderr))
        self.assertEqual(result.status, TIMEOUT, result.stderr)
        return result.stderr

    def test_port_that_goes_down(self):
        # The port of host1: packets for a device of host2 that is down would fill QEMU's buffers and then the sender's,
        # and a kernel takes up to a minute to give up the queue pair of a packet that it still holds; so may this one.
        said = self.check_cut("ip link set e0 down", "host1", undo="ip link set e0 up")
        self.assertIn("rxe0 port 1 of this host is DOWN", said)

    def test_wire_that_is_cut(self):
        said = self.check_cut("tc qdisc add dev e0 root netem loss 100%", "host2", undo="tc qdisc del dev e0 root")
        self.assertIn("rxe0 port 1 of this host is ACTIVE", said)

    def test_peer_that_is_stopped(self):
        # Its device goes on taking writes without it, but nobody makes room for what is sent.
        said = self.check_cut("kill -STOP {peer}", "host2", program="rdma_send_bw")
        self.assertIn("rxe0 port 1 of this host is ACTIVE", said)

    def test_peer_that_is_killed(self):
        with self.start("rdma_write_bw", "-s", "4K", "--time-budget", 120, "--stall-timeout", 2) as job:
            job.read_pids(2)
            wait_for_traffic()
            shell(f"kill -KILL {job.pids[1]}", "host2")
            result = job.finish(PATIENCE_S)
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
