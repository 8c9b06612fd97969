# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # tools/lab defines the variables
# Runs Open MPI over the hosts of a lab. tools/lab sources this file.

# Writes the agent that Open MPI starts instead of ssh: [-x ...] ADDRESS COMMAND...
agent_write() {
	local node
	{
		printf '#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\n'
		printf 'address=$1\nshift\ncase $address in\n'
		for node in "${nodes[@]}"; do
			! is_host "$node" || printf '%s) host=%s switch=%s ;;\n' \
				"$(address_of "$node")" "$name-$node" \
				"$(address_of "${parent[$node]}")"
		done
		printf '*) echo "lab: $address is no host of %s" >&2; exit 1 ;;\nesac\n' "$name"
		printf '%s' 'exec env DXP_INC_SWITCH="$switch" ip netns exec "$host" ' \
			'unshare --uts /bin/sh -c "hostname $host; $*"'
		echo
	} >"$dir/agent"
	chmod +x "$dir/agent"
}

# switches_schedule POLICY PRIORITY: for all dxp-switch processes, which would get no CPU time
# beside real-time ranks.
switches_schedule() {
	local i pid
	[ "$chrt" = 0 ] || return 0
	for ((i = 0; i < switches; i++)); do
		! pid=$(pid_of "s$i") || chrt -a "$1" -p "$2" "$pid" 2>/dev/null || true
	done
}

# Prints the value of -np, --np, -n or -c, if any.
ranks_of() {
	while [ $# -gt 1 ]; do
		case $1 in -np | --np | -n | -c) echo "$2"; return ;; esac
		shift
	done
}

mpi_hostfile() { # RANKS_PER_HOST FIRST
	local i
	for ((i = $2; i < hosts; i++)); do
		echo "$(address_of "h$i") slots=$1"
	done >"$dir/hostfile"
}

# Open MPI's component path: the build's folder, then its own, which is required.
mpi_components() {
	local system built
	system=$(ompi_info --parsable --path pkglibdir 2>/dev/null | sed -n 's/^path:pkglibdir://p')
	built=$(program_find dxp-switch)
	built=${built:+$(dirname "$built")/../lib/openmpi}
	[ -n "$system" ] && [ -n "$built" ] && [ -e "$built/mca_coll_dxp.so" ] || return 0
	echo "$(cd "$built" && pwd):$system"
}

lab_mpirun() {
	local rr=0 ppn='' first=0 ranks components variable status=0 own=()
	state_load "${1:-}"
	shift
	while [ $# -gt 0 ]; do
		case $1 in
		--chrt) rr=1; shift ;;
		--ppn) ppn=$(number --ppn "${2:-}" 1 1024); shift 2 ;;
		--first) first=$(number --first "${2:-}" 0 $((hosts - 1))); shift 2 ;;
		*) break ;;
		esac
	done
	command -v mpirun >/dev/null || fail 'needs Open MPI; try: tools/setup inc'
	ranks=$(number -np "$(ranks_of "$@")" 1 100000)
	ppn=${ppn:-$(((ranks + hosts - first - 1) / (hosts - first)))}
	mpi_hostfile "$ppn" "$first"
	own=(--allow-run-as-root --hostfile "$dir/hostfile" --bind-to none
		--mca plm rsh --mca plm_rsh_agent "$dir/agent" --mca plm_rsh_no_tree_spawn 1
		--mca oob_tcp_if_include "$NET.0/24" --mca btl_tcp_if_include "$NET.0/24"
		--mca pml ob1 --mca btl tcp,vader,self --mca mpi_yield_when_idle 1)
	case " $* " in *' --map-by '* | *' -map-by '*) ;; *)
		own+=(--map-by "$([ "$ppn" -eq 1 ] && echo node || echo "ppr:$ppn:node")") ;;
	esac
	components=$(mpi_components)
	[ -z "$components" ] || own+=(--mca mca_base_component_path "$components")
	for variable in $(compgen -e DXP_); do
		case $variable in DXP_INC_SWITCH | DXP_LAB*) ;; *) own+=(-x "$variable") ;; esac
	done
	mpi_split "$rr" "$@"
	[ $rr = 0 ] || switches_schedule -r 1
	trap '[ $rr = 0 ] || switches_schedule -o 0' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	(unset DXP_INC_SWITCH; host_exec "h$first" mpirun "${own[@]}" "${words[@]}") || status=$?
	exit $status
}

# mpi_split CHRT ARGUMENT...: sets `words` to mpirun's options, `chrt -r 1` if CHRT is 1, and the
# program: the first argument that is no option or option's value.
mpi_split() {
	local rr=$1 values
	shift
	words=()
	while [ $# -gt 0 ]; do
		case $1 in
		--) shift; break ;;
		--mca | -mca | --gmca | -gmca) values=2 ;;
		-np | --np | -n | -c | -x | -H | --host | -host | --map-by | -map-by | --rank-by)
			values=1 ;;
		-rank-by | --bind-to | -bind-to | --timeout | -timeout | --wdir | -wdir | -wd | -N)
			values=1 ;;
		--path | -path | --npernode | -npernode | --output-filename | -output-filename)
			values=1 ;;
		--stdin | -stdin | --tune | -tune | --am | -am | --prefix | -prefix | --cpu-set)
			values=1 ;;
		--cpu-list | --report-uri | --max-restarts | -rf | --rankfile | -rankfile | --xterm)
			values=1 ;;
		-*) values=0 ;;
		*) break ;;
		esac
		[ $# -gt $values ] || usage "'$1' lacks its value"
		words+=("${@:1:values+1}")
		shift $((values + 1))
	done
	[ $# -gt 0 ] || usage 'mpirun needs a program'
	[ "$rr" = 0 ] || words+=(chrt -r 1)
	words+=("$@")
}

