#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Hostile clients of dxp-web: bad requests, 1,000 idle connections, byte by byte, browsers that
# never read. It must answer others meanwhile or soon after, in bounded memory.
#
#   clients --- dxp-web --- 127.0.0.1 --- dxp-manager, dxpd: xpu1, xpu2
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"

web=''
ours() { echo "$web"; }
# shellcheck source=test/net/lib_processes.sh
. "$(dirname "$0")/lib_processes.sh"
# shellcheck source=test/net/lib_web.sh
. "$(dirname "$0")/lib_web.sh"

here=$(cd "$(dirname "$0")" && pwd)
[ -x "$DXP_BIN/dxp-web" ] || { say 'skipped: built without dxp-web; tools/setup build'; exit 77; }
command -v python3 >/dev/null || { say 'skipped: no python3; tools/setup check'; exit 77; }

dxp up --xpus 2 --memory 64M --port 0 --engine none
export ASAN_OPTIONS=quarantine_size_mb=1 # a small quarantine, because the script measures memory
web_start
python3 "$here/web_hostile.py" "$url" "$web" || die "$(cat "$scratch/web.err")"
kill "$web"
wait "$web" || die "dxp-web ended with $?: $(cat "$scratch/web.err")"
web=''
dxp down
say passed
