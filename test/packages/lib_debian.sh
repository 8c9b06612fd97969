# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Helpers for scripts that need a bare Debian.
say() { printf '%s\n' "$*"; }
skip() {
	say "skipped: $*"
	exit 77
}
die() {
	say "FAILED: $*"
	exit 1
}

# sources: prints "URL RELEASE" per package source of this machine.
sources() {
	sed -n 's/^deb \(\[[^]]*\] \)\?\([^ ]*\) \([^ ]*\) main.*/\2 \3/p' /etc/apt/sources.list \
		/etc/apt/sources.list.d/*.list 2>/dev/null || true
	awk '/^URIs:/ {url = $2} /^Suites:/ {suite = $2}
		/^Components:/ && /main/ {print url, suite}' \
		/etc/apt/sources.list.d/*.sources 2>/dev/null || true
}

# source_find: sets `url` and `release` to the first, or skips the test.
source_find() {
	read -r url release < <(sources | grep -v -e security -e updates) ||
		skip 'no source of packages'
	readonly url release
}

# apt_settings_copy ROOT: copies this machine's name service and proxy settings.
apt_settings_copy() {
	cp -L /etc/resolv.conf "$1/etc/resolv.conf" 2>/dev/null || true
	grep -l Acquire /etc/apt/apt.conf.d/* 2>/dev/null |
		while read -r file; do cp "$file" "$1$file"; done
}
