/* SPDX-License-Identifier: BSD-3-Clause */
/* Models a device whose memory only its own DMA reaches, for tests of a NIC's staged memory. Each
 * direction has a ring of buffers, and a DMA takes the latency that the test sets. The device
 * checks the NIC: `broken` keeps the first violated rule of struct nic_staged_ops. */
#ifndef TEST_SUPPORT_STAGED_DEVICE_H
#define TEST_SUPPORT_STAGED_DEVICE_H

#include "nic/limits.h"
#include "nic/nic.h"

#define STAGED_WRITES  (2 * NIC_STAGED_LATER) /* largest number of concurrent writes */
#define STAGED_READS   64                     /* largest number of concurrent reads */
#define STAGED_BUFFERS 16

struct staged_options {
	uint32_t bytes; /* bytes of the device's memory */
	/* buffers of each ring, at least 2; bytes of each buffer, at least the payload of a
	 * packet */
	uint32_t buffers, buffer_bytes;
	uint32_t reads;      /* largest number of concurrent reads; 0: STAGED_READS */
	uint64_t latency_ns; /* duration of a DMA in ns */
	uint32_t fail_nth;   /* number of the DMA that fails, counted from 1; 0: none */
	uint32_t fail_every; /* every fail_every-th DMA fails; 0: none */
	int fail_status;     /* status of a failed DMA; DXP_OK selects DXP_EDEVICE */
};

struct staged_device {
	struct staged_options options;
	struct nic *nic; /* the NIC that uses this memory */
	uint8_t *memory;
	const char *broken; /* first violated rule of the NIC; NULL: none */
	/* incomplete writes; incomplete reads; buffers in use in both rings */
	uint32_t writes, reads, buffers;
	/* DMAs started; requests rejected because no buffer or entry was free */
	uint32_t dmas, refused;
	struct staged_write *write;     /* array of STAGED_WRITES entries */
	struct staged_read *read;       /* array of STAGED_READS entries */
	struct staged_buffer *in, *out; /* arrays of STAGED_BUFFERS entries each */
	const struct staged_write
		/* the write that may use the last free buffers; NULL: no write has this right
		 * yet */
		*favoured;
};

/* operations for the NIC; their context is the device */
extern const struct nic_staged_ops staged_device_ops;

/* Returns false if out of memory. */
bool staged_device_create(struct staged_device *d, const struct staged_options *o);
void staged_device_destroy(struct staged_device *d);

/* Returns the time at which the device must be polled next, or UINT64_MAX if it has no work. */
uint64_t staged_device_next(const struct staged_device *d);
/* Completes the DMAs that are due and starts others. Returns true if it did any of this. */
bool staged_device_poll(struct staged_device *d, uint64_t now_ns);
/* Drops all requests of a NIC that no longer exists. */
void staged_device_nic_gone(struct staged_device *d);

#endif
