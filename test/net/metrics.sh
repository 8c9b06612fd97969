#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests `dxp metrics`: both formats are valid, and have the same values as `dxp top --json`.
#
#   dxp metrics --- 127.0.0.1 --- dxp-manager
#                        +------- dxpd daemon1: xpu1, xpu2
# shellcheck disable=SC2016 # the sentences quote commands with backticks
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"

export DXP_STATS=$scratch/stats

if ! command -v python3 >/dev/null; then
	say 'skipped: no python3; tools/setup check'
	exit 77
fi

# Checks metrics line by line ("openmetrics" or "prometheus") and prints the values.
cat >"$scratch/check.py" <<'END'
import json, re, sys

text, form = open(sys.argv[1]).read(), sys.argv[2]
suffix = "_total" if form == "openmetrics" else ""
lines = text.split("\n")
assert lines.pop() == "", "no newline at the end"
if form == "openmetrics":
    assert lines.pop() == "# EOF"
name, label = r"[a-zA-Z_:][a-zA-Z0-9_:]*", r'[a-z_]+="(?:[^"\\\n]|\\["\\n])*"'
kinds, helped, seen, current, values = {}, set(), set(), None, {}
for line in lines:
    if m := re.fullmatch(rf"# HELP ({name}) \S.*", line):
        assert m[1] not in helped, f"two families {m[1]}"
        helped.add(m[1])
        current = m[1]
    elif m := re.fullmatch(rf"# TYPE ({name}) (counter|gauge)", line):
        assert m[1] == current and m[1] not in kinds, line
        kinds[m[1]] = m[2]
        assert (m[1].endswith("_total")) == (m[2] == "counter" and suffix == ""), line
    else:
        m = re.fullmatch(rf"({name})(\{{{label}(?:,{label})*\}}) ([0-9]+(?:\.[0-9]+)?)", line)
        assert m, f"not a sample: {line}"
        family = current + (suffix if kinds[current] == "counter" else "")
        assert m[1] == family, f"{line} is in the family {family}"
        assert (m[1], m[2]) not in seen, f"twice: {line}"
        seen.add((m[1], m[2]))
        node = re.search(r'(?:node|service)="((?:[^"\\]|\\.)*)"', m[2])[1]
        cause = re.search(r'cause="(\w+)"', m[2])
        values.setdefault(node, {})[m[1] + (":" + cause[1] if cause else "")] = float(m[3])
assert helped == set(kinds) and len(kinds) > 70
print(json.dumps(values))
END

# metrics FORMAT OPTION...: prints the checked values as JSON.
metrics() {
	local format=$1
	shift
	dxp metrics --format "$format" "$@" >"$scratch/metrics"
	python3 "$scratch/check.py" "$scratch/metrics" "$format"
}

refuse 2 "--format is openmetrics or prometheus, not 'xml'" dxp metrics --format xml
refuse 1 'start one with `dxp up`' dxp metrics --fabric
metrics openmetrics >"$scratch/none" # without nodes there are families, but no series
[ "$(cat "$scratch/none")" = '{}' ] || die "$(cat "$scratch/none")"

dxp up --xpus 2 --memory 64M --port 0 --engine none
dxp ping xpu2 --count 1000 >/dev/null

say "== both formats, local and of the fabric"
for format in openmetrics prometheus; do
	metrics $format >"$scratch/$format.json"
	metrics $format --fabric >"$scratch/$format.fabric.json"
done
cat >"$scratch/same.py" <<'END'
import json, sys

load = lambda name: json.load(open(f"{sys.argv[1]}/{name}.json"))
nodes = {n["name"]: n for n in load("top")["nodes"]}
for name in ("openmetrics", "prometheus", "openmetrics.fabric", "prometheus.fabric", "far"):
    values = load(name)
    manager = values.pop("manager", None)
    assert (manager is not None) == (name == "far" or "fabric" in name), name
    if manager:
        assert manager["dxp_service_up"] == 1
        assert manager["dxp_manager_nodes_alive"] == 2
    assert set(values) == {"xpu1", "xpu2"} == set(nodes)
    assert all(v["dxp_node_up"] == 1 for v in values.values())
    assert all(v["dxp_node_uptime_seconds"] > 0 for v in values.values())
v, n = load("far")["xpu2"], nodes["xpu2"]
totals = n["totals"]
assert v["dxp_nic_cfg_received_total"] == n["counters"]["cfg_received"] >= 1000
assert v["dxp_session_sent_packets_total"] == totals["sent_packets"]
assert v["dxp_session_retransmitted_packets_total:probe"] == totals["retransmitted_probe"]
END
for try in {1..2400}; do # at most 120 s
	metrics openmetrics --fabric >"$scratch/far.json"
	dxp top --json >"$scratch/top.json"
	! python3 "$scratch/same.py" "$scratch" 2>"$scratch/why" || break
	[ "$try" -lt 100 ] || die "$(cat "$scratch/why" "$scratch/far.json")"
	sleep 0.05
done

if command -v promtool >/dev/null; then
	dxp metrics --format prometheus | promtool check metrics || die 'promtool: local'
	dxp metrics --format prometheus --fabric | promtool check metrics || die 'promtool: fabric'
else
	left_out 'promtool check metrics' 'no promtool; apt install prometheus'
fi

say "== a silent node of the fabric; a name with quotes in a file"
daemon=$(process_of daemon1)
kill -STOP "$daemon"
metrics openmetrics --fabric >"$scratch/far.json"
kill -CONT "$daemon"
python3 -c 'import json, sys
v = json.load(open(sys.argv[1]))
assert v["xpu1"] == {"dxp_node_up": 0}, v
assert v["manager"]["dxp_service_up"] == 1, v
assert v["xpu2"]["dxp_node_up"] == 1 and len(v["xpu2"]) > 70, v' "$scratch/far.json"
python3 - "$DXP_STATS" <<'END'
import glob, sys
for path in glob.glob(sys.argv[1] + "/*.stats"):
    with open(path, "r+b") as f:
        head = f.read(8192)
        at = head.find(b"xpu1\0")
        if at >= 0:
            f.seek(at)
            f.write(b'x"\\1')
END
metrics openmetrics >"$scratch/quoted.json"
grep -qF 'node="x\"\\1"' "$scratch/metrics" || die "not quoted: $(head -5 "$scratch/metrics")"
dxp down
say passed
