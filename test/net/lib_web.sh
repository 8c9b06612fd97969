# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Helpers for scripts that start dxp-web; source it after lib_fabric.sh.

# web_start OPTION...: starts dxp-web on a free loopback port. Sets `web`, its process id, and
# `url`. Fails after 30 s, or if it exits.
web_start() {
	: >"$scratch/web.out"
	dxp-web --listen 127.0.0.1:0 "$@" >"$scratch/web.out" 2>"$scratch/web.err" &
	web=$!
	for _ in {1..2400}; do # at most 120 s
		url=$(sed -n 's/^listening on //p' "$scratch/web.out")
		[ -z "$url" ] || return 0
		runs "$web" || die "dxp-web: $(cat "$scratch/web.err")"
		sleep 0.05
	done
	die "dxp-web is not ready: $(cat "$scratch/web.err")"
}
