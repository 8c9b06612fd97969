#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests tools/release in a separate repository: version, changelog and tag, and the cases that it
# rejects.
set -euo pipefail

source=${DXP_SOURCE:?set by ctest}
command -v git >/dev/null || { echo 'skipped: no git'; exit 77; }
scratch=$(mktemp --directory --tmpdir dxp-release.XXXXXX)
readonly source scratch
trap 'rm -rf "$scratch"' EXIT
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@localhost
export GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@localhost
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

die() {
	printf 'FAILED: %s\n' "$*"
	exit 1
}

# rejects STATUS TEXT ARGUMENT...: must fail with this status and print the text.
rejects() {
	local wanted=$1 text=$2 status=0
	shift 2
	tools/release "$@" >"$scratch/out" 2>&1 || status=$?
	[ $status -eq "$wanted" ] || die "'$*' ended with $status: $(cat "$scratch/out")"
	grep -qF -- "$text" "$scratch/out" || die "'$text' is not in: $(cat "$scratch/out")"
	[ "$(git rev-parse HEAD)" = "$head" ] || die "'$*' made a commit"
}

mkdir -p "$scratch/tree/tools"
cd "$scratch/tree"
cp "$source/tools/release" tools/release
cp "$source/CMakeLists.txt" .
printf '# Changes\n\n## Unreleased\n- One.\n- Two.\n\n## 0.0.9 (2026-01-01)\n- Old.\n' >CHANGELOG.md
git init --quiet
git add .
git commit --quiet --message first
head=$(git rev-parse HEAD)

rejects 2 usage
rejects 2 usage 1.2
rejects 2 usage 01.2.3
rejects 2 usage 1.2.3 --date today
rejects 1 'above 255' 1.300.0
echo x >>CHANGELOG.md
rejects 1 'the tree has changes' 0.2.0
git checkout --quiet CHANGELOG.md

tools/release 0.2.0 --date 2026-12-01
grep -q '^project(dxp VERSION 0.2.0 ' CMakeLists.txt || die 'no version in CMakeLists.txt'
[ "$(sed -n '3,7p' CHANGELOG.md)" = $'## Unreleased\n\n## 0.2.0 (2026-12-01)\n- One.\n- Two.' ] ||
	die "$(cat CHANGELOG.md)"
[ "$(git rev-parse 'v0.2.0^{commit}')" = "$(git rev-parse HEAD)" ] || die 'no tag'
[ "$(git tag --list --format='%(contents)' v0.2.0)" = $'Direct xPU 0.2.0\n\n- One.\n- Two.' ] ||
	die "$(git tag --list --format='%(contents)' v0.2.0)"
[ -z "$(git status --porcelain)" ] || die 'the tree is not clean'

head=$(git rev-parse HEAD)
rejects 1 'the tag v0.2.0 exists' 0.2.0
rejects 1 'Unreleased of CHANGELOG.md is empty' 0.3.0
sed -i 's/^## Unreleased$/## Unreleased\n- Three./' CHANGELOG.md
git commit --quiet --all --message second
head=$(git rev-parse HEAD)
rejects 1 'not later than the last release, 0.2.0' 0.1.9
tools/release 0.10.0
[ "$(git tag --list | wc -l)" -eq 2 ] || die 'not two tags'
echo passed
