#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# tools/chaos gives up a load that never works again, also on a busy machine.
set -euo pipefail

command -v python3 >/dev/null || {
	echo 'skipped: python3 is not installed; install: tools/setup check'
	exit 77
}
exec python3 "$(dirname "$0")/patience.py"
