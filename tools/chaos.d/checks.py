# SPDX-License-Identifier: BSD-3-Clause
"""Watches the members of the fabric during a run, and looks for leaks in its quiet phases."""
import collections
import dataclasses
import json
import pathlib
import threading
import time

from counters import Counters
from fabric import descendants, exists
from plan import KEEP_HOSTS, LEASE, SWITCHES, XPUS

WATCH_S = 0.25
READ_S = 5.0        # between two readings of counters
SETTLE_S = KEEP_HOSTS + LEASE + 15  # until members have freed what killed loads left
FILES_MORE = 8      # descriptors that caches may add
MEMORY_MORE = 12 << 20  # bytes of private memory that caches may add
STEP_BYTES = 4096   # and for each step of all loads


class Monitor(threading.Thread):
    """Finds members that end without a fault, and counters that are wrong."""

    def __init__(self, fabric, findings):
        super().__init__(daemon=True)
        self.fabric, self.findings = fabric, findings
        self.counters = Counters()
        self.change = None  # a defect changes each reading
        self.ended = threading.Event()
        self.reported = set()

    def run(self):
        next_reading = time.monotonic()
        while not self.ended.wait(WATCH_S):
            self.alive_check()
            if time.monotonic() >= next_reading:
                self.counters_check()
                next_reading = time.monotonic() + READ_S

    def alive_check(self):
        for name, member in self.fabric.members.items():
            process = member.process
            if not member.down and process and process.poll() is not None and not member.down \
                    and member.process is process and (name, process.pid) not in self.reported:
                self.reported.add((name, process.pid))
                self.findings.add("dead", f"{name} ended with {process.returncode}, without a "
                                          f"fault: {self.fabric.tail(name)}")
        for name in SWITCHES:
            if name not in self.fabric.switch_down and not self.fabric.switch_pid(name) \
                    and name not in self.fabric.switch_down and name not in self.reported:
                self.reported.add(name)
                self.findings.add("dead", f"{name} ended without a fault: "
                                          f"{self.fabric.tail(name)}")

    def counters_check(self):
        said = self.fabric.dxp("top", "--json", "--once", host=None)
        try:
            reading = json.loads(said.stdout)
        except ValueError:
            self.findings.add("counters", f"dxp top: {said.stderr.strip() or said.returncode}")
            return
        if self.change:
            self.change(reading)
        for error in self.counters.errors(reading):
            self.findings.add("counters", error)


@dataclasses.dataclass
class Sample:
    """What a member uses: bytes of private memory, descriptors, processes below it."""
    memory: int
    files: int
    processes: int


def sample(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    anonymous = next((int(line.split()[1]) for line in status.splitlines()
                      if line.startswith("RssAnon")), 0)
    return Sample(anonymous * 1024, len(list(pathlib.Path(f"/proc/{pid}/fd").iterdir())),
                  len(descendants(pid)))


class Leaks:
    """Compares what the fabric uses in the quiet phases at the start and at the end."""

    def __init__(self, fabric, findings):
        self.fabric, self.findings = fabric, findings
        self.base, self.shared = {}, set()
        self.steps = 0

    def pids(self):
        pids = {name: member.pid() for name, member in self.fabric.members.items()}
        pids.update({name: self.fabric.switch_pid(name) for name in SWITCHES})
        return {name: pid for name, pid in pids.items() if pid and exists(pid)}

    def samples(self):
        return {name: sample(pid) for name, pid in self.pids().items()}

    def shared_files(self):
        """Names in /dev/shm, and in the folder of sockets."""
        names = {f"run/{path.name}" for path in (self.fabric.folder / "run").iterdir()}
        if self.fabric.private:
            names |= {f"/dev/shm/{path.name}"
                      for path in self.fabric.hidden("/dev/shm").iterdir()}
        return names

    def stats_left(self):
        """Files of counters whose process has ended; reading the counters removes them."""
        return [path.name for path in (self.fabric.folder / "stats").glob("*.stats")
                if not exists(path.name.split("-")[0])]

    def foreign(self):
        """Processes in the namespaces that are neither members nor below one."""
        known = set(self.pids().values())
        known |= {child for pid in known for child in descendants(pid)}
        return self.fabric.pids() - known

    def settled(self):
        """Whether nothing of the loads is left in processes and workers."""
        now = self.samples()
        return not self.foreign() and not self.stats_left() and all(
            now[name].processes <= self.base[name].processes and
            now[name].files <= self.base[name].files + FILES_MORE
            for name in now if name in self.base)

    def begin(self, steps):
        """Takes the first sample, when nothing of the loads is left."""
        end = time.monotonic() + SETTLE_S
        while (self.foreign() or self.workers()) and time.monotonic() < end:
            time.sleep(0.2)
        self.base, self.shared, self.steps = self.samples(), self.shared_files(), steps

    def workers(self):
        """Processes below the daemons, beyond one for each daemon."""
        return sum(max(0, len(descendants(pid)) - 1) for name, pid in self.pids().items()
                   if name in XPUS)

    def end(self, steps):
        """Waits until everything is freed, or reports what is not."""
        until = time.monotonic() + SETTLE_S
        while not self.settled() and time.monotonic() < until:
            time.sleep(0.3)
            self.fabric.dxp("top", "--json", "--once", host=None)
        for text in self.errors(steps):
            self.findings.add("leak", text)

    def errors(self, steps):
        for pid in self.foreign():
            yield f"process {pid} is left: {command_of(pid)}"
        for name in sorted(self.shared_files() - self.shared):
            yield f"{name} is left"
        for name in self.stats_left():
            yield f"stats/{name} of an ended process is left"
        allowed = MEMORY_MORE + STEP_BYTES * (steps - self.steps)
        for name, now in self.samples().items():
            base = self.base.get(name)
            if not base:
                continue
            if now.processes > base.processes:
                yield f"{name} has {now.processes} processes below it, {base.processes} at first"
            if now.files > base.files + FILES_MORE:
                yield f"{name} has {now.files} descriptors, {base.files} at first"
            if now.memory > base.memory + allowed:
                yield (f"{name} has {now.memory >> 20} MiB of private memory, "
                       f"{base.memory >> 20} at first")


def command_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return "it has ended"


def table_errors(rows, ids):
    """Yields what is wrong in the node table; ids: those of the xPUs at the start."""
    names = collections.Counter(row["name"] for row in rows if row["state"] == "alive")
    for xpu in XPUS:
        if names[xpu] != 1:
            yield f"the node table has {names[xpu]} alive rows of {xpu}, not 1"
    for row in rows:
        if row["name"] in ids and row["state"] == "alive" and row["id"] != ids[row["name"]]:
            yield f"{row['name']} has the id {row['id']}, and had {ids[row['name']]}"
