/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface between server.c, answer.c, launch.c and build.c. */
#ifndef WORKER_SERVER_INTERNAL_H
#define WORKER_SERVER_INTERNAL_H

#include "worker/limits.h"
#include "worker/server.h"

struct worker_built {
	struct worker_built *next;
	uint32_t id;
	struct engine_program *handle;
};

/* 32 KiB: chains stay short for thousands of programs */
#define WORKER_BUCKETS 4096

struct worker_server {
	struct worker_server_options options;
	struct worker_side orders, answers;
	/* by the low bits of the id */
	struct worker_built *programs[WORKER_BUCKETS];
	uint8_t *package; /* of the next BUILD, as far as received, or NULL */
	size_t package_bytes;
	/* Ring of failed orders' events, an entry per possible outstanding order. */
	uint64_t failed[WORKER_QUEUE_MAX];
	uint32_t failed_next;
	char text[ENGINE_TEXT_BYTES]; /* why the current order failed, or "" */
	struct engine_launch launch;
	_Alignas(8) uint8_t message[WORKER_MESSAGE_BYTES];
};

/* answer.c. Wait while the ring is full. server_answer_data() splits long data. */
void server_answer(struct worker_server *s, uint32_t kind, const struct worker_parts *parts);
void server_answer_data(struct worker_server *s, uint32_t kind, const void *data, size_t bytes);

/* launch.c */
/* Returns when the kernel has completed; failures set s->text. Statuses of engine_run();
 * DXP_EBUILD: no such program. */
int worker_launch(struct worker_server *s, struct worker_run *run);

/* build.c */
int worker_build_part(struct worker_server *s, const void *bytes, uint32_t count);
int worker_build(struct worker_server *s, const struct worker_build *b);
int worker_release(struct worker_server *s, const struct worker_program *p);
int worker_fetch(struct worker_server *s, const struct worker_fetch *f);
struct engine_program *worker_program_find(const struct worker_server *s, uint32_t id);
void worker_programs_free(struct worker_server *s);

#endif
