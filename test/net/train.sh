#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# cl_train on drawn digits: the loss decreases; 1, 2 and 4 xPUs and every way to add give the same
# bits. Only --sum host moves gradients through the host. Sums overlap with computing. Also bad
# input and a lost xPU.
#
#   cl_train --- libdxp-opencl.so --- 127.0.0.1 --- dxpd: xpu1 <===> xpu2 <===> xpu3 <===> xpu4
# shellcheck disable=SC2016 # awk scripts
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_opencl.sh
. "$(dirname "$0")/lib_opencl.sh"
# shellcheck source=test/net/lib_parts.sh
. "$(dirname "$0")/lib_parts.sh"

[ -x "$DXP_BIN/cl_train" ] || without_opencl 'cl_train is not built: no OpenCL library'
readonly DRAWN=(--drawn 320 --batch 32)
readonly EPOCHS=3

# number BYTES: writes the number as 32 bits, big end first.
number() { printf '%b' "$(printf '\\x%02x' $(($1 >> 24 & 255)) $(($1 >> 16 & 255)) \
	$(($1 >> 8 & 255)) $(($1 & 255)))"; }

# digits IMAGES LABELS BYTES LABEL: writes digit files whose heads state these numbers, with BYTES
# bytes of pixels and 20 labels.
digits() {
	mkdir -p "$scratch/digits"
	{ number 0x803; number "$1"; number 28; number 28; head -c "$3" /dev/zero; } \
		>"$scratch/digits/images.idx"
	{ number 0x801; number "$2"; printf "\\x$4%.0s" {1..20}; } \
		>"$scratch/digits/labels.idx"
}

# train NAME OPTION...: keeps rows, trace and summary as $scratch/NAME.*
train() {
	local name=$1
	shift
	say "cl_train $*"
	timeout 300 dxp run --json --trace "$scratch/$name.trace" -- cl_train "${DRAWN[@]}" \
		--epochs $EPOCHS --json "$scratch/$name.json" "$@" 2>"$scratch/$name.summary" ||
		die "$(cat "$scratch/$name.summary")"
}

# values NAME KEY: prints the values of a key, one for each epoch.
values() { sed -n "s/.*\"$2\":\"\\{0,1\\}\\([^,\"}]*\\).*/\\1/p" "$scratch/$1.json"; }

# read_bytes NAME: prints the bytes read by the host from the first node.
read_bytes() { sed -n 's/.*"out_bytes": *\([0-9]*\).*/\1/p' "$scratch/$1.summary" | sed -n 1p; }

# overlaps NAME: prints the sums under way when a backward kernel started.
overlaps() {
	grep -o '"name":"[a-z0-9]*","cat":"[a-z]*","ts":[0-9.]*,"dur":[0-9.]*' "$scratch/$1.trace" |
		tr -d '"' | tr ',' ':' | awk -F : '
		$2 == "allreduce" { from[++sums] = $6; to[sums] = $6 + $8 }
		$2 ~ /^(delta|gradient)[1-3]$/ { starts[++kernels] = $6 }
		END {
			for (i = 1; i <= sums; i++)
				for (k = 1; k <= kernels; k++)
					if (starts[k] > from[i] && starts[k] < to[i]) {
						count++
						break
					}
			print count + 0
		}'
}

say '== bad input'
refuse 1 'tools/digits fetches the digits' cl_train "$scratch/none"
digits 20 20 15680 05
printf x >>"$scratch/digits/images.idx"
refuse 1 'images.idx has more bytes than its head states; tools/digits fetches it again' \
	cl_train "$scratch/digits"
digits 20 20 15679 05
refuse 1 'images.idx is cut: it has fewer images' cl_train "$scratch/digits"
printf 123 >"$scratch/digits/images.idx"
refuse 1 'images.idx is cut: its head' cl_train "$scratch/digits"
digits 20 21 15680 05
refuse 1 'labels.idx must have one label for each image' cl_train "$scratch/digits"
digits 20 20 15680 0a
refuse 1 'labels.idx has a label that is not 0 to 9' cl_train "$scratch/digits"
digits 19 19 14896 05
refuse 1 'must have 20 to 1000000 images' cl_train "$scratch/digits"
refuse 2 "--sum has no way 'air'; cl_train --help" cl_train --sum air
refuse 2 "--bucket is 0 to 1073741824, not '16K'" cl_train --bucket 16K
refuse 2 "--xpus is 1 to 16, not '17'" cl_train --xpus 17
refuse 2 "--batch is 1 to 1024, not '-1'" cl_train --batch -1
refuse 2 "--rate is above 0 and at most 1, not 'nan'" cl_train --rate nan
refuse 2 'cl_train --help lists the options' cl_train --speed 3
refuse 2 "only one folder is read, not also 'b'" cl_train a b
refuse 1 '--batch 300 is more than the 288 samples' cl_train --drawn 320 --batch 300
refuse 1 'give --json a file that can be written' cl_train --drawn 320 --json "$scratch/no/such"
OCL_ICD_VENDORS=$scratch/none refuse 1 'run `dxp up --xpus 4`' cl_train --drawn 320
oracle cl_train --drawn 320 --sum xpus >"$scratch/out" 2>&1 && die 'PoCL has our extensions'
expect 'add by --sum host' "$scratch/out"

