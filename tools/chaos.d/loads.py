# SPDX-License-Identifier: BSD-3-Clause
"""Loads: programs that use the fabric over and over and verify their results."""
import collections
import json
import os
import random
import re
import signal
import statistics
import subprocess
import threading
import time

from fabric import descendants, exists
from plan import CLIENTS, XPUS

STEP_S = 20.0      # a step without faults that takes longer than this, or than
STEP_TIMES = 8     # so many times its time in the quiet start, hangs
REST_S = 0.05      # between two steps
ERROR_REST_S = 0.3
PUT_BYTES = 1 << 20
PUT_AT = 480 << 20  # far above what the OpenCL loads allocate
PINGS = 500
GRANTS = 8         # open grants of the load `grants`


class LoadError(Exception):
    """A step ended with an error; the text is the program's."""


class Wrong(Exception):
    """A step had a wrong result."""


class Broken(Exception):
    """A program hung, crashed, or gave an error without a text. check: which of them."""

    def __init__(self, check, text):
        super().__init__(text)
        self.check = check


class Killed(Exception):
    """A fault killed the program."""


class Load(threading.Thread):
    """Repeats step() until it is ended. `kind` is its name in plans, `xpus` what it uses."""

    kind = ""
    xpus = frozenset(XPUS)

    def __init__(self, context, name):
        super().__init__(daemon=True)
        self.context, self.load_name = context, name
        self.folder = context.fabric.folder / "loads" / name
        self.folder.mkdir(parents=True)
        self.ended, self.paused, self.idle = (threading.Event() for _ in range(3))
        self.process, self.killed = None, False
        self.warm = False        # whether a step has worked; the first one compiles kernels
        self.quiet = []          # seconds of the later steps before the first fault
        self.count = collections.Counter()
        self.good = collections.deque(maxlen=4096)  # ends of good steps
        self.number = 0

    # ---- the loop ----

    def run(self):
        while not self.ended.is_set():
            if self.paused.is_set():
                self.idle.set()
                time.sleep(REST_S)
                continue
            self.idle.clear()
            self.ended.wait(REST_S if self.once() else ERROR_REST_S)
        self.idle.set()

    def once(self):
        """Runs one step and judges it. Returns whether it was good."""
        begin, self.killed = time.monotonic(), False
        self.number += 1
        try:
            self.step()
        except Killed:
            self.count["killed"] += 1
        except Wrong as error:
            self.count["wrong"] += 1
            self.keep()
            self.context.findings.add("wrong", f"{self.load_name}: {error}")
        except Broken as error:
            self.count[error.check] += 1
            self.keep()
            self.context.findings.add(error.check, f"{self.load_name}: {error}")
        except LoadError as error:
            self.count["errors"] += 1
            self.context.judge_error(self, begin, str(error))
        else:
            self.count["good"] += 1
            self.good.append(time.monotonic())
            if self.warm and not self.context.windows.list:
                self.quiet.append(time.monotonic() - begin)
            self.warm = True
            return True
        return False

    def keep(self):
        """Keeps the output of a failed step."""
        for name in ("out", "err"):
            source = self.folder / name
            if source.exists():
                source.rename(self.folder / f"{name}.{self.number}")

    def quiet_s(self):
        """Returns the longest time of a step without faults."""
        return max(self.quiet, default=1.0)

    def usual_s(self):
        return statistics.median(self.quiet or [1.0])

    def good_since(self, when):
        """Returns the end of the first good step that ended after this time, or None."""
        return next((end for end in list(self.good) if end > when), None)

    # ---- programs ----

    def program(self, argv, host="h0"):
        """Runs a program to its end; returns its output. Raises what the step is to raise."""
        fabric, begin = self.context.fabric, time.monotonic()
        with open(self.folder / "out", "wb") as out, open(self.folder / "err", "wb") as err:
            self.process = subprocess.Popen(fabric.inside(argv, host), stdout=out, stderr=err,
                                            stdin=subprocess.DEVNULL,
                                            env=fabric.load_environment(self.kind),
                                            start_new_session=True, cwd=self.folder)
        status = self.wait(begin)
        said, complaint = self.text("out"), self.text("err")
        self.process = None
        if status == 0:
            return said
        if self.killed:
            raise Killed
        if status < 0 or status in (128 + signal.SIGSEGV, 128 + signal.SIGABRT):
            raise Broken("crash", f"{argv[0]} ended with {status}: {complaint or said}")
        if not complaint and not said:
            raise Broken("silent", f"{argv[0]} ended with {status} and no message")
        raise LoadError(self.message(complaint or said))

    def text(self, name):
        """Returns the output of the last program: out or err."""
        return (self.folder / name).read_text(errors="replace").strip()

    def message(self, text):
        return text.splitlines()[-1]

    def wait(self, begin):
        limit = max(STEP_S, STEP_TIMES * self.quiet_s())
        if not self.context.windows.list:
            limit *= 15  # the first steps compile kernels
        while True:
            try:
                return self.process.wait(timeout=0.5)
            except subprocess.TimeoutExpired:
                pass
            now = time.monotonic()
            if now - begin > limit + self.context.windows.patience_s(begin, now):
                self.end_program()
                raise Broken("hung", f"a step did not end within {now - begin:.0f} s; without "
                                     f"faults it takes {self.quiet_s():.1f} s")

    def pids(self):
        process = self.process
        if not process or process.poll() is not None:
            return []
        return [process.pid, *descendants(process.pid)]

    def kill(self):
        """Kills the running program, if there is one: the fault `kill`."""
        if self.pids():
            self.killed = True
            self.end_program()

    def end_program(self):
        for pid in self.pids():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if self.process:
            self.process.wait()


