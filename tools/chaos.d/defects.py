# SPDX-License-Identifier: BSD-3-Clause
"""Makes one defect in a run, so that a check must fail. Shows that the check can fail."""
import os
import signal
import subprocess
import sys
import threading
import time

from loads import PUT_AT, PUT_BYTES
from plan import XPUS

# A member that stands for a daemon. After SIGUSR1 it grows by so many MiB, descriptors, processes.
GROWER = """
import os, signal, subprocess, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
print("ready", flush=True)
signal.sigwait([signal.SIGUSR1])
memory = [bytearray(os.urandom(1 << 20)) for _ in range(int(sys.argv[1]))]
files = [open("/dev/null") for _ in range(int(sys.argv[2]))]
processes = [subprocess.Popen(["sleep", "600"]) for _ in range(int(sys.argv[3]))]
signal.pause()
"""
GROWTH = {"memory": (64, 0, 0), "descriptors": (0, 40, 0), "workers": (0, 0, 1)}


class Defects:
    """One function for each defect. They run when the first fault of the plan has ended."""

    def __init__(self, run):
        self.run, self.fabric = run, run.fabric
        self.members, self.ended = [], threading.Event()

    def prepare(self, name):
        """Starts what the defect needs before the first sample."""
        if name in GROWTH:
            self.fabric.member_add("grower", [sys.executable, "-c", GROWER, *GROWTH[name]],
                                   "ready")
            self.fabric.start("grower")
            self.fabric.wait_ready("grower")

    def wrong(self):
        """Another program writes where the load `put` does."""
        other = self.fabric.folder / "other"
        other.write_bytes(bytes(4 * PUT_BYTES))

        def write():
            while not self.ended.is_set():
                self.fabric.dxp("put", XPUS[0], str(PUT_AT), str(other))
        threading.Thread(target=write, daemon=True).start()

    def hung(self):
        """A program of the load `put` is stopped for good."""
        while not (pids := self.run.loads.pids("put")):
            time.sleep(0.01)
        os.kill(pids[0], signal.SIGSTOP)

    def crash(self):
        """A program of the load `put` gets SIGSEGV."""
        while not (pids := self.run.loads.pids("put")):
            time.sleep(0.01)
        os.kill(pids[0], signal.SIGSEGV)

    def error(self):
        """The load `put` uses an xPU that does not exist."""
        self.run.loads.of("put")[0].xpu = "xpu99"

    def silent(self):
        """The load `put` runs a program that fails without a message."""
        load = self.run.loads.of("put")[0]
        load.step = lambda: load.program(["false"])

    def dead(self):
        """A daemon is killed, and is no fault of the plan."""
        self.fabric.members[XPUS[0]].process.kill()

    def slow(self):
        """From now on, faults do not end."""
        self.run.faults.end = lambda fault: None

    def process(self):
        """A process is left in a namespace."""
        self.extra(["sleep", "600"])

    def file(self):
        """A file is left in the folder of sockets."""
        (self.fabric.folder / "run" / "left").write_text("")

    def grow(self):
        """A member grows after the first sample."""
        self.fabric.members["grower"].process.send_signal(signal.SIGUSR1)

    memory = descriptors = workers = grow

    def counters(self):
        """A reading has a sent packet more."""
        def change(reading):
            for node in reading["nodes"]:
                for session in node.get("sessions", ()):
                    session["sent_packets"] += 1
        self.run.monitor.change = change

    def falling(self):
        """A counter falls."""
        state = {"value": 1 << 40}

        def change(reading):
            state["value"] -= 1
            for node in reading["nodes"]:
                if node["name"] in XPUS and "totals" in node:
                    node["totals"]["sent_packets"] = state["value"]
        self.run.monitor.change = change

    def extra(self, argv):
        self.members.append(subprocess.Popen(
            self.fabric.inside(argv, "h1"), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            env=self.fabric.environment))

    def end(self):
        self.ended.set()
        for process in self.members:
            process.kill()
            process.wait()


NAMES = sorted(name for name in vars(Defects) if not name.startswith("_")
               and name not in ("prepare", "extra", "grow", "end"))