dxp up --xpus 4 --memory 64M --port 0
! driver cl_train --drawn 320 --xpus 5 >"$scratch/out" 2>&1 || die 'trained on 5 of 4 xPUs'
expect '--xpus 5: there are 4' "$scratch/out"
! driver cl_train --drawn 320 --batch 3 >"$scratch/out" 2>&1 || die 'trained on empty parts'
expect 'a sample for each of 4 xPUs' "$scratch/out"

say '== 1, 2 and 4 xPUs'
train xpus4 # first: all xPUs compile the kernels at the same time
train xpus2 --xpus 2
train xpus1 --xpus 1
train host2 --xpus 2 --sum host
train host4 --sum host
train ring4 --sum ring
train layers4 --bucket 0
[ "$(values xpus1 loss | wc -l)" -eq $EPOCHS ] || die "$(cat "$scratch/xpus1.json")"
values xpus1 loss | awk 'NR > 1 && $1 >= before { exit 1 } { before = $1 }' ||
	die "the loss does not decrease: $(values xpus1 loss)"
for name in xpus2 xpus4 host2 host4 ring4 layers4; do
	for key in loss test_loss accuracy weights; do
		[ "$(values $name $key)" = "$(values xpus1 $key)" ] ||
			die "$name has another $key than xpus1: $(values $name $key)"
	done
done
! driver cl_train "${DRAWN[@]}" --epochs 1 --xpus 1 --json /dev/full >"$scratch/out" 2>&1 ||
	die 'wrote rows to a full disk'
expect '/dev/full cannot be written' "$scratch/out"
say "losses: $(values xpus1 loss | tr '\n' ' ')"

say '== ways and pieces of sums'
# sums NAME WAY: prints the number of sums of an epoch that started by this way.
sums() { values "$1" "by_$2" | sort -u; }
[ "$(sums xpus4 tree) $(sums xpus4 ring)" = '18 0' ] || die "$(cat "$scratch/xpus4.json")"
[ "$(sums ring4 tree) $(sums ring4 ring)" = '0 18' ] || die "$(cat "$scratch/ring4.json")"
[ "$(sums layers4 tree)" = 36 ] || die "$(cat "$scratch/layers4.json")"
[ "$(grep -c '"name":"allreduce".*"way":"ring"' "$scratch/ring4.trace")" -ge $((18 * EPOCHS)) ] ||
	die "the trace lacks sums by ring: $(grep -c allreduce "$scratch/ring4.trace")"
! driver cl_train "${DRAWN[@]}" --sum switch >"$scratch/out" 2>&1 || die 'summed without switches'
expect 'no switches add for these xPUs; start each with dxpd --switch' "$scratch/out"
if ! nm -D "$DXP_BIN/cl_train" 2>/dev/null | has asan; then # ASan rejects preloading
	! FAIL_CALL=clGetEventInfo FAIL_AT=3 LD_PRELOAD=$DXP_BIN/../test/libfailing-cl.so \
		driver cl_train "${DRAWN[@]}" >"$scratch/out" 2>&1 || die 'a failed call is ignored'
	expect 'clGetEventInfo failed with OpenCL error' "$scratch/out"
fi
# Each xPU learns from its own part: no sums, and no check that all are equal.
train none4 --sum none
[ "$(sums none4 tree) $(sums none4 ring)" = '0 0' ] || die "$(cat "$scratch/none4.json")"

say '== who moves the gradients'
sent=$(values host4 host_bytes | awk '{ sum += $1 } END { print sum / 8 }') # by each of 4 nodes
[ "$sent" -gt 1000000 ] || die "only $sent bytes from each node by --sum host"
values xpus4 host_bytes | grep -vx 0 && die '--sum xpus moved gradients through the host'
[ $(($(read_bytes host4) - $(read_bytes xpus4))) -ge "$sent" ] ||
	die "the host read $(read_bytes xpus4) bytes of a node by --sum xpus," \
		"$(read_bytes host4) by --sum host"
say "the host read $(read_bytes xpus4) bytes of xpu1 by --sum xpus, $(read_bytes host4) by host"
count=$(overlaps xpus4)
[ "$count" -gt $EPOCHS ] || die "only $count sums overlap with a backward pass"
say "$count sums overlap with a backward pass"

say '== an xPU is killed'
driver timeout 150 cl_train "${DRAWN[@]}" --epochs 10000 >"$scratch/out" 2>&1 &
parts=$!
until_says 'epoch 2' "$scratch/out"
kill -KILL "$(process_of daemon3)"
status=0
wait "$parts" || status=$?
[ $status -eq 1 ] || die "status $status, not 1: $(tail -n 3 "$scratch/out")"
expect 'an xPU is lost' "$scratch/out"
dxp down || true
say passed
