# SPDX-License-Identifier: BSD-3-Clause
"""What a run knows: failed checks, faults with their times, and how busy the machine was."""
import collections
import dataclasses
import threading
import time

# The lease reserves 0.6 s for busy machines (docs/guide/manager.md). If a process of this
# priority waited longer than that for a processor, errors prove nothing.
STARVED_S = 0.6
SAMPLE_S = 0.1


class Findings:
    """Failed checks. Prints each one at once."""

    def __init__(self):
        self.lock = threading.Lock()
        self.list = []
        self.excused = 0  # errors on a machine that was too busy

    def add(self, check, text):
        with self.lock:
            self.list.append((check, text))
            print(f"FAILED: {check}: {text}", flush=True)

    def excuse(self):
        with self.lock:
            self.excused += 1


class Lag(threading.Thread):
    """Measures how long a process of this priority waits for a processor."""

    def __init__(self):
        super().__init__(daemon=True)
        self.waits = collections.deque(maxlen=100000)  # (time, seconds)
        self.ended = threading.Event()

    def run(self):
        while not self.ended.is_set():
            begin = time.monotonic()
            time.sleep(SAMPLE_S)
            late = time.monotonic() - begin - SAMPLE_S
            if late > 0.02:
                self.waits.append((begin, late))

    def between(self, begin, end):
        """Returns the sum of the waits."""
        return sum(late for at, late in list(self.waits) if begin - late <= at <= end)

    def longest(self, begin, end):
        return max((late for at, late in list(self.waits) if begin - late <= at <= end),
                   default=0.0)


@dataclasses.dataclass
class Window:
    """A fault that began. end: its end; recovered: when all loads worked again."""
    fault: object
    begin: float
    end: float = None
    recovered: float = None
    recovery: float = None  # seconds of the slowest load, beyond its time without faults
    errors: collections.Counter = dataclasses.field(default_factory=collections.Counter)

    def bound_s(self):
        return self.fault.recovery_s()


class Windows:
    """All faults of a run."""

    def __init__(self, lag):
        self.lag = lag
        self.list = []

    def begin(self, fault):
        self.list.append(Window(fault, time.monotonic()))
        return self.list[-1]

    def overlapping(self, begin, end):
        """Returns the windows of faults whose effects, until the recovery, meet this time."""
        return [w for w in list(self.list)
                if w.begin <= end and (w.recovered is None or w.recovered >= begin)]

    def killed(self, target, since):
        """Whether a fault killed the target since then."""
        return any(w.fault.kind == "kill" and w.fault.target == target
                   for w in self.overlapping(since, time.monotonic()))

    def patience_s(self, begin, now):
        """Returns by how much faults and a busy machine may prolong what began then."""
        faults = sum((w.end or now) - w.begin + w.bound_s() for w in self.overlapping(begin, now))
        return faults + 2 * self.lag.between(begin, now)
