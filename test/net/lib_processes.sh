# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Helpers for scripts that start processes; source it after lib_fabric.sh. Kills these processes
# when the script exits, even if it fails. Before use, the script defines a function `ours`, which
# prints the ids of its processes.
end_ours() {
	local status=$? process
	for process in $(ours); do
		kill -9 "$process" 2>/dev/null || true
	done
	set +e # with set -e, the next line would end the script
	(exit $status)
	clean_up
}
trap end_ours EXIT
