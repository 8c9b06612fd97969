#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Many xPUs on one machine: daemons start in parallel, node ids follow name order, and all stop
# together.
#
#   dxp --- 127.0.0.1 --- dxp-manager
#                    +--- dxpd daemon1: xpu1 ... dxpd daemon16: xpu16
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"

say "== side by side: no daemon goes on before three have been started, and daemon1 joins last"
mkdir "$scratch/bin" "$scratch/started"
cp "$DXP_BIN/dxp" "$scratch/bin/"
ln -s "$DXP_BIN/dxp-manager" "$scratch/bin/"
cat >"$scratch/bin/dxpd" <<EOF
#!/bin/bash
touch "$scratch/started/\$\$"
for _ in {1..2400}; do # at most 120 s
	[ "\$(ls "$scratch/started" | wc -l)" -lt 3 ] || break
	sleep 0.05
done
[ "\$(ls "$scratch/started" | wc -l)" -ge 3 ] || { echo 'no other daemon is started'; exit 1; }
case " \$* " in
*' --first 1 '*)
	for _ in {1..2400}; do # at most 120 s
		[ "\$(cat "$DXP_DIR"/run/daemon[2-8].log | grep -c ': node ')" -lt 7 ] || break
		sleep 0.05
	done
	;;
esac
exec "$DXP_BIN/dxpd" "\$@"
EOF
chmod +x "$scratch/bin/dxpd"
"$scratch/bin/dxp" up --xpus 8 --memory 1M --port 0 --engine none
dxp nodes | awk '$3 == "xpu" { print $1, $2 }' >"$scratch/ids"
[ "$(paste -sd ' ' "$scratch/ids")" = '1 xpu1 2 xpu2 3 xpu3 4 xpu4 5 xpu5 6 xpu6 7 xpu7 8 xpu8' ] ||
	die "ids are not in the order of names: $(cat "$scratch/ids")"

say "== down: 8 daemons that do not listen are waited for together, 3 s and not 24"
daemons=$(for i in {1..8}; do process_of "daemon$i"; done)
for process in $daemons; do kill -STOP "$process"; done
begin=$SECONDS
dxp down
[ $((SECONDS - begin)) -lt 20 ] || die "down took $((SECONDS - begin)) s"
for process in $daemons; do
	! runs "$process" || die "process $process is left"
done

say "== down: with too few descriptors, daemons that cannot be reached stay in the record"
dxp up --xpus 12 --memory 1M --port 0 --engine none
status=0
(
	ulimit -n 10
	dxp down
) >"$scratch/out" 2>&1 || status=$?
[ $status -eq 1 ] || die "down ended with $status: $(cat "$scratch/out")"
expect 'raise `ulimit -n`' "$scratch/out"
dxp down >"$scratch/out"
expect 'processes stopped' "$scratch/out"

say "== 16 with kernels"
begin=$(date +%s%N)
dxp up --xpus 16 --memory 16M --port 0
say "up after $((($(date +%s%N) - begin) / 1000000)) ms"
[ "$(dxp nodes | grep -c ' alive ')" -ge 16 ] || die "not all 16 are there: $(dxp nodes)"
dxp down
[ ! -e "$DXP_DIR" ] || die "left behind: $(find "$DXP_DIR")"
say passed
