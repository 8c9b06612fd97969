#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The libraries export the functions of include/dxp and nothing else. Programs link an installation
# dynamically and statically. The linker enforces the layers of src/.
set -euo pipefail

build=$(cd "${DXP_BIN:?set by ctest}/.." && pwd)
scratch=$(mktemp --directory --tmpdir dxp-libraries.XXXXXX)
readonly build scratch
trap 'rm -rf "$scratch"' EXIT
checks=0
failures=0

. "${DXP_SOURCE:?set by ctest}/test/net/lib_text.sh"

cached() { # variable
	sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"
}
compiler=$(cached CMAKE_C_COMPILER)
if [ -n "$(cached DXP_SANITIZE)" ]; then
	echo 'skipped: built with sanitizers, whose run-time library the programs lack'
	exit 77
fi

# expect passes|fails TEXT COMMAND...: counts a failure, with the output, for another status.
expect() { # passes|fails text command...
	local want=$1 text=$2 got=passes
	shift 2
	checks=$((checks + 1))
	"$@" >"$scratch/log" 2>&1 || got=fails
	if [ "$got" != "$want" ]; then
		failures=$((failures + 1))
		printf 'FAILED: %s\n' "$text"
		cat "$scratch/log"
	fi
}

# Prints the functions that the headers in $@ declare with DXP_API.
declared() {
	cat "$@" | sed 's/^#define DXP_API.*//' | tr '\n' ' ' | grep -o 'DXP_API [^(;]*(' |
		sed 's/.*[ *]\([a-z0-9_]*\)($/\1/' | sort -u
}

# Prints defined symbols of nm's output, without the version's.
defined() {
	awk 'NF == 3 && $2 != "A" { print $3 }' | sort -u
}

