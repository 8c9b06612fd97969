#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Configuration files: precedence of flag, variable, file and default; `dxp config show`; errors
# with file and line; daemons with options from a file.
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_parts.sh
. "$(dirname "$0")/lib_parts.sh"

readonly conf=$scratch/dxp.conf
stop_parts() {
	local status=$? process
	for process in $(ours); do
		! kill "$process" 2>/dev/null || wait "$process" 2>/dev/null || true
	done
	set +e # with set -e, the next line would end the script
	(exit $status)
	clean_up
}
trap stop_parts EXIT

# shows SECTION TEXT: `dxp config show SECTION` must print the text.
shows() {
	# shellcheck disable=SC2086 # $1 may be several words
	dxp config show $1 >"$scratch/shown" || die "dxp config show $1: $?"
	grep -qE -- "$2" "$scratch/shown" || die "'$2' is not in: $(cat "$scratch/shown")"
}

# wrong LINE TEXT: dxp must reject standard input as a file, with this line number and text.
wrong() {
	cat >"$conf"
	refuse 2 "$conf:$1: $2" env DXP_CONFIG="$conf" dxp config show
}

say '== precedence: flag, variable, file, default'
shows dxpd '^memory += 256M +; default'
printf '[dxpd]\nmemory = 64M\nspin-us = 7\n[dxp ping]\ncount = 3\n' >"$conf"
export DXP_CONFIG=$conf
printf '[dxp model crossbar]\njson = yes\n[dxp model nic]\ntsv = yes\n' >>"$conf"
shows 'dxp model crossbar' "^json += yes +; $conf:7"
shows 'dxp model nic' "^tsv += yes +; $conf:9"
dxp config show dxp model nic >"$scratch/shown"
! grep -q '^json *= yes' "$scratch/shown" || die 'a value of another part'
refuse 2 'no program or command reads a section [dxp nope]' dxp config show dxp nope
shows dxpd "^memory += 64M +; $conf:2"
shows 'dxp ping' "^count += 3 +; $conf:5"
DXPD_MEMORY=32M shows dxpd '^memory += 32M +; DXPD_MEMORY'
DXP_PING_COUNT=4 shows 'dxp ping' '^count += 4 +; DXP_PING_COUNT'
DXP_MANAGER=192.0.2.1 shows dxp '^manager += 192.0.2.1 +; DXP_MANAGER'
dxp config show dxpd --json | has "\"from\": \"$conf:3\"" || die 'not in the JSON'
unset DXP_CONFIG
export XDG_CONFIG_HOME=$scratch/config
mkdir -p "$XDG_CONFIG_HOME/dxp"
printf '[dxpd]\nmemory = 16M\n' >"$XDG_CONFIG_HOME/dxp/dxp.conf"
shows dxpd "^memory += 16M +; $XDG_CONFIG_HOME/dxp/dxp.conf:2"
if unshare -m true 2>/dev/null; then
	# shellcheck disable=SC2016 # the inner shell expands $1
	unshare -m sh -c 'mount -t tmpfs none /etc && mkdir /etc/dxp && exec >"$1" &&
		printf "[dxpd]\nmemory = 8M\nslots = 3\n" >/etc/dxp/dxp.conf &&
		exec dxp config show dxpd' sh "$scratch/shown"
	expect '; /etc/dxp/dxp.conf:3' "$scratch/shown"
	expect "$XDG_CONFIG_HOME/dxp/dxp.conf:2" "$scratch/shown"
	! grep -q '= 8M' "$scratch/shown" ||
		die 'the file of the machine overrides that of the user'
else
	left_out 'the file of the machine' 'mount namespaces are not allowed'
fi
export DXP_CONFIG=
shows dxpd '^memory += 256M +; default'

say '== errors'
wrong 2 "unknown key 'memroy' in [dxpd]; the nearest is 'memory'" <<<$'[dxpd]\nmemroy = 4G'
wrong 3 "unknown key 'mangager' in [dxp]; the nearest is 'manager'" \
	<<<$'[dxp]\nkey = x\nmangager = 10.0.0.1'
