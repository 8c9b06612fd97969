# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Helpers for scripts with several managers and etcd; source it after lib_fabric.sh. Before use, the
# script sets the array `at`, the options that name managers and key. Each process has a file
# $scratch/NAME.pid, and is killed when the script exits.
ours() { cat "$scratch"/*.pid 2>/dev/null; }
# shellcheck source=test/net/lib_processes.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib_processes.sh"
readonly patience=120 # s

process() { cat "$scratch/$1.pid"; }

# end SIGNAL NAME: ends a process and waits for its end.
end() {
	local id
	id=$(process "$2")
	kill "-$1" "$id"
	wait "$id" 2>/dev/null || true
}

# wait_for WHAT COMMAND...: waits until the command succeeds.
wait_for() {
	local what=$1 begin=$SECONDS
	shift
	until "$@" >"$scratch/wait" 2>&1; do
		[ $((SECONDS - begin)) -lt $patience ] || die "$what: $(cat "$scratch/wait")"
		sleep 0.05
	done
}

of_fabric() { "$@" "${at[@]}"; }
logged() { grep -qF "$1" "$2"; }

# value_of KEY URL...: prints a key of etcd from any member; fails if none answers.
value_of() {
	python3 - "$@" <<'PYTHON'
import base64, json, sys, urllib.request
key = base64.b64encode(sys.argv[1].encode()).decode()
for url in sys.argv[2:]:
    try:
        answer = urllib.request.urlopen(url + "/v3/kv/range", json.dumps({"key": key}).encode(), 3)
        for pair in json.load(answer).get("kvs", []):
            print(base64.b64decode(pair["value"]).decode())
        sys.exit(0)
    except OSError:
        pass
sys.exit(1)
PYTHON
}

# Background: hosts join, do one round trip, and leave.
join_and_leave() {
	local i=0
	while [ ! -e "$scratch/stop" ]; do
		i=$((i + 1))
		of_fabric timeout 30 dxp ping xpu2 --name "h$i" --count 1 >/dev/null 2>&1 || true
	done
}

# In the background, makes and revokes grants, and records confirmations. A failed command leaves
# its grant open.
grant_and_revoke() {
	local i=0
	while [ ! -e "$scratch/stop" ]; do
		i=$((i + 1))
		if of_fabric timeout 30 dxp grant "g$i" xpu3 >/dev/null 2>&1; then
			echo "g$i" >>"$scratch/granted"
		else
			echo "g$i" >>"$scratch/open"
		fi
		[ $((i % 3)) -eq 0 ] || continue
		if of_fabric timeout 30 dxp revoke "g$i" xpu3 >/dev/null 2>&1; then
			echo "g$i" >>"$scratch/revoked"
		else
			echo "g$i" >>"$scratch/open"
		fi
	done
}

# grants_check HOST...: no confirmed grant is lost or returns; these hosts also have grants.
grants_check() {
	of_fabric dxp grants --json >"$scratch/grants"
	python3 - "$scratch" "$@" <<'PYTHON'
import json, os, sys
folder, others = sys.argv[1], set(sys.argv[2:])
def lines(name):
    path = folder + "/" + name
    return set(open(path).read().split()) if os.path.exists(path) else set()
granted, open_, revoked = lines("granted"), lines("open"), lines("revoked")
found = {g["host"] for g in json.load(open(folder + "/grants"))["grants"]}
lost = granted - revoked - open_ - found
assert not lost, "lost grants: %s" % lost
back = (revoked - open_) & found
assert not back, "revoked grants are back: %s" % back
assert others <= found
new = found - granted - open_ - others
assert not new, "grants that nobody made: %s" % new
print("%d grants, %d revoked, %d open" % (len(granted), len(revoked), len(open_)))
PYTHON
}
