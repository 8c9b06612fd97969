#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A video passes through the classifier on two xPUs: `classify -` answers each frame from ffmpeg's
# pipe, or without ffmpeg from a file, and prints each stage's rate. Other software computed the
# expected answers (SqueezeNet).
#
#   ffmpeg --- pipe --- classify --- 127.0.0.1 --- dxpd: xpu1 (stage 0)   dxpd: xpu2 (stage 1)
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"

readonly FRAMES=12
root=$(dirname "$0")/../..
models=''
for folder in "${DXP_MODELS:-}" "$root/models" "$root/../shared/models"; do
	[ ! -r "$folder/chelsea-227.ppm" ] || [ ! -r "$folder/squeezenet1.1.tflite" ] ||
		models=$folder
done
[ -n "$models" ] || { echo 'skipped: no SqueezeNet; DXP_MODELS names its folder'; exit 77; }
[ -x "$DXP_BIN/classify" ] || { echo "skipped: $DXP_BIN/classify is not built"; exit 77; }
photo=$models/chelsea-227.ppm

# Writes the frames of a camera, one after another.
copies() {
	local i
	for ((i = 0; i < FRAMES; i++)); do
		cat "$photo"
	done
}

# Writes a video without loss of colours, and decodes it as docs/guide/classify.md does.
decoded() {
	ffmpeg -v error -i "$scratch/video.avi" -c:v ppm -f image2pipe -
}

# watch SOURCE [OPTION...]: classifies the frames that SOURCE writes.
watch() {
	local source=$1
	shift
	"$source" | timeout 120 "$DXP_BIN/classify" --xpus xpu1,xpu2 --split pool5 --top 1 \
		--model "$models/squeezenet1.1.tflite" --labels "$models/labels-imagenet-1000.txt" \
		"$@" - >"$scratch/out" 2>&1
}

# stage_rates: both stages must have frames per second.
stage_rates() {
	grep -q '^stage .* frames/s ' "$scratch/out" || die "no frames/s: $(cat "$scratch/out")"
	awk '/^[01]  *xpu/ && $4 > 0 { good++ } END { exit good != 2 }' "$scratch/out" ||
		die "not a rate of each stage: $(cat "$scratch/out")"
	grep -Eq "then $FRAMES frames in .* frames/s, " "$scratch/out" ||
		die "no rate of the pipeline: $(cat "$scratch/out")"
}

# answers NUMBER: exactly so many frames must show the cat, with the known probability.
answers() {
	[ "$(grep -cE '^  +44\.8[67] %  ' "$scratch/out")" -eq "$1" ] ||
		die "not $1 answers: $(cat "$scratch/out")"
}

dxp up --xpus 2 --memory 64M --port 0

say '== frames of a camera'
watch copies || die "classify: $(cat "$scratch/out")"
answers $FRAMES
stage_rates
watch copies --depth 1 || die "classify --depth 1: $(cat "$scratch/out")"
answers $FRAMES

say '== a video'
if command -v ffmpeg >/dev/null; then
	copies | ffmpeg -v error -f image2pipe -c:v ppm -i - -c:v rawvideo -pix_fmt bgr24 \
		"$scratch/video.avi"
	watch decoded || die "classify of a video: $(cat "$scratch/out")"
	answers $FRAMES
	stage_rates
else
	left_out 'a video' 'there is no ffmpeg; apt install ffmpeg'
fi

say '== a stream that breaks'
half() { head -c 200000 < <(copies); }
status=0
watch half || status=$?
[ $status -ne 0 ] || die "a frame cut short ended with 0: $(cat "$scratch/out")"
expect 'the last frame is cut short' "$scratch/out"
dxp down
say passed