wrong 2 'unknown section [dxpdd]; the nearest is [dxpd]' <<<$'[dxpdd]\nmemory = 4G'
wrong 2 'no command `dxp pong` reads options from a file' <<<$'[dxp pong]\ncount = 4'
wrong 1 'this key is in no section' <<<'memory = 4G'
wrong 2 "'memory' has no value" <<<$'[dxpd]\nmemory ='
wrong 2 'neither KEY = VALUE nor [SECTION]' <<<$'[dxpd]\nmemory'
wrong 1 'neither KEY = VALUE nor [SECTION]' <<<'[dxpd'
wrong 2 'the file ends within this line' < <(printf '[dxpd]\nmemory = 4')
wrong 2 'the line is longer than 198 bytes' <<<$'[dxpd]\nname = '"$(printf 'x%.0s' {1..300})"
wrong 1 'not a text file' < <(printf '\0\0\0\n')
wrong 2 'memory needs a size from 1M to 1024G' <<<$'[dxpd]\nmemory = lots'
wrong 2 'new-key is yes or no' <<<$'[dxp-manager]\nnew-key = maybe'
refuse 2 'DXPD_SLOTS needs a number from 1 to 16' env DXPD_SLOTS=17 dxpd
refuse 2 'cannot read' dxpd --config "$scratch/none"
printf '[dxpd]\nmemroy = 4G\n' >"$conf"
refuse 2 "$conf:2: unknown key 'memroy'" dxpd --config "$conf"
dxpd --config "$conf" --help | has -e --memory || die 'no help with a wrong file'
refuse 2 '`manager` and `key` in section [dxpd]' dxpd
say 'memory = 4G' >>"$conf" # an indented line is a key of its own, not part of the one before
printf '[dxpd]\nname = gpu\n  memory = 4G\n' >"$conf"
DXP_CONFIG=$conf shows dxpd '^memory += 4G '

say '== a fabric with its options in a file'
cat >"$conf" <<-E
	[dxp-manager]
	bind = 127.0.0.1:0
	key = $scratch/key
	new-key = yes
	state = $scratch/registry
	announce = $scratch/manager
E
export DXP_CONFIG=$conf
start() { # LOG TEXT COMMAND...
	local log=$scratch/$1 text=$2
	shift 2
	"$@" >"$log" 2>&1 &
	parts="$! $parts"
	until_says "$text" "$log"
}
start manager.log 'listening on 127.0.0.1:' dxp-manager
[ "listening on $(cat "$scratch/manager")" = "$(cat "$scratch/manager.log")" ] ||
	die "the address is not announced: $(cat "$scratch/manager")"
cat >"$conf" <<-E
	[dxp]
	manager = $(cat "$scratch/manager")
	key = $scratch/key
	[dxpd]
	manager = $(cat "$scratch/manager")
	key = $scratch/key
	name = card
	slots = 2
	engine = none
	memory = 64M
	[dxp nodes]
	json = yes
E
start daemon.log card2 dxpd --memory 32M
# DXP_DIR would override the file's manager.
env -u DXP_DIR dxp nodes >"$scratch/nodes"
expect '"name": "card1"' "$scratch/nodes"
expect '"memory_bytes": 33554432' "$scratch/nodes"
env -u DXP_DIR dxp ping card1 --count 10
DXP_CONFIG='' DXPD_HOST_NAMES=yes start named.log '-xpu1: node' dxpd --engine none --memory 16M \
	--manager "$(cat "$scratch/manager")" --key "$scratch/key"

say '== dxp up starts its daemons without files'
dxp up --xpus 1 --memory 16M --port 0 --engine none --dir "$scratch/fabric2"
# --dir must override the manager and key of the file
dxp nodes --dir "$scratch/fabric2" | has '"name": "xpu1"' || die 'daemons read the file'
DXP_DIR=$scratch/fabric2 shows dxp '^manager += +; default'
dxp down --dir "$scratch/fabric2"

say '== dxp up passes on all options of daemons'
export DXP_CONFIG=
dxp up --xpus 1 --memory 16M --port 0 --engine board:fast --host-memory 8M --state "$scratch/kept" \
	--buffers 4 --buffer-bytes 8K --reads 3 --keep-hosts 5
tr '\0' ' ' <"/proc/$(process_of daemon1)/cmdline" >"$scratch/words"
for words in '--host-memory 8388608' "--state $scratch/kept" '--buffers 4' '--buffer-bytes 8K' \
	'--reads 3' '--keep-hosts 5'; do
	expect "$words" "$scratch/words"
done
dxp down
say passed
