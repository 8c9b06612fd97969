#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs OpenCL programs of Debian, unmodified, on two nodes. Their output must equal the output on
# this machine's PoCL. Missing programs are skipped; tools/setup opencl installs all.
#
#   program --- OpenCL loader --- libdxp-opencl.so --- 127.0.0.1 --- dxpd: xpu1   dxpd: xpu2
#
#   opencl_programs.sh [--engine NAME] [PROGRAM]...   default: clinfo ffmpeg classify, on ocl
#   opencl_programs.sh long             those that compile for long: clblast clfft wlangenpmk clpeak
#                                       pyopencl hashcat gegl starpu
#   opencl_programs.sh --engine rv32 clinfo clblast clfft clpeak wlangenpmk classify hashcat
# shellcheck source=test/net/lib_fabric.sh
. "$(dirname "$0")/lib_fabric.sh"
# shellcheck source=test/net/lib_opencl.sh
. "$(dirname "$0")/lib_opencl.sh"

engine=ocl
if [ "${1:-}" = --engine ]; then
	engine=$2
	shift 2
fi
readonly engine
# hashcat measures its kernels for minutes on one core of rv32
limit=200
[ "$engine" = ocl ] || limit=800
readonly limit
[ $# -gt 0 ] || set -- clinfo ffmpeg classify
[ "$1" != long ] || set -- clblast clfft wlangenpmk clpeak pyopencl hashcat gegl starpu
python=$(cd "$(dirname "$0")/../opencl/python" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
readonly python root
export HOME=$scratch # also removes the caches of programs at exit
# Keeps compiled kernels, also the nodes', between runs.
export POCL_CACHE_DIR=$OPENCL_TESTS/cache PYOPENCL_NO_CACHE=1
missing=0

# there PROGRAM: succeeds if the program is installed.
there() {
	! command -v "$1" >/dev/null || return 0
	left_out "$1" 'not installed; tools/setup opencl'
	missing=$((missing + 1))
	return 1
}

# same NAME COMMAND...: output must be the same on PoCL and the plugin.
same() {
	local name=$1
	shift
	oracle timeout 100 "$@" >"$scratch/oracle" 2>"$scratch/errors" ||
		die "$name on PoCL: $(tail -n 5 "$scratch/errors")"
	driver timeout 100 "$@" >"$scratch/dxp" 2>"$scratch/errors" ||
		die "$name: $(tail -n 5 "$scratch/errors")"
	[ -s "$scratch/dxp" ] || die "$name printed nothing"
	diff "$scratch/oracle" "$scratch/dxp" || die "the output of $name differs (<: PoCL)"
	say "ok: $name: $(wc -l <"$scratch/dxp") lines are the same"
}

# alone NAME TEXT COMMAND...: the output on the plugin must contain the text.
alone() {
	local name=$1 text=$2
	shift 2
	driver timeout $limit "$@" >"$scratch/dxp" 2>&1 ||
		die "$name ends $?: $(tail -n 5 "$scratch/dxp")"
	grep -Eq -- "$text" "$scratch/dxp" ||
		die "$name does not print '$text': $(tail -n 15 "$scratch/dxp")"
	say "ok: $name: $(grep -E -- "$text" "$scratch/dxp" | tail -n 1)"
}

run_clinfo() {
	there clinfo || return 0
	alone clinfo 'Device #1: .*xpu2' clinfo -l
	alone 'clinfo, all of it' 'Number of devices +2' clinfo
	! grep -E 'CL_INVALID|error|N/A.*ILLEGAL' "$scratch/dxp" || die 'clinfo met errors'
}

run_clpeak() {
	there clpeak || return 0
	alone clpeak 'Kernel launch latency *: [0-9.]+ us' clpeak --kernel-latency
}

run_pyopencl() {
	if ! /usr/bin/python3 -c 'import pyopencl' 2>/dev/null; then
		there python3-pyopencl || return 0
	fi
	same 'pyopencl, arrays' /usr/bin/python3 -W ignore "$python/arrays.py"
	same 'pyopencl, commands' /usr/bin/python3 -W ignore "$python/commands.py"
}

# filter DEVICE CHAIN: compares all frames' checksums of an ffmpeg filter chain.
filter() {
	local device=$1 chain=$2
	same "ffmpeg, $chain on device $device" ffmpeg -nostdin -loglevel error \
		-init_hw_device "opencl=ocl:0.$device" -filter_hw_device ocl -f lavfi \
		-i testsrc=s=160x96:r=10:d=0.5 \
		-vf "format=yuv420p,hwupload,$chain,hwdownload,format=yuv420p" -f framemd5 -
}

run_ffmpeg() {
	there ffmpeg || return 0
	filter 0 boxblur_opencl=luma_radius=3
	filter 1 unsharp_opencl,avgblur_opencl=3
}

run_clblast() {
	there clblast_test_xaxpy || return 0
	alone CLBlast ' 0 test\(s\) failed|0 errors|all passed|passed' \
		clblast_test_xaxpy -platform 0 -device 1
	! grep -E '[1-9][0-9]* test.* failed' "$scratch/dxp" || die 'CLBlast failed'
}

run_clfft() {
	there clFFT-client || return 0
	alone clFFT 'gflops' clFFT-client -x 1024 -b 16 -p 3
}

# Our example in plain OpenCL, with a network split in two. Other software computed the expected
# answers.
run_classify() {
	local folder models='' photo
	for folder in "${DXP_MODELS:-}" "$root/models" "$root/../shared/models"; do
		[ ! -r "$folder/chelsea-227.prob.bin" ] || models=$folder
	done
	if [ -z "$models" ]; then
		left_out classify 'there is no model with answers; DXP_MODELS names its folder'
		missing=$((missing + 1))
		return 0
	fi
	photo=$models/chelsea-227.ppm
	alone 'classify_opencl' 'chelsea.*44.86 %' classify_opencl --output "$scratch/answer" \
		"$models/squeezenet1.1.tflite" "$photo" "$photo" "$photo"
	paste <(od -An -v -tf4 -w4 "$scratch/answer") \
		<(for _ in 1 2 3; do od -An -v -tf4 -w4 "$models/chelsea-227.prob.bin"; done) |
		awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > most) most = d }
			END { exit !(NR == 3000 && most < 0.00001) }' ||
		die 'classify_opencl computes other probabilities'
}

