/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of `dxp bench rv32`. Values are small whole numbers, so all devices compute the same bits
 * in any order. */
#include "bench/rv32.h"

#define PARAMETERS "(global const float *a, global const float *b, global float *c, uint n)"
#define SERIAL(name)                                                        \
	"kernel void " #name "_serial" PARAMETERS " {\n"                    \
	"	for (uint y = 0; y < n; y++)\n"                                   \
	"		for (uint x = 0; x < n; x++) c[y * n + x] = " #name \
	"_item(a, b, n, x, y); }\n"

const char rv32_bench_kernels[] =
	"float matmul_item(global const float *a, global const float *b, uint n, uint x, uint y) "
	"{\n"
	"	float sum = 0;\n"
	"	for (uint k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];\n"
	"	return sum; }\n"
	"kernel void matmul" PARAMETERS " {\n"
	"	const uint x = get_global_id(0), y = get_global_id(1);\n"
	"	c[y * n + x] = matmul_item(a, b, n, x, y); }\n" SERIAL(matmul)
	/* 3 x 3 filter over 8 planes, each one row after the previous */
	"float conv_item(global const float *a, global const float *b, uint n, uint x, uint y) {\n"
	"	float sum = 0;\n"
	"	for (uint p = 0; p < 8; p++)\n"
	"		for (uint v = 0; v < 3; v++)\n"
	"			for (uint u = 0; u < 3; u++)\n"
	"				sum += a[(y + v + p) * n + x + u] * b[p * 9 + v * 3 + u];\n"
	"	return sum; }\n"
	"kernel void conv" PARAMETERS " {\n"
	"	const uint x = get_global_id(0), y = get_global_id(1);\n"
	"	c[y * n + x] = conv_item(a, b, n, x, y); }\n" SERIAL(conv)
	/* steps of the Collatz sequence */
	"float collatz_item(global const float *a, global const float *b, uint n, uint x, uint y) "
	"{\n"
	"	uint v = y * n + x + 1, steps = 0;\n"
	"	for (; v != 1; steps++) v = v & 1 ? 3 * v + 1 : v >> 1;\n"
	"	return steps; }\n"
	"kernel void collatz" PARAMETERS " {\n"
	"	const uint x = get_global_id(0), y = get_global_id(1);\n"
	"	c[y * n + x] = collatz_item(a, b, n, x, y); }\n" SERIAL(
		collatz) "kernel void reduce" PARAMETERS " {\n"
			 "	local float part[256];\n"
			 "	const uint i = get_local_id(0), all = get_global_size(0);\n"
			 "	float sum = 0;\n"
			 "	for (uint k = get_global_id(0); k < n * n; k += all) sum += a[k];\n"
			 "	part[i] = sum;\n"
			 "	barrier(CLK_LOCAL_MEM_FENCE);\n"
			 "	for (uint step = 128; step; step >>= 1) {\n"
			 "		if (i < step) part[i] += part[i + step];\n"
			 "		barrier(CLK_LOCAL_MEM_FENCE); }\n"
			 "	if (i == 0) c[get_group_id(0)] = part[0]; }\n"
			 "kernel void tiles" PARAMETERS " {\n"
			 "	local float s[16][16], t[16][16];\n"
			 "	const uint x = get_global_id(0), y = get_global_id(1);\n"
			 "	const uint i = get_local_id(0), j = get_local_id(1);\n"
			 "	float sum = 0;\n"
			 "	for (uint k = 0; k < n; k += 16) {\n"
			 "		s[j][i] = a[y * n + k + i];\n"
			 "		t[j][i] = b[(k + j) * n + x];\n"
			 "		barrier(CLK_LOCAL_MEM_FENCE);\n"
			 "		for (uint q = 0; q < 16; q++) sum += s[j][q] * t[q][i];\n"
			 "		barrier(CLK_LOCAL_MEM_FENCE); }\n"
			 "	c[y * n + x] = sum; }\n"
			 "kernel void none_serial" PARAMETERS " {}\n";

/* Kernels that post `count` times and act as the NIC: they free the descriptor after each post. `p`
 * receives the instructions of the posts alone. `none` is the loop without a post. */
#define POST_HEAD(name)                                      \
	"kernel void " name "(global struct dxp_window *w, " \
	"global uint *p, uint count) {\n"                    \
	"	struct dxp_target to = {.node = 5, .function = 3, .qp = 1, .magic = 7};\n"
#define POST_LOOP                               \
	"	uint sum = 0;\n"                      \
	"	for (uint i = 0; i < count; i++) {\n" \
	"		int status = 0;\n"                   \
	"		uint begin = instructions();\n"
#define POST_COUNT                               \
	"		sum += instructions() - begin - 1;\n" \
	"		p[1] += status == 0;\n"
#define POST_TAIL "	}\n	p[0] = sum; }\n"

const char rv32_bench_posts[] =
	"#include <dxp/rv32.h>\n"
	"uint instructions(void) {\n"
	"	uint n;\n"
	"	__asm__ volatile(\"csrr %0, 0xc02\" : \"=r\"(n) : : \"memory\");\n"
	"	return n; }\n"
	/* none */
	POST_HEAD("none") POST_LOOP POST_COUNT "w->consumer = w->producer;\n" POST_TAIL
		/* ring */
		POST_HEAD("ring") "struct dxp_entry own = {0, 4, 9}, far = {0, 4, 8};\n" POST_LOOP
				  "status = dxp_post_put(w, 0, &to, &own, &far, 0, 0, "
				  "1);\n" POST_COUNT "w->consumer = w->producer;\n" POST_TAIL
					  /* registers */
					  POST_HEAD("registers") POST_LOOP
	"status = dxp_register_send(w, 0, &to, 4096, 4);\n" POST_COUNT
	"w->registers.send_done = w->registers.send_go;\n" POST_TAIL
		/* instruction */
		POST_HEAD("instruction") "dxp_insn_peer_set(&to, 0); dxp_insn_keys_set(9, 0, 8); "
					 "dxp_insn_remote_set(0);\n" POST_LOOP
					 "status = dxp_insn_put(p, 4);\n" POST_COUNT
					 "w->consumer = w->producer;\n" POST_TAIL;
