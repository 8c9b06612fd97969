#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Open MPI programs over switches, through the component and the preloaded library. Checks every
# operation and type, with one or more ranks per host, equal or unequal, in order or round robin.
#
#            s0
#          /    \
#        s1      s2            switches
#       h0 h1   h2 h3          hosts, 1 to 3 ranks each
#
#   mpi_results.sh [long]      long: also tests unequal numbers of ranks, and each rank as a leader
# shellcheck source=test/net/lib_mpi.sh
. "$(dirname "$0")/lib_mpi.sh"

verbose=(--mca coll_dxp_verbose 2)
long=${1:-}
readonly long
lab_make 4 --plane user
mpi 'one rank a host' "${verbose[@]}" -np 4 "$tests/compare" quick
said 'MPI_COMM_WORLD, .*offloaded: 4 leaders, mode node'
all_offloaded
mpi 'two ranks a host' "${verbose[@]}" -np 8 "$tests/compare" quick
said 'MPI_COMM_WORLD, .*offloaded: 4 leaders, mode node'
if [ "$long" = long ]; then
	mpi 'seven ranks, dealt out' --ppn 2 "${verbose[@]}" -np 7 --map-by node \
		"$tests/compare" quick
	said 'MPI_COMM_WORLD, .*offloaded: 4 leaders, mode node'
	mpi 'flat' "${verbose[@]}" --mca coll_dxp_mode flat -np 8 "$tests/compare" quick
	said 'MPI_COMM_WORLD, .*offloaded: 8 leaders, mode flat'
fi
mpi 'measured often' "${verbose[@]}" --mca coll_dxp_max_bytes 0 --mca coll_dxp_measure_calls 5 \
	-np 8 "$tests/compare" quick
said 'MPI_COMM_WORLD, .*measured: allreduce of at most 256 bytes: switches [0-9]'
said 'MPI_COMM_WORLD, .*measured: allreduce, bytes and choice: 256 '
mpi 'compatible format' "${verbose[@]}" --mca coll_dxp_compat 1 -np 4 "$tests/compare" quick
said 'MPI_COMM_WORLD, .*offloaded: 4 leaders, mode node'
said 'MPI_COMM_WORLD, .*offloaded [0-9]{3,} of [0-9]+ calls, 0 lost groups'
export HWLOC_THISSYSTEM=1 HWLOC_SYNTHETIC='numa:1 pack:2 l3:1 core:1 pu:1'
mpi 'a leader on each socket' --ppn 4 --map-by ppr:2:socket --bind-to core:overload-allowed \
	"${verbose[@]}" --mca coll_dxp_mode socket -np 16 "$tests/endure" 2
said 'MPI_COMM_WORLD, .*offloaded: 8 leaders, mode socket'
unset HWLOC_THISSYSTEM HWLOC_SYNTHETIC
mpi 'mixed calls' "${verbose[@]}" -np 4 "$tests/mix"
said 'MPI_COMM_WORLD, .*offloaded [0-9]'
mpi 'mixed calls, two ranks a host, threads' "${verbose[@]}" -np 8 "$tests/mix" threads
for what in count type op; do
	mpi "ranks that disagree in $what" -np 4 "$tests/disagree" $what
	said 'calls of the ranks differ in'
done
preload=$(cd "$DXP_BIN/../lib" && pwd)/libdxp-pmpi-openmpi.so
DXP_INC_VERBOSE=2 mpi 'preloaded' --mca coll ^dxp -x "LD_PRELOAD=$preload" -np 8 \
	"$tests/compare" quick
said 'dxp-pmpi: MPI_COMM_WORLD, .*offloaded: 4 leaders'
mpi 'nothing to say' -np 4 "$tests/endure" 1
unsaid 'dxp'
mpi 'not wanted' --mca coll_dxp_priority -1 --mca coll_dxp_verbose 2 -np 4 "$tests/endure" 1
unsaid 'dxp'
finish
