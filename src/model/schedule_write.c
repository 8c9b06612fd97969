/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes what schedule_read.c can read. */
#include <stdio.h>

#include <dxp/status.h>

#include "model/schedule.h"

#define LINE_BYTES 160 /* at most four numbers of 20 digits */

struct writer {
	bool (*write)(void *context, const char *text, size_t bytes);
	void *context;
	bool failed;
};

static void put(struct writer *w, const char *line, int bytes)
{
	if (!w->failed)
		w->failed = !w->write(w->context, line, (size_t)bytes);
}

static void op_put(struct writer *w, const struct model_task *op, uint32_t index)
{
	unsigned long long bytes = op->bytes;
	char line[LINE_BYTES];
	int length;

	if (op->kind == MODEL_CALC)
		length = snprintf(line, sizeof(line), "  o%u: calc %llu\n", index, bytes / 1000);
	else
		length = snprintf(line, sizeof(line), "  o%u: %s %llub %s %u tag %u\n", index,
				  op->kind == MODEL_SEND ? "send" : "recv", bytes,
				  op->kind == MODEL_SEND ? "to" : "from", op->peer, op->tag);
	put(w, line, length);
}

/* Writes what requires operation `index` of a rank. */
static void requirements_put(struct writer *w, const struct model_schedule *s, uint32_t rank,
			     uint32_t index, uint32_t count)
{
	const struct model_requirements *q = s->requirements;
	char line[LINE_BYTES];

	if (!q && index + 1 < count)
		put(w, line,
		    snprintf(line, sizeof(line), "  o%u requires o%u\n", index + 1, index));
	if (!q)
		return;
	uint32_t all = q->first[rank] + index;
	for (uint32_t i = q->next[all]; i < q->next[all + 1]; i++)
		put(w, line,
		    snprintf(line, sizeof(line), "  o%u requires o%u\n",
			     q->after[i] - q->first[rank], index));
}

int model_schedule_write(const struct model_schedule *s,
			 bool (*write)(void *context, const char *text, size_t bytes),
			 void *context)
{
	struct writer w = {.write = write, .context = context};
	char line[LINE_BYTES];

	put(&w, line, snprintf(line, sizeof(line), "ranks %u\n", s->ranks));
	for (uint32_t rank = 0; rank < s->ranks && !w.failed; rank++) {
		uint32_t count = s->count(s, rank);
		if (count == 0)
			continue;
		put(&w, line, snprintf(line, sizeof(line), "rank %u {\n", rank));
		for (uint32_t i = 0; i < count && !w.failed; i++) {
			struct model_task op;
			s->op(s, rank, i, &op);
			op_put(&w, &op, i);
		}
		for (uint32_t i = 0; i < count && !w.failed; i++)
			requirements_put(&w, s, rank, i, count);
		put(&w, "}\n", 2);
	}
	return w.failed ? DXP_EIO : DXP_OK;
}
