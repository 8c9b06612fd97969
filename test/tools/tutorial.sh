#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests docs/guide/tutorial.md: its commands, such as "a# dxp nodes", are those of
# test/packages/machines.sh in the same order, and the section "Ten commands" has at most ten.
set -euo pipefail

cd "${DXP_SOURCE:?set by ctest}"
readonly tutorial=docs/guide/tutorial.md script=test/packages/machines.sh

die() {
	printf 'FAILED: %s\n' "$*"
	exit 1
}

# typed: prints the commands of the tutorial as "MACHINE COMMAND".
typed() {
	sed -n 's/^\([abc]\)# /\1 /p' "$tutorial"
}

# performed: prints those of the script. Commands in double quotes have no escapes in them. A
# function `purged MACHINE` stands for its commands.
performed() {
	sed -n -e "s/^\t*on \([abc]\) '\(.*\)'\$/\1 \2/p" \
		-e 's/^\t*on \([abc]\) "\(.*\)"\( #.*\)*$/\1 \2/p' \
		-e "s/^\t*token_create '\(.*\)'\$/a \1/p" "$script"
	sed -n -e 's/^\t*on "\$1" "\(.*\)"$/a \1/p' \
		-e "s/^\t*on \"\\\$1\" '\(.*\)'\$/a \1/p" "$script"
}

mapfile -t commands < <(performed)
[ ${#commands[@]} -gt 50 ] || die "only ${#commands[@]} commands found in $script"
# The lab begins with the release before, whose commands come again below.
at=$(grep -n -m 1 "^say '== from zero" "$script" | cut -d : -f 1)
skipped=$(sed -n "1,${at}p" "$script" | grep -cE "^(on [abc]|token_create) " || true)
count=0
while IFS= read -r wanted; do
	at=$skipped
	while [ "${commands[at]:-}" != "$wanted" ]; do
		[ "$at" -lt ${#commands[@]} ] || die "not in $script, or in another order: $wanted"
		at=$((at + 1))
	done
	skipped=$((at + 1))
	count=$((count + 1))
done < <(typed)
[ $count -gt 30 ] || die "only $count commands in $tutorial"
ten=$(sed -n '/^## Ten commands/,/^## A third/p' "$tutorial" | grep -cE '^[abc]# ')
[ "$ten" -le 10 ] || die "$ten commands from zero to two machines"
printf 'passed: %d commands, %d to two machines\n' $count "$ten"
