#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# MPI collectives on memory of xPUs with MPICH and the preloaded library: results, bytes through the
# ranks, and errors, which all ranks must report. MPICH_MPIEXEC names its starter of programs,
# default mpiexec.hydra.
#
#   2 or 4 ranks --- 127.0.0.1 --- dxpd: xpu1 <=> xpu2 <=> xpu3 <=> xpu4
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"

tests=$DXP_BIN/../test/mpi/mpich
lib=$(cd "$DXP_BIN/../lib" && pwd)
mpiexec=${MPICH_MPIEXEC:-mpiexec.hydra}
without() { echo "skipped: $*"; exit 77; }
command -v "$mpiexec" >/dev/null || without 'needs MPICH; try: tools/setup inc'
[ -x "$tests/device" ] || without 'built without MPICH; try: tools/setup inc'
# MPI libraries have leaks, and a preloaded library comes before AddressSanitizer's run-time
# library.
export ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0

# ranks COUNT CASE: runs the cases on as many ranks; the output is in $scratch/out.
ranks() {
	timeout -k 5 300 "$mpiexec" -np "$1" -genv DXP_MPI_DEVICE "${device:-1}" \
		-genv LD_PRELOAD "$lib/libdxp-pmpi-mpich.so" "$tests/device" "$2" \
		>"$scratch/out" 2>&1
}

# passes NAME COUNT CASE: the case must succeed.
passes() {
	ranks "$2" "$3" || die "$1: $(tail -n 20 "$scratch/out")"
	say "ok: $1"
}

# rejects NAME TEXT CASE: every rank must get an error, and the text must be printed.
rejects() {
	passes "$1" 2 "$3"
	expect "$2" "$scratch/out"
}

dxp up --xpus 4 --memory 128M --port 0
passes '2 ranks' 2 values
passes '4 ranks' 4 values
passes 'threads' 2 threads
passes 'no elements, NULL at a rank' 2 zero

say '== errors'
passes 'a negative count' 2 negative
expect 'the count is -1; use 0 or more' "$scratch/out"
rejects 'device and host memory among ranks' \
	'rank 0 passes device memory, but rank 1 passes host memory' mixed
rejects 'a short buffer' 'the call needs 4096 bytes, but the buffer on xPU' short
rejects 'different lengths' 'rank 1 calls with another length, type, operator or root' lengths
rejects 'an operator without a kernel' 'xPUs do not combine this type by this operator' operator
rejects 'an access by the host' 'a store to the buffer raises SIGSEGV' fault
device=0 rejects 'DXP_MPI_DEVICE is 0' \
	'device memory needs DXP_MPI_DEVICE=1 in the environment of all ranks' unset
