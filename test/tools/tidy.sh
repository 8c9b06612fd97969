#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests tools/tidy on generated trees. Clean files must pass. Each kind of violation must be found
# at its line.
set -euo pipefail

tidy=${DXP_SOURCE:?set by ctest}/tools/tidy
tree=$(mktemp --directory --tmpdir dxp-tidy.XXXXXX)
readonly tidy tree
trap 'rm -rf "$tree"' EXIT
readonly C='/* SPDX-License-Identifier: BSD-3-Clause */'
readonly SH='# SPDX-License-Identifier: BSD-3-Clause'
tests=0
failures=0

# tree_with PATH LINE...: writes a file of an otherwise clean tree; `listing` is its
# CMakeLists.txt's list of sources, if set.
tree_with() {
	local path=$1
	shift
	rm -rf "${tree:?}"/*
	mkdir -p "$tree/src/base" "$(dirname "$tree/$path")"
	cp "$DXP_SOURCE/.clang-format" "$tree/"
	printf '%s\n' "$C" 'int base_answer(void);' >"$tree/src/base/clean.h"
	printf '%s\n' "$@" >"$tree/$path"
	[ -z "${listing:-}" ] ||
		printf '%s\n' "$SH" "add_library(a $listing)" >"$tree/src/CMakeLists.txt"
}

failed() {
	failures=$((failures + 1))
	printf 'FAILED: %s\n%s\n' "$1" "$2"
}

# finds LINE PATH PATTERN: tidy must report a match at this line of standard input.
finds() {
	local line=$1 path=$2 pattern=$3 output status=0
	shift 3
	tests=$((tests + 1))
	tree_with "$path" "$@"
	output=$("$tidy" "$tree" 2>&1) || status=$?
	if [ "$status" -ne 1 ] || ! grep -Eq "^$path:$line: .*($pattern)" <<<"$output"; then
		failed "$path:$line should be found: $pattern (status $status)" "$output"
	fi
}

# passes PATH: no finding in standard input.
passes() {
	local path=$1 output
	shift
	tests=$((tests + 1))
	tree_with "$path" "$@"
	output=$("$tidy" "$tree" 2>&1) || failed "$path should pass" "$output"
}

repeat() { # count line
	local i
	for ((i = 0; i < $1; i++)); do printf '%s\n' "$2"; done
}

# function_of LINES: prints a function of so many lines, from head to closing brace.
function_of() {
	printf '%s\n' 'int a_f(void)' '{'
	repeat $(($1 - 4)) $'\tg();'
	printf '%s\n' $'\treturn 0;' '}'
}

sizes() {
	local body
	mapfile -t body < <(function_of 70)
	passes src/base/a.c "$C" "${body[@]}"
	mapfile -t body < <(function_of 71)
	finds 2 src/base/a.c 'function has 71 lines' "$C" "${body[@]}"
	mapfile -t body < <(repeat 799 'int a_f(void);')
	passes src/base/a.h "$C" "${body[@]}"
	mapfile -t body < <(repeat 800 'int a_f(void);')
	finds 801 src/base/a.h 'file has 801 lines' "$C" "${body[@]}"
	passes tools/a.sh '#!/bin/sh' "$SH" $'\t'"# $(printf '%090d' 0)"
	finds 3 tools/a.sh '101 columns' '#!/bin/sh' "$SH" $'\t'"# $(printf '%091d' 0)"
	passes tools/a.sh '#!/bin/sh' "$SH" "# $(printf 'ä%.0s' {1..98})"
}

words() {
	finds 3 src/base/a.c '"nobody" in a comment' "$C" '' '/* Nobody calls it. */'
	finds 4 src/base/a.c '"cells" in a comment' "$C" '' '/* Counts' ' * cells. */'
	passes src/base/a.c "$C" '' '/* Sorts `boxes` of cells.c; "told" */' 'int sorted;'
	finds 3 src/base/a.c '"likewise" in a comment' "$C" '' '/* Likewise, from a file. */'
	finds 3 src/base/a.c 'without a verb' "$C" '' '/* As base_answer(), but slower. */'
	finds 3 src/base/a.c 'without a verb' "$C" '' '/* Stops. As base_answer. */'
	finds 3 src/base/a.c 'without a verb' "$C" '' 'int sorted; /* as in struct base_options */'
	finds 3 src/base/a.c 'without a verb' "$C" '' 'int sorted; /* as base_options.sorted */'
	finds 4 src/base/a.c 'without a verb' "$C" '' '/* Counts' ' * it. Like base_a, but fast. */'
	passes src/base/a.c "$C" '' '/* Sorts as base_s() does. As root, sorts' ' * as base_b(). */'
	finds 3 src/base/a.c '"a creation"' "$C" '' '/* Ends a creation. */'
	passes src/base/a.c "$C" '' '/* Ends the creation of a group. */'
	finds 3 src/base/a.c '"its zero"' "$C" '' '/* Counts bytes with its zero. */'
	passes src/base/a.c "$C" '' '/* Its zeros end with a zero. */'
}

