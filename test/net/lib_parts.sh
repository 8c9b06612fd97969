# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# For scripts whose last part needs two machines; source after lib_namespaces.sh. Defines `ours` and
# `without`: without namespaces that part is skipped, and processes started by `part` stop before
# the namespaces are removed.
without() {
	left_out 'two machines' "$*"
	say passed
	exit 0
}

parts=''
ours() { echo "$parts"; }

# until_says TEXT FILE SECONDS: waits until the file contains the text; fails after the time.
until_says() {
	local i
	for ((i = 0; i < $3 * 20; i++)); do
		! grep -qsF -- "$1" "$2" || return 0
		sleep 0.05
	done
	die "'$1' is not in: $(cat "$2")"
}

# part NAMESPACE LOG TEXT COMMAND...: starts the command for the rest of the script; fails unless
# its log contains the text within 20 s. Sets `last` to its process id.
part() {
	local namespace=$1 log=$scratch/$2 text=$3
	shift 3
	: >"$log" # the wait must not find the text of an earlier program
	ip netns exec "$namespace" "$@" >"$log" 2>&1 &
	last=$!
	parts="$last $parts"
	until_says "$text" "$log" 20
}
