/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel that sends while it runs. One xPU computes a picture; its kernel PUTs each block into
 * the memory of a second xPU as soon as it is ready, goes on with the next, and waits for what the
 * kernel over there answers. The host starts both and reads the end: between that no code of any
 * host runs, and the two kernels talk through their NICs alone.
 *
 *   dxp up --xpus 2 && build/bin/kernel_put; dxp down
 *
 *   kernel_put [--nic-answers] [SENDER RECEIVER]   --nic-answers: no kernel on the receiver, its
 *                                                  NIC answers
 *   kernel_put --rings N [SENDER]                  how long a doorbell takes, and no picture */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/mmd.h>

#include "blocks.h"
#include "kernel_put.h"

#define WAIT_NS 120000000000ull

static const struct shape shape = {.width = 512, .height = 512, .rows = 8, .blocks = 64};
#define PICTURE_BYTES (512 * 512)

/* An xPU, and what our kernel has there. */
struct side {
	const char *name; /* NULL: any */
	struct dxp_xpu *xpu;
	struct dxp_program *program;
	struct dxp_xpu_nic nic;
	uint64_t image, report; /* device addresses */
	dxp_event event;
	struct report result;
	struct dxp_event_times times;
};

struct wishes {
	bool nic_answers;
	uint32_t rings;
};

static struct dxp_fabric *fabric;

static void check(int status, const char *what)
{
	if (status >= 0)
		return;
	fprintf(stderr, "kernel_put: %s: %s\n", what, dxp_fabric_error(NULL));
	exit(1);
}

/* ---- two xPUs ---- */

/* The first that is not taken by the other side. */
static const char *xpu_choose(const struct side *other)
{
	static struct dxp_node_info nodes[256];
	int count = dxp_fabric_nodes(fabric, nodes, 256);

	check(count, "list nodes");
	for (int i = 0; i < count && i < 256; i++)
		if (nodes[i].kind == DXP_NODE_XPU && nodes[i].alive && nodes[i].granted &&
		    (!other || strcmp(nodes[i].name, other->name) != 0))
			return strdup(nodes[i].name);
	fprintf(stderr, "kernel_put: two xPUs are needed; see `dxp up --xpus`\n");
	exit(1);
}

static void side_open(struct side *s, const struct side *other)
{
	if (!s->name)
		s->name = xpu_choose(other);
	check(dxp_xpu_open(fabric, s->name, &s->xpu), "open");
	int status = dxp_program_build(s->xpu, kernel_source, NULL, &s->program);
	if (status == DXP_EBUILD)
		fprintf(stderr, "%s", dxp_program_log(s->program));
	check(status, "build");
	check(dxp_xpu_nic(s->xpu, &s->nic), "open the NIC");
	/* The number that the NIC adds to lies behind the picture. */
	check(dxp_mem_alloc(s->xpu, PICTURE_BYTES + sizeof(uint64_t), &s->image), "allocate");
	check(dxp_mem_alloc(s->xpu, sizeof(struct report), &s->report), "allocate");
}

static void side_close(struct side *s)
{
	dxp_program_release(s->program);
	dxp_xpu_close(s->xpu);
}

/* ---- what the kernels are told ---- */

static struct dxp_argument value(const void *from, uint32_t bytes)
{
	struct dxp_argument a = {.kind = DXP_ARGUMENT_BYTES, .bytes = bytes};

	memcpy(a.value, from, bytes);
	return a;
}
#define VALUE(v) value(&(v), sizeof(v))

static struct dxp_argument buffer(uint64_t address)
{
	return (struct dxp_argument){.kind = DXP_ARGUMENT_BUFFER, .address = address};
}

static const struct dxp_argument the_nic = {.kind = DXP_ARGUMENT_NIC};

/* How the NIC function of a side is addressed. */
static struct dxp_target target_of(const struct side *s)
{
	return (struct dxp_target){.node = s->nic.node,
				   .function = s->nic.function,
				   .qp = 0,
				   .magic = s->nic.qp_magic[0]};
}

static struct dxp_entry image_of(const struct side *s)
{
	return (struct dxp_entry){
		.offset = s->image, .bytes = PICTURE_BYTES, .key = s->nic.memory_key};
}

