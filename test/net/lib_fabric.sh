# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Gives a script its own fabric folder, and removes the fabric when the script exits.
#
# DXP_BIN is the folder of the programs, and PATH begins with it.
# DXP_DIR is the folder of the fabric, which does not exist yet.
# DXP_RUN is the folder in which the NICs of the fabric offer their functions.
# `scratch` is a folder for files of the script.
set -euo pipefail
# shellcheck source=test/net/lib_text.sh
. "$(dirname "$0")/lib_text.sh"

DXP_BIN=$(cd "${DXP_BIN:-$(dirname "$0")/../../build/bin}" && pwd)
for program in dxp dxpd dxp-manager; do
	if [ ! -x "$DXP_BIN/$program" ]; then
		echo "skipped: $DXP_BIN/$program is not built"
		exit 77
	fi
done
if ! ldconfig -p | has -F libOpenCL.so.1; then
	echo 'skipped: no OpenCL library; apt install ocl-icd-libopencl1 pocl-opencl-icd'
	exit 77
fi

scratch=$(mktemp -d)
export DXP_DIR=$scratch/fabric DXP_RUN=$scratch/run PATH=$DXP_BIN:$PATH
unset XDG_STATE_HOME DXP_FAULT
# One cache of compiled kernels for all scripts and the oracle of lib_opencl.sh.
export XDG_CACHE_HOME=$scratch/cache DXP_CACHE=$DXP_BIN/../test/kernels
export DXP_CONFIG= # ignores the configuration files of this machine

clean_up() {
	local status=$?
	for folder in "$scratch"/fabric*; do
		[ ! -d "$folder/run" ] || dxp down --dir "$folder" >/dev/null || status=1
	done
	rm -rf "$scratch"
	[ $status -eq 0 ] || [ $status -eq 77 ] || echo "failed; replay: DXP_BIN=$DXP_BIN $0"
	exit $status
}
trap clean_up EXIT

say() {
	printf '%s\n' "$*"
}

die() {
	say "FAILED: $*"
	exit 1
}

# until_ok COMMAND...: repeats the command up to 120 s until it succeeds.
until_ok() {
	local end=$((SECONDS + 120))
	until "$@"; do
		[ $SECONDS -lt $end ] || die "'$*' never succeeded"
		sleep 0.1
	done
}

# expect TEXT FILE: fails unless the file contains the text.
expect() {
	grep -qF -- "$1" "$2" || die "'$1' is not in: $(cat "$2")"
}

# process_of NAME: prints the id of manager, daemon1, ...
process_of() {
	grep -A 1 "\"name\": \"$1\"" "$DXP_DIR/run/fabric" | sed -n 's/.*"pid": \([0-9]*\).*/\1/p'
}

# runs PID: succeeds if the process exists and is no zombie.
runs() {
	[ -r "/proc/$1/stat" ] && ! grep -q ') Z ' "/proc/$1/stat"
}

# refuse STATUS TEXT COMMAND...: must fail with this status and print the text, within 6 s, or 30 s
# on one loaded core.
refuse() {
	local wanted=$1 text=$2 status=0 begin=$SECONDS
	shift 2
	timeout 120 "$@" >"$scratch/out" 2>&1 || status=$?
	[ $status -eq "$wanted" ] ||
		die "'$*' ended with $status, not $wanted: $(cat "$scratch/out")"
	[ $((SECONDS - begin)) -le 30 ] || die "'$*' took $((SECONDS - begin)) s"
	expect "$text" "$scratch/out"
	say "ok: $(tail -n 1 "$scratch/out")"
}
