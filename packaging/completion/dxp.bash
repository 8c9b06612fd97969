# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Completes commands and options of dxp, and options of its daemons, from their own help texts. Also
# completes names of nodes.

# Prints the names in the list of a --help text: commands, or benchmarks.
_dxp_names() {
	"$@" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z0-9-]*\)  .*/\1/p'
}

_dxp_options() {
	"$@" --help 2>/dev/null | grep -o -- '--[a-z][a-z0-9-]*' | sort -u
}

_dxp_nodes() {
	timeout 2 dxp nodes --json 2>/dev/null | sed -n 's/.*"name": *"\([^"]*\)".*/\1/p'
}

# Prints the command whose --help lists the options for this line. Parts of dxp bench and dxp model
# have their own options, and other options with --to.
_dxp_command() {
	local words=(dxp "${COMP_WORDS[1]}")
	case ${COMP_WORDS[1]} in
	bench | model) [[ $COMP_CWORD -le 2 || ${COMP_WORDS[2]} == -* ]] || words+=("${COMP_WORDS[2]}") ;;
	esac
	[[ ${COMP_WORDS[1]} != bench || " ${COMP_WORDS[*]} " != *' --to '?* ]] || words+=(--to NODE)
	printf '%s\n' "${words[@]}"
}

_dxp() {
	local word=${COMP_WORDS[COMP_CWORD]} words=''
	local -a command
	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		words="$(_dxp_names dxp) --help --version"
	elif [ "${COMP_WORDS[COMP_CWORD - 1]}" = --to ]; then
		words=$(_dxp_nodes)
	elif [[ $word == -* ]]; then
		mapfile -t command < <(_dxp_command)
		words=$(_dxp_options "${command[@]}")
	elif [ "$COMP_CWORD" -eq 2 ] && [[ ${COMP_WORDS[1]} == bench || ${COMP_WORDS[1]} == model ]]; then
		words=$(_dxp_names dxp "${COMP_WORDS[1]}")
	else
		case ${COMP_WORDS[1]} in
		put | get | reg | ping | grant | revoke) words=$(_dxp_nodes) ;;
		config) words='show list' ;;
		help) words=$(_dxp_names dxp) ;;
		*)
			compopt -o default
			return
			;;
		esac
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _dxp dxp

_dxp_daemon() {
	local word=${COMP_WORDS[COMP_CWORD]}
	COMPREPLY=()
	if [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_dxp_options "$1")" -- "$word")
	else
		compopt -o default
	fi
}
complete -F _dxp_daemon dxpd dxp-manager dxp-switch
