# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Starts the script again in its own network namespace. Source it first. Before, the script sets the
# array `needs`, its programs; it is skipped if one is not installed.
without() {
	echo "skipped: $1"
	exit 77
}
for program in "${needs[@]}"; do
	command -v "$program" >/dev/null || without "$program is not installed; tools/setup test"
done
if [ "${DXP_TEST_ALONE-}" != yes ]; then
	unshare -n true 2>/dev/null || without 'needs root for network namespaces'
	DXP_TEST_ALONE=yes exec unshare -n "$0" "$@"
fi
unset DXP_TEST_ALONE
ip link set lo up
