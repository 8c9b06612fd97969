/* SPDX-License-Identifier: BSD-3-Clause */
/* Work of ranks: sends, receives and computations. A schedule is computed (collective.h,
 * allreduce.h; no memory per rank) or read from text (a graph of requirements).
 *
 * The text has one item per line; # starts a comment:
 *   ranks 4
 *   rank 0 {
 *     a: send 64b to 1 tag 7
 *     b: recv 64b from 1
 *     calc 250                      # nanoseconds
 *     b requires a                  # otherwise operations of a rank are independent
 *   }
 * Labels and tags are optional; the default tag is 0. */
#ifndef MODEL_SCHEDULE_H
#define MODEL_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* four times 4,096 hosts with 64 ranks */
#define MODEL_RANKS_MAX (1u << 20)
/* of a message: a second at 32 Gb/s */
#define MODEL_BYTES_MAX   (1ull << 32)
#define MODEL_CALC_NS_MAX 1000000000ull /* of one computation: 1 s */
/* from text: 128 MiB of memory */
#define MODEL_TEXT_OPS_MAX (1u << 22)

enum model_op_kind { MODEL_SEND, MODEL_RECEIVE, MODEL_CALC };

struct model_task {
	uint64_t bytes; /* MODEL_CALC: ps */
	uint32_t peer;
	uint32_t tag;
	enum model_op_kind kind;
};

/* Requirements of a schedule read from text. Operations are numbered over all ranks. */
struct model_requirements {
	/* by rank, its first operation; ranks + 1 entries */
	uint32_t *first;
	/* by operation: number of requirements */
	uint32_t *unmet;
	/* after[next[i]] .. after[next[i + 1] - 1] require operation i */
	uint32_t *next;
	uint32_t *after;
};

struct model_schedule {
	uint32_t ranks;
	/* Operations of a rank. */
	uint32_t (*count)(const struct model_schedule *s, uint32_t rank);
	void (*op)(const struct model_schedule *s, uint32_t rank, uint32_t index,
		   struct model_task *out);
	/* NULL: each requires the one before it */
	const struct model_requirements *requirements;
};

/* Read from text. */
struct model_text_schedule {
	struct model_schedule schedule; /* must be first */
	struct model_requirements requirements;
	struct model_task *ops;
};

/* Reads a text. DXP_ENOMEM; DXP_EINVAL: error_text() has the line and the reason. */
int model_schedule_read(const char *text, size_t text_bytes, struct model_text_schedule **out);
void model_schedule_destroy(struct model_text_schedule *s);

/* Writes a text in pieces. DXP_EIO: `write` returned false. */
int model_schedule_write(const struct model_schedule *s,
			 bool (*write)(void *context, const char *text, size_t bytes),
			 void *context);

#endif
