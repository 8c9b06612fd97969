# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# For scripts that start processes of their own: after lib_fabric.sh. They are gone when the script
# is, also when a test ends early.
#
# The script says before, as a function:
#   ours                  prints the ids of its processes
end_ours() {
	local status=$? process
	for process in $(ours); do
		kill -9 "$process" 2>/dev/null || true
	done
	set +e # or the next line would be the last
	(exit $status)
	clean_up
}
trap end_ours EXIT
