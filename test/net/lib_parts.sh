# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# For scripts whose last part is about two machines: after lib_namespaces.sh, and instead of its
# `ours` and `without`. That part is skipped where there can be no namespaces; what `part` starts
# ends before they go.
without() {
	left_out 'two machines' "$*"
	say passed
	exit 0
}

parts=''
ours() { echo "$parts"; }

# until_says TEXT FILE SECONDS: the file says so in time.
until_says() {
	local i
	for ((i = 0; i < $3 * 20; i++)); do
		! grep -qsF -- "$1" "$2" || return 0
		sleep 0.05
	done
	die "'$1' is not in: $(cat "$2")"
}

# part NAMESPACE LOG TEXT COMMAND...: runs until the end; within 20 s its log has the text.
part() {
	local namespace=$1 log=$scratch/$2 text=$3
	shift 3
	ip netns exec "$namespace" "$@" >"$log" 2>&1 &
	parts="$! $parts"
	until_says "$text" "$log" 20
}
