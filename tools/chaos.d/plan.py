# SPDX-License-Identifier: BSD-3-Clause
"""A plan: faults in order, drawn from a seed, and the file format of plans.

A line of a plan has a pause in seconds and one or two faults that begin together:

    1.3  kill xpu2 4.0
    0.8  loss xpu1 6.0 5, stop manager 2.0
"""
import dataclasses
import random

# Documented times in seconds (docs/guide/manager.md, docs/guide/collectives.md).
LEASE = 4.5            # a silent node is dead; requests to a dead xPU fail
SILENCE = 2.9          # a network failure of this length expires no lease
RETRY = 2.0            # longest pause of a node between two tries to reach the manager
JOIN = 5.0             # a program waits this long for a manager
SWITCH = 2.0           # a lost switch delays an operation, and the start of a group, so long
KEEP_HOSTS = 10        # s; dxpd --keep-hosts, which frees what killed programs leave

XPUS = ("xpu1", "xpu2", "xpu3", "xpu4")
SWITCHES = ("s0", "s1", "s2")  # s0: the spine
CLIENTS = ("put", "allreduce", "train", "classify", "opencl", "mpi")

RECOVERY_S = 3.0   # nominal time of a recovery, to fit a plan into its minutes
QUIET_S = 12.0     # nominal time of start and end
PAUSES = (0.3, 2.0)


@dataclasses.dataclass(frozen=True)
class Kind:
    """What a kind of fault may be: its targets, ranges of seconds, values, and its text."""
    targets: tuple
    seconds: tuple  # (low, high) ranges
    values: tuple
    weight: int  # of the draw
    text: str


KINDS = {
    "kill": Kind(XPUS + ("manager",) + SWITCHES + CLIENTS, ((0.3, 2.0), (5.0, 8.0)), (),
                 4, "kill -9 of a process, which is started again after SECONDS"),
    "stop": Kind(XPUS + ("manager",) + SWITCHES + ("put", "allreduce", "train", "opencl"),
                 ((0.5, 2.0), (5.5, 8.0)), (), 2, "SIGSTOP, and SIGCONT after SECONDS"),
    "cut": Kind(XPUS + ("manager", "host", "s1", "s2"), ((0.5, 2.0), (5.5, 8.0)),
                ("drop", "down"), 2,
                "a cable carries nothing (drop), or its interface is down; s1, s2: to the spine"),
    "loss": Kind(XPUS + ("manager", "host"), ((3.0, 7.0),), ("1", "3", "8"), 1,
                 "VALUE % of the packets of a cable are lost, both ways"),
    "slow": Kind(XPUS + ("manager", "host"), ((3.0, 7.0),), ("5", "20", "100"), 1,
                 "a cable carries VALUE Mbit/s each way, with a queue of 20 ms"),
    "full": Kind(("manager",), ((2.0, 5.0),), (), 1,
                 "the file system of the manager's state is full"),
}
WEAK = ("loss", "slow", "full")  # may begin together with another fault


@dataclasses.dataclass(frozen=True)
class Fault:
    kind: str
    target: str
    seconds: float
    value: str = ""

    def __str__(self):
        return f"{self.kind} {self.target} {self.seconds:.1f} {self.value}".rstrip()

    def long(self):
        """Whether it may exceed the silence that no lease notices."""
        return self.seconds > SILENCE - 0.5

    def may_fail(self, load, xpus):
        """Whether a load that uses these xPUs may report an error."""
        if load == "grants" and self.target in ("manager", "host", "s1", "s2"):
            return self.kind not in ("loss", "slow")  # a change that is not recorded is an error
        if self.kind in WEAK:
            return False
        if load == "mpi" or self.target in CLIENTS:
            return False  # a killed program counts as killed, not as failed
        if self.target in SWITCHES and self.kind != "cut":
            return False
        if self.target in XPUS:
            return self.target in xpus and (self.kind == "kill" or self.long())
        return self.long()

    def recovery_s(self):
        """The documented bound from the end of the fault until every load works again."""
        if self.kind in WEAK:
            return RETRY
        if self.target in SWITCHES and self.kind != "cut":
            return 2 * SWITCH
        if self.target == "manager":
            return RETRY + (JOIN if self.long() else 0)
        if self.target in CLIENTS:
            return LEASE
        return LEASE + RETRY