texts() {
	local head='static const char a[] ='
	finds 2 src/base/a.c '"nobody" in a text' "$C" "$head \"nobody is there\";"
	finds 2 cmd/a.c '"says" in a text' "$C" "$head \"%s: %s\\nit says: %s\";"
	finds 3 cmd/a.c '"room" in a text' "$C" "$head \"not enough \"" '"room here";'
	passes cmd/a.c "$C" "$head \"gegl:box-blur x\", b[] = \"box\", c[] = \"a_box b\";"
	passes src/base/a.c "$C" '/* Prints "nobody is there". */' 'int a;'
	passes test/unit/a.c "$C" "$head \"nobody is there\";"
}

includes() {
	passes src/rltp/a.c "$C" '#include <string.h>' '' '#include "wire/a.h"'
	finds 2 src/base/a.c 'may not include "wire/a.h"' "$C" '#include "wire/a.h"'
	finds 2 src/wire/a.c 'may not include "link/a.h"' "$C" '#include "link/a.h"'
	finds 2 src/rltp/a.c 'may not include "link/a.h"' "$C" '#include "link/a.h"'
	finds 2 src/nic/a.c 'may not include "node/a.h"' "$C" '#include "node/a.h"'
	finds 2 src/sim/a.c 'may not include "link/a.h"' "$C" '#include "link/a.h"'
	finds 2 src/host/a.c 'may not include "xpu/a.h"' "$C" '#include "xpu/a.h"'
	finds 2 src/unheard/a.c 'has no layer' "$C" '#include "base/a.h"'
	finds 2 src/wire/a.c 'may not include <unistd.h>' "$C" '#include <unistd.h>'
	finds 2 src/rltp/a.c 'may not include <time.h>' "$C" '#include <time.h>'
	finds 2 src/nic/a.c 'may not include <sys/socket.h>' "$C" '#include <sys/socket.h>'
	finds 2 src/base/a.c 'not by \.\./' "$C" '#include "../wire/a.h"'
	finds 2 include/dxp/a.h 'nothing from src/' "$C" '#include "base/a.h"'
	finds 2 src/nic/a.c 'no system call' "$C" 'long a = time(0);'
	finds 2 src/inc/a.c 'may not include <unistd.h>' "$C" '#include <unistd.h>'
	finds 2 src/switch/a.c 'no system call' "$C" 'long a = time(0);'
	passes src/switch/a.c "$C" '#include <unistd.h>' '#include "link/a.h"' 'long a = time(0);'
	passes src/switch/a.c "$C" '#include <unistd.h>' '#include <bpf/bpf.h>'
}

lists() {
	finds 3 src/CMakeLists.txt '"base/a.c" stands after' "$SH" $'\tbase/b.c' $'\tbase/a.c)'
	passes src/CMakeLists.txt "$SH" $'\tbase/a.c' $'\tbase/a_b.c' $'\tbase/ab.c)'
	listing='base/a.c base/ab.c' finds 2 src/base/b.c 'not in src/CMakeLists.txt' "$C" 'int b;'
	listing='base/a.c base/b.c' passes src/base/b.c "$C" 'int b;'
}

descriptors() {
	finds 2 src/base/a.c 'put descriptor_raise' "$C" 'int a = eventfd(0, 0);'
	finds 2 plugins/opencl/a.c 'put descriptor_raise' "$C" 'int a = open("a", 0);'
	finds 2 src/link/a.c 'put descriptor_raise' "$C" \
		'int a = descriptor_raise(open("a", 0)), b = socket(1, 2, 3);'
	finds 2 src/host/a.c 'use base/descriptor.h' "$C" 'FILE *a = fopen("a", "re");'
	passes src/link/a.c "$C" 'int a = descriptor_raise(' "	open(\"$(printf '%070d' 0)\", 0));"
	passes src/link/a.c "$C" 'int a_f(void)' '{' '	return lane->open(1) + own.open(2);' '}'
	passes cmd/a.c "$C" 'int a = open("a", 0);'
}

