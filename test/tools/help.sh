#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests that each script of tools/ describes itself with --help, and does nothing else.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
count=0
for script in "$root"/tools/*; do
	[ -f "$script" ] && [ -x "$script" ] || continue
	"$script" --help >help.txt 2>error.txt || { echo "failed: $script --help"; exit 1; }
	[ ! -s error.txt ] || { echo "$script --help wrote:"; cat error.txt; exit 1; }
	grep -q '^[A-Z]' help.txt || { echo "$script --help has no sentence"; exit 1; }
	if grep -n -e '^#' -e '^set -' help.txt; then echo "$script --help prints code"; exit 1; fi
	count=$((count + 1))
done
[ "$count" -gt 10 ] || { echo "found only $count scripts"; exit 1; }
[ "$(ls)" = $'error.txt\nhelp.txt' ] || { echo "files were left:"; ls; exit 1; }
