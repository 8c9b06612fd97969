#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the plugin for Slurm: steps get xPUs of their own and return them, however they end.
#
#   dxp-manager --grants explicit ---+--- dxpd: gpu1 gpu2   dxpd: lone
#                                    +--- operator: dxp_slurm.so in slurmstepd of n1 and n2
# The namespace keeps the ports of other tests apart. slurmd listens only on a machine that has an
# address in addition to the loopback address.
if [ -z "${SLURM_NAMESPACE:-}" ] && unshare -n ip link set lo up 2>/dev/null; then
	export SLURM_NAMESPACE=1
	# shellcheck disable=SC2016 # $0 is of the inner shell
	exec unshare -n bash -c \
		'ip link set lo up && ip address add 192.0.2.1/32 dev lo && exec "$0"' "$0"
fi
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_slurm.sh
. "$(dirname "$0")/lib_slurm.sh"
without() {
	say "skipped: $*"
	exit 77
}
# Includes tasks of steps whose killed slurmd no longer receives scancel.
ours() {
	printf '%s\n' "${daemons[@]}" "${xpus[@]}"
	grep -lzxF "SLURM_CONF=$SLURM_CONF" /proc/[0-9]*/environ 2>/dev/null |
		sed -n 's,^/proc/\([0-9]*\)/environ$,\1,p'
}
# shellcheck source=test/net/lib_processes.sh
. "$(dirname "$0")/lib_processes.sh"
declare -A xpus=()
readonly plugin=$DXP_BIN/../lib/dxp_slurm.so source=${DXP_SOURCE:-$(dirname "$0")/../..}
readonly run=$scratch/steps
slurm_need "$plugin"

# grants N: succeeds if steps have N grants.
grants() {
	[ "$(dxp grants | grep -c '^slurm-')" -eq "$1" ]
}

# alive NAME STATE: succeeds if the xPU has this state.
alive() {
	dxp nodes | grep -w "$1" | has -w "$2"
}

# xpu_start NAME OPTION...: starts dxpd.
xpu_start() {
	local name=$1
	shift
	env DXP_DIR="$scratch/x" dxpd --name "$name" --state "$scratch/state-$name" --port 0 "$@" \
		>"$scratch/dxpd-$name.log" 2>&1 &
	xpus[$name]=$!
}

# step_start OPTION...: starts a waiting step; sets $step (srun) and $task (its only task).
step_start() {
	rm -f "$scratch/task"
	# shellcheck disable=SC2016 # $$ is of the task
	srun "$@" bash -c 'echo $PPID $$ "$SLURM_JOB_ID" >"$0.new"; mv "$0.new" "$0"
		exec sleep 1000' "$scratch/task" >"$scratch/step" 2>&1 &
	step=$!
	until_ok test -s "$scratch/task"
	read -r stepd task job <"$scratch/task"
}

say "== a fabric with tokens, and Slurm"
dxp manager init --bind 127.0.0.1 --port 0 --name admin >"$scratch/init"
read -r manager token <<<"$(sed -n 's/^ *dxp join //p' "$scratch/init")"
env DXP_DIR="$scratch/x" dxp join "$manager" "$token" --name machine
xpu_start gpu --slots 2 --engine ocl --memory 16M
until_ok alive gpu2 alive
readonly arguments=("dir=$DXP_DIR" "run=$run" "dxp=$DXP_BIN/dxp"
	"driver=$DXP_BIN/../lib/libdxp-opencl.so" gres=xpu switch=127.0.0.1)
slurm_configure "$plugin" "${arguments[@]}" timeout=300
cp "$source/plugins/slurm/cli_filter.lua" "$slurm"
sed "s,^DIR=.*,DIR=$DXP_DIR,; s,PATH=,&$DXP_BIN:," "$source/plugins/slurm/epilog_slurmctld.sh" \
	>"$slurm/epilog_slurmctld.sh"
chmod 755 "$slurm/epilog_slurmctld.sh"
slurm_start
[ "$(sinfo -h -N -o '%N %G' | xargs)" = 'n1 xpu:2 n2 xpu:1' ] || die "sinfo: $(sinfo -N -o '%N %G')"

say "== two devices"
srun --xpus=2 clinfo -l >"$scratch/clinfo"
[ "$(grep -c 'Device #' "$scratch/clinfo")" -eq 2 ] || die "clinfo: $(cat "$scratch/clinfo")"
expect 'Direct xPU' "$scratch/clinfo"
until_ok grants 0
srun --xpus=1 env >"$scratch/environment"
expect "DXP_DIR=$run/slurm-" "$scratch/environment"
expect 'DXP_INC_SWITCH=127.0.0.1' "$scratch/environment"
expect 'DXP_CL_JOIN_MS=10000' "$scratch/environment"
srun env >"$scratch/environment"
! has "DXP_DIR=$run" <"$scratch/environment" || die "a step without --xpus has keys"

