# SPDX-License-Identifier: BSD-3-Clause
"""A machine that is always busy must not excuse a load that never works again: tools/chaos.d/run.py."""
import pathlib
import sys
import types

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/chaos.d"))
import run
from fabric import FabricError
from findings import Findings

LIMIT_S = 3600


class Clock:
    """A clock that only sleep() moves."""

    now = 0.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds
        assert self.now < LIMIT_S, "the run never gives up"


class Load:
    """It never works again."""

    load_name = "put"

    def good_since(self, _):
        return None

    def usual_s(self):
        return 0.1

    quiet_s = usual_s


def busy_run():
    made = run.Run.__new__(run.Run)
    made.loads = types.SimpleNamespace(list=[Load()])
    made.findings = Findings()
    made.lag = types.SimpleNamespace(between=lambda begin, end: end - begin)
    made.report = types.SimpleNamespace(fault=lambda window: None)
    return made


def main():
    run.time = Clock()
    window = types.SimpleNamespace(begin=0.0, end=1.0, fault="stop xpu2", bound_s=lambda: 4.0)
    made = busy_run()
    try:
        made.recover([window])
    except FabricError as error:
        assert "do not work any more: put" in str(error), error
    else:
        raise AssertionError("no error")
    assert made.findings.has("recovery"), made.findings.list
    print("passed")


main()
