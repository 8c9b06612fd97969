#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the MPI plugins on one host, with fake_inc.c as the network: roles of ranks, results, losses
# and rejections. Results must be right with and without a plugin; the report must show that
# operations used the group, and that it was released.
#
#   local.sh [long]      long: tests every operation also through the preloaded library and in
#                        socket mode
#
#   flat     every rank is a leader                            4 leaders
#   socket   two sockets simulated by hwloc, 2 ranks each      2 leaders, 2 others
set -euo pipefail
# shellcheck source=test/net/lib_text.sh
. "$(dirname "$0")/../net/lib_text.sh"

bin=${DXP_BIN:-$(cd "$(dirname "$0")/../.." && pwd)/build/bin}
tests=$(cd "$bin/.." && pwd)/test/mpi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0 ran=0
readonly bin tests scratch

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
# High limits: even few ranks send long messages through switches.
export OMPI_MCA_coll_dxp_max_bytes=1000000000 DXP_INC_MAX_BYTES=1000000000
# MPI libraries have leaks, and a preloaded library comes before AddressSanitizer's run-time
# library.
export ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0

# by_component, by_preload, ...: print the command that runs 4 ranks through one plugin. Arguments
# are set in the ranks' environment.
by_component() {
	local set=() word system
	system=$(ompi_info --parsable --path pkglibdir)
	for word; do set+=(-x "$word"); done
	echo mpirun -np 4 --mca mca_base_component_path \
		"$tests/openmpi/components:${system#path:pkglibdir:}" "${set[@]}"
}
by_preload() {
	local set=() word
	for word; do set+=(-x "$word"); done
	echo mpirun -np 4 "${set[@]}" -x "LD_PRELOAD=$tests/openmpi/libpmpi-fake.so"
}
by_mpich() {
	local set=() word
	for word; do set+=(-genv "${word%%=*}" "${word#*=}"); done
	echo "${MPICH_MPIEXEC:-mpiexec.hydra}" -np 4 "${set[@]}" \
		-genv LD_PRELOAD "$tests/mpich/libpmpi-fake.so"
}

# check NAME REPORT COMMAND...: runs the command. The groups' report must match REPORT; "none": no
# group.
check() {
	local name=$1 report=$2
	shift 2
	rm -f "$scratch/report"
	ran=$((ran + 1))
	if ! timeout 200 "$@" >"$scratch/out" 2>&1; then
		status=1
		echo "FAILED: $name"
		tail -n 20 "$scratch/out"
	elif [ "$report" = none ] && [ -s "$scratch/report" ]; then
		status=1
		echo "FAILED: $name: there was a group"
	elif [ "$report" != none ] && ! grep -Eq "$report" "$scratch/report"; then
		status=1
		echo "FAILED: $name: no group reports '$report':"
		cat "$scratch/report" 2>/dev/null || echo '(no report)'
	else
		echo "ok: $name"
	fi
}

# said NAME PATTERN COUNT: exactly COUNT lines of the last output must match.
said() {
	local count
	count=$(grep -Ec "$2" "$scratch/out" || true)
	[ "$count" -eq "$3" ] || {
		status=1
		echo "FAILED: $1: '$2' was printed $count times, not $3"
		head -n 20 "$scratch/out"
	}
}

