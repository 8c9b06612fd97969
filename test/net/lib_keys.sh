# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Helpers for scripts that rotate keys while programs run; source it after lib_fabric.sh. All
# packets are encrypted, so sessions prove the key pairs. It kills `processes` when the script
# exits.
if ! command -v python3 >/dev/null; then
	echo 'skipped: no python3; apt install python3'
	exit 77
fi
export DXP_PROTECT=encrypt
processes=()
ours() {
	[ ${#processes[@]} -eq 0 ] || printf '%s\n' "${processes[@]}"
}
# shellcheck source=test/net/lib_processes.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib_processes.sh"

# until_ok COMMAND...: repeats the command until it succeeds.
until_ok() {
	local begin=$SECONDS
	until "$@"; do
		[ $((SECONDS - begin)) -le 120 ] || die "'$*' never succeeded"
		sleep 0.1
	done
}