# hashcat finds a known password, and caches kernel binaries.
run_hashcat() {
	local hash
	there hashcat || return 0
	hash=$(printf dxpu | md5sum | cut -d ' ' -f 1)
	alone hashcat "$hash:dxpu" hashcat --force -m 0 -a 3 --potfile-disable -O --quiet \
		"$hash" '?l?l?l?l'
}

# Computes keys of a wireless network from passwords.
run_wlangenpmk() {
	there wlangenpmkocl || return 0
	seq -f 'password%g' 1 100 >"$scratch/words"
	# The inner shell expands the text in single quotes.
	# shellcheck disable=SC2016
	same wlangenpmkocl bash -c 'wlangenpmkocl -e testnet -i "$1" | sort' - "$scratch/words"
}

# GEGL, by an operation with other bits under OpenCL.
run_gegl() {
	there gegl || return 0
	{
		printf 'P6\n160 96\n255\n'
		seq 10000 17679 # 160 * 96 * 3 bytes, 6 in a line
	} >"$scratch/in.ppm"
	# shellcheck disable=SC2016
	same gegl env GEGL_USE_OPENCL=cpu bash -c \
		'gegl "$1/in.ppm" -o "$1/o.png" -- gegl:box-blur radius=3 && md5sum <"$1/o.png"' \
		- "$scratch"
}

# Runs tasks of StarPU; none may run on the host's processor.
run_starpu() {
	local example
	for example in /usr/lib/*/starpu/examples/vector_scal; do
		[ -x "$example" ] || { there starpu-examples || return 0; }
	done
	# StarPU's transfer hints are removed: they depend on its calibration of the machine.
	# shellcheck disable=SC2016
	same StarPU env STARPU_NCPU=0 STARPU_NCUDA=0 STARPU_OPENCL_ON_CPUS=1 \
		STARPU_HOME="$scratch" bash -c \
		'"$0" 2>&1 | grep -Ev "^\[starpu\]|^For proper asynchronous"' "$example"
}

dxp up --xpus 2 --memory 4G --port 0 --engine "$engine" # hashcat needs this much memory
for program; do
	begin=$SECONDS
	"run_$program"
	say "$program took $((SECONDS - begin)) s"
done
dxp down
[ $missing -lt $# ] || without_opencl 'none of these programs is installed'
say "passed: $(($# - missing)) programs"
