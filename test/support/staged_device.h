/* SPDX-License-Identifier: BSD-3-Clause */
/* Models a device whose memory only its own DMA reaches, for tests of a NIC's staged memory. Each
 * direction has a ring of buffers, and a DMA takes the latency that the test sets. `broken` keeps
 * the first rule of struct nic_staged_ops that the NIC violated. */
#ifndef TEST_SUPPORT_STAGED_DEVICE_H
#define TEST_SUPPORT_STAGED_DEVICE_H

#include "nic/limits.h"
#include "nic/nic.h"

#define STAGED_WRITES  (2 * NIC_STAGED_LATER) /* concurrent writes */
#define STAGED_READS   64                     /* concurrent reads */
#define STAGED_BUFFERS 16

struct staged_options {
	uint32_t bytes; /* of the device's memory */
	/* of each ring, at least 2; each at least as long as a packet's payload */
	uint32_t buffers, buffer_bytes;
	uint32_t reads;      /* concurrent reads; 0: STAGED_READS */
	uint64_t latency_ns; /* of a DMA */
	uint32_t fail_nth;   /* the DMA with this number fails, from 1; 0: none */
	uint32_t fail_every; /* every fail_every-th DMA fails; 0: none */
	int fail_status;     /* DXP_OK selects DXP_EDEVICE */
};

struct staged_device {
	struct staged_options options;
	struct nic *nic; /* uses this memory */
	uint8_t *memory;
	const char *broken; /* first violated rule; NULL: none */
	/* incomplete writes and reads; buffers in use in both rings */
	uint32_t writes, reads, buffers;
	/* started; rejected because no buffer or entry was free */
	uint32_t dmas, refused;
	struct staged_write *write;     /* STAGED_WRITES entries */
	struct staged_read *read;       /* STAGED_READS entries */
	struct staged_buffer *in, *out; /* STAGED_BUFFERS entries each */
	const struct staged_write
		/* may use the last free buffers; NULL: none */
		*favoured;
};

/* the context is the device */
extern const struct nic_staged_ops staged_device_ops;

/* False: out of memory. */
bool staged_device_create(struct staged_device *d, const struct staged_options *o);
void staged_device_destroy(struct staged_device *d);

/* Time of the next poll; UINT64_MAX: no work. */
uint64_t staged_device_next(const struct staged_device *d);
/* Completes DMAs that are due and starts others. Returns true if it did any of this. */
bool staged_device_poll(struct staged_device *d, uint64_t now_ns);
/* Drops all requests of a NIC that no longer exists. */
void staged_device_nic_gone(struct staged_device *d);

#endif
