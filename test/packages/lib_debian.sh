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

# before_find: sets `base` and `commit` to the previous release: the newest tag v* that is not this
# commit, or before the first tag the commit FIRST. DXP_SKEW_BASE names another one. Skips the test
# if the commit is missing, as in a shallow clone.
before_find() {
	# the last commit in which a fabric has one manager and no log of events
	local first=c858fdeed530bc00e0d13d8ad404548f76502c59 tag
	tag=$(git describe --tags --abbrev=0 --match 'v*' HEAD^ 2>/dev/null || true)
	base=${DXP_SKEW_BASE:-${tag:-$first}}
	commit=$(git rev-parse --verify --quiet "$base^{commit}" || true)
	readonly base commit
	[ -n "$commit" ] || skip "the commit $base is not in this clone; fetch its history"
}
