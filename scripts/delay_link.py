"""Holds every frame between two network devices for a given time, each way.

usage: delay_link.py DEVICE DEVICE MILLISECONDS

Until SIGTERM; then prints the median of how long frames were held, in milliseconds. The kernel's netem does the same, but
many kernels are built without it. Frames are due by the kernel's time of their arrival, so what this process needs to
take them in adds no delay."""

import argparse
import collections
import os
import select
import signal
import socket
import statistics
import struct
import sys
import time

ALL_PROTOCOLS = 3  # ETH_P_ALL
SOL_PACKET = 263
PACKET_VNET_HDR = 15  # frames come with what is left of checksums and segmentation, and are sent on with it
SO_TIMESTAMPNS = 35
LARGEST_FRAME = 1 << 17
TIMESPEC = struct.Struct("@qq")
EARLY_S = 0.001  # sleeps end that much before a frame is due, and the rest is spent looking at the clock


class Way:
    """From one device to another: frames wait in a queue in their order."""

    def __init__(self, source, target, delay_s):
        self.source, self.target, self.delay_s = source, target, delay_s
        self.queue = collections.deque()
        self.held_s = []

    def take_in(self):
        """One frame, unless this host itself has sent it there."""
        frame, ancillary, _, address = self.source.recvmsg(LARGEST_FRAME, socket.CMSG_SPACE(TIMESPEC.size))
        if address[2] == socket.PACKET_OUTGOING:
            return
        arrived = time.time()
        for level, kind, data in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS):
                seconds, nanoseconds = TIMESPEC.unpack(data)
                arrived = seconds + nanoseconds * 1e-9
        self.queue.append((arrived, frame))

    def send_what_is_due(self):
        while self.queue and time.time() >= self.queue[0][0] + self.delay_s:
            arrived, frame = self.queue.popleft()
            try:
                self.target.send(frame)
            except OSError:  # lost, as on any network
                continue
            self.held_s.append(time.time() - arrived)

    def next_due(self):
        return self.queue[0][0] + self.delay_s


def open_device(name):
    device = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS))
    device.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    device.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    device.bind((name, 0))
    return device


def forward(ways):
    by_source = {way.source: way for way in ways}
    while True:
        due = [way.next_due() for way in ways if way.queue]
        timeout = max(0, min(due) - time.time() - EARLY_S) if due else None
        for source in select.select(list(by_source), [], [], timeout)[0]:
            by_source[source].take_in()
        for way in ways:
            way.send_what_is_due()


def run_before_others():
    """A frame that is due does not wait for other work on this machine, where that can be had."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except OSError:
        pass


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0], allow_abbrev=False)
    options.add_argument("device", nargs=2)
    options.add_argument("milliseconds", type=float)
    given = options.parse_args()
    run_before_others()
    near, far = map(open_device, given.device)
    delay_s = given.milliseconds / 1000
    ways = [Way(near, far, delay_s), Way(far, near, delay_s)]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        forward(ways)
    finally:
        held = [seconds for way in ways for seconds in way.held_s]
        print(f"{1000 * statistics.median(held):.3f}" if held else "nan")


if __name__ == "__main__":
    main()
