#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Another version of the wire format: each command and daemon names both versions, and the manager
# logs the machine as refused. No such release exists, so a program between them changes versions.
#
#   dxp, dxpd --- other_version.py --- dxp-manager
#                 [127.0.0.1]
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
parts=''
ours() { echo "$parts"; }
# shellcheck source=test/net/lib_processes.sh
. "$(dirname "$0")/lib_processes.sh"

command -v python3 >/dev/null || {
	echo 'skipped: python3 is not installed; install: tools/setup check'
	exit 77
}

# between requests|answers: starts the program that changes versions; sets `at` to its address.
between() {
	rm -f "$scratch/port"
	python3 "$(dirname "$0")/other_version.py" "${manager##*:}" "$1" 5 "$scratch/port" &
	parts="$! $parts"
	for _ in {1..1200}; do # at most 120 s
		[ ! -s "$scratch/port" ] || break
		sleep 0.1
	done
	at=127.0.0.1:$(cat "$scratch/port")
}

dxp manager init --bind 127.0.0.1 --port 0 --name admin >"$scratch/init"
manager=$(cat "$DXP_DIR/manager")
readonly manager
token=$(dxp token create)
readonly token

say '== a manager of another version'
between answers
readonly VERSIONS="the manager at $at has version 5 of the wire format, this program has version 1"
refuse 1 "$VERSIONS" dxp nodes --manager "$at"
refuse 1 "$VERSIONS" dxp ping xpu1 --manager "$at"
! grep -q firewall "$scratch/out" || die "a rule of a firewall: $(cat "$scratch/out")"
refuse 1 "$VERSIONS" dxp join "$at" "$token" --dir "$scratch/b"
refuse 1 "$VERSIONS" dxp token list --manager "$at"
refuse 7 'could not join: the manager has another version' dxpd --engine none --memory 1M \
	--manager "$at" --key "$DXP_DIR/fabric.key" --timeout 2 --state "$scratch/xpus"
expect "$VERSIONS" "$scratch/out"

say '== clients of another version: the event log of the manager names them'
between requests
readonly REFUSED='refused +127.0.0.1:[0-9]+ +a request in version 5 of the wire format'
refuse 1 'no manager answers' dxp token list --manager "$at"
dxp events --kind refused | has -E "$REFUSED" || die "no event: $(dxp events)"
refuse 1 'no manager answers' dxp nodes --manager "$at"
# one entry for each address
[ "$(dxp events --kind refused | grep -cE "$REFUSED")" -eq 2 ] || die "$(dxp events)"
dxp down
say passed
