/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds two vectors on the first xPU that this host may use.
 *
 *   dxp up && build/bin/hello_xpu; dxp down
 *   cc hello_xpu.c $(pkg-config --cflags --libs dxp) */
#include <stdio.h>
#include <stdlib.h>

#include <dxp/mmd.h>

#define COUNT 65536

static const char source[] =
	"kernel void add(global const float *a, global const float *b, global float *c)\n"
	"{\n"
	"	size_t i = get_global_id(0);\n"
	"	c[i] = a[i] + b[i];\n"
	"}\n";

static float a[COUNT], b[COUNT], c[COUNT];

static void check(int status, const char *what)
{
	if (status >= 0)
		return;
	fprintf(stderr, "hello_xpu: %s: %s\n", what, dxp_fabric_error(NULL));
	exit(1);
}

static struct dxp_xpu *open_first(struct dxp_fabric *fabric)
{
	struct dxp_node_info nodes[64];
	struct dxp_xpu *xpu;
	int count = dxp_fabric_nodes(fabric, nodes, 64);

	check(count, "list nodes");
	for (int i = 0; i < count && i < 64; i++) {
		if (nodes[i].kind != DXP_NODE_XPU || !nodes[i].alive || !nodes[i].granted)
			continue;
		check(dxp_xpu_open(fabric, nodes[i].name, &xpu), "open the xPU");
		return xpu;
	}
	fputs("hello_xpu: this fabric has no xPU; start some with `dxp up`\n", stderr);
	exit(1);
}

static int output_lost(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	perror("hello_xpu: standard output");
	return 1;
}

int main(void)
{
	struct dxp_fabric *fabric;
	struct dxp_program *program;
	struct dxp_xpu_caps caps;
	uint64_t in_a, in_b, out;
	dxp_event event;

	check(dxp_fabric_open(NULL, &fabric), "join");
	struct dxp_xpu *xpu = open_first(fabric);
	check(dxp_xpu_caps(xpu, &caps), "query of the capabilities");
	check(dxp_program_build(xpu, source, NULL, &program), "build");

	for (int i = 0; i < COUNT; i++) {
		a[i] = (float)i;
		b[i] = (float)(2 * i);
	}
	check(dxp_mem_alloc(xpu, sizeof(a), &in_a), "allocate");
	check(dxp_mem_alloc(xpu, sizeof(b), &in_b), "allocate");
	check(dxp_mem_alloc(xpu, sizeof(c), &out), "allocate");
	check(dxp_mem_write(xpu, in_a, a, sizeof(a)), "write");
	check(dxp_mem_write(xpu, in_b, b, sizeof(b)), "write");

	const struct dxp_argument arguments[] = {{.kind = DXP_ARGUMENT_BUFFER, .address = in_a},
						 {.kind = DXP_ARGUMENT_BUFFER, .address = in_b},
						 {.kind = DXP_ARGUMENT_BUFFER, .address = out}};
	const struct dxp_launch launch = {.program = program,
					  .kernel = "add",
					  .dimensions = 1,
					  .global = {COUNT},
					  .arguments = arguments,
					  .argument_count = 3};
	check(dxp_run(xpu, &launch, &event), "run");
	check(dxp_event_wait(fabric, event, 5000000000ull, NULL), "wait");
	check(dxp_mem_read(xpu, c, out, sizeof(c)), "read");

	int wrong = 0;
	for (int i = 0; i < COUNT; i++)
		wrong += c[i] != a[i] + b[i];
	printf("%s (%s) added %d pairs of numbers, %d errors\n", caps.name, caps.device, COUNT,
	       wrong);

	dxp_program_release(program);
	dxp_xpu_close(xpu);
	dxp_fabric_close(fabric);
	return output_lost() || wrong != 0;
}