exports() {
	local headers=$DXP_SOURCE/include/dxp
	declared "$headers"/*.h >"$scratch/all"
	declared "$headers"/{inc,status}.h >"$scratch/dxp-inc"
	comm -23 "$scratch/all" "$scratch/dxp-inc" >"$scratch/dxp"
	declared "$headers/status.h" | sort -o "$scratch/dxp" - "$scratch/dxp"
	[ "$(wc -l <"$scratch/all")" -ge 90 ] || { echo 'FAILED: no functions found'; exit 1; }
	for name in dxp dxp-inc; do
		nm -D --defined-only "$build/lib/lib$name.so" | defined >"$scratch/is"
		sed 's/$/@@DXP_0.1/' "$scratch/$name" >"$scratch/want"
		expect passes "exports of lib$name.so" diff "$scratch/want" "$scratch/is"
	done
	nm -g --defined-only "$build/lib/libdxp.a" | defined >"$scratch/is"
	expect passes 'global symbols of libdxp.a' diff "$scratch/all" "$scratch/is"
}

# nic_with FOLDER...: links the folder nic with the symbols of these.
nic_with() {
	local known options=()
	for known in "$@"; do
		options+=("-Wl,--just-symbols=$build/src/$known.o")
	done
	"$compiler" -shared -fno-lto -Wl,-z,defs -o "$scratch/nic.so" "$build/src/nic.o" \
		"${options[@]}"
}

program() {
	cat <<-'END'
	#include <stdio.h>

	#include <dxp/dma.h>
	#include <dxp/inc.h>

	int main(void)
	{
		struct dxp_dma_options options = {.memory_bytes = 1 << 20};
		struct dxp_dma_caps caps;
		struct dxp_dma *dma;
		int status = dxp_dma_open(&options, &dma);

		if (status != DXP_OK) {
			puts(dxp_status_text(status));
			return 1;
		}
		dxp_dma_caps(dma, &caps);
		dxp_dma_close(dma);
		printf("%s %zu\n", caps.engine, dxp_inc_type_bytes(DXP_INC_DOUBLE));
		return 0;
	}
	END
}

# options_of PREFIX OPTION...: prints pkg-config's options for a prefix.
options_of() { # prefix pkg-config-options...
	local prefix=$1
	shift
	PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name dxp.pc)") pkg-config "$@" dxp dxp-inc
}

runs() { # runs PROGRAM: fails unless the program prints the expected text
	[ "$(env "$@")" = 'board 8' ]
}

links() { # prefix
	local options folder
	program >"$scratch/program.c"
	folder=$(dirname "$(find "$1" -name libdxp.so)")
	read -ra options <<<"$(options_of "$1" --cflags --libs)"
	expect passes 'dynamic link' "$compiler" -o "$scratch/dynamic" "$scratch/program.c" \
		"${options[@]}"
	expect passes 'dynamic program' runs LD_LIBRARY_PATH="$folder" "$scratch/dynamic"
	expect passes 'a version in the program' has 'dxp_dma_open@DXP_0.1' \
		< <(nm -D "$scratch/dynamic")
	rm "$folder"/libdxp*.so*
	read -ra options <<<"$(options_of "$1" --static --cflags --libs)"
	expect passes 'static link' "$compiler" -o "$scratch/static" "$scratch/program.c" \
		"${options[@]}"
	expect passes 'static program' runs "$scratch/static"
}

# Writes a project that finds the libraries by find_package.
consumer() { # folder
	mkdir -p "$1"
	program >"$1/program.c"
	cat >"$1/CMakeLists.txt" <<-'END'
	cmake_minimum_required(VERSION 3.25)
	project(consumer LANGUAGES C)
	find_package(dxp 0.1 REQUIRED)
	add_executable(dynamic program.c)
	target_link_libraries(dynamic PRIVATE dxp::dxp dxp::dxp-inc)
	add_executable(static program.c)
	target_link_libraries(static PRIVATE dxp::dxp-static)
	END
}

# Builds the project with a prefix, and runs its programs.
found_by_cmake() { # prefix
	local into
	into=$(mktemp -d "$scratch/consumer.XXXXXX")
	consumer "$into"
	expect passes "find_package in $1" cmake -S "$into" -B "$into/build" \
		-DCMAKE_C_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$1"
	expect passes "build against $1" cmake --build "$into/build"
	for program in dynamic static; do
		expect passes "$program program of CMake" runs "$into/build/$program"
	done
	expect passes 'links the library of the prefix' \
		has "$1/" < <(ldd "$into/build/dynamic" | grep libdxp.so)
	sed -i 's/dxp 0.1/dxp 7/' "$into/CMakeLists.txt"
	expect fails 'another version' cmake -S "$into" -B "$into/build"
}

# Checks the installed man pages, which the manifest lists too.
man_pages() { # prefix
	local page
	for page in man1/dxp.1 man1/dxp-join.1 man3/dxp_fabric_open.3 man5/dxp.conf.5 man7/dxp.7 \
		man8/dxpd.8 man8/dxp-manager.8; do
		expect passes "share/man/$page" test -s "$1/share/man/$page"
		expect passes "$page in the manifest" \
			grep -qF "$1/share/man/$page" "$scratch/removed/build/install_manifest.txt"
	done
	expect passes 'the text of a page' has 'dxp-manager' <"$1/share/man/man8/dxp-manager.8"
}

# `make uninstall` with the manifest must leave no file.
uninstalled() { # prefix
	expect passes 'make uninstall' \
		make -f "$DXP_SOURCE/Makefile" -C "$scratch/removed" uninstall
	expect passes 'no file remains' test -z "$(find "$1" ! -type d)"
	expect fails 'a second make uninstall' \
		make -f "$DXP_SOURCE/Makefile" -C "$scratch/removed" uninstall
}

exports
expect passes 'nic links with what it knows' nic_with base wire rltp
expect fails 'nic links without rltp' nic_with base wire
expect passes 'installation' cmake --install "$build" --prefix "$scratch/prefix"
# for the last checks; each installation makes all man pages, which takes seconds
mkdir -p "$scratch/removed/build"
cp "$build/install_manifest.txt" "$scratch/removed/build"
cp -a "$scratch/prefix" "$scratch/kept"
found_by_cmake "$scratch/prefix"
# The package's files contain no absolute path, so the prefix may move.
mv "$scratch/prefix" "$scratch/moved"
found_by_cmake "$scratch/moved"
links "$scratch/moved"
# A DESTDIR installation must work wherever it is copied.
expect passes 'staged installation' env DESTDIR="$scratch/staged" \
	cmake --install "$build" --prefix /usr
links "$scratch/staged/usr"
mv "$scratch/kept" "$scratch/prefix" # where the manifest lists it
if command -v help2man >/dev/null; then
	man_pages "$scratch/prefix"
else
	echo 'left out: man pages; no help2man, apt install help2man'
fi
uninstalled "$scratch/prefix"
printf '%d checks, %d failures\n' $checks $failures
[ $failures -eq 0 ]
