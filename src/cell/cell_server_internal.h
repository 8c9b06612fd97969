/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by cell_server.c, cell_launch.c and cell_build.c. */
#ifndef CELL_SERVER_INTERNAL_H
#define CELL_SERVER_INTERNAL_H

#include "cell/cell_server.h"

struct cell_built {
	struct cell_built *next;
	uint32_t id;
	struct engine_program *handle;
};

#define CELL_BUCKETS 4096 /* hash chains, 32 KiB: short also for thousands of programs */

struct cell_server {
	struct cell_server_options options;
	struct cell_side orders, answers;
	struct cell_built *programs[CELL_BUCKETS]; /* by the low bits of their ids */
	uint8_t *package;                          /* of the next BUILD, or NULL */
	size_t package_bytes;
	/* Ring of events of failed orders: holds as many as can be under way at once. */
	uint64_t failed[XPU_WORK_MAX];
	uint32_t failed_next;
	char text[ENGINE_TEXT_BYTES]; /* why the current order failed, or "" */
	struct command command;
	struct engine_launch launch;
	_Alignas(8) uint8_t message[CELL_MESSAGE_BYTES];
};

/* cell_server.c */
void answer(struct cell_server *s, uint32_t kind, const struct cell_parts *parts);
void answer_data(struct cell_server *s, uint32_t kind, const void *data, size_t bytes);

/* cell_launch.c */
int cell_launch(struct cell_server *s, const struct cell_run *run);

/* cell_build.c */
int cell_build_part(struct cell_server *s, const void *bytes, uint32_t count);
int cell_build(struct cell_server *s, const struct cell_build *b);
int cell_release(struct cell_server *s, const struct cell_program *p);
int cell_fetch(struct cell_server *s, const struct cell_fetch *f);
struct engine_program *cell_program_find(const struct cell_server *s, uint32_t id);
void cell_programs_free(struct cell_server *s);

#endif
