#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `dxp bench join`: all nodes join, with the registry in SQLite and in etcd. Times are not checked.
#
#   dxp bench join: 40 members --- 127.78.0.0/16 --- dxp-manager --- etcd
set -euo pipefail

readonly dxp=${DXP_BIN:?set by ctest}/dxp
rows=$(mktemp --tmpdir dxp-join.XXXXXX)
readonly rows
trap 'rm -f "$rows" "$rows.errors"' EXIT
die() { printf 'FAILED: %s\n' "$*"; cat "$rows" "$rows.errors"; exit 1; }

# rejects TEXT OPTION...: must end with status 2 and this text.
rejects() {
	local status=0 text=$1
	shift
	"$dxp" bench join "$@" >"$rows" 2>"$rows.errors" || status=$?
	[ $status -eq 2 ] || die "'$*' ended with $status"
	grep -qF -- "$text" "$rows.errors" || die "'$*' lacks: $text"
}
rejects '--nodes needs 8 .. 4096' --nodes 7
rejects '--nodes needs 8 .. 4096' --nodes 4097
rejects '--etcd needs 1 .. 7' --etcd x
rejects 'is not an option' 100

# joins STORE OPTION...: runs it, and checks its row.
joins() {
	local store=$1
	shift
	"$dxp" bench join --nodes 40 --quick --json "$@" >"$rows" 2>"$rows.errors" ||
		die "bench join $* ended with $?"
	[ "$(wc -l <"$rows")" -eq 1 ] || die 'not one row'
	for part in '"case":"40 nodes"' "\"contender\":\"$store\"" '"nodes":40' '"table_s"' \
		'"manager_cpu_s"' '"steady_cores"' '"manager_mb"'; do
		grep -qF -- "$part" "$rows" || die "no $part"
	done
}
joins SQLite
if command -v etcd >/dev/null; then
	joins 'etcd, members: 1' --etcd 1
else
	echo 'skipped: etcd: it is not installed; apt install etcd-server'
fi
echo passed
