# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Starts a Slurm of its own on this machine; source it after lib_fabric.sh. Before use, the script
# defines `without SENTENCE`, which prints the sentence and exits.
#
#   munged --- slurmctld ---+--- slurmd n1, GRES xpu:2
#                           +--- slurmd n2, GRES xpu:1
#
# `daemons` has the process ids. All files are in $slurm. $SLURM_CONF names the configuration.

readonly slurm=$scratch/slurm
export SLURM_CONF=$slurm/slurm.conf
declare -A daemons=()

# slurm_need PLUGIN: calls `without` if something for the test is missing.
slurm_need() {
	local program
	for program in munged slurmctld slurmd srun sbatch scancel sinfo scontrol clinfo; do
		command -v "$program" >/dev/null ||
			without "needs the program $program; try: tools/setup slurm"
	done
	[ -r "$1" ] || without "$1 is not built; try: tools/setup slurm, and build again"
	! ldd "$1" | has -e libasan -e libclang_rt -e libtsan ||
		without "Slurm's programs cannot load a plugin that is built with sanitizers"
}

# slurm_configure PLUGIN ARGUMENT...: writes the configuration; the arguments are the plugin's.
slurm_configure() {
	local user base=$((20000 + RANDOM % 10000))
	user=$(id -un)
	mkdir -p "$slurm"/{state,n1,n2}
	chmod 755 "$scratch" "$slurm"
	head -c 1024 /dev/urandom >"$slurm/munge.key"
	chmod 600 "$slurm/munge.key"
	cat >"$SLURM_CONF" <<-EOF
		ClusterName=dxp
		SlurmctldHost=localhost(127.0.0.1)
		SlurmctldPort=$base
		AuthType=auth/munge
		CredType=cred/munge
		AuthInfo=socket=$slurm/munge.socket
		SlurmUser=$user
		SlurmdUser=$user
		StateSaveLocation=$slurm/state
		SlurmdSpoolDir=$slurm/%n
		SlurmctldPidFile=$slurm/slurmctld.pid
		SlurmdPidFile=$slurm/%n.pid
		SlurmctldLogFile=$slurm/slurmctld.log
		SlurmdLogFile=$slurm/%n.log
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		JobAcctGatherType=jobacct_gather/none
		MpiDefault=none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU
		ReturnToService=2
		KillWait=2
		GresTypes=xpu
		CliFilterPlugins=cli_filter/lua
		PlugStackConfig=$slurm/plugstack.conf
		EpilogSlurmctld=$slurm/epilog_slurmctld.sh
		NodeName=DEFAULT CPUs=4
		NodeName=n1 NodeHostname=localhost Port=$((base + 1)) Gres=xpu:2
		NodeName=n2 NodeHostname=localhost Port=$((base + 2)) Gres=xpu:1
		SlurmdParameters=config_overrides
		PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
	EOF
	printf 'NodeName=n1 Name=xpu Count=2\nNodeName=n2 Name=xpu Count=1\n' >"$slurm/gres.conf"
	slurm_plugin "$@"
}

# slurm_plugin PLUGIN ARGUMENT...: sets the arguments of the plugin for all later steps.
slurm_plugin() {
	printf 'required %s\n' "$*" >"$slurm/plugstack.conf.new"
	mv "$slurm/plugstack.conf.new" "$slurm/plugstack.conf"
}

# daemon_start NAME COMMAND...: starts a foreground daemon in its own job.
daemon_start() {
	local name=$1
	shift
	"$@" >"$slurm/$name.out" 2>&1 &
	daemons[$name]=$!
}

nodes_idle() {
	[ "$(sinfo -h -N -o %T 2>/dev/null | sort -u)" = idle ]
}

# slurm_start: starts the daemons until both nodes are idle. They are installed, so a daemon that
# does not start is a failure.
slurm_start() {
	local begin=$SECONDS
	daemon_start munged munged --foreground --force --key-file="$slurm/munge.key" \
		--socket="$slurm/munge.socket" --pid-file="$slurm/munge.pid" \
		--seed-file="$slurm/munge.seed" --log-file="$slurm/munge.log"
	until [ -S "$slurm/munge.socket" ]; do
		runs "${daemons[munged]}" && [ $((SECONDS - begin)) -le 60 ] ||
			die "munged does not start: $(tail -n 5 "$slurm"/munge*.{out,log})"
		sleep 0.1
	done
	daemon_start slurmctld slurmctld -D
	daemon_start n1 slurmd -D -N n1
	daemon_start n2 slurmd -D -N n2
	until nodes_idle; do
		for name in slurmctld n1 n2; do
			runs "${daemons[$name]}" ||
				die "$name does not start: $(tail -n 5 "$slurm/$name.out")"
		done
		[ $((SECONDS - begin)) -le 120 ] ||
			die "the nodes are not idle: $(sinfo) $(tail "$slurm"/*.out)"
		sleep 0.2
	done
}
