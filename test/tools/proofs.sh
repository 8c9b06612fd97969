#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks that every cmocka test asserts a condition, and that every skip has a reason (proofs.py).
# Also tests that proofs.py finds violations of these rules.
set -euo pipefail

source=${DXP_SOURCE:?set by ctest}
work=$(mktemp --directory --tmpdir dxp-proofs.XXXXXX)
readonly source work
trap 'rm -rf "$work"' EXIT

command -v python3 >/dev/null || {
	echo 'skipped: python3 is not installed; install: tools/setup check'
	exit 77
}

# finds TEXT BODY: proofs.py must report TEXT for this body.
finds() {
	printf 'static void a__test(void **state)\n{\n%s\n}\n\nint main(void)\n{\n%s\n}\n' \
		"$2" $'\tconst struct CMUnitTest t[] = {cmocka_unit_test(a__test)};' \
		>"$work/unit/a.c"
	if python3 "$source/test/tools/proofs.py" "$work" >"$work/out" ||
		! grep -qF -- "$1" "$work/out"; then
		printf 'FAILED: not found: %s, but:\n' "$1"
		cat "$work/out"
		exit 1
	fi
}

mkdir "$work/unit"
finds 'a.c:1: a__test asserts nothing' $'\tact();'
finds 'a.c:1: a__test asserts nothing' $'\t/* assert_true(x); */'
finds 'a.c:3: print "skipped: REASON" before skip()' $'\tskip();'
python3 "$source/test/tools/proofs.py" "$source/test"
