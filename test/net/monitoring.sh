#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the files of examples/monitoring. Prometheus must accept them, scrape dxp-web, and have a
# series for each metric that the rules and the dashboard name.
#
#   prometheus --- dxp-web --- 127.0.0.1 --- dxp-manager, dxpd: xpu1, xpu2
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"

web='' prometheus=''
ours() { echo "$web $prometheus"; }
# shellcheck source=test/net/lib_processes.sh
. "$(dirname "$0")/lib_processes.sh"
# shellcheck source=test/net/lib_web.sh
. "$(dirname "$0")/lib_web.sh"

examples=$(cd "$(dirname "$0")/../../examples/monitoring" && pwd)
for program in promtool prometheus python3 curl; do
	command -v $program >/dev/null || {
		say "skipped: no $program; apt install prometheus python3 curl"
		exit 77
	}
done
[ -x "$DXP_BIN/dxp-web" ] || { say 'skipped: built without dxp-web; tools/setup build'; exit 77; }

say "== the files"
promtool check config "$examples/prometheus.yml"
promtool test rules "$examples/dxp_rules_test.yml"
python3 -m json.tool "$examples/grafana_dashboard.json" >/dev/null

dxp up --xpus 2 --memory 64M --port 0 --engine none
web_start
address=${url#http://}
address=${address%/}

say "== a Prometheus that scrapes dxp-web"
cp "$examples/dxp_rules.yml" "$scratch"
sed -e "s/127.0.0.1:4795/$address/" -e 's/scrape_interval: 15s/scrape_interval: 1s/' \
	"$examples/prometheus.yml" >"$scratch/prometheus.yml"
expect "$address" "$scratch/prometheus.yml"
port=$(python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
prometheus --config.file="$scratch/prometheus.yml" --storage.tsdb.path="$scratch/tsdb" \
	--web.listen-address="127.0.0.1:$port" >"$scratch/prometheus.log" 2>&1 &
prometheus=$!
cat >"$scratch/query.py" <<'END'
import json, re, sys, time, urllib.parse, urllib.request

base, rules, dashboard = sys.argv[1:]
def series(expression):
    query = base + "/api/v1/query?" + urllib.parse.urlencode({"query": expression})
    try:
        return json.load(urllib.request.urlopen(query, timeout=30))["data"]["result"]
    except OSError:
        return []

def wait(expression, count):
    begin = time.monotonic()
    while len(series(expression)) < count:
        assert time.monotonic() - begin < 120, f"no series for {expression}"
        time.sleep(0.1)

wait("dxp_node_up == 1", 2)
wait('up{job="dxp"} == 1', 1)
text = open(rules).read() + " ".join(
    t["expr"] for p in json.load(open(dashboard))["panels"] for t in p["targets"])
names = set(re.findall(r"\bdxp_(?!rules)[a-z_]+", text))
assert len(names) >= 8, names
for name in sorted(names):
    wait(name, 1)
loaded = json.load(urllib.request.urlopen(base + "/api/v1/rules", timeout=30))
assert len(loaded["data"]["groups"][0]["rules"]) == 5
print("ok:", len(names), "metrics,", len(series('{job="dxp"}')), "series of 2 nodes")
END
python3 "$scratch/query.py" "http://127.0.0.1:$port" "$examples/dxp_rules.yml" \
	"$examples/grafana_dashboard.json" || die "$(tail -5 "$scratch/prometheus.log")"
kill "$prometheus" "$web"
wait "$prometheus" || true
wait "$web" || die "dxp-web ended with $?"
prometheus='' web=''
dxp down
say passed
