"""MPI jobs that stay: their ranks run one program after the other (tests/programs/serve.h).

Starting a job takes half a second and more, and running a program a few milliseconds. What a program does is the same
in both, down to MPI_Init and MPI_Finalize, which are done once here; tests of these, of the launcher, of signals and
of terminals start jobs of their own.
"""

import atexit
import contextlib
import os
import selectors
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path

MPIEXEC = os.environ["FABRICBENCH_MPIEXEC"]
START_S = 240
END_S = 120  # for the launcher, after a rank has ended


class Gone(Exception):
    """The job ended in the middle of a program: `status` is the launcher's."""

    def __init__(self, status):
        super().__init__(status)
        self.status = status


class ResidentJob:
    """So many ranks of the programs in `folder`, in an environment with `changes`."""

    def __init__(self, folder, ranks, changes):
        self.directory = tempfile.TemporaryDirectory(prefix="fabricbench-resident-", ignore_cleanup_errors=True)
        self.path = Path(self.directory.name)
        self.connections = []
        self.said = self.path / "launcher"
        env = {**os.environ, **dict(changes), "OMPI_MCA_orte_tmpdir_base": self.directory.name}
        listener, address = self.listen()
        with listener, self.said.open("wb") as said:
            listener.listen(ranks)
            self.process = subprocess.Popen([MPIEXEC, *self.where(ranks), "-np", str(ranks), str(Path(folder) / "programs"),
                                             "--serve", address],
                                            stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=env)
            self.connections = self.accept(listener, ranks)

    def listen(self):
        """A socket that is bound, and its address for the ranks."""
        listener = socket.socket(socket.AF_UNIX)
        address = str(self.path / "socket")
        listener.bind(address)
        return listener, address

    def where(self, ranks):
        """The launcher's options that say it; none: on this host."""
        return ()

    def accept(self, listener, ranks):
        """The ranks' connections, by rank."""
        connections = {}
        deadline = time.monotonic() + START_S
        listener.settimeout(0.5)
        while len(connections) < ranks:
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.close()
                raise AssertionError(f"no job of {ranks} ranks: {self.said.read_text(errors='replace')}")
            with contextlib.suppress(socket.timeout):
                connection, _ = listener.accept()
                connections[int(connection.makefile().readline())] = connection
        return [connections[rank] for rank in range(ranks)]

    def run(self, arguments, changes, timeout):
        """Runs a program on all ranks. Returns its exit status, stdout and stderr; the first status that is not 0
        counts. Raises Gone where that was the end of the job, and TimeoutError."""
        files = [self.path / "stdout", self.path / "stderr"]
        for file in files:
            file.write_bytes(b"")
        variables = [name if value is None else f"{name}={value}" for name, value in changes.items()]
        strings = [*map(str, files), str(len(variables)), *variables, *map(str, arguments)]
        request = b"".join(os.fsencode(text) + b"\0" for text in strings)
        for connection in self.connections:
            with contextlib.suppress(BrokenPipeError):  # the answer tells
                connection.sendall(b"%d\n%s" % (len(request), request))
        try:
            statuses = self.answers(timeout)
        except Gone as gone:
            return gone.status, files[0].read_bytes(), files[1].read_bytes() + self.said.read_bytes()
        return next((status for status in statuses if status != 0), 0), *(file.read_bytes() for file in files)

    def answers(self, timeout):
        """Every rank's exit status."""
        statuses = {}
        deadline = time.monotonic() + timeout
        with selectors.DefaultSelector() as selector:
            for rank, connection in enumerate(self.connections):
                selector.register(connection, selectors.EVENT_READ, rank)
            while len(statuses) < len(self.connections):
                ready = selector.select(max(0, deadline - time.monotonic()))
                if not ready:
                    raise TimeoutError
                for key, _ in ready:
                    text = key.fileobj.recv(100)
                    if not text:
                        raise Gone(self.wait())
                    statuses[key.data] = int(text)
                    selector.unregister(key.fileobj)
        return [statuses[rank] for rank in sorted(statuses)]

    def wait(self):
        try:
            return self.process.wait(END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"the launcher did not end {END_S} s after a rank had") from None

    @property
    def alive(self):
        return self.process.poll() is None

    def close(self):
        for connection in self.connections:
            connection.close()
        try:
            self.process.wait(END_S if self.connections else 0)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(10)
            self.process.kill()
            self.process.wait()
        self.directory.cleanup()


class Pool:
    """Resident jobs by what they were started with; those that nobody uses wait for the next."""

    def __init__(self, job=ResidentJob):
        self.job = job
        self.idle = defaultdict(list)
        self.lock = threading.Lock()
        atexit.register(self.close)

    def run(self, folder, ranks, launch, arguments, changes, timeout):
        """Runs a program in a job that was started with the variables `launch`, a new one where none is idle. Returns
        its exit status, stdout and stderr."""
        key = (str(folder), ranks, tuple(sorted(launch.items())))
        with self.lock:
            job = self.idle[key].pop() if self.idle[key] else None
        job = job or self.job(folder, ranks, launch)
        try:
            result = job.run(arguments, changes, timeout)
        except BaseException:
            job.process.terminate()
            job.close()
            raise
        self.put_back(key, job, result[0])
        return result

    def put_back(self, key, job, status):
        """What broke off may have left messages behind, so its job is not used again."""
        if job.alive and status not in (1, 4):
            with self.lock:
                self.idle[key].append(job)
        else:
            job.close()

    def close(self):
        for job in [job for jobs in self.idle.values() for job in jobs]:
            job.close()
        self.idle.clear()


POOL = Pool()
