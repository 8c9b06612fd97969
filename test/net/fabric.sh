#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests a local fabric from `dxp up` to `dxp down`, using only the command line.
#
#   dxp --- 127.0.0.1 --- dxp-manager
#                    +--- dxpd daemon1: xpu1, xpu2
#                    +--- dxpd daemon2: xpu3
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"

say "== up"
dxp up --xpus 3 --slots-per-daemon 2 --memory 64M --port 0
processes=$(for part in manager daemon1 daemon2; do process_of $part; done)
[ "$(wc -w <<<"$processes")" -eq 3 ] || die "three processes were to be started, not: $processes"
for pid in $processes; do
	runs "$pid" || die "process $pid does not run"
done
refuse 1 'a fabric is already up' dxp up

say "== nodes"
dxp nodes | tee "$scratch/nodes"
for name in xpu1 xpu2 xpu3; do
	row="^ +[0-9]+  $name +xpu +ocl +64M  direct   alive  127\.0\.0\.1:[0-9]+ "
	grep -Eq "$row" "$scratch/nodes" || die "$name is not as it should be"
done
[ "$(dxp nodes --json | grep -c '"state": "alive"')" -ge 3 ] || die "the JSON table lacks an xPU"

say "== memory"
head -c 5000001 /dev/urandom >"$scratch/data"
dxp put xpu1 0x100 "$scratch/data"
dxp get xpu1 256 5000001 "$scratch/back"
cmp "$scratch/data" "$scratch/back"
dxp put xpu3 1M - <"$scratch/data"
dxp get xpu3 1M 5000001 - 2>/dev/null | cmp "$scratch/data" -
dxp get xpu3 1M 10 "$scratch/ten" --json | has '"bytes": 10' || die "get --json"
[ "$(stat -c %s "$scratch/ten")" -eq 10 ] || die "get wrote another length"
refuse 1 "xPU 'xpu1' has 67108864 bytes" dxp get xpu1 64M 1 "$scratch/beyond"
[ "$(find "$scratch" -name 'beyond*')" = '' ] || die "a failed get left a file"

say "== registers"
[ "$(dxp reg xpu1 MAGIC)" = 0x58505844 ] || die "MAGIC is $(dxp reg xpu1 MAGIC)"
[ "$(dxp reg xpu1 0)" = 0x58505844 ] || die "register 0 is not MAGIC"
[ "$(dxp reg xpu2 memory_lo)" = 0x04000000 ] || die "MEMORY_LO is $(dxp reg xpu2 memory_lo)"
dxp reg xpu1 TASK_BYTES_LO 77
[ "$(dxp reg xpu1 | wc -l)" -gt 30 ] || die "the list of registers is short"
received=$(dxp reg xpu1 RECEIVED_LO --json | sed -n 's/.*"value": \([0-9]*\).*/\1/p')
[ "$received" -ge 5000001 ] || die "xpu1 counts $received bytes received"
refuse 1 'are read-only' dxp reg xpu1 MAGIC 1

say "== ping"
dxp ping xpu2 --count 200
dxp ping xpu3 --count 50 --size 64K --json | has '"p99_us"' || die "ping --json"
begin=$(date +%s%N)
dxp ping xpu2 --count 4 --interval 100
took=$((($(date +%s%N) - begin) / 1000000))
[ $took -ge 300 ] || die "4 round trips with 3 pauses of 100 ms took $took ms"

say "== doctor"
dxp doctor | tee "$scratch/doctor"
grep -q '^ok    manager' "$scratch/doctor" || die "the doctor does not see the manager"

say "== down"
dxp down
for pid in $processes; do
	! runs "$pid" || die "process $pid is left"
done
[ ! -e "$DXP_DIR" ] || die "left behind: $(find "$DXP_DIR")"
say passed
