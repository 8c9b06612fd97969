#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpi_results.sh with switches that use XDP for short operations and user space for others, mixed in
# one program.
# shellcheck source=test/net/lib_mpi.sh
. "$(dirname "$0")/lib_mpi.sh"

lab_make 4 --plane auto
mpi 'one rank a host' --mca coll_dxp_verbose 2 -np 4 "$tests/compare" quick
all_offloaded
# Every switch of the tree must have used XDP, which needs the parent's address.
name='XDP at leaf and spine'
lab exec "$lab" h0 -- "$DXP_BIN/dxp" inc >"$scratch/out" 2>&1 || failed "dxp inc ended with $?"
grep -q 'XDP .* contributions' "$scratch/out" ||
	left_out 'calls that XDP computes' 'XDP does not load here'
! grep -Eq 'XDP +0 contributions' "$scratch/out" || failed 'a switch left all to user space'
mpi 'two ranks a host' --mca coll_dxp_verbose 2 -np 8 "$tests/compare" quick
said 'MPI_COMM_WORLD, .*offloaded: 4 leaders, mode node'
mpi 'mixed calls' --mca coll_dxp_verbose 2 -np 4 "$tests/mix"
said 'MPI_COMM_WORLD, .*offloaded [0-9]'
for what in count type op; do
	mpi "ranks that disagree in $what" -np 4 "$tests/disagree" $what
	said 'calls of the ranks differ in'
done
finish
