#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the completion for bash and zsh: commands, options of each command and daemon, benchmarks,
# and names of nodes. It must offer each option of --help.
set -euo pipefail

bin=${DXP_BIN:?set by ctest}
source=${DXP_SOURCE:?set by ctest}/packaging/completion
export PATH=$bin:$PATH DXP_CONFIG=
scratch=$(mktemp --directory --tmpdir dxp-completion.XXXXXX)
readonly bin source scratch
trap 'rm -rf "$scratch"' EXIT
checks=0

die() {
	printf 'FAILED: %s\n' "$*"
	exit 1
}

# offers SHELL TEXT WORD...: completing the last word must offer the text as a line.
offers() {
	local shell=$1 text=$2 offered
	shift 2
	offered=$("${shell}_complete" "$@")
	[[ $'\n'$offered$'\n' == *$'\n'$text$'\n'* ]] ||
		die "$shell does not offer '$text' for '$*': $offered"
	checks=$((checks + 1))
}

bash_complete() {
	bash -c '
		# the real one works only inside a completion of a shell
		compopt() { :; }
		. "$0/dxp.bash"
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
		case $1 in dxp) _dxp "$1" ;; *) _dxp_daemon "$1" ;; esac
		printf "%s\n" "${COMPREPLY[@]}"' "$source" "$@"
}

# zsh_complete WORD...: runs the completion function in zsh, with printing ones in place of those
# that add candidates.
zsh_complete() {
	zsh -f -c '
		compadd() { if [[ $1 == -a ]]; then print -l -- ${(P)2}; else print -l -- "$@"; fi }
		_describe() { print -l -- ${${(P)2}%%:*} }
		_files() { print FILES }
		words=("$@") CURRENT=$# PREFIX=${@[-1]} service=$1
		source $0/_dxp' "$source" "$@"
}

shells=(bash)
if command -v zsh >/dev/null; then
	shells+=(zsh)
else
	echo 'left out: zsh is not installed'
fi
for shell in "${shells[@]}"; do
	for command in $(dxp --help | sed -n 's/^  \([a-z][a-z0-9]*\)  .*/\1/p'); do
		offers "$shell" "$command" dxp ''
		offers "$shell" --help dxp "$command" --
	done
	for option in advertise memory bind; do offers "$shell" --"$option" dxpd --; done
	offers "$shell" --advertise dxp-manager --
	offers "$shell" --parent dxp-switch --
	offers "$shell" --wide dxp nodes --w
	offers "$shell" latency dxp bench ''
	offers "$shell" --lab dxp bench latency --
	offers "$shell" --rounds dxp bench latency --to x --
	offers "$shell" --manager dxp bench latency --to x --
	offers "$shell" list dxp config ''
done
# Every option in a program's help must be offered.
for program in dxpd dxp-manager dxp-switch; do
	for option in $("$program" --help | sed -n 's/^  \(-., \)\?\(--[a-z-]*\).*/\2/p'); do
		offers bash "$option" "$program" "$option"
	done
done
export XDG_STATE_HOME=$scratch DXP_DIR=$scratch/fabric DXP_RUN=$scratch/run
if dxp up --xpus 1 --engine none --memory 1M --port 0 >"$scratch/log" 2>&1; then
	for shell in "${shells[@]}"; do
		offers "$shell" xpu1 dxp ping ''
		offers "$shell" xpu1 dxp bench rate --to ''
	done
	dxp down >/dev/null
else
	die "no fabric: $(cat "$scratch/log")"
fi
printf 'passed: %d checks\n' "$checks"
