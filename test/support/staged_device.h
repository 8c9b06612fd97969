/* SPDX-License-Identifier: BSD-3-Clause */
/* Models a device whose memory only its DMA reaches, for tests of a NIC's staged memory. Each
 * direction has a ring of buffers; a DMA takes the latency that the test sets. It checks the NIC:
 * `broken` keeps the first violated contract of struct nic_staged_ops. */
#ifndef TEST_SUPPORT_STAGED_DEVICE_H
#define TEST_SUPPORT_STAGED_DEVICE_H

#include "nic/limits.h"
#include "nic/nic.h"

#define STAGED_WRITES  (2 * NIC_STAGED_LATER) /* concurrent writes */
#define STAGED_READS   64                     /* concurrent reads */
#define STAGED_BUFFERS 16

struct staged_options {
	uint32_t bytes; /* size of the device's memory */
	/* buffers of each ring, 2 or more; each holds at least the payload of a packet */
	uint32_t buffers, buffer_bytes;
	uint32_t reads;      /* concurrent reads; 0: STAGED_READS */
	uint64_t latency_ns; /* duration of a DMA */
	uint32_t fail_nth;   /* number of the DMA that fails, from 1; 0: none */
	uint32_t fail_every; /* every DMA with a multiple of this number fails; 0: none */
	int fail_status;     /* status of failed DMAs; DXP_OK: DXP_EDEVICE */
};

struct staged_device {
	struct staged_options options;
	struct nic *nic; /* the NIC that uses this memory */
	uint8_t *memory;
	const char *broken; /* NULL: nothing */
	/* reads and writes that are not complete; buffers in use in both rings */
	uint32_t writes, reads, buffers;
	uint32_t dmas, refused;         /* dmas: started; refused: requests rejected for lack
					 * of space */
	struct staged_write *write;     /* STAGED_WRITES entries */
	struct staged_read *read;       /* STAGED_READS entries */
	struct staged_buffer *in, *out; /* STAGED_BUFFERS entries each */
	const struct staged_write
		*favoured; /* the write that may use the last buffers; NULL: any */
};

extern const struct nic_staged_ops staged_device_ops; /* their context is the device */

/* Returns false if out of memory. */
bool staged_device_create(struct staged_device *d, const struct staged_options *o);
void staged_device_destroy(struct staged_device *d);

/* Returns the time of its next poll; UINT64_MAX if it has no work. */
uint64_t staged_device_next(const struct staged_device *d);
/* Completes the DMAs that are due and starts others. Returns whether it did anything. */
bool staged_device_poll(struct staged_device *d, uint64_t now_ns);
/* Drops all state of a NIC that is gone. */
void staged_device_nic_gone(struct staged_device *d);

#endif
