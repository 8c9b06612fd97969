# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Helpers for scripts about OpenCL programs; source it after lib_fabric.sh.
#
# `oracle COMMAND...` runs the command on two devices of this machine's PoCL.
# `driver COMMAND...` runs the command only on the platform of libdxp-opencl.so.
#
# The oracle's devices use threads, because PoCL's `basic` device cannot wait for user events.
# Compiled kernels are cached in the build folder.
without_opencl() {
	say "skipped: $*"
	exit 77
}

OPENCL_DRIVER=${OPENCL_DRIVER:-$DXP_BIN/../lib/libdxp-opencl.so}
OPENCL_TESTS=$DXP_BIN/../test/opencl
for icd in "${OPENCL_POCL:-}" /etc/OpenCL/vendors/pocl.icd; do
	[ ! -r "$icd" ] || break
done
OPENCL_POCL=$icd
[ -r "$OPENCL_POCL" ] || without_opencl 'no PoCL to compare with; try: apt install pocl-opencl-icd'
[ -r "$OPENCL_DRIVER" ] || without_opencl "$OPENCL_DRIVER is not built"
readonly OPENCL_DRIVER OPENCL_TESTS OPENCL_POCL

oracle() {
	POCL_CACHE_DIR=$OPENCL_TESTS/cache POCL_DEVICES=${ORACLE_DEVICES:-pthread pthread} \
		OCL_ICD_VENDORS=$OPENCL_POCL "$@"
}

driver() {
	OCL_ICD_VENDORS=$OPENCL_DRIVER "$@"
}