static void start(struct side *s, const char *kernel, const struct dxp_argument *arguments,
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

static void finish(struct side *s)
{
	check(dxp_event_wait(fabric, s->event, WAIT_NS, &s->times), s->name);
	check(dxp_mem_read(s->xpu, &s->result, s->report, sizeof(s->result)), "read the report");
	if (!s->result.failed)
		return;
	fprintf(stderr, "kernel_put: the kernel on %s gave up after %u blocks: %s\n", s->name,
		s->result.blocks, dxp_status_text(-(int)s->result.failed));
	exit(1);
}

static void sender_start(struct side *from, const struct side *to, int nic_answers)
{
	const struct dxp_target peer = target_of(to);
	const struct dxp_entry source = image_of(from), destination = image_of(to);
	const struct dxp_argument arguments[] = {
		the_nic,     buffer(from->image), buffer(from->report), VALUE(shape),
		VALUE(peer), VALUE(source),       VALUE(destination),   VALUE(nic_answers)};

	start(from, "send", arguments, 8);
}

static void receiver_start(struct side *to, const struct side *from)
{
	const struct dxp_target peer = target_of(from);
	const struct dxp_argument arguments[] = {the_nic, buffer(to->image), buffer(to->report),
						 VALUE(shape), VALUE(peer)};

	start(to, "receive", arguments, 5);
}

/* ---- is it right? ---- */

/* Our own picture; returns how many points belong to the set. */
static uint32_t picture_compute(uint8_t *picture)
{
	uint32_t inside = 0;

	for (uint32_t block = 0; block < shape.blocks; block++) {
		block_compute(&shape, block, picture);
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

static int picture_check(const struct side *from, const struct side *to, bool nic_answers)
{
	static uint8_t there[PICTURE_BYTES], ours[PICTURE_BYTES];
	uint32_t inside = picture_compute(ours);
	uint64_t expected = nic_answers ? shape.blocks : inside;

	check(dxp_mem_read(to->xpu, there, to->image, sizeof(there)), "read the picture");
	bool same = memcmp(there, ours, sizeof(ours)) == 0;
	picture_show(there);
	printf("%s computed %u blocks, sent each while it computed the next (%u had arrived before "
	       "the last was ready), in %.1f ms\n",
	       from->name, from->result.blocks, from->result.early,
	       (double)(from->times.ended_ns - from->times.started_ns) / 1e6);
	printf("%s answered %llu %s; expected %llu; the picture there is %s\n", to->name,
	       (unsigned long long)from->result.answer,
	       nic_answers ? "blocks (its NIC, no kernel)" : "points in the set (its kernel)",
	       (unsigned long long)expected, same ? "right" : "WRONG");
	return same && from->result.answer == expected ? 0 : 1;
}

/* ---- the three things it does ---- */

static int picture_send(struct side *from, struct side *to, bool nic_answers)
{
	side_open(to, from);
	if (!nic_answers)
		receiver_start(to, from);
	sender_start(from, to, nic_answers);
	finish(from);
	if (!nic_answers)
		finish(to);
	int wrong = picture_check(from, to, nic_answers);
	side_close(to);
	return wrong;
}

static int rings(struct side *s, uint32_t count)
{
	const struct dxp_target self = {
		.node = 0, .function = s->nic.function, .magic = s->nic.qp_magic[0]};
	struct dxp_entry from = image_of(s), to = image_of(s);

	from.bytes = to.bytes = 8;
	to.offset += 8;
	const struct dxp_argument arguments[] = {the_nic,     buffer(s->report), VALUE(count),
						 VALUE(self), VALUE(from),       VALUE(to)};
	start(s, "rings", arguments, 6);
	finish(s);
	printf("%u doorbells of a kernel on %s, each waited for: %.0f ns each\n", s->result.blocks,
	       s->name, (double)(s->times.ended_ns - s->times.started_ns) / s->result.blocks);
	return 0;
}

static void usage(void)
{
	fprintf(stderr, "usage: kernel_put [--nic-answers] [SENDER RECEIVER]\n"
			"       kernel_put --rings N [SENDER]\n");
	exit(2);
}

static struct wishes options_read(int argc, char **argv, struct side *from, struct side *to)
{
	static const struct option options[] = {{"nic-answers", no_argument, NULL, 'a'},
						{"rings", required_argument, NULL, 'r'},
						{0}};
	struct wishes w = {0};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'a')
			w.nic_answers = true;
		else if (option == 'r')
			w.rings = (uint32_t)strtoul(optarg, NULL, 10);
		if (option == '?' || (option == 'r' && w.rings == 0))
			usage();
	}
	int names = argc - optind;
	if (names != 0 && names != (w.rings ? 1 : 2))
		usage();
	from->name = names > 0 ? argv[optind] : NULL;
	to->name = names > 1 ? argv[optind + 1] : NULL;
	if (names > 1 && strcmp(from->name, to->name) == 0)
		usage();
	return w;
}

int main(int argc, char **argv)
{
	struct side from = {0}, to = {0};
	struct wishes w = options_read(argc, argv, &from, &to);

	check(dxp_fabric_open(NULL, &fabric), "join");
	side_open(&from, NULL);
	int wrong = w.rings ? rings(&from, w.rings) : picture_send(&from, &to, w.nic_answers);
	side_close(&from);
	dxp_fabric_close(fabric);
	return wrong;
}
