#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes the web site, and reads all its pages in a browser: links, overflow on narrow and wide
# screens, contrast in both schemes, search without a network.
#
#   test/packages/site.sh      programs come from DXP_BIN (default build/bin)
#
# Skipped, with status 77, without Sphinx, its parts, or Chromium.
set -euo pipefail

cd "$(dirname "$0")/../.."
export DXP_BIN=${DXP_BIN:-build/bin}
# shellcheck source=test/packages/lib_debian.sh
. test/packages/lib_debian.sh

for program in help2man groff chromium; do
	command -v $program >/dev/null || skip "no $program; tools/setup site"
done
/usr/bin/python3 -c "import furo, myst_parser, sphinx" 2>/dev/null ||
	skip "no sphinx, furo or myst_parser; tools/setup site"
scratch=$(mktemp -d)
readonly scratch
trap 'rm -rf "$scratch"' EXIT
tools/site "$scratch/site"
python3 test/packages/site_pages.py "$scratch/site" "$scratch/browser"
say passed
