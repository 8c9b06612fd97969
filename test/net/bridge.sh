#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Boards whose memory only DMA engines reach: access as to any memory, transfers between boards,
# failing or stalled DMA, wrong options and files.
#
#   dxp, examples --- 127.0.0.1 --- dxp-manager
#                              +--- dxpd: xpu1, xpu2, xpu3, a board each
# shellcheck disable=SC2016 # the sentences quote commands with backticks
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_bridge.sh
. "$(dirname "$0")/lib_bridge.sh"

say "== files and options that are wrong"
refuse 1 "unknown board 'nonsense'" dxp up --engine board:nonsense --port 0
file=$(board_file speed 'preset = fast' 'to_device = quick')
refuse 1 "$file:2: the value of to_device cannot be 'quick'" dxp up --engine "board:$file" --port 0
file=$(board_file name 'preset = fast' '' '# a comment' 'colour = red')
refuse 1 "$file:4: " dxp up --engine "board:$file" --port 0
file=$(board_file late 'queue = 4' 'preset = fast')
refuse 1 'first line' dxp up --engine "board:$file" --port 0
refuse 2 '--buffer-bytes' dxpd --manager 127.0.0.1 --key x --engine board --buffer-bytes 5
refuse 2 '--buffers' dxpd --manager 127.0.0.1 --key x --engine board --buffers 65
[ ! -e "$DXP_DIR" ] || die "left behind: $(find "$DXP_DIR")"

say "== as any other memory"
dxp up --xpus 3 --engine board:fast --memory 64M --port 0
dxp nodes | tee "$scratch/nodes"
[ "$(grep -c ' board .* bridged ' "$scratch/nodes")" -eq 3 ] ||
	die "dxp nodes does not print bridged"
[ "$(dxp nodes --json | grep -c '"memory_kind": "bridged"')" -eq 3 ] || die "nor does its JSON"
random_file data 20000003
there_and_back xpu1 0x101 data
there_and_back xpu2 1M data
random_file byte 1
there_and_back xpu1 63M byte
there_and_back xpu1 67108863 byte # writes the last byte of the memory
: >"$scratch/empty"
there_and_back xpu1 7 empty
refuse 1 'has 67108864 bytes' dxp put xpu1 64M "$scratch/byte"
refuse 1 'has 67108864 bytes' dxp get xpu1 67108863 2 "$scratch/beyond"
[ ! -e "$scratch/beyond" ] || die "a failed get left a file"
there_and_back xpu1 3 data

say "== many at once"
pids=()
for i in {0..7}; do
	random_file "part$i" $((3000000 + i))
	dxp put xpu1 "$((i * 4))M" "$scratch/part$i" 2>/dev/null &
	pids+=($!)
done
for i in {0..7}; do
	wait "${pids[i]}" || die "put $i failed"
done
for i in {0..7}; do
	dxp get xpu1 "$((i * 4))M" $((3000000 + i)) - 2>/dev/null | cmp - "$scratch/part$i" ||
		die "part $i is not what was put"
done
say "ok: 8 files at once"

say "== what the bridges do, for people and machines"
dxp bridge --interval 50 >"$scratch/out"
[ "$(grep -Ec '^xpu[123] +8 x [0-9.]+[KM] ' "$scratch/out")" -eq 3 ] ||
	die "not three bridges: $(cat "$scratch/out")"
dxp put xpu1 0 "$scratch/data" 2>"$scratch/said" &
client=$!
dxp bridge --interval 200 --json >"$scratch/out"
wait $client || die "put: $(cat "$scratch/said")"
[ "$(grep -c '"in_busy_percent"' "$scratch/out")" -eq 3 ] || die "$(cat "$scratch/out")"
[ "$(grep -c '"verdict_text"' "$scratch/out")" -eq 3 ] || die "no verdict: $(cat "$scratch/out")"
dxp reg xpu1 >"$scratch/out"
! grep -Eq 'DMA_IN_US_LO +ro +0x00000000' "$scratch/out" || die "DMA took no time"
grep -Eq 'BRIDGE_TRANSFERS +ro +0x00000000' "$scratch/out" || die "$(cat "$scratch/out")"
grep -Eq 'BRIDGE_IN_TAKEN +ro +0x00000000' "$scratch/out" || die "$(cat "$scratch/out")"

