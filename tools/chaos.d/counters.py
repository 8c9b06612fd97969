# SPDX-License-Identifier: BSD-3-Clause
"""Checks counters of nodes: sums that always hold, and counts that never decrease."""

SUM = ("acked_packets", "abandoned_packets", "inflight", "lost", "waiting")
FALLING = {"inflight", "lost", "waiting"}  # of `totals`


def session_errors(node):
    for session in node["sessions"]:
        total = sum(session[name] for name in SUM)
        if session["sent_packets"] != total:
            yield (f"{node['name']} > {session['peer']}: sent_packets is "
                   f"{session['sent_packets']}, but {' + '.join(SUM)} is {total}")


def decrease_errors(before, after):
    for group in ("counters", "totals"):
        for name, value in after[group].items():
            if group == "totals" and name in FALLING:
                continue
            if isinstance(value, int) and value < before[group].get(name, 0):
                yield f"{after['name']}: {name} went from {before[group][name]} to {value}"


class Counters:
    """Compares each reading of `dxp top --json` with the one before."""

    def __init__(self):
        self.before = {}
        self.readings = 0

    def errors(self, reading):
        found, now = [], {}
        for node in reading["nodes"]:
            if "counters" not in node:
                continue
            key = (node["pid"], node["name"])
            now[key] = node
            found += session_errors(node)
            if key in self.before:
                found += decrease_errors(self.before[key], node)
        self.before = now
        self.readings += 1
        return found