say "== Slurm counts"
xpu_start lone --engine none --memory 64M
until_ok alive lone alive
step_start --xpus=2
scontrol show node n1 -d | has 'GresUsed=xpu:2' || die "n1: $(scontrol show node n1 -d)"
grants 2 || die "$(dxp grants)"
scancel "$job"
wait $step || true
until_ok grants 0
refuse 1 'configuration is not available' srun --xpus=3 true

say "== concurrent jobs share no xPU"
mkdir "$scratch/used"
chmod 777 "$scratch/used"
# shellcheck disable=SC2016 # the variables are of the task
exclusive='mkdir "$0/$DXP_CL_NODES" || exit 9; sleep 0.2; rmdir "$0/$DXP_CL_NODES"; echo fine'
for number in 1 2 3 4 5 6 7 8 9; do
	srun --quiet --xpus=1 bash -c "$exclusive" "$scratch/used" >"$scratch/job-$number" 2>&1 &
	jobs[number]=$!
done
for number in "${!jobs[@]}"; do
	wait "${jobs[$number]}" || die "job $number: $(cat "$scratch/job-$number")"
	expect fine "$scratch/job-$number"
done
until_ok grants 0

say "== wrong values"
for value in '' 0 257 x 2x 2: 2:engine= 2:engine=a/b 2:mem= 2:mem=4T 2:mem=-1 2:mem=1:mem=2 2:a=b \
	99999999999999999999; do
	status=0
	srun "--xpus=$value" true >"$scratch/out" 2>&1 || status=$?
	[ $status -ne 0 ] || die "--xpus=$value runs the program"
	expect 'write --xpus=N' "$scratch/out"
done
# srun of a user may lack the plugin; slurmstepd checks again.
refuse 1 'write --xpus=N' env _SLURM_SPANK_OPTION_dxp_xpus=x srun true
refuse 1 'with engine cuda; the fabric has 0 such' srun --xpus=1:engine=cuda true
refuse 1 'with 1G of memory; the fabric has 0 such' srun --xpus=1:mem=1G true

say "== more than Slurm has given"
mkdir "$scratch/bypass"
sed '/^CliFilterPlugins/d' "$SLURM_CONF" >"$scratch/bypass/slurm.conf"
cp "$slurm/gres.conf" "$scratch/bypass"
refuse 1 'Slurm has given 0' env SLURM_CONF="$scratch/bypass/slurm.conf" srun --xpus=1 true
refuse 1 'Slurm has given 1' env SLURM_CONF="$scratch/bypass/slurm.conf" \
	srun --gres=xpu:1 --xpus=2 true
until_ok grants 0

say "== steps of one job at the same time wait for each other, also if each needs all"
# shellcheck disable=SC2016 # the variables are of the job
printf '%s\n' '#!/bin/bash' 'for i in 1 2 3 4; do' \
	'srun --overlap -n 1 --xpus=2 bash -c "mkdir $0/all && sleep 0.2 && rmdir $0/all" &' \
	'pids+=($!)' 'done' 'for pid in ${pids[@]}; do wait $pid || echo failed; done' \
	'echo done' >"$scratch/steps.sh"
sed -i "s,\$0/all,$scratch/used/all,g" "$scratch/steps.sh"
sbatch --quiet -n 4 -N 1 --xpus=2 -o "$scratch/steps.out" "$scratch/steps.sh"
until_ok grep -qs done "$scratch/steps.out"
! has failed <"$scratch/steps.out" || die "$(cat "$scratch/steps.out")"
until_ok grants 0

say "== a batch job: each srun in it has its own"
# shellcheck disable=SC2016 # the variables are of the job
printf '%s\n' '#!/bin/bash' 'echo "batch ${DXP_CL_NODES:-none}"' 'srun clinfo -l' \
	'srun --xpus=1:engine=ocl clinfo -l' 'echo done' >"$scratch/batch.sh"
sbatch --quiet -n 1 --xpus=2:engine=ocl -o "$scratch/batch.out" "$scratch/batch.sh"
until_ok grep -qs done "$scratch/batch.out"
expect 'batch none' "$scratch/batch.out"
[ "$(grep -c 'Device #' "$scratch/batch.out")" -eq 3 ] || die "$(cat "$scratch/batch.out")"
until_ok grants 0

