# SPDX-License-Identifier: BSD-3-Clause
"""Begins and ends faults. end() also repairs faults whose begin() failed half-way."""
import os
import signal
import subprocess
import time

from fabric import HOST_OF, LEAF_OF, exists
from plan import CLIENTS, SWITCHES

GONE_S = 20  # until the processes of a killed daemon must have ended
BURST_BYTES = 16000

# Drops at the device, because the IP stack would report a drop to the sender.
DROPS = """add table netdev dxp-chaos-{kind}
add chain netdev dxp-chaos-{kind} in {{ type filter hook ingress device {device} priority 0; }}
add chain netdev dxp-chaos-{kind} out {{ type filter hook egress device {device} priority 0; }}
add rule netdev dxp-chaos-{kind} in {match} counter drop
add rule netdev dxp-chaos-{kind} out {match} counter drop
"""


class FaultError(Exception):
    """A fault could not be made or repaired."""


def must(argv, text=None):
    done = subprocess.run(argv, input=text, text=True, capture_output=True)
    if done.returncode != 0:
        raise FaultError(f"{' '.join(map(str, argv))}: {done.stderr.strip() or done.returncode}")


class Faults:
    def __init__(self, fabric, loads, findings):
        self.fabric, self.loads, self.findings = fabric, loads, findings
        self.stopped = {}  # target: processes
        self.dependent = {}  # target: processes that must end after a kill

    def begin(self, fault):
        getattr(self, f"{fault.kind}_begin")(fault)

    def end(self, fault):
        getattr(self, f"{fault.kind}_end")(fault)

    # ---- processes ----

    def kill_begin(self, fault):
        if fault.target in CLIENTS:
            self.loads.kill(fault.target)
        elif fault.target in SWITCHES:
            self.fabric.switch_down.add(fault.target)
            self.switch(fault.target, "kill")
        else:
            self.dependent[fault.target] = self.fabric.kill(fault.target)

    def kill_end(self, fault):
        if fault.target in SWITCHES:
            self.switch(fault.target, "start")
            self.fabric.switch_down.discard(fault.target)
        elif fault.target not in CLIENTS:
            self.fabric.start(fault.target)

    def switch(self, name, what):
        must(self.fabric.inside([self.fabric.lab_tool(), "switch", self.fabric.name, name, what]))

    def left_check(self, target):
        """Fails if processes of a killed daemon do not end."""
        end = time.monotonic() + GONE_S
        left = self.dependent.pop(target, [])
        while left := [pid for pid in left if exists(pid)]:
            if time.monotonic() > end:
                self.findings.add("leak", f"{target} was killed, and left the processes {left}")
                return
            time.sleep(0.05)

    def processes(self, target):
        if target in CLIENTS:
            return self.loads.pids(target)
        if target in SWITCHES:
            pid = self.fabric.switch_pid(target)
            return [pid] if pid else []
        return [self.fabric.members[target].pid()]

    def stop_begin(self, fault):
        self.stopped[fault.target] = self.processes(fault.target)
        self.signal(fault.target, signal.SIGSTOP)

    def stop_end(self, fault):
        self.signal(fault.target, signal.SIGCONT)
        self.stopped.pop(fault.target, None)

    def signal(self, target, number):
        for pid in self.stopped.get(target, ()):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    # ---- cables ----

    def cable(self, target):
        """Returns the namespace and the interface of a target's end of its cable."""
        if target in SWITCHES:
            return f"{self.fabric.name}-{target}", "s0"
        return f"{self.fabric.name}-{HOST_OF[target]}", "eth0"

    def drop(self, fault, match):
        namespace, device = self.cable(fault.target)
        must(["ip", "netns", "exec", namespace, "nft", "-f", "-"],
             DROPS.format(kind=fault.kind, device=device, match=match))

    def undrop(self, fault):
        namespace, _ = self.cable(fault.target)
        must(["ip", "netns", "exec", namespace, "nft", "delete", "table", "netdev",
              f"dxp-chaos-{fault.kind}"])

    def link(self, fault, state):
        namespace, device = self.cable(fault.target)
        must(["ip", "-n", namespace, "link", "set", device, state])

    def cut_begin(self, fault):
        if fault.value == "down":
            self.link(fault, "down")
        else:
            self.drop(fault, "")

    def cut_end(self, fault):
        if fault.value == "down":
            self.link(fault, "up")
        else:
            self.undrop(fault)

    def loss_begin(self, fault):
        self.drop(fault, f"numgen random mod 100 < {fault.value}")

    loss_end = undrop

    def ends(self, target):
        """Returns both ends of a host's cable: the host, and the port of its switch."""
        host = HOST_OF[target]
        return ((f"{self.fabric.name}-{host}", "eth0"),
                (f"{self.fabric.name}-s{LEAF_OF[host]}", host))

    def slow_begin(self, fault):
        for namespace, device in self.ends(fault.target):
            must(["tc", "-n", namespace, "qdisc", "replace", "dev", device, "root", "tbf", "rate",
                  f"{fault.value}mbit", "burst", str(BURST_BYTES), "latency", "20ms"])

    def slow_end(self, fault):
        for namespace, device in self.ends(fault.target):
            must(["tc", "-n", namespace, "qdisc", "del", "dev", device, "root"])

    # ---- the manager's disk ----

    def filler(self):
        return self.fabric.hidden(self.fabric.path("state")) / "filler"

    def full_begin(self, _):
        block = bytes(65536)
        with open(self.filler(), "wb", buffering=0) as out:
            while block:
                try:
                    out.write(block)
                except OSError:
                    block = block[:len(block) // 16]

    def full_end(self, _):
        self.filler().unlink(missing_ok=True)
