/* SPDX-License-Identifier: BSD-3-Clause */
/* A launch as the daemon keeps it and the worker receives it: decoded once on arrival, and only as
 * long as its contents. It has offsets and no pointers, so its bytes may be copied, and host byte
 * order, so it must not leave the machine. */
#ifndef WORKER_RUN_H
#define WORKER_RUN_H

#include "wire/command.h"

/* One dimension of the index space. */
struct worker_axis {
	uint64_t global;
	uint64_t local; /* all 0: the engine chooses */
	uint64_t offset;
};

struct worker_argument {
	uint64_t kind : 4; /* enum command_argument_kind */
	/* Offset of the value; 0: none. BYTES: the bytes; IMAGE: a struct dxp_image; SAMPLER: a
	 * struct dxp_sampler; BUFFER: see worker_run_exact(). */
	uint64_t value : 16;
	/* BYTES, LOCAL: length in the command. BUFFER, IMAGE: bytes up to the end of the
	 * allocation, set by the daemon before the start; 0: no memory. */
	uint64_t bytes : 44;
	/* BUFFER, IMAGE: device address, or COMMAND_NO_ADDRESS. NIC: the window, set by the daemon
	 * before the start. */
	uint64_t address;
};

/* Axes, space for `needs`, arguments, name and values follow. */
struct worker_run {
	uint64_t event; /* that completes this launch, or 0 */
	uint32_t program;
	uint16_t bytes;                  /* of the whole launch */
	uint16_t needs, arguments, name; /* offsets from the struct */
	/* Events of earlier orders that must have succeeded, set by the daemon before the start. At
	 * most those for which the command waits. */
	uint8_t need_count;
	uint8_t dimensions; /* 1 .. 3 */
	uint8_t argument_count;
	struct worker_axis axes[];
};

/* Returns the bytes that worker_run_make() needs for a valid RUN. */
uint32_t worker_run_bytes(const struct command *c);
/* `out` has worker_run_bytes() bytes, is aligned to 8, and gets no pointers into the message. */
void worker_run_make(const struct command *c, struct worker_run *out);

static inline void *worker_run_at(struct worker_run *r, uint32_t offset)
{
	return (char *)r + offset;
}

static inline uint64_t *worker_run_needs(struct worker_run *r)
{
	return worker_run_at(r, r->needs);
}

static inline struct worker_argument *worker_run_arguments(struct worker_run *r)
{
	return worker_run_at(r, r->arguments);
}

/* Returns the bytes of a BUFFER that the kernel may access; 0: all up to the allocation's end, or
 * not a BUFFER. */
uint32_t worker_run_exact(const struct worker_run *r, const struct worker_argument *a);

static inline const char *worker_run_name(struct worker_run *r)
{
	return worker_run_at(r, r->name);
}

#endif
