# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# For scripts that start processes; source after lib_fabric.sh. Kills them when the script exits,
# also on failure.
#
# Before use, the script defines a function:
#   ours                  prints the ids of its processes
end_ours() {
	local status=$? process
	for process in $(ours); do
		kill -9 "$process" 2>/dev/null || true
	done
	set +e # set -e would exit at the next line
	(exit $status)
	clean_up
}
trap end_ours EXIT