class Put(Load):
    """Writes random bytes into an xPU, reads a register many times, then compares the bytes."""

    kind = "put"

    def __init__(self, context, xpu):
        super().__init__(context, f"put.{xpu}")
        self.xpu, self.xpus = xpu, frozenset((xpu,))
        self.random = random.Random(f"{context.seed} {xpu}")

    def step(self):
        begin, address = time.monotonic(), PUT_AT + self.number % 4 * PUT_BYTES
        sent, back = self.folder / "sent", self.folder / "back"
        sent.write_bytes(self.random.randbytes(PUT_BYTES))
        self.program(["dxp", "put", self.xpu, address, sent])
        self.program(["dxp", "ping", self.xpu, "--count", PINGS])
        self.program(["dxp", "get", self.xpu, address, PUT_BYTES, back])
        if sent.read_bytes() != back.read_bytes():
            if self.context.windows.killed(self.xpu, begin):
                raise LoadError(f"{self.xpu} was started again, and its memory is new")
            raise Wrong(f"other bytes came back from {self.xpu} at {address}")


class Allreduce(Load):
    """Adds a vector of each xPU; a kernel on each xPU checks the sum (examples/cl_allreduce)."""

    kind = "allreduce"

    def step(self):
        try:
            said = self.program(["cl_allreduce"])
        except LoadError:
            if re.search(r": [1-9]\d* are wrong", self.text("out")):
                raise Wrong(self.text("out")) from None
            raise
        if not said.startswith(f"{len(XPUS)} xPUs"):
            raise LoadError(f"not all xPUs were there: {said}")


class Train(Load):
    """Trains a network on drawn digits; loss and weights must be those of the first run."""

    kind = "train"
    reference = None

    def step(self):
        report = self.folder / "report"
        report.unlink(missing_ok=True)
        self.program(["cl_train", "--xpus", len(XPUS), "--drawn", 80, "--batch", 16, "--epochs", 1,
                      "--json", report])
        epochs = [json.loads(line) for line in report.read_text().splitlines()]
        result = [(e["loss"], e["weights"]) for e in epochs]
        self.reference = self.reference or result
        if result != self.reference:
            raise Wrong(f"loss and weights are {result}, not {self.reference}")


