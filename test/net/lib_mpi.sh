# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# For scripts that run MPI programs on a lab (tools/lab). They say what they want as
#
#   lab_make HOSTS [OPTION OF tools/lab up]...
#   mpi NAME [OPTION OF tools/lab mpirun]... PROGRAM     must end with 0; output in $scratch/out
#   said PATTERN | unsaid PATTERN                        of the last program
#   finish                                               ends the script
set -euo pipefail
# shellcheck source=test/net/lib_text.sh
. "$(dirname "$0")/lib_text.sh"

# Ranks that wait yield without end, and there are more of them than processors. Linux since 6.6
# makes each yield cost a task its next turns, so that a rank can starve for a minute; tasks of
# real-time priority take turns instead. DXP_MPI_ORDINARY=1: run at ordinary priority all the same.
if [ -z "${DXP_MPI_ORDINARY:-}" ] && chrt -r 1 true 2>/dev/null; then
	export DXP_MPI_ORDINARY=1
	exec chrt -r 1 "$0" "$@"
fi

export DXP_BIN=${DXP_BIN:-$(cd "$(dirname "$0")/../.." && pwd)/build/bin}
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
tests=$(cd "$DXP_BIN/.." && pwd)/test/mpi/openmpi
lab=mpi$$ # its name
scratch=$(mktemp -d)
status=0 name=''
readonly source_folder tests lab scratch
# Built with AddressSanitizer: MPIs leak, and a library that is preloaded comes before it.
export ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0
# On a busy machine ranks and switches wait long for their turns.
export OMPI_MCA_coll_dxp_create_ms=5000 OMPI_MCA_coll_dxp_deadline_ms=5000
export DXP_INC_CREATE_MS=5000 DXP_INC_DEADLINE_MS=5000
# Also what so few hosts would send without switches.
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
said() { grep -Eq "$1" "$scratch/out" || failed "nobody said '$1'"; }
unsaid() { ! grep -Eq "$1" "$scratch/out" || failed "somebody said '$1'"; }
finish() { exit $status; }

[ "$(id -u)" -eq 0 ] || without 'needs root for network namespaces'
command -v mpirun >/dev/null || without 'needs Open MPI; try: tools/setup inc'
[ -e "$DXP_BIN/../lib/openmpi/mca_coll_dxp.so" ] || without 'coll/dxp was not built: no headers'
ip netns add "$lab" 2>/dev/null || without 'network namespaces are not allowed'
ip netns del "$lab"
trap take_down EXIT
