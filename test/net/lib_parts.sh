# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Helpers for scripts in which the last part needs two machines; source it after lib_namespaces.sh.
# Defines `ours` and `without`. If namespaces are not possible, the last part is skipped. Processes
# that `part` started stop before the namespaces are removed.
without() {
	left_out 'two machines' "$*"
	say passed
	exit 0
}

parts=''
ours() { echo "$parts"; }

# until_says TEXT FILE [SECONDS]: waits for the text, or fails; default 120 s, which only a hanging
# program reaches.
until_says() {
	local deadline=$((SECONDS + ${3:-120}))
	until grep -qsF -- "$1" "$2"; do
		[ "$SECONDS" -le "$deadline" ] || die "'$1' is not in: $(cat "$2")"
		sleep 0.05
	done
}

# part NAMESPACE LOG TEXT COMMAND...: starts a command, whose log must contain TEXT in time. Sets
# `last` to its process id.
part() {
	local namespace=$1 log=$scratch/$2 text=$3
	shift 3
	: >"$log" # otherwise the wait could find the text of an earlier program
	ip netns exec "$namespace" "$@" >"$log" 2>&1 &
	last=$!
	parts="$last $parts"
	until_says "$text" "$log"
}
