#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests tools/man: all programs, options, headers and functions must have pages, and groff must
# print no warnings.
set -euo pipefail

source=${DXP_SOURCE:?set by ctest}
: "${DXP_BIN:?set by ctest}"
command -v help2man >/dev/null || { echo 'skipped: no help2man; tools/setup deb'; exit 77; }
command -v groff >/dev/null || { echo 'skipped: no groff; apt install groff-base'; exit 77; }
scratch=$(mktemp --directory --tmpdir dxp-man.XXXXXX)
readonly source scratch
trap 'rm -rf "$scratch"' EXIT

die() {
	printf 'FAILED: %s\n' "$*"
	exit 1
}

# text PAGE: prints the page without hyphenation and line breaks. groff runs once for each page: a
# function's page is a link to its header's page.
text() {
	local page=${1##*/} target
	[ -e "$scratch/$1" ] || die "no page $1"
	target=$(sed -n '1s/^\.so man3\/\([a-z0-9_]*\.3\)$/\1/p' "$scratch/$1")
	[ -z "$target" ] || [ ! -e "$scratch/man3/$target" ] || page=$target
	[ -e "$scratch/texts/$page" ] || render "$1" >"$scratch/texts/$page"
	cat "$scratch/texts/$page"
}

# render PAGE: prints the page by groff, which must print no warnings.
render() {
	(cd "$scratch" && groff -ww -man -Tutf8 -P-cbou -rHY=0 -rLL=2000n -s "$1") \
		2>"$scratch/warnings" | sed 's/‐/-/g'
	[ ! -s "$scratch/warnings" ] || die "$1: $(head -n 3 "$scratch/warnings")"
}

# says PAGE TEXT: fails unless the page contains the text.
says() {
	text "$1" >"$scratch/text"
	grep -qF -- "$2" "$scratch/text" || die "'$2' is not in $1"
}

"$source/tools/man" "$scratch/man3" >"$scratch/log" || die "$(cat "$scratch/log")"
mv "$scratch"/man3/*.[1578] "$scratch"
mkdir "$scratch/texts"
for page in $(cd "$scratch" && echo *.[1578] man3/*.3); do
	text "$page" >"$scratch/text"
	grep -q '^NAME' "$scratch/text" || die "no NAME in $page"
done
DXP_CONFIG='' "$DXP_BIN/dxp" config list | sed -n 's/^[a-z].* ; //p' >"$scratch/variables"
text dxp.conf.5 >"$scratch/conf"
while read -r variable; do
	grep -qF "($variable)" "$scratch/conf" || die "$variable is not in dxp.conf(5)"
done <"$scratch/variables"
[ "$(wc -l <"$scratch/variables")" -gt 100 ] || die 'too few options'
says dxp-ping.1 --count
says dxpd.8 --advertise
says dxp.7 'dxp.conf(5)'
says dxp.7 'dxpd(8)'
# Each function must have a link to its header's page, which declares it.
for function in $(sed -n 's/^DXP_API [^(]*\(dxp_[a-z0-9_]*\)(.*/\1/p' "$source"/include/dxp/*.h); do
	says "man3/$function.3" "$function("
done
says man3/dxp_mem_alloc.3 'zeroed device memory'
printf 'passed: %d pages\n' "$(find "$scratch" -name '*.[13578]' | wc -l)"