# suite WAY FOLDER [quick]: flat groups through one plugin, with each fault.
suite() {
	local way=$1 folder=$2 scope=${3:-} run
	local report=DXP_FAKE_REPORT=$scratch/report
	local flat=(DXP_INC_SWITCH=fake "$report")
	if [ "$way" = by_component ]; then
		flat+=(OMPI_MCA_coll_dxp_mode=flat OMPI_MCA_coll_dxp_min_hosts=1
			OMPI_MCA_coll_dxp_retry_calls=20)
	else
		flat+=(DXP_INC_MODE=flat DXP_INC_MIN_HOSTS=1 DXP_INC_RETRY_CALLS=20)
	fi
	run=$($way "${flat[@]}")
	# shellcheck disable=SC2086
	{
		check "$way: compare" 'members 4 calls [0-9]{4}' $run "$folder/compare" $scope
		said "$way: compare" 'dxp' 0
		check "$way: mix" 'members 4 calls [0-9]{2}' $run "$folder/mix"
		check "$way: threads" 'members 4' $run "$folder/mix" threads
		check "$way: disagree in count" 'members 4' $run "$folder/disagree" count
		check "$way: disagree in type" 'members 4' $run "$folder/disagree" type
		check "$way: disagree in operation" 'members 4' $run "$folder/disagree" op
		run=$($way "${flat[@]}" DXP_FAKE_LOSE=7,3,1000)
		check "$way: lost again and again" 'members 4 calls 8' $run "$folder/compare" quick
		said "$way: lost again and again" 'switches are lost' 6 # once for each communicator
		check "$way: lost while nonblocking" 'members 4 calls' $run "$folder/mix"
		run=$($way "${flat[@]}" DXP_FAKE_REFUSE=2)
		check "$way: refused twice" 'members 4 calls [0-9]{2}' $run "$folder/compare" quick
		said "$way: refused twice" 'fake switch has no group left' 1
		run=$($way "${flat[@]}" DXP_FAKE_REFUSE=1000)
		check "$way: refused for ever" none $run "$folder/mix"
		run=$($way "$report")
		check "$way: no switch" none $run "$folder/mix"
		said "$way: no switch" 'dxp' 0
	}
}

# limits WAY FOLDER: calls use the faster way once both were timed: slow switches, slow ordinary
# calls, switches that become fast. Groups also count timed operations.
limits() {
	local way=$1 folder=$2 run prefix=DXP_INC last=0 ring
	local measured='measured: allreduce of at most 32768 bytes: .* now'
	if [ "$way" = by_component ]; then
		prefix=OMPI_MCA_coll_dxp
		last=1 # counts the barrier of MPI_Finalize
	fi
	setting() {
		[ $prefix = DXP_INC ] && echo "${prefix}_$1=$2" || echo "${prefix}_${1,,}=$2"
	}
	local flat=(DXP_INC_SWITCH=fake "DXP_FAKE_REPORT=$scratch/report" "$(setting MODE flat)"
		"$(setting MIN_HOSTS 1)" "$(setting MAX_BYTES 0)" "$(setting VERBOSE 2)")
	# segments of 8 bytes make thousands of messages, so ordinary calls are slow
	ring=(OMPI_MCA_coll_tuned_use_dynamic_rules=1 OMPI_MCA_coll_tuned_allreduce_algorithm=5
		OMPI_MCA_coll_tuned_allreduce_algorithm_segmentsize=8)
	# endures NAME CALLS OPERATIONS: of CALLS calls, the group must have done OPERATIONS
	endures() {
		# adds the three calls before the communicator joins a group
		# shellcheck disable=SC2086
		check "$way: $1" "members 4 calls $(($3 + last))\$" $run \
			"$folder/endure" 60 2048 $(($2 + 3))
	}
	# Open MPI may make an allreduce from a reduce and a broadcast; then neither part uses the
	# group.
	run=$($way "${flat[@]}" DXP_FAKE_SLOW=200000,1000 OMPI_MCA_coll_tuned_use_dynamic_rules=1 \
		OMPI_MCA_coll_tuned_allreduce_algorithm=2)
	endures 'slow switches' 50 5
	said "$way: slow switches" "$measured ordinary MPI" 1
	said "$way: slow switches" 'allreduce, bytes and choice: 32768 ordinary' 1
	run=$($way "${flat[@]}" "${ring[@]}")
	endures 'slow ordinary calls' 50 45
	said "$way: slow ordinary calls" "$measured switches" 1
	run=$($way "${flat[@]}" "${ring[@]}" DXP_FAKE_SLOW=200000,5 "$(setting MEASURE_CALLS 20)")
	endures 'switches become fast' 45 15
	said "$way: switches become fast" "$measured ordinary MPI" 1
	said "$way: switches become fast" "$measured switches" 1
	run=$($way "${flat[@]}" DXP_FAKE_SLOW=200000,3 "$(setting MEASURE_CALLS 0)")
	endures 'fixed limit' 50 50
	said "$way: fixed limit" measured 0
	run=$($way "${flat[@]}" DXP_FAKE_LOSE=2,3,1 "$(setting RETRY_CALLS 0)")
	# shellcheck disable=SC2086
	check "$way: lost before a decision" 'members 4 calls 3$' $run \
		"$folder/endure" 60 2048 50
	said "$way: lost before a decision" measured 0
	run=$($way "${flat[@]}" "$(setting MEASURE_CALLS 3)" "$(setting VERBOSE 1)")
	# shellcheck disable=SC2086
	check "$way: measured often" 'members 4 calls' $run "$folder/compare" quick
	said "$way: measured often" 'MPI_COMM_WORLD, .*measured: [a-z]+, bytes and choice' 3
	# shellcheck disable=SC2086
	check "$way: measured among nonblocking calls" 'members 4 calls' $run \
		"$folder/mix" threads
	run=$($way "${flat[@]}" "$(setting MEASURE_CALLS 3)" "$(setting RETRY_CALLS 20)" \
		DXP_FAKE_LOSE=7,3,1000)
	# shellcheck disable=SC2086
	check "$way: lost again and again, measured" 'members 4 calls' $run "$folder/compare" quick
}

