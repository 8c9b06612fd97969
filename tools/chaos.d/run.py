# SPDX-License-Identifier: BSD-3-Clause
"""Runs a plan: starts fabric and loads, makes the faults, and checks the result."""
import os
import pathlib
import time

import plan
from checks import Leaks, Monitor, table_errors
from defects import Defects
from fabric import Fabric, FabricError, Skip
from faults import Faults
from findings import STARVED_S, Findings, Lag, Windows
from loads import Loads
from report import Report

WARM_STEPS = 2    # after the first, which compiles kernels
WARM_S = 600       # until each load has worked so often
GIVE_UP_S = 60     # after the bound of a recovery
PATIENCE_S = 300   # longest bound of a recovery, because that of a busy machine may grow with the time
SLOW_TIMES = 3     # a step of a busy machine may take so many times that without faults
MODELS = ("models", "../shared/models")


class Run:
    def __init__(self, options, steps, folder):
        self.options, self.steps, self.seed = options, steps, options.seed
        self.findings, self.lag = Findings(), Lag()
        self.windows = Windows(self.lag)
        self.fabric = Fabric(folder, options.programs, f"chaos{os.getpid()}", options.plane)
        self.model = model_find(options.source)
        self.defects = Defects(self)
        self.loads = self.monitor = self.report = None

    def test_program(self, name):
        return self.options.programs.parent / "test" / name

    # ---- what each load needs ----

    def lacking(self, load):
        """Returns why a load cannot run here, or None."""
        needs = {"allreduce": self.options.programs / "cl_allreduce",
                 "train": self.options.programs / "cl_train",
                 "classify": self.options.programs / "classify_opencl",
                 "opencl": self.test_program("opencl/probe_faults"),
                 "mpi": self.test_program("mpi/openmpi/endure")}
        if load in needs and not needs[load].exists():
            return f"{needs[load]} is not built"
        if load == "classify" and not self.model:
            return "no model; tools/model fetches it, or DXP_MODELS names its folder"
        return None

    def loads_choose(self):
        chosen = []
        for load in self.options.load:
            reason = self.lacking(load)
            if reason:
                print(f"skipped: load {load}: {reason}")
            else:
                chosen.append(load)
        if not chosen:
            raise Skip("no load can run here")
        return chosen

    # ---- errors ----

    def judge_error(self, load, begin, text):
        """Decides whether an error of a load is permitted by the faults of that time."""
        now = time.monotonic()
        windows = self.windows.overlapping(begin, now)
        for window in windows:
            window.errors[load.kind] += 1
        if any(w.fault.may_fail(load.kind, load.xpus) for w in windows):
            return
        lag = self.lag.longest(begin, now)
        if lag > STARVED_S:
            self.findings.excuse()
            print(f"excused: {load.load_name}: {text}; the machine was busy for {lag:.1f} s",
                  flush=True)
            return
        during = ", ".join(str(w.fault) for w in windows) or "no fault"
        load.keep()
        self.findings.add("error", f"{load.load_name}, during {during}: {text}")

    # ---- phases ----

    def run(self):
        names = self.loads_choose()
        self.lag.start()
        self.fabric.up()
        if not self.fabric.private:
            print("skipped: fault full, and files in /dev/shm: file systems cannot be mounted")
            self.steps = [step for step in self.steps if step.faults[0].kind != "full"]
        if self.options.defect:
            self.defects.prepare(self.options.defect)
        self.loads = Loads(self, names)
        self.report = Report(self.windows, self.loads)
        self.faults = Faults(self.fabric, self.loads, self.findings)
        self.monitor = Monitor(self.fabric, self.findings)
        self.monitor.start()
        self.loads.start()
        self.warm_up()
        self.leaks = Leaks(self.fabric, self.findings)
        self.quiet_begin()
        self.report.say(f"{len(self.fabric.members)} members, {len(self.loads.list)} loads; "
                        f"the faults begin")
        begin = time.monotonic()
        for number, step in enumerate(self.steps):
            if self.options.limited and time.monotonic() - begin > self.options.minutes * 60:
                self.report.say(f"the time is over: {number} of {len(self.steps)} steps")
                break
            time.sleep(step.pause)
            self.step(step)
            if number == 0 and self.options.defect:
                getattr(self.defects, self.options.defect)()
        self.quiet_end()

    def warm_up(self):
        """Waits until each load has worked, so that kernels are compiled and times are known."""
        end = time.monotonic() + WARM_S
        while not all(len(load.quiet) >= WARM_STEPS for load in self.loads.list):
            if time.monotonic() > end or self.findings.list:
                late = [load.load_name for load in self.loads.list if not load.quiet]
                self.findings.add("start", f"these loads do not work without faults: {late}")
                raise SystemExit(1)
            time.sleep(0.05)

    def step_count(self):
        return sum(sum(load.count.values()) for load in self.loads.list)

    def quiet_begin(self):
        self.loads.pause()
        while not self.loads.idle():
            time.sleep(0.05)
        self.leaks.begin(self.step_count())
        rows, reason = self.fabric.table()
        if rows is None:
            self.findings.add("table", reason)
        self.ids = {row["name"]: row["id"] for row in rows or () if row["name"] in plan.XPUS}
        self.loads.resume()

    def step(self, step):
        """Makes the faults of one step, and waits until every load works again."""
        begun = []
        try:
            for fault in step.faults:
                if fault.kind == "full" and not self.fabric.private:
                    continue
                begun.append(self.windows.begin(fault))
                self.faults.begin(fault)
            for window in sorted(begun, key=lambda w: w.fault.seconds):
                time.sleep(max(0, window.begin + window.fault.seconds - time.monotonic()))
                self.faults.end(window.fault)
                window.end = time.monotonic()
        finally:
            for window in begun:
                if window.end is None:
                    self.repair(window)
        for fault in step.faults:
            self.faults.left_check(fault.target)
        self.recover(begun)

    def repair(self, window):
        try:
            self.faults.end(window.fault)
        except (OSError, RuntimeError):
            pass
        window.end = time.monotonic()

    def recover(self, windows):
        """Waits until each load has had a good step since the end of the faults."""
        end = max(window.end for window in windows)
        waiting, worst = list(self.loads.list), 0.0
        late = set()
        while waiting:
            for load in list(waiting):
                good = load.good_since(end)
                seconds = (good or time.monotonic()) - end - load.usual_s()
                if seconds > self.allowed_s(load, windows) and load not in late:
                    late.add(load)
                    self.findings.add("recovery", f"after {self.names(windows)}, "
                                      f"{load.load_name} does not work after {seconds:.1f} s")
                if good:
                    worst = max(worst, seconds)
                    waiting.remove(load)
            if waiting and (self.findings.has("dead") or time.monotonic() > GIVE_UP_S + end +
                            max(self.allowed_s(load, windows) for load in waiting)):
                break
            time.sleep(0.05)
        for window in windows:
            window.recovery = worst
            window.recovered = None if waiting else time.monotonic()
            self.report.fault(window)
        if waiting:
            raise FabricError("these loads do not work any more: " +
                              ", ".join(load.load_name for load in waiting))

    def allowed_s(self, load, windows):
        """Returns the bound of the faults, and what a slow or busy machine may add."""
        begin = min(window.begin for window in windows)
        seconds = max(window.bound_s() for window in windows) + SLOW_TIMES * load.quiet_s() + \
            2 * self.lag.between(begin, time.monotonic())
        return min(seconds, PATIENCE_S)

    @staticmethod
    def names(windows):
        return " and ".join(str(window.fault) for window in windows)

    def quiet_end(self):
        """Every load must work once more without faults; then nothing of the loads may be left."""
        self.report.say("the faults are over; every load works once more")
        end = time.monotonic()
        for load in self.loads.list:
            while not load.good_since(end) and load.is_alive():
                if time.monotonic() > end + GIVE_UP_S + 10 * load.quiet_s() + \
                        2 * self.lag.between(end, time.monotonic()):
                    self.findings.add("quiet", f"{load.load_name} does not work at the end")
                    break
                time.sleep(0.05)
        self.loads.end()
        for load in self.loads.list:
            load.join()
        self.report.say("the loads have ended")
        self.table_check()
        self.leaks.end(self.step_count())
        self.monitor.counters_check()
        self.monitor.alive_check()

    def table_check(self):
        rows, reason = self.fabric.table()
        for text in [reason] if rows is None else table_errors(rows, self.ids):
            self.findings.add("table", text)

    def end(self):
        """Ends everything; also after a failure or a signal."""
        if self.monitor:
            self.monitor.ended.set()
            self.monitor.join()
        if self.loads:
            self.loads.end()
            for load in self.loads.list:
                load.kill()
        self.lag.ended.set()
        self.defects.end()
        self.fabric.down()


def model_find(source):
    """Returns the words of classify_opencl for model and photo, or None."""
    folders = [os.environ.get("DXP_MODELS")] + [source / name for name in MODELS]
    for folder in (pathlib.Path(f) for f in folders if f):
        model, photo = folder / "squeezenet1.1.tflite", folder / "chelsea-227.ppm"
        if model.exists() and photo.exists():
            return [model.resolve(), photo.resolve()]
    return None
