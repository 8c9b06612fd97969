/* SPDX-License-Identifier: BSD-3-Clause */
#include "side.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_put.h"

#define WAIT_NS 120000000000ull

const struct shape shape = {.width = 512, .height = 512, .rows = 8, .blocks = 64};
const struct dxp_argument the_nic = {.kind = DXP_ARGUMENT_NIC};

void check(int status, const char *what)
{
	if (status >= 0)
		return;
	fprintf(stderr, "kernel_put: %s: %s\n", what, dxp_fabric_error(NULL));
	exit(1);
}

int output_lost(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	perror("kernel_put: standard output");
	return 1;
}

/* ---- xPU ---- */

static const char *xpu_choose(struct dxp_fabric *fabric, const struct side *other)
{
	static struct dxp_node_info nodes[256];
	int count = dxp_fabric_nodes(fabric, nodes, 256);

	check(count, "list nodes");
	for (int i = 0; i < count && i < 256; i++)
		if (nodes[i].kind == DXP_NODE_XPU && nodes[i].alive && nodes[i].granted &&
		    (!other || strcmp(nodes[i].name, other->name) != 0))
			return strdup(nodes[i].name);
	fprintf(stderr, "kernel_put: two xPUs are needed; start them with `dxp up --xpus 2`\n");
	exit(1);
}

void side_open(struct dxp_fabric *fabric, struct side *s, const struct side *other)
{
	s->fabric = fabric;
	if (!s->name)
		s->name = xpu_choose(fabric, other);
	check(dxp_xpu_open(fabric, s->name, &s->xpu), "open");
	int status = dxp_program_build(s->xpu, kernel_source, NULL, &s->program);
	if (status == DXP_EBUILD)
		fprintf(stderr, "%s", dxp_program_log(s->program));
	check(status, "build");
	check(dxp_xpu_nic(s->xpu, &s->nic), "open the NIC");
	/* The counter of --nic-answers follows the picture. */
	check(dxp_mem_alloc(s->xpu, PICTURE_BYTES + sizeof(uint64_t), &s->image), "allocate");
	check(dxp_mem_alloc(s->xpu, sizeof(struct report), &s->report), "allocate");
}

void side_close(struct side *s)
{
	dxp_program_release(s->program);
	dxp_xpu_close(s->xpu);
}

struct dxp_target side_target(const struct side *s)
{
	return (struct dxp_target){.node = s->nic.node,
				   .function = s->nic.function,
				   .qp = 0,
				   .magic = s->nic.qp_magic[0]};
}

struct dxp_entry side_image(const struct side *s)
{
	return (struct dxp_entry){
		.offset = s->image, .bytes = PICTURE_BYTES, .key = s->nic.memory_key};
}

/* ---- kernels ---- */

struct dxp_argument value(const void *from, uint32_t bytes)
{
	struct dxp_argument a = {.kind = DXP_ARGUMENT_BYTES, .bytes = bytes};

	memcpy(a.value, from, bytes);
	return a;
}

struct dxp_argument buffer(uint64_t address)
{
	return (struct dxp_argument){.kind = DXP_ARGUMENT_BUFFER, .address = address};
}

void side_start(struct side *s, const char *kernel, const struct dxp_argument *arguments,
		uint32_t count)
{
	const struct dxp_launch launch = {.program = s->program,
					  .kernel = kernel,
					  .dimensions = 1,
					  .global = {1},
					  .arguments = arguments,
					  .argument_count = count};

	check(dxp_run(s->xpu, &launch, &s->event), "run");
}

void report_check(const struct report *r, const char *where)
{
	if (!r->failed)
		return;
	fprintf(stderr, "kernel_put: the kernel on %s stopped after %u blocks: %s\n", where,
		r->blocks, dxp_status_text(-(int)r->failed));
	exit(1);
}

void side_finish(struct side *s)
{
	check(dxp_event_wait(s->fabric, s->event, WAIT_NS, &s->times), s->name);
	check(dxp_mem_read(s->xpu, &s->result, s->report, sizeof(s->result)), "read the report");
	report_check(&s->result, s->name);
}

void receiver_start(struct side *s, struct dxp_target peer)
{
	const struct dxp_argument arguments[] = {the_nic, buffer(s->image), buffer(s->report),
						 VALUE(shape), VALUE(peer)};

	side_start(s, "receive", arguments, 5);
}

/* ---- verification ---- */

/* Returns the points in the set. */
static uint32_t picture_compute(uint8_t *picture)
{
	uint32_t inside = 0;

	for (uint32_t block = 0; block < shape.blocks; block++) {
		block_compute(&shape, block, picture, 0, 1);
		inside += block_count(&shape, block, picture);
	}
	return inside;
}

static void picture_show(const uint8_t *picture)
{
	static const char shades[] = " .:-=+*%#";

	for (uint32_t y = 0; y < shape.height; y += 32) {
		for (uint32_t x = 0; x < shape.width; x += 10) {
			uint32_t steps = picture[y * shape.width + x];
			putchar(steps == STEPS_MAX ? '@' : shades[steps < 9 ? steps : 8]);
		}
		putchar('\n');
	}
}

int picture_check(const char *from, const struct report *sent, double ms, const struct side *to,
		  bool nic_answers)
{
	static uint8_t there[PICTURE_BYTES], own[PICTURE_BYTES];
	uint32_t inside = picture_compute(own);
	uint64_t expected = nic_answers ? shape.blocks : inside;

	check(dxp_mem_read(to->xpu, there, to->image, sizeof(there)), "read the picture");
	bool same = memcmp(there, own, sizeof(own)) == 0;
	picture_show(there);
	printf("%s computed %u blocks and sent each while it computed the next (%u arrived before "
	       "the last was computed), in %.1f ms\n",
	       from, sent->blocks, sent->early, ms);
	printf("%s answered %llu %s; expected %llu; the picture there is %s\n", to->name,
	       (unsigned long long)sent->answer,
	       nic_answers ? "blocks (its NIC, no kernel)" : "points in the set (its kernel)",
	       (unsigned long long)expected, same ? "right" : "WRONG");
	return same && sent->answer == expected ? 0 : 1;
}
