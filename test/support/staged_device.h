/* SPDX-License-Identifier: BSD-3-Clause */
/* A device whose memory only its DMA reaches, for tests of a NIC's staged memory: a ring of buffers
 * each way, and a DMA for each buffer that takes as long as the test says. It believes nobody: the
 * first promise of struct nic_staged_ops that the NIC breaks is kept in `broken`. */
#ifndef TEST_SUPPORT_STAGED_DEVICE_H
#define TEST_SUPPORT_STAGED_DEVICE_H

#include "base/limits.h"
#include "nic/nic.h"

#define STAGED_WRITES  (2 * NIC_STAGED_LATER) /* at once */
#define STAGED_READS   64                     /* likewise */
#define STAGED_BUFFERS 16

struct staged_options {
	uint32_t bytes; /* of its memory */
	uint32_t buffers,
		buffer_bytes; /* of each ring; 2 at least; what a packet carries, at least */
	uint32_t reads;       /* at once; 0: STAGED_READS */
	uint64_t latency_ns;  /* of a DMA */
	uint32_t fail_nth;    /* this DMA fails, counted from 1; 0: none */
	uint32_t fail_every;  /* and each of so many; 0: none */
};

struct staged_device {
	struct staged_options options;
	struct nic *nic; /* whose staged memory it is */
	uint8_t *memory;
	const char *broken;                  /* NULL: nothing */
	uint32_t writes, reads, buffers;     /* live; taken, of both rings */
	uint32_t dmas, refused;              /* begun; times that there was no room */
	struct staged_write *write;          /* STAGED_WRITES */
	struct staged_read *read;            /* STAGED_READS */
	struct staged_buffer *in, *out;      /* STAGED_BUFFERS each */
	const struct staged_write *favoured; /* may take the last buffers; NULL: anybody may */
};

extern const struct nic_staged_ops staged_device_ops; /* the context is the device */

/* False: out of memory. */
bool staged_device_create(struct staged_device *d, const struct staged_options *o);
void staged_device_destroy(struct staged_device *d);

/* When it wants its turn; UINT64_MAX: nothing is under way. */
uint64_t staged_device_next(const struct staged_device *d);
/* Ends the DMAs that are due, and begins others. True when it did something. */
bool staged_device_turn(struct staged_device *d, uint64_t now_ns);
/* The NIC is gone, and with it everything it wanted. */
void staged_device_nic_gone(struct staged_device *d);

#endif
