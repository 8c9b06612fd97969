#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests MPI programs under faults: packets are lost and duplicated, a switch is killed and
# restarted, switches lack memory or are missing. Every result must be right, and every program must
# exit.
# shellcheck source=test/net/lib_mpi.sh
. "$(dirname "$0")/lib_mpi.sh"

lab_make 4 --plane user
lab loss "$lab" 20
lab dup "$lab" 20
mpi 'lost and doubled packets' --mca coll_dxp_verbose 1 -np 4 "$tests/compare" quick
said 'MPI_COMM_WORLD, .*offloaded [0-9]'
lab loss "$lab" 0
lab dup "$lab" 0

# until_says PATTERN FILE: waits for a matching line; returns 1 after 60 s.
until_says() {
	local end=$((SECONDS + 60))
	until grep -Eqs "$1" "$2"; do
		[ $SECONDS -lt $end ] || { echo "no output matches '$1'"; return 1; }
		sleep 0.05
	done
}

# trouble WHICH ELEMENTS: kills switch WHICH in use, restarts it once the program continues without,
# and stops the program when it uses it again.
trouble() {
	rm -f "$scratch/out" "$scratch/stop"
	{
		until_says 'MPI_COMM_WORLD, .*: offloaded: ' "$scratch/out" &&
			lab switch "$lab" "$1" kill &&
			until_says 'switches are lost' "$scratch/out" &&
			lab switch "$lab" "$1" start &&
			until_says 'offloaded again' "$scratch/out"
		result=$?
		touch "$scratch/stop"
		exit $result
	} >"$scratch/trouble" 2>&1 &
	mpi "switch $1 dies and comes back, $2 elements" --mca coll_dxp_verbose 2 \
		--mca coll_dxp_deadline_ms 500 --mca coll_dxp_retry_calls 20 \
		-np 8 "$tests/endure" 80 "$2" "$scratch/stop"
	wait $! || failed "$(cat "$scratch/trouble")"
}
trouble s0 4
trouble s1 3000

# Kills a rank. MPI must then abort the program.
name='a rank dies'
began=$SECONDS
if lab mpirun "$lab" -np 4 "$tests/endure" 60 4 die >"$scratch/out" 2>&1; then
	failed 'the program went on'
elif [ $((SECONDS - began)) -gt 30 ]; then
	failed "it took $((SECONDS - began)) s to end"
else
	echo "ok: $name"
fi

lab down "$lab" >/dev/null
lab_make 4 --plane user --switch-options '--groups 1'
rm -f "$scratch/stop"
lab mpirun "$lab" --mca coll_dxp_verbose 2 -np 4 "$tests/endure" 80 4 "$scratch/stop" \
	>"$scratch/other" 2>&1 &
until_says ': offloaded: ' "$scratch/other" || failed "$(cat "$scratch/other")"
mpi 'a second job where only one has room' -np 4 "$tests/compare" quick
said 'MPI_COMM_WORLD, .*ordinary MPI:'
touch "$scratch/stop"
wait $! || failed "the first job: $(cat "$scratch/other")"

# shellcheck disable=SC2016 # each rank's own shell expands the variable
mpi 'one host that is told of no switch' -np 4 sh -c \
	'[ "$OMPI_COMM_WORLD_RANK" != 2 ] || unset DXP_INC_SWITCH; exec "$0" "$@"' \
	"$tests/compare" quick
said 'ordinary MPI: rank 2 has no switch configured, but others have'

lab switch "$lab" s0 stop >/dev/null
mpi 'no spine' --mca coll_dxp_verbose 1 -np 4 "$tests/compare" quick
said 'ordinary MPI: no answer through switch'
# Only the first communicator waits for the missing spine switch.
said 'ordinary MPI: an attempt failed [0-9]+ s ago'
finish
