# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# For scripts that run MPI programs in a lab (tools/lab). They describe their runs with these
# functions:
#
# lab_make HOSTS [OPTION OF tools/lab up]...: makes the lab.
# mpi NAME [OPTION OF tools/lab mpirun]... PROGRAM: runs the program, which must exit with 0. Its
# output is in $scratch/out.
# said PATTERN, unsaid PATTERN: check the output of the last program.
# finish: ends the script.
set -euo pipefail
# shellcheck source=test/net/lib_text.sh
. "$(dirname "$0")/lib_text.sh"

# Waiting ranks yield in a loop, more than there are processors. Since Linux 6.6 each yield costs a
# task its next time slices, so a rank can starve for a minute. Real-time tasks (SCHED_RR) share
# evenly. DXP_MPI_ORDINARY=1 keeps the ordinary priority.
if [ -z "${DXP_MPI_ORDINARY:-}" ] && chrt -r 1 true 2>/dev/null; then
	export DXP_MPI_ORDINARY=1
	exec chrt -r 1 "$0" "$@"
fi

export DXP_BIN=${DXP_BIN:-$(cd "$(dirname "$0")/../.." && pwd)/build/bin}
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
tests=$(cd "$DXP_BIN/.." && pwd)/test/mpi/openmpi
lab=mpi$$ # name of the lab
scratch=$(mktemp -d)
status=0 name=''
readonly source_folder tests lab scratch
# MPI libraries have leaks, and a preloaded library comes before AddressSanitizer's run-time
# library.
export ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0
# ranks and switches wait long on a loaded machine
export OMPI_MCA_coll_dxp_create_ms=5000 OMPI_MCA_coll_dxp_deadline_ms=5000
export DXP_INC_CREATE_MS=5000 DXP_INC_DEADLINE_MS=5000
# High limits: even few hosts send long messages through switches.
export OMPI_MCA_coll_dxp_max_bytes=1000000000 DXP_INC_MAX_BYTES=1000000000

lab() { "$source_folder/tools/lab" "$@"; }
without() { echo "skipped: $*"; exit 77; }
take_down() {
	lab down "$lab" >/dev/null 2>&1 || true
	rm -rf "$scratch"
}

lab_make() {
	local hosts=$1
	shift
	lab up "$lab" --hosts "$hosts" "$@" >"$scratch/up" 2>&1 || {
		cat "$scratch/up"
		! grep -q 'namespaces cannot be entered' "$scratch/up" ||
			without 'network namespaces cannot be entered: the root here is no mount'
		echo "FAILED: a lab of $hosts hosts"
		exit 1
	}
}

mpi() {
	name=$1
	shift
	if timeout -k 2 100 "$source_folder/tools/lab" mpirun "$lab" "$@" >"$scratch/out" 2>&1; then
		echo "ok: $name"
	else
		failed "it ended with $?"
	fi
}

failed() {
	echo "FAILED: $name: $*"
	tail -n 15 "$scratch/out"
	status=1
}
said() { grep -Eq "$1" "$scratch/out" || failed "no output matches '$1'"; }
unsaid() { ! grep -Eq "$1" "$scratch/out" || failed "somebody said '$1'"; }
# all_offloaded: switches must have handled all calls of MPI_COMM_WORLD but the three before it
# joined.
all_offloaded() {
	local counts
	counts=$(grep -E 'MPI_COMM_WORLD, .* 0 lost groups' "$scratch/out" |
		sed -nE 's/.*offloaded ([0-9]+) of ([0-9]+) calls.*/\1 \2/p')
	# shellcheck disable=SC2086 # $counts is two numbers
	set -- $counts
	[ $# -eq 2 ] && [ $(($1 + 3)) -eq "$2" ] || failed "calls offloaded, and all: '$counts'"
}
finish() { exit $status; }

[ "$(id -u)" -eq 0 ] || without 'needs root for network namespaces'
command -v mpirun >/dev/null || without 'needs Open MPI; try: tools/setup inc'
[ -e "$DXP_BIN/../lib/openmpi/mca_coll_dxp.so" ] || without 'coll/dxp was not built: no headers'
ip netns add "$lab" 2>/dev/null || without 'network namespaces are not allowed'
ip netns del "$lab"
trap take_down EXIT
