/* SPDX-License-Identifier: BSD-3-Clause */
/* An xPU with this example's kernels, and the expected picture. Errors exit with a message. */
#ifndef KERNEL_PUT_SIDE_H
#define KERNEL_PUT_SIDE_H

#include <dxp/mmd.h>

#include "blocks.h"

#define PICTURE_BYTES (512 * 512)
extern const struct shape shape;

struct side {
	const char *name; /* NULL: any xPU */
	struct dxp_fabric *fabric;
	struct dxp_xpu *xpu;
	struct dxp_program *program;
	struct dxp_xpu_nic nic;
	uint64_t image, report; /* device addresses */
	dxp_event event;
	struct report result;
	struct dxp_event_times times;
};

/* Exits with a message if `status` is negative. */
void check(int status, const char *what);

/* Returns 1, after a message, if standard output lost text, else 0. */
int output_lost(void);

/* Opens xPU s->name; NULL: any but that of `other`, which may be NULL. */
void side_open(struct dxp_fabric *fabric, struct side *s, const struct side *other);
void side_close(struct side *s);

struct dxp_argument value(const void *from, uint32_t bytes);
#define VALUE(v) value(&(v), sizeof(v))
struct dxp_argument buffer(uint64_t address);
extern const struct dxp_argument the_nic;

/* Addresses for peers. */
struct dxp_target side_target(const struct side *s);
struct dxp_entry side_image(const struct side *s);

void side_start(struct side *s, const char *kernel, const struct dxp_argument *arguments,
		uint32_t count);
void side_finish(struct side *s);
void report_check(const struct report *r, const char *where);

void receiver_start(struct side *s, struct dxp_target peer);

/* Prints the picture, and compares it and the answer with the host's. Returns 0 if both are right,
 * otherwise 1. */
int picture_check(const char *from, const struct report *sent, double ms, const struct side *to,
		  bool nic_answers);

#endif