say "== kill -9 of the task, and of slurmstepd"
step_start --xpus=2
kill -9 "$task"
wait $step || true
until_ok grants 0
step_start -w n1 --xpus=1
kill -9 "$stepd"
until_ok eval '! runs "$stepd"'
grants 1 || die "$(dxp grants)"
# the next step on the node returns them
srun -w n1 --xpus=1 true
until_ok grants 0
kill -9 "$task" 2>/dev/null || true
scancel "$job"
wait $step || true
until_ok nodes_idle
step_start -w n2 --xpus=1
kill -9 "$stepd" "$task"
scancel "$job" # the epilog of the job returns them
wait $step || true
until_ok grants 0
until_ok nodes_idle

say "== an xPU's machine fails"
step_start --xpus=1:mem=32M
kill -9 "${xpus[lone]}"
until_ok alive lone dead
scancel "$job"
wait $step || true
until_ok grants 0
refuse 1 'the fabric has 0 such xPUs that are alive' srun --xpus=1:mem=32M true
xpu_start lone --engine none --memory 64M
until_ok alive lone alive
srun --xpus=1:mem=32M true
until_ok grants 0

say "== a compute node fails: slurmctld returns its xPUs"
step_start -w n2 --xpus=1
kill -9 "${daemons[n2]}" "$stepd" "$task"
scontrol update nodename=n2 state=down reason=test
until_ok grants 0
scancel "$job" # otherwise Slurm starts the job again on another node
wait $step || true
daemon_start n2 slurmd -D -N n2
scontrol update nodename=n2 state=resume
until_ok nodes_idle

say "== a manager that does not answer"
before=$(date +%s%N)
srun --xpus=1 true
until_ok grants 0
# as long as four steps take here, and a reserve
readonly step_s=$((($(date +%s%N) - before) / 1000000000))
readonly limit=$((8 + 4 * step_s < 300 ? 8 + 4 * step_s : 300))
slurm_plugin "$plugin" "${arguments[@]}" "timeout=$limit"
manager_process=$(process_of manager)
kill -STOP "$manager_process"
begin=$SECONDS
srun --xpus=1 true >"$scratch/silent" 2>&1 &
silent=$!
srun -w n2 hostname >"$scratch/out" || die "slurmd is blocked"
runs $silent || die "the step without a manager ended too early: $(cat "$scratch/silent")"
! wait $silent || die "a step runs without a manager"
has -e 'no answer from the dxp manager in time' -e 'no manager answers' <"$scratch/silent" ||
	die "$(cat "$scratch/silent")"
# begin and undo; the rest is for a loaded machine
[ $((SECONDS - begin)) -le $((2 * limit + 60 + 20 * step_s)) ] || die "$((SECONDS - begin)) s"
kill -CONT "$manager_process"
srun --xpus=1 true
until_ok grants 0
until_ok nodes_idle

if [ "$(id -u)" -eq 0 ]; then
	say "== another user's environment gives no rights"
	user() { setpriv --reuid nobody --regid "$(id -g nobody)" --clear-groups "$@"; }
	step_start --xpus=1:engine=ocl
	keys=$run/$(dxp grants | sed -n 's/^\(slurm-[^ ]*\) .*/\1/p')/keys
	other=$(dxp grants | sed -n 's/^slurm-[^ ]* *//p')
	# shellcheck disable=SC2016 # the variables are of the task
	user srun --chdir=/ --xpus=1:engine=ocl --export="ALL,SLURM_JOB_ID=$job,DXP_DIR=$keys" \
		bash -c 'echo "keys $DXP_DIR"; id -u; cat '"$keys"'/node.key
		dxp ping '"$other"' --count 1; dxp grant "*" "*"; dxp token create
		DXP_CL_NODES='"$other"' clinfo -l
		cp $DXP_DIR/{node.key,fabric.key,manager,manager.pub} '"$scratch"'/used/
		dxp ping $DXP_CL_NODES --count 1 && echo own' >"$scratch/user" 2>&1 ||
		die "$(cat "$scratch/user")"
	! has -F "keys $keys" <"$scratch/user" || die "a forged folder: $(cat "$scratch/user")"
	expect 'Permission denied' "$scratch/user"
	expect 'not granted' "$scratch/user"
	[ "$(grep -c 'only an operator' "$scratch/user")" -eq 2 ] || die "$(cat "$scratch/user")"
	expect own "$scratch/user"
	# copied keys are of no use after the step
	until_ok grants 1
	refuse 1 'removed' env DXP_DIR="$scratch/used" dxp ping gpu1 --count 1
	scancel "$job"
	wait $step || true
	until_ok grants 0
fi
until_ok eval '[ -z "$(find "$run" -name "slurm-*")" ]'
say passed
