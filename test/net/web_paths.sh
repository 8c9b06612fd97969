#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the page Paths of dxp-web with a path that is cut: document, alert, events, and the page in
# a browser.
#
#   dxp-web --- 127.0.0.1 --- dxp-manager
#                  +--------- dxpd: xpu1 --x-- xpu2, cut by nft
if [ -z "${PATHS_NAMESPACE:-}" ] && unshare -n ip link set lo up 2>/dev/null; then
	export PATHS_NAMESPACE=1
	# shellcheck disable=SC2016 # $0 is of the inner shell
	exec unshare -n bash -c 'ip link set lo up && exec "$0"' "$0"
fi
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"

web=''
ours() { echo "$web"; }
# shellcheck source=test/net/lib_processes.sh
. "$(dirname "$0")/lib_processes.sh"
# shellcheck source=test/net/lib_web.sh
. "$(dirname "$0")/lib_web.sh"

here=$(cd "$(dirname "$0")" && pwd)
skip() { say "skipped: $1"; exit 77; }
[ -x "$DXP_BIN/dxp-web" ] || skip 'built without dxp-web; tools/setup build'
command -v python3 >/dev/null || skip 'no python3; tools/setup check'
[ -n "${PATHS_NAMESPACE:-}" ] || skip 'no network namespaces (root)'
command -v nft >/dev/null || skip 'no nft; tools/setup check'

dxp up --xpus 2 --memory 16M --port 0 --engine none
port() { dxp nodes | sed -n "s/.* $1 .*127.0.0.1:\([0-9]*\).*/\1/p"; }
from=$(port xpu1) to=$(port xpu2)
web_start
nft add table inet cut
nft add chain inet cut output '{ type filter hook output priority 0; }'
browser=''
if command -v chromium >/dev/null; then
	browser=$scratch/browser
else
	left_out 'the page in a browser' 'no chromium; apt install chromium'
fi
python3 "$here/web_paths.py" "$url" "$from" "$to" "$browser" || die "$(cat "$scratch/web.err")"
dxp events --kind path-blocked | has ' xpu1 .*path to xpu2: no answer' || die "$(dxp events)"
kill "$web"
wait "$web" || die "dxp-web ended with $?: $(cat "$scratch/web.err")"
web=''
dxp down
say passed