@dataclasses.dataclass(frozen=True)
class Step:
    pause: float
    faults: tuple

    def __str__(self):
        return f"{self.pause:.1f}  " + ", ".join(str(fault) for fault in self.faults)

    def seconds(self):
        """Nominal length, with the recovery."""
        return self.pause + max(fault.seconds for fault in self.faults) + RECOVERY_S


def draw_fault(source, kinds, loads):
    kind, = source.choices(kinds, [KINDS[kind].weight for kind in kinds])
    spec = KINDS[kind]
    targets = [t for t in spec.targets if t not in CLIENTS or t in loads]
    target = source.choice(targets)
    low, high = source.choice(spec.seconds)
    value = source.choice(spec.values) if spec.values else ""
    seconds = round(source.uniform(low, high), 1)
    if kind == "kill" and target in CLIENTS:
        seconds = 0.0  # a load starts its next program at once
    return Fault(kind, target, seconds, value)


def draw_step(source, kinds, loads):
    first = draw_fault(source, kinds, loads)
    pause = round(source.uniform(*PAUSES), 1)
    weak = [kind for kind in kinds if kind in WEAK and kind != first.kind]
    if weak and source.random() < 0.3:
        second = draw_fault(source, weak, loads)
        if second.target != first.target:
            return Step(pause, (first, second))
    return Step(pause, (first,))


def draw(seed, minutes, kinds, loads):
    """Returns the steps of a seed: the same ones for the same arguments."""
    source = random.Random(f"dxp chaos {seed} {' '.join(kinds)} {' '.join(loads)}")
    steps, left = [], minutes * 60 - QUIET_S
    while not steps or left > 0:
        steps.append(draw_step(source, kinds, loads))
        left -= steps[-1].seconds()
    return steps


class PlanError(Exception):
    """The text is no plan; the message names the line and the next step."""


def parse_fault(text):
    words = text.split()
    if len(words) < 3 or words[0] not in KINDS:
        raise PlanError(f"'{text}' is no fault; write KIND TARGET SECONDS [VALUE], with a KIND of "
                        + ", ".join(KINDS))
    spec = KINDS[words[0]]
    if words[1] not in spec.targets:
        raise PlanError(f"'{words[1]}' is no target of {words[0]}; it has " +
                        ", ".join(spec.targets))
    try:
        seconds = float(words[2])
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 60:
        raise PlanError(f"'{words[2]}' is not 0 to 60 seconds")
    value = words[3] if len(words) == 4 else ""
    if len(words) > 4 or (value not in spec.values if spec.values else value):
        raise PlanError(f"the value of {words[0]} is one of: {', '.join(spec.values) or 'none'}")
    return Fault(words[0], words[1], seconds, value)


def parse(text):
    """Returns the steps of a plan's text. Lines that begin with '#' are comments."""
    steps = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            pause, rest = line.split(None, 1)
            faults = tuple(parse_fault(part) for part in rest.split(","))
            if not 0 <= float(pause) <= 600:
                raise ValueError
        except PlanError as error:
            raise PlanError(f"line {number}: {error}") from None
        except ValueError:
            raise PlanError(f"line {number}: begin with a pause of 0 to 600 seconds, then write "
                            "one or two faults with ',' between them") from None
        if len(faults) > 2 or len({fault.target for fault in faults}) < len(faults):
            raise PlanError(f"line {number}: write at most two faults, of different targets")
        steps.append(Step(float(pause), faults))
    if not steps:
        raise PlanError("it has no fault; tools/chaos --plan prints an example")
    return steps


def text(head, steps):
    return "".join(f"# {line}\n" for line in head) + "".join(f"{step}\n" for step in steps)
