/* SPDX-License-Identifier: BSD-3-Clause */
/* A launch as the daemon keeps it and the worker receives it. It is decoded once, when the command
 * arrives, and only as long as its contents. It holds offsets from its start and no pointers, so
 * that its bytes may be copied. Its members are in host byte order, so it must not leave the
 * machine. */
#ifndef WORKER_RUN_H
#define WORKER_RUN_H

#include "wire/command.h"

/* One dimension of the index space. */
struct worker_axis {
	uint64_t global;
	uint64_t local; /* local size; if it is 0 in all dimensions, the engine chooses it */
	uint64_t offset;
};

struct worker_argument {
	uint64_t kind : 4; /* enum command_argument_kind */
	/* Offset of the value from the start of the worker_run. BYTES: the bytes; IMAGE: a struct
	 * dxp_image; SAMPLER: a struct dxp_sampler; BUFFER: see worker_run_exact(). 0: the argument
	 * has no value. */
	uint64_t value : 16;
	/* BYTES, LOCAL: the length in the command. BUFFER, IMAGE: bytes from the address to the end
	 * of the allocation, which the daemon sets before the start; 0: no memory. */
	uint64_t bytes : 44;
	/* BUFFER, IMAGE: device address, or COMMAND_NO_ADDRESS. NIC: address of the window, which
	 * the daemon sets before the start. */
	uint64_t address;
};

/* The axes, space for the events in `needs`, arguments, name and values follow the struct. */
struct worker_run {
	uint64_t event; /* event that completes this launch, or 0 */
	uint32_t program;
	uint16_t bytes; /* size of the whole launch, with the parts after the struct */
	uint16_t needs, arguments, name; /* offsets of these parts from the start of the struct */
	/* Number of events in `needs`: events of earlier orders that must have succeeded. The
	 * daemon sets them before the start. They are at most as many as the events for which the
	 * command waits. */
	uint8_t need_count;
	uint8_t dimensions; /* 1 .. 3 */
	uint8_t argument_count;
	struct worker_axis axes[];
};

/* Returns the bytes that worker_run_make() needs for a valid RUN. */
uint32_t worker_run_bytes(const struct command *c);
/* Copies a valid RUN to `out`, which has worker_run_bytes() bytes and is aligned to 8. The copy has
 * no pointers into the command's message. */
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

/* Returns how many bytes of a BUFFER the kernel may access. Returns 0 if the kernel may access all
 * bytes up to the allocation's end, or if the argument is not a BUFFER. */
uint32_t worker_run_exact(const struct worker_run *r, const struct worker_argument *a);

static inline const char *worker_run_name(struct worker_run *r)
{
	return worker_run_at(r, r->name);
}

#endif
