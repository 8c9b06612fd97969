/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel that sends while it runs: computes a picture on one xPU, PUTs each finished block to a
 * second, and awaits its kernel's answer. The host only starts both kernels and reads the results.
 *
 *   dxp up --xpus 2 && build/bin/kernel_put; dxp down
 *
 *   kernel_put [--nic-answers] [SENDER RECEIVER]   --nic-answers: no kernel on the receiver, its
 *                                                  NIC answers
 *   kernel_put --rings N [SENDER]                  measure a doorbell; send no picture */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "side.h"

struct wishes {
	bool nic_answers;
	uint32_t rings;
};

static double ms_of(const struct side *s)
{
	return (double)(s->times.ended_ns - s->times.started_ns) / 1e6;
}

static void sender_start(struct side *from, const struct side *to, int nic_answers)
{
	const struct dxp_target peer = side_target(to);
	const struct dxp_entry source = side_image(from), destination = side_image(to);
	const struct dxp_argument arguments[] = {
		the_nic,     buffer(from->image), buffer(from->report), VALUE(shape),
		VALUE(peer), VALUE(source),       VALUE(destination),   VALUE(nic_answers)};

	side_start(from, "send", arguments, 8);
}

static int picture_send(struct side *from, struct side *to, bool nic_answers)
{
	if (!nic_answers)
		receiver_start(to, side_target(from));
	sender_start(from, to, nic_answers);
	side_finish(from);
	if (!nic_answers)
		side_finish(to);
	return picture_check(from->name, &from->result, ms_of(from), to, nic_answers);
}

static int rings(struct side *s, uint32_t count)
{
	const struct dxp_target self = {
		.node = 0, .function = s->nic.function, .magic = s->nic.qp_magic[0]};
	struct dxp_entry from = side_image(s), to = side_image(s);

	from.bytes = to.bytes = 8;
	to.offset += 8;
	const struct dxp_argument arguments[] = {the_nic,     buffer(s->report), VALUE(count),
						 VALUE(self), VALUE(from),       VALUE(to)};
	side_start(s, "rings", arguments, 6);
	side_finish(s);
	printf("%u doorbells of a kernel on %s, each with its completion: %.0f ns each\n",
	       s->result.blocks, s->name, 1e6 * ms_of(s) / s->result.blocks);
	return 0;
}

static void usage(int status)
{
	fprintf(status ? stderr : stdout, "usage: kernel_put [--nic-answers] [SENDER RECEIVER]\n"
					  "       kernel_put --rings N [SENDER]\n");
	exit(output_lost() ? 1 : status);
}

static struct wishes options_read(int argc, char **argv, struct side *from, struct side *to)
{
	static const struct option options[] = {{"nic-answers", no_argument, NULL, 'a'},
						{"rings", required_argument, NULL, 'r'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	struct wishes w = {0};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'a')
			w.nic_answers = true;
		else if (option == 'r')
			w.rings = (uint32_t)strtoul(optarg, NULL, 10);
		if (option == 'h')
			usage(0);
		if (option == '?' || (option == 'r' && w.rings == 0))
			usage(2);
	}
	int names = argc - optind;
	if (names != 0 && names != (w.rings ? 1 : 2))
		usage(2);
	from->name = names > 0 ? argv[optind] : NULL;
	to->name = names > 1 ? argv[optind + 1] : NULL;
	if (names > 1 && strcmp(from->name, to->name) == 0)
		usage(2);
	return w;
}

int main(int argc, char **argv)
{
	struct side from = {0}, to = {0};
	struct wishes w = options_read(argc, argv, &from, &to);
	struct dxp_fabric *fabric;
	int wrong;

	check(dxp_fabric_open(NULL, &fabric), "join");
	side_open(fabric, &from, NULL);
	if (w.rings) {
		wrong = rings(&from, w.rings);
	} else {
		side_open(fabric, &to, &from);
		wrong = picture_send(&from, &to, w.nic_answers);
		side_close(&to);
	}
	side_close(&from);
	dxp_fabric_close(fabric);
	return output_lost() || wrong;
}
