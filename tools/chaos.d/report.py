# SPDX-License-Identifier: BSD-3-Clause
"""Prints the progress of a run, and its table."""
import statistics
import time


class Report:
    def __init__(self, windows, loads):
        self.windows, self.loads = windows, loads
        self.begin = time.monotonic()

    def say(self, text):
        print(f"{time.monotonic() - self.begin:7.1f} s  {text}", flush=True)

    def fault(self, window):
        errors = ", ".join(f"{name} {count}" for name, count in sorted(window.errors.items()))
        recovery = "not recovered" if window.recovered is None else \
            f"recovered after {window.recovery:.1f} s"
        self.say(f"{window.fault}: {'errors: ' + errors if errors else 'no errors'}; {recovery} "
                 f"(bound {window.bound_s():.1f} s)")

    def table(self):
        print(f"\n{'FAULT':<18} {'COUNT':>5} {'MEDIAN s':>9} {'WORST s':>8} {'BOUND s':>8} "
              f"{'ERRORS':>7}")
        groups = {}
        for window in self.windows.list:
            target = window.fault.target
            name = "xpu" if target.startswith("xpu") else \
                "switch" if target in ("s0", "s1", "s2") else target
            groups.setdefault(f"{window.fault.kind} {name}", []).append(window)
        for name, group in sorted(groups.items()):
            times = [w.recovery for w in group if w.recovered is not None] or [float("nan")]
            print(f"{name:<18} {len(group):>5} {statistics.median(times):>9.1f} "
                  f"{max(times):>8.1f} {max(w.bound_s() for w in group):>8.1f} "
                  f"{sum(sum(w.errors.values()) for w in group):>7}")
        print(f"\n{'LOAD':<18} {'GOOD':>5} {'ERRORS':>9} {'KILLED':>8} {'STEP s':>8}")
        for load in self.loads.list:
            count = load.count
            print(f"{load.load_name:<18} {count['good']:>5} {count['errors']:>9} "
                  f"{count['killed']:>8} {load.usual_s():>8.1f}")
        print(flush=True)
