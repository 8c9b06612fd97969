#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests dxp-web on a real fabric: documents, stream, pages, a killed node, a silent manager, a
# bridge, login, and TLS.
#
#   dxp-web --- 127.0.0.1 --- dxp-manager
#                  +--------- dxpd daemon1: xpu1, with a bridge
#                  +--------- dxpd daemon2: xpu2, killed
# shellcheck disable=SC2016 # the sentences quote commands with backticks
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"

web='' daemon2=''
ours() { echo "$web $daemon2"; }
# shellcheck source=test/net/lib_processes.sh
. "$(dirname "$0")/lib_processes.sh"
# shellcheck source=test/net/lib_web.sh
. "$(dirname "$0")/lib_web.sh"

here=$(cd "$(dirname "$0")" && pwd)
export DXP_STATS=$scratch/stats
[ -x "$DXP_BIN/dxp-web" ] || { say 'skipped: built without dxp-web; tools/setup build'; exit 77; }
command -v python3 >/dev/null || { say 'skipped: no python3; tools/setup check'; exit 77; }

web_stop() {
	kill "$web"
	wait "$web" || die "dxp-web ended with $?: $(cat "$scratch/web.err")"
	web=''
}

check() { python3 "$here/web.py" "$@" || die "$*: $(cat "$scratch/web.err")"; }

say "== wrong use"
refuse 4 'start one with `dxp up`' dxp-web
refuse 2 'belong together' dxp-web --certificate x
refuse 2 '--listen' dxp-web --listen nowhere
refuse 2 'the only command is `dxp web open`' dxp web
refuse 2 '--url is such as' dxp web open --url ftp://x
refuse 1 'start one with `dxp up`' dxp web open

dxp up --xpus 1 --memory 64M --port 0 --engine board:fast
manager=$(cat "$DXP_DIR/manager")
DXP_RUN=$scratch/run2 dxpd --manager "$manager" --key "$DXP_DIR/fabric.key" --first 2 --memory 64M \
	--engine none >"$scratch/2.log" 2>&1 &
daemon2=$!
printf 'short\n' >"$scratch/token"
refuse 4 'one line of 16 to 256' dxp-web --scrape-token "$scratch/token"
refuse 4 'cannot read' dxp-web --certificate "$scratch/none" --certificate-key "$scratch/none"
refuse 4 'not a certificate and its key' dxp-web --certificate "$scratch/token" \
	--certificate-key "$scratch/token"

web_start
address=${url#http://}
refuse 3 'is in use' dxp-web --listen "${address%/}"

say "== documents and headers"
check documents "$url"
if command -v promtool >/dev/null; then
	dxp metrics --fabric --format prometheus | promtool check metrics || die promtool
fi

say "== a bridge"
check bridge "$url" idle network
head -c 60000000 /dev/zero >"$scratch/data"
(while :; do dxp put xpu1 0 "$scratch/data" >/dev/null 2>&1 || break; done) &
sender=$!
check bridge "$url" device network buffers
kill "$sender"
wait "$sender" 2>/dev/null || true

say "== the manager is silent"
check manager "$url" "$(process_of manager)"

if command -v chromium >/dev/null; then
	say "== a browser, before and after a node is killed"
	python3 "$here/web_pages.py" "$url" "$daemon2" "$scratch/browser" || die 'the pages'
	wait "$daemon2" 2>/dev/null || true
	DXP_RUN=$scratch/run2 dxpd --manager "$manager" --key "$DXP_DIR/fabric.key" --first 2 \
		--memory 64M --engine none >"$scratch/2.log" 2>&1 &
	daemon2=$!
else
	left_out 'the pages in a browser' 'no chromium; apt install chromium'
fi

say "== a killed node"
check killed "$url" xpu2 "$daemon2"
wait "$daemon2" 2>/dev/null || true
daemon2=''
web_stop

say "== login, without and with TLS"
echo 'a-token-for-prometheus' >"$scratch/token"
web_start --login --scrape-token "$scratch/token"
check login "$url" "$(dxp web open --url "$url")" a-token-for-prometheus
web_stop
if command -v openssl >/dev/null; then
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=test \
		-days 2 -keyout "$scratch/tls.key" -out "$scratch/tls.crt" 2>/dev/null
	web_start --login --scrape-token "$scratch/token" --certificate "$scratch/tls.crt" \
		--certificate-key "$scratch/tls.key"
	expect 'SHA-256 of the certificate: ' "$scratch/web.out"
	printed=$(sed -n 's/^SHA-256 of the certificate: //p' "$scratch/web.out")
	openssl x509 -in "$scratch/tls.crt" -noout -fingerprint -sha256 >"$scratch/print"
	[ "$printed" = "$(cut -d= -f2 "$scratch/print")" ] || die "another fingerprint: $printed"
	check login "$url" "$(dxp web open --url "$url")" a-token-for-prometheus
	web_stop
else
	left_out 'a certificate from a file' 'no openssl; apt install openssl'
fi

say "== another address than loopback: TLS and a login without being told"
if command -v curl >/dev/null && unshare -n true 2>/dev/null; then
	# shellcheck disable=SC2016 # expanded by the inner shell
	unshare -n bash -c '
		set -e
		ip link set lo up
		ip address add 10.77.0.1/32 dev lo
		: >"$1/web.out"
		dxp-web --listen 10.77.0.1:0 >"$1/web.out" 2>"$1/web.err" &
		web=$!
		trap "kill $web; wait $web" EXIT
		for _ in {1..2400}; do # at most 120 s
			url=$(sed -n "s/^listening on //p" "$1/web.out")
			[ -z "$url" ] || break
			sleep 0.05
		done
		case $url in https://10.77.0.1:*) ;; *) echo "url: $url"; exit 1 ;; esac
		[ "$(curl -sk -o /dev/null -w "%{http_code}" "$url"api/v1/overview)" = 401 ]
		curl -sk -c "$1/jar" -o /dev/null "$(dxp web open --url "$url")"
		curl -sk -b "$1/jar" "$url"api/v1/overview >"$1/overview"
		grep -q "\"alerts\"" "$1/overview"
		# the TLS port must not answer plain HTTP
		! curl -s -m 5 "http${url#https}" >/dev/null
	' - "$scratch" || die "on another address: $(cat "$scratch/web.err")"
else
	left_out 'another address than loopback' 'no curl, or no network namespaces (root)'
fi
dxp down
say passed
