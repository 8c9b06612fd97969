#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests programs of the previous release together with those of this build. Each mix of manager,
# daemon and host must work, or be rejected with a sentence about the versions. Also runs an
# example, as the previous release compiled it, with this build's libdxp.so.
#
#   test/packages/skew.sh      programs come from DXP_BIN (default build/bin)
#
# The previous release is that of `before_find` in lib_debian.sh. It is built once, in
# build/skew/COMMIT. Skipped, with status 77, if its commit is missing.
set -euo pipefail

cd "$(dirname "$0")/../.."
new=$(cd "${DXP_BIN:-build/bin}" && pwd)
readonly new

# shellcheck source=test/packages/lib_debian.sh
. test/packages/lib_debian.sh

before_find
old=$PWD/build/skew/$commit
readonly old

scratch=$(mktemp --directory --tmpdir dxp-skew.XXXXXX)
readonly scratch
pids=()
clean_up() {
	local status=$?
	[ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null || true
	wait
	rm -rf "$scratch"
	exit $status
}
trap clean_up EXIT

if [ ! -e "$old/complete" ]; then
	say "== build $base, once, in $old"
	rm -rf "$old"
	mkdir -p "$old"
	git archive "$commit" | tar -x -C "$old"
	# The release preset's folders and options, so ccache knows most files.
	cmake -S "$old" -B "$old/build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
		>"$old/log" 2>&1 || die "$(tail -n 5 "$old/log")"
	cmake --build "$old/build" -j "${DXP_JOBS:-$(nproc)}" \
		--target dxp dxpd dxp-manager hello_xpu >>"$old/log" 2>&1 ||
		die "$(tail -n 20 "$old/log")"
	touch "$old/complete"
fi
cp "$old/build/bin/hello_xpu" "$scratch"

# folder RELEASE: prints the programs' folder; `old` or `new`.
folder() {
	[ "$1" = new ] && echo "$new" || echo "$old/build/bin"
}

# of RELEASE PROGRAM ARGUMENT...: runs that release's program.
of() {
	"$(folder "$1")/$2" "${@:3}"
}

# start RELEASE PROGRAM LOG TEXT ARGUMENT...: starts a program; waits for the text in its log, or
# its exit.
start() {
	local program log=$scratch/$3 text=$4 i
	program=$(folder "$1")/$2
	shift 4
	rm -f "$log" # removes the log of the previous mix
	"$program" "$@" >"$log" 2>&1 &
	pids+=($!)
	for ((i = 0; i < 1200; i++)); do
		! grep -qsF -- "$text" "$log" || return 0
		[ -e "/proc/$!" ] || return 1
		sleep 0.05
	done
	return 1
}

# refused FILE: whether it states that the releases do not fit.
refused() {
	grep -qE 'version|release' "$1"
}

head -c 100000 /dev/urandom >"$scratch/bytes"
export XDG_STATE_HOME=$scratch DXP_RUN=$scratch/run DXP_CONFIG=
unset DXP_DIR

# client RELEASE: uses the xPU from a host of this release.
client() {
	of "$1" dxp ping xpu1 --count 20 "${at[@]}" &&
		of "$1" dxp put xpu1 4096 "$scratch/bytes" "${at[@]}" &&
		of "$1" dxp get xpu1 4096 100000 "$scratch/back" "${at[@]}" &&
		cmp "$scratch/bytes" "$scratch/back" &&
		of "$1" dxp nodes "${at[@]}" >"$scratch/nodes" &&
		cat "$scratch/nodes" &&
		grep -q ' xpu1 .* alive ' "$scratch/nodes"
}

# client_wait RELEASE: repeats the use while a busy machine does not answer in time.
client_wait() {
	local i
	for ((i = 0; i < 20; i++)); do
		! client "$1" >"$scratch/client" 2>&1 || return 0
		! refused "$scratch/client" || return 1
		grep -q 'no manager answers' "$scratch/client" || return 1
	done
	return 1
}

worked=0 refusals=0
# mix MANAGER DAEMON HOST: tests programs of these releases together.
mix() {
	local state=$scratch/$1-$2-$3 name="manager $1, daemon $2, host $3"
	start "$1" dxp-manager manager 'listening on' --key "$state.key" --new-key \
		--state "$state" --bind 127.0.0.1:0 || die "no manager: $(cat "$scratch/manager")"
	at=(--manager "$(sed -n 's/^listening on //p' "$scratch/manager")" --key "$state.key")
	if start "$2" dxpd daemon 'xpu1: node' "${at[@]}" --engine none --memory 4M --slots 2 \
		--timeout 120 && client_wait "$3"; then
		say "works: $name"
		worked=$((worked + 1))
	elif refused "$scratch/daemon" || refused "$scratch/client"; then
		say "refused: $name: $(cat "$scratch/daemon" "$scratch/client" | tail -n 1)"
		refusals=$((refusals + 1))
	else
		die "$name: $(cat "$scratch/daemon" "$scratch/client" | tail -n 20)"
	fi
	# A new daemon's release reaches a new host even through an old manager.
	if [ "$2-$3" = new-new ] && ! refused "$scratch/daemon"; then
		grep -qE ' xpu1 .* [0-9]+\.[0-9]+\.[0-9]+ ' "$scratch/nodes" ||
			die "no release in: $(cat "$scratch/nodes")"
	fi
	kill "${pids[@]}"
	wait "${pids[@]}" || true
	pids=()
}

for manager in old new; do
	for daemon in old new; do
		for host in old new; do
			: >"$scratch/client"
			mix $manager $daemon $host
		done
	done
done

say '== an example compiled for that release, with the library of this one'
of new dxp up --dir "$scratch/fabric" --xpus 2 --memory 64M --port 0 >"$scratch/up" 2>&1 ||
	die "$(cat "$scratch/up")"
status=0
DXP_DIR=$scratch/fabric LD_LIBRARY_PATH=$new/../lib timeout 300 "$scratch/hello_xpu" \
	>"$scratch/hello" 2>&1 || status=$?
of new dxp down --dir "$scratch/fabric" >/dev/null
[ $status -eq 0 ] || die "it ends with $status: $(tail -n 5 "$scratch/hello")"
grep -F ' 0 errors' "$scratch/hello" || die "$(cat "$scratch/hello")"
say "passed: $worked mixes work, $refusals are refused with a reason"
