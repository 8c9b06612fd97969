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

# fails_with TEXT COMMAND...: whether the command fails with this text.
fails_with() {
	! "${@:2}" >"$scratch/out" 2>&1 && grep -qF -- "$1" "$scratch/out"
}

# refused TEXT COMMAND...: waits until the command fails with this text. On a busy machine it may
# fail for another reason first.
refused() {
	until_ok fails_with "$@"
	say "ok: $(tail -n 1 "$scratch/out")"
}

# goes_on: fails if the long ping, process $pinging, broke off, or the daemon, $daemon, ended.
goes_on() {
	runs "$pinging" || die "the transfer broke: $(cat "$scratch/ping")"
	kill -0 "$daemon" || die "the daemon ended: $(cat "$scratch/dxpd.log")"
}

# token_make OPTION...: makes a token, and prints it.
token_make() {
	local token begin=$SECONDS
	until token=$(dxp token create "$@" 2>/dev/null); do
		[ $((SECONDS - begin)) -le 120 ] || die 'no token'
		sleep 0.1
	done
	echo "$token"
}