say "== sentences that name the next step"
head -c 70000000 /dev/zero >"$scratch/more"
dxp reg xpu1 DMA_IN_LO >"$scratch/before"
refuse 1 'nothing was transferred' dxp put xpu1 0 "$scratch/more"
refuse 1 'nothing was transferred' dxp get xpu1 1 64M "$scratch/back"
dxp reg xpu1 DMA_IN_LO | cmp - "$scratch/before" || die "some of it was moved"
refuse 1 'or rejects this value' dxp reg xpu1 CORE 7
refuse 1 'does not support this register' dxp reg xpu1 CORE 3
dxp reg xpu1 CORE 2
[ "$(dxp reg xpu1 CORE)" = 0x00000000 ] || die "a program sees the core of another one"
refuse 1 'or rejects this value' dxp reg xpu1 CORE_OPERAND 5 # the board's core has no operand

say "== programs that know nothing of boards, and those that do"
hello_xpu | tee "$scratch/out"
expect 'added 65536 pairs of numbers, 0 errors' "$scratch/out"
ring 5 | tee "$scratch/out" # the array goes from board to board
expect '3 xPUs, 5 rounds: 15 is expected everywhere, 0 of 4096 numbers differ' "$scratch/out"
bridge_add 1000 | tee "$scratch/out"
expect 'added 1000 to 16777216 numbers, 0 errors' "$scratch/out"
dma_add board:fast | tee "$scratch/out"
expect ', 0 errors' "$scratch/out"
kernel_put >"$scratch/out"
expect 'the picture there is right' "$scratch/out"
dxp down

say "== kernels in the memory of boards: the classifier, split over two"
root=$(dirname "$0")/../..
# first_of PATTERN: prints the first match in DXP_MODELS, models/ or ../shared/models.
first_of() {
	local folder
	for folder in "${DXP_MODELS:-}" "$root/models" "$root/../shared/models"; do
		[ -d "$folder" ] || continue
		find "$folder" -maxdepth 1 -name "$1" | sort | sed -n 1p
	done | sed -n 1p
}
model=$(first_of 'squeezenet*.tflite') photo=$(first_of '*.jpg')
[ -n "$model" ] || model=$(first_of '*.tflite')
classify_on() { # ENGINE ANSWERS
	dxp up --xpus 2 --engine "$1" --memory 512M --port 0
	timeout 120 "$DXP_BIN/classify" --xpus xpu1,xpu2 --split auto --output "$2" \
		--model "$model" "$photo" >"$scratch/out" 2>&1 ||
		die "classify on $1: $(cat "$scratch/out")"
	dxp down
}
if [ -n "$model" ] && [ -n "$photo" ] && [ -x "$DXP_BIN/classify" ]; then
	classify_on ocl "$scratch/answers"
	classify_on board:fast "$scratch/answers.board"
	cmp "$scratch/answers" "$scratch/answers.board" || die "boards answer otherwise"
	say "ok: the same answers; $(grep '^link' "$scratch/out")"
else
	left_out classifier 'there is no model; tools/model fetches it, DXP_MODELS names its folder'
fi

say "== one DMA of 200 fails"
random_file data 2000003
file=$(board_file fail 'preset = fast' 'fail = 200')
dxp up --xpus 1 --engine "board:$file" --memory 64M --port 0 --buffer-bytes 64K
failed=0 good=0
for _ in {1..200}; do
	if dxp put xpu1 0 "$scratch/data" 2>"$scratch/said" &&
		dxp get xpu1 0 2000003 "$scratch/back" 2>>"$scratch/said"; then
		cmp "$scratch/data" "$scratch/back" || die "told as done, but it is not"
		good=$((good + 1))
	else
		failed=$((failed + 1))
		grep device "$scratch/said" >"$scratch/why" || die "no text: $(cat "$scratch/said")"
	fi
	[ $failed -lt 3 ] || [ $good -lt 3 ] || break
done
if [ $failed -eq 0 ] || [ $good -eq 0 ]; then
	die "$failed failed, $good did not"
fi
say "ok: $failed failed, $good did not: $(cat "$scratch/why")"
dxp down

say "== a DMA never ends"
file=$(board_file stall 'preset = fast' 'stall = 110')
dxp up --xpus 1 --engine "board:$file" --memory 64M --port 0 --buffer-bytes 64K
begin=$SECONDS
for _ in {1..20}; do
	[ "$(dxp reg xpu1 DMA_STALLS)" = 0x00000000 ] || break
	if timeout 120 dxp put xpu1 0 "$scratch/data" 2>"$scratch/said"; then
		there_and_back xpu1 0 data >/dev/null
	else
		expect 'device' "$scratch/said"
		say "ok: $(cat "$scratch/said")"
	fi
done
[ "$(dxp reg xpu1 DMA_STALLS)" != 0x00000000 ] || die "DMA number 110 was not there"
[ $((SECONDS - begin)) -le 60 ] || die "that took $((SECONDS - begin)) s"
there_and_back xpu1 0 data
dxp down
say passed
