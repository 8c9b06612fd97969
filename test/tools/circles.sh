#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# tools/circles on generated trees: calls to lower files pass; circles of files and folders are
# found; prototypes, comments, strings and static functions are no calls.
set -euo pipefail

check=${DXP_SOURCE:?set by ctest}/tools/circles
tree=$(mktemp --directory --tmpdir dxp-circles.XXXXXX)
readonly check tree
trap 'rm -rf "$tree"' EXIT
failures=0
tests=0
cd "$tree"

# file PATH FUNCTION LINE [TYPE]: appends a function with this body.
file() {
	mkdir -p "$(dirname "$1")"
	printf '%s\n' "${4:-int} $2(void)" '{' "	$3" '}' >>"$1"
}

passes() { # name
	local output
	tests=$((tests + 1))
	output=$("$check") || {
		printf 'FAILED: %s should pass\n%s\n' "$1" "$output"
		failures=$((failures + 1))
	}
	rm -rf "${tree:?}"/*
}

finds() { # name pattern
	local output status=0
	tests=$((tests + 1))
	output=$("$check") || status=$?
	if [ "$status" -ne 1 ] || ! grep -Eq "$2" <<<"$output"; then
		printf 'FAILED: %s should be found\n%s\n' "$1" "$output"
		failures=$((failures + 1))
	fi
	rm -rf "${tree:?}"/*
}

file src/bridge/a.c low 'return 0;'
file src/bridge/b.c high 'return low();'
passes 'a call downwards'

file src/bridge/a.c low 'return high();'
file src/bridge/b.c high 'return low();'
finds 'a circle of two files' '^src/bridge/[ab]: .*circle: (a, b|b, a);'

file src/bridge/a.c one 'return two();'
file src/bridge/b.c two 'return three();'
file src/bridge/c.c three 'return one();'
finds 'a circle of three files' ': .*, .*, '

file src/bridge/a.h low 'return high();' 'static inline int'
file src/bridge/b.c high 'return low();'
finds 'a circle through an inline function' circle

file src/bridge/a.c low 'return 0; /* as high() */'
file src/bridge/a.c text 'return puts("high");'
file src/bridge/b.c high 'return low();'
printf 'int high(void);\n' >src/bridge/a.h
passes 'prototypes, comments and strings'

file src/xpu/a.c low 'return table.field;'
file src/xpu/b.c high 'return low();'
printf '%s\n' 'const struct ops table = {.field = high};' >>src/xpu/b.c
finds 'a circle through a variable' '^src/xpu/[ab]: .*circle'

for folder in engine xpu; do
	file src/$folder/a.c low 'return high();'
	file src/$folder/b.c high 'return low();'
	finds "a circle in src/$folder" "^src/$folder/[ab]: .*circle"
done

file src/bridge/a.c high 'return 0;' 'static int'
file src/bridge/a.c low 'return high();'
file src/bridge/b.c high 'return low();'
passes 'a static function of the same name'

file plugins/opencl/low/a.c one 'return two();'
file plugins/opencl/high/b.c two 'return 0;'
file plugins/opencl/high/c.c three 'return four();'
file plugins/opencl/low/d.c four 'return 0;'
finds 'a circle of folders' 'plugins/opencl/(low|high): .*circle'

file src/base/a.c low 'return high();'
file src/base/b.c high 'return low();'
passes 'a folder that is not listed'

printf '%d tests, %d failures\n' "$tests" "$failures"
[ "$failures" -eq 0 ]
