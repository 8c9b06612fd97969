/* SPDX-License-Identifier: BSD-3-Clause */
/* A device whose memory only its DMA reaches, for tests of a NIC's staged memory: a ring of buffers
 * in each direction; each buffer's DMA takes the latency that the test sets. It checks the NIC:
 * `broken` keeps the first contract of struct nic_staged_ops that the NIC violates. */
#ifndef TEST_SUPPORT_STAGED_DEVICE_H
#define TEST_SUPPORT_STAGED_DEVICE_H

#include "nic/limits.h"
#include "nic/nic.h"

#define STAGED_WRITES  (2 * NIC_STAGED_LATER) /* writes at one time */
#define STAGED_READS   64                     /* reads at one time */
#define STAGED_BUFFERS 16

struct staged_options {
	uint32_t bytes; /* of the device's memory */
	uint32_t buffers,
		buffer_bytes; /* each ring: 2 buffers or more, of a packet's payload or more */
	uint32_t reads;       /* at one time; 0: STAGED_READS */
	uint64_t latency_ns;  /* of a DMA */
	uint32_t fail_nth;    /* number of the DMA that fails, from 1; 0: none */
	uint32_t fail_every;  /* every DMA with a multiple of this number fails; 0: none */
	int fail_status;      /* of these; DXP_OK: DXP_EDEVICE */
};

struct staged_device {
	struct staged_options options;
	struct nic *nic; /* the NIC that uses this memory */
	uint8_t *memory;
	const char *broken;                  /* NULL: nothing */
	uint32_t writes, reads, buffers;     /* live; buffers in use in both rings */
	uint32_t dmas, refused;              /* started; requests rejected for lack of space */
	struct staged_write *write;          /* STAGED_WRITES */
	struct staged_read *read;            /* STAGED_READS */
	struct staged_buffer *in, *out;      /* STAGED_BUFFERS each */
	const struct staged_write *favoured; /* may use the last buffers; NULL: any write may */
};

extern const struct nic_staged_ops staged_device_ops; /* the context is the device */

/* Returns false if out of memory. */
bool staged_device_create(struct staged_device *d, const struct staged_options *o);
void staged_device_destroy(struct staged_device *d);

/* Returns the time of the next poll that it needs; UINT64_MAX: no work is under way. */
uint64_t staged_device_next(const struct staged_device *d);
/* Ends the DMAs that are due and starts others. Returns true if it did anything. */
bool staged_device_poll(struct staged_device *d, uint64_t now_ns);
/* Drops all state of a NIC that is gone. */
void staged_device_nic_gone(struct staged_device *d);

#endif