class Classify(Load):
    """Classifies a photo on all xPUs; the probabilities must be those of the first run."""

    kind = "classify"
    reference = None

    def step(self):
        answer = self.folder / "answer"
        answer.unlink(missing_ok=True)
        self.program(["classify_opencl", "--output", answer, *self.context.model])
        result = answer.read_bytes()
        self.reference = self.reference or result
        if not result or result != self.reference:
            raise Wrong("the probabilities differ from those of the first run")


class Opencl(Load):
    """Kernels that count in a buffer on each xPU for 2 s (test/opencl/probe_faults.c)."""

    kind = "opencl"

    def step(self):
        try:
            said = self.program([self.context.test_program("opencl/probe_faults"), "held", 2])
        except LoadError:
            if re.search("a wrong answer|exactly once", self.text("out")):
                raise Wrong(self.text("out")) from None
            raise
        if "held over" not in said:
            raise Wrong(f"no result: {said}")


class Mpi(Load):
    """Allreduces of four MPI ranks through the switches (test/mpi/endure.c)."""

    kind = "mpi"
    xpus = frozenset()

    def step(self):
        fabric = self.context.fabric
        try:
            said = self.program([fabric.lab_tool(), "mpirun", fabric.name, "--first", 1, "-np",
                                 len(XPUS), self.context.test_program("mpi/openmpi/endure"), 2,
                                 100], host=None)
        except LoadError as error:
            if re.search(r"rank \d+: call", self.text("err")):
                raise Wrong(str(error)) from None
            raise
        if "0 failures" not in said:
            raise Wrong(f"no result: {said}")

    def message(self, text):
        return " ".join(text.split())[:300]


class Grants(Load):
    """Makes and revokes grants; the manager's list must have all confirmed ones and no others."""

    kind = "grants"
    xpus = frozenset()

    def __init__(self, context, name):
        super().__init__(context, name)
        self.confirmed, self.unknown = [], set()

    def change(self, verb, host):
        """Makes a change. After an error it may have happened or not."""
        try:
            self.program(["dxp", verb, host, XPUS[0]])
        except (LoadError, Killed, Broken):
            self.unknown.add(host)
            raise
        finally:
            if verb == "revoke" and host in self.confirmed:
                self.confirmed.remove(host)
        if verb == "grant":
            self.confirmed.append(host)

    def step(self):
        self.change("grant", f"g{self.number}")
        if len(self.confirmed) > GRANTS:
            self.change("revoke", self.confirmed[0])
        for host in sorted(self.unknown)[:2]:
            self.program(["dxp", "revoke", host, XPUS[0]])
            self.unknown.discard(host)
        rows = json.loads(self.program(["dxp", "grants", "--json"]))["grants"]
        found = {row["host"] for row in rows} - {"*"}
        lost = set(self.confirmed) - found
        back = found - set(self.confirmed) - self.unknown
        if lost or back:
            raise Wrong(f"grants are lost: {sorted(lost)}, and back: {sorted(back)}")


KINDS = {"allreduce": Allreduce, "train": Train, "classify": Classify, "opencl": Opencl,
         "mpi": Mpi, "grants": Grants}
NAMES = ("put",) + tuple(KINDS)


def make(context, names):
    loads = []
    for name in names:
        if name == "put":
            loads += [Put(context, xpu) for xpu in XPUS]
        else:
            loads.append(KINDS[name](context, name))
    return loads


class Loads:
    """All loads of a run."""

    def __init__(self, context, names):
        self.list = make(context, names)

    def of(self, kind):
        return [load for load in self.list if load.kind == kind]

    def start(self):
        for load in self.list:
            load.start()

    def kill(self, kind):
        for load in self.of(kind):
            load.kill()

    def pids(self, kind):
        return [pid for load in self.of(kind) for pid in load.pids() if exists(pid)]

    def pause(self):
        for load in self.list:
            load.paused.set()

    def resume(self):
        for load in self.list:
            load.paused.clear()

    def idle(self):
        return all(load.idle.is_set() for load in self.list)

    def end(self):
        for load in self.list:
            load.ended.set()


assert set(CLIENTS) <= set(NAMES)
