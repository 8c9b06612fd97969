# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Completes commands and options of dxp from its own help texts, and names of nodes.
_dxp_commands() {
	dxp --help 2>/dev/null | sed -n 's/^  \([a-z][a-z0-9]*\)  .*/\1/p'
}

_dxp_options() {
	dxp "$@" --help 2>/dev/null | grep -o -- '--[a-z][a-z0-9-]*' | sort -u
}

_dxp_nodes() {
	timeout 2 dxp nodes --json 2>/dev/null | sed -n 's/.*"name": *"\([^"]*\)".*/\1/p'
}

_dxp() {
	local word=${COMP_WORDS[COMP_CWORD]} words
	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		words="$(_dxp_commands) --help --version"
	elif [ "${COMP_WORDS[COMP_CWORD - 1]}" = --to ]; then
		words=$(_dxp_nodes)
	elif [[ $word == -* ]]; then
		words=$(_dxp_options "${COMP_WORDS[1]}")
	else
		case ${COMP_WORDS[1]} in
		put | get | reg | ping | grant | revoke) words=$(_dxp_nodes) ;;
		*)
			compopt -o default
			return
			;;
		esac
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _dxp dxp
