#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# MPI collectives on memory of xPUs, through the component of Open MPI and through the preloaded
# library: results, bytes through the ranks, and errors, which all ranks must report.
#
#   2 or 4 ranks --- 127.0.0.1 --- dxpd: xpu1 <=> xpu2 <=> xpu3 <=> xpu4
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"

tests=$DXP_BIN/../test/mpi/openmpi
lib=$(cd "$DXP_BIN/../lib" && pwd)
without() { echo "skipped: $*"; exit 77; }
command -v mpirun >/dev/null || without 'needs Open MPI; try: tools/setup inc'
[ -x "$tests/device" ] || without 'built without Open MPI; try: tools/setup inc'
[ -e "$lib/openmpi/mca_coll_dxp.so" ] || without 'coll/dxp was not built: no headers'
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
# MPI libraries have leaks, and a preloaded library comes before AddressSanitizer's run-time
# library.
export ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0
system=$(ompi_info --parsable --path pkglibdir)
component=(--mca mca_base_component_path "$lib/openmpi:${system#path:pkglibdir:}")
preload=(--mca coll ^dxp -x "LD_PRELOAD=$lib/libdxp-pmpi-openmpi.so")

# ranks COUNT PLUGIN_ARGUMENTS... -- PROGRAM...: runs the program; its output is in $scratch/out.
ranks() {
	timeout -k 5 300 mpirun -np "$1" -x DXP_MPI_DEVICE=1 -x DXP_DIR -x DXP_RUN \
		"${@:2}" >"$scratch/out" 2>&1
}

# passes NAME COMMAND...: the command must succeed.
passes() {
	local name=$1
	shift
	"$@" || die "$name: $(tail -n 20 "$scratch/out")"
	say "ok: $name"
}

# rejects NAME TEXT CASE: every rank must get an error, and the text must be printed.
rejects() {
	passes "$1" ranks 2 "${component[@]}" "$tests/device" "$3"
	expect "$2" "$scratch/out"
}

dxp up --xpus 4 --memory 128M --port 0
for count in 2 4; do
	for plugin in component preload; do
		declare -n arguments=$plugin
		passes "$count ranks, $plugin" ranks $count "${arguments[@]}" "$tests/device" values
		passes "$count ranks, $plugin, example" ranks $count "${arguments[@]}" \
			"$DXP_BIN/mpi_allreduce" 4000000
		[ "$(grep -c ': 0 of 4000000 sums are wrong' "$scratch/out")" = $count ] ||
			die "$(cat "$scratch/out")"
		# commands and reports; the vectors have 16 MB
		sed -n 's/.*wrong; \([0-9]*\) bytes.*/\1/p' "$scratch/out" |
			awk '$1 > 1000000 { bad = 1 } END { exit bad || NR == 0 }' ||
			die "data passed a rank: $(cat "$scratch/out")"
		grep 'passed this program' "$scratch/out"
	done
done

for plugin in component preload; do
	declare -n arguments=$plugin
	passes "threads, $plugin" ranks 2 "${arguments[@]}" "$tests/device" threads
	passes "no elements, NULL at a rank, $plugin" ranks 2 "${arguments[@]}" "$tests/device" zero
done

say '== errors'
passes 'a negative count' ranks 2 "${preload[@]}" "$tests/device" negative
expect 'the count is -1; use 0 or more' "$scratch/out"
rejects 'commands fill the space' 'set the events that they wait for' full
rejects 'device and host memory among ranks' \
	'rank 0 passes device memory, but rank 1 passes host memory' mixed
rejects 'device and host memory in one call' \
	'one buffer is device memory, the other host memory' halves
rejects 'a short buffer' 'the call needs 4096 bytes, but the buffer on xPU' short
rejects 'different lengths' 'rank 1 calls with another length, type, operator or root' lengths
rejects 'a freed buffer' 'the buffer was freed with dxp_mpi_buffer_free()' freed
rejects 'freed memory' "the buffer's memory was freed before the buffer" memory
rejects 'an operator without a kernel' 'xPUs do not combine this type by this operator' operator
rejects 'one xPU of two ranks' 'ranks 0 and 1 use the same xPU' same
rejects 'an access by the host' 'a store to the buffer raises SIGSEGV' fault
unset_device() {
	timeout -k 5 100 mpirun -np 2 -x DXP_DIR -x DXP_RUN "${component[@]}" "$tests/device" \
		unset >"$scratch/out" 2>&1
}
passes 'DXP_MPI_DEVICE is not set' unset_device
expect 'device memory needs DXP_MPI_DEVICE=1 in the environment of all ranks' "$scratch/out"

# Rank 0 of two has the setting.
partly() {
	timeout -k 5 100 mpirun \
		-np 1 -x DXP_MPI_DEVICE=1 -x DXP_DIR -x DXP_RUN "$@" "$tests/device" partly : \
		-np 1 -x DXP_DIR -x DXP_RUN "$@" "$tests/device" partly >"$scratch/out" 2>&1
}
for plugin in component preload; do
	declare -n arguments=$plugin
	passes "DXP_MPI_DEVICE at one rank, $plugin" partly "${arguments[@]}"
	expect 'in the environment of all ranks; rank 1 does not have it' "$scratch/out"
	[ "$(grep -c 'ok: the call fails' "$scratch/out")" = 2 ] || die "$(cat "$scratch/out")"
done

say '== an xPU dies'
ranks 4 "${component[@]}" "$tests/device" dies &
job=$!
for _ in {1..2400}; do
	! grep -qs 'ranks are at work' "$scratch/out" || break
	sleep 0.05
done
expect 'ranks are at work' "$scratch/out"
victim=$(process_of daemon1)
kill -KILL "$victim"
wait $job || die "$(tail -n 20 "$scratch/out")"
[ "$(grep -c 'ok: the call fails' "$scratch/out")" = 4 ] || die "$(cat "$scratch/out")"
grep 'ok: the call fails' "$scratch/out"