text() {
	finds 1 src/base/a.c 'first line must be' 'int a;'
	finds 2 tools/a.sh 'second line must be' '#!/bin/sh' 'true'
	finds 1 cmake/a.cmake 'first line must be' 'set(a b)'
	finds 2 src/base/a.c 'empty comment' "$C" '/* */'
	finds 2 src/base/a.c 'empty comment' "$C" 'int a; //'
	finds 2 src/base/a.c 'empty comment' "$C" '/* ---- */'
	finds 2 src/base/a.c 'do it later' "$C" '/* TO''DO: more */'
	finds 1 README.md 'do it later' 'FIX''ME'
	finds 1 README.md 'path of one machine' 'see /ro''ot/notes'
	finds 1 README.md 'path of one machine' 'see "/ho''me/me/notes"'
	passes README.md 'see https://example.org/ho''me/ and src/ro''ot/a.c'
	finds 2 src/base/a.c 'space at the end' "$C" 'int a; '
}

pipes() {
	finds 4 tools/a.sh 'ends early' '#!/bin/sh' "$SH" '# a | head' 'a | he''ad -n 1'
	finds 3 tools/a.sh 'ends early' '#!/bin/sh' "$SH" 'a | gr''ep -q b'
	finds 3 tools/a.sh 'ends early' '#!/bin/sh' "$SH" 'a | gr''ep -v -Eq b'
	finds 4 tools/a.sh 'ends early' '#!/bin/sh' "$SH" 'a |' $'\tgr''ep -m 1 b'
	passes tools/a.sh '#!/bin/sh' "$SH" 'a || grep -q b c' 'a |' $'\tgrep b' 'a ||' 'head c'
}

names() {
	finds 2 src/base/a.c '"door" in .door_open.' "$C" 'int door_open(void);'
	finds 3 src/base/a.h '"room" in .SPACE_ROOM.' "$C" '' '#define SPACE_ROOM 1'
	finds 2 test/unit/a.c '"told" in .told.' "$C" 'static bool told;'
	passes src/base/a.h "$C" 'enum { INC_FLAG_TRAIN, doorbell_rung, taking_in };'
	passes src/base/a.h "$C" '#include "base/clean.h" /* `door_open` */' '' 'extern char *a_b;'
	passes src/base/a.h "$C" "enum { A = '\"' + sizeof(\"room\") };"
	finds 2 src/base/a.c 'global .serve. has no prefix' "$C" 'int serve(void)' '{' '}'
	finds 3 src/base/a_b.c 'global .b_run. has no prefix' "$C" '' 'int b_run(int one,' \
		$'\t  int two)' '{' '}'
	finds 2 plugins/mpi/a.c 'global .other_run. has no prefix' "$C" \
		'void *other_run(void)' '{' '}'
	passes src/base/a_b.c "$C" 'int base_run(void)' '{' '}' 'int dxp_run(void)' '{' '}' \
		'int a_run(void)' '{' '}' 'int a_b_run(void)' '{' '}' 'int clean_run(void)' '{' '}'
	passes src/base/entries.c "$C" 'int entry_run(void)' '{' '}' \
		'static int run(void)' '{' '}'
	passes cmd/dxp-a.c "$C" 'int main(void)' '{' '}' 'int a_run(void)' '{' '}'
	passes test/unit/a.c "$C" 'int serve(void)' '{' '}'
}

casts() {
	local head=$'\tconst struct'
	finds 4 src/wire/a.c 'cast to a struct' "$C" 'int a_f(const char *p)' '{' \
		"$head a *a = (const struct a *)p;" $'\treturn a->b;' '}'
	finds 2 src/link/a.h 'packed struct' "$C" \
		'struct __attribute__((packed)) a {' $'\tint b;' '};'
	passes src/link/a.c "$C" 'int a_f(struct sockaddr_in *p)' '{' \
		$'\treturn g((struct sockaddr *)p);' '}'
	passes src/wire/a.c "$C" '/* (struct a *)p is what none writes. */' 'int a;'
}

layout() {
	[[ $(clang-format --version 2>/dev/null || true) == *"version 14."* ]] || {
		echo 'skipped: layout of C: no clang-format 14; tools/setup check'
		return 0
	}
	finds 2 src/base/a.c 'make format' "$C" 'int  a ;'
}

sizes
words
texts
names
includes
lists
descriptors
text
pipes
casts
layout
printf '%d cases, %d failures\n' $tests $failures
[ $failures -eq 0 ]