# Node and socket mode select different leaders. hwloc simulates two sockets of one core each.
sockets() {
	local run place
	place=(env HWLOC_THISSYSTEM=1 'HWLOC_SYNTHETIC=numa:1 pack:2 l3:1 core:1 pu:1')
	run="$(by_component DXP_INC_SWITCH=fake "DXP_FAKE_REPORT=$scratch/report" \
		OMPI_MCA_coll_dxp_mode=socket OMPI_MCA_coll_dxp_min_hosts=1 \
		OMPI_MCA_coll_dxp_verbose=2) --map-by ppr:2:socket"
	# shellcheck disable=SC2086
	{
		check 'socket: compare' 'members 2 calls [0-9]{2}' "${place[@]}" $run \
			--bind-to core:overload-allowed "$tests/openmpi/compare" $repeat_scope
		said 'socket: compare' 'offloaded: 2 leaders, mode socket' 6
		check 'socket: mix' 'members 2 calls' "${place[@]}" $run \
			--bind-to core:overload-allowed "$tests/openmpi/mix"
		if [ "$(nproc)" -gt 1 ]; then
			check 'socket: unbound' 'members 1 calls' "${place[@]}" $run \
				--bind-to none "$tests/openmpi/mix"
			said 'socket: unbound' 'MPI_COMM_WORLD, rank 0 of 4: socket mode needs' 1
		else # this script itself is bound to one CPU, so its ranks are too
			left_out 'socket: unbound' 'one CPU'
		fi
	}
}

# The component in flat mode gets all calls; a quick run suffices for the others, which share its
# core.
repeat_scope=quick
[ "${1:-}" != long ] || repeat_scope=
readonly repeat_scope

[ -d /dev/shm ] || { echo 'skipped: no /dev/shm'; exit 77; }
if [ -x "$tests/openmpi/compare" ] && command -v mpirun >/dev/null; then
	suite by_preload "$tests/openmpi" "$repeat_scope"
	limits by_preload "$tests/openmpi"
	if [ -e "$tests/openmpi/components/mca_coll_dxp.so" ]; then
		suite by_component "$tests/openmpi"
		limits by_component "$tests/openmpi"
		sockets
	else
		left_out 'the component of Open MPI' 'not built: no headers; tools/setup inc'
	fi
else
	left_out 'Open MPI' 'not built, or no mpirun; tools/setup inc'
fi
if [ -x "$tests/mpich/compare" ] && command -v "${MPICH_MPIEXEC:-mpiexec.hydra}" >/dev/null; then
	# quick, because more ranks than cores busy-wait
	suite by_mpich "$tests/mpich" quick
else
	left_out MPICH 'not built, or no mpiexec.hydra; tools/setup inc'
fi
[ "$ran" -gt 0 ] || { echo 'skipped: no MPI that can start programs'; exit 77; }
exit $status
