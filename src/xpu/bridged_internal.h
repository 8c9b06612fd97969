/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef XPU_BRIDGED_INTERNAL_H
#define XPU_BRIDGED_INTERNAL_H

#include "xpu/bridged.h"

struct staged_read;
struct staged_piece;

struct bridged {
	struct engine *engine;
	struct pump *pump;
	struct nic *nic; /* NULL: not attached, or closed */
	bool (*silent)(void *context, uint16_t node);
	void *silent_context;
	uint64_t memory_bytes;
	uint8_t *to_device, *from_device;
	uint64_t ring_bytes;
	uint32_t to_device_key, from_device_key;
	uint8_t *zeros;
	bool zeros_pinned;
	struct nic_staged_write *writes; /* PUTs of peers; the NIC or the pump owns each */
	struct staged_read *reads;
	/* in the pump; bounded, so that PUTs, GETs and own transfers cannot starve one another */
	uint32_t write_count, read_count;
	struct staged_piece *pieces; /* buffers that the NIC sends */
	uint32_t complaints;         /* log lines about failures so far */
};

/* bridged_end.c */
/* Logs a failed PUT or GET at most COMPLAINTS_MAX times, and only if a DMA failed. */
void bridged_complain(struct bridged *b, const char *what, const struct bridge_end *end);

/* The node, not 0 or WIRE_NODE_NONE, is silent and its memory is kept. */
bool bridged_silent(const struct bridged *b, uint16_t node);

/* bridged_write.c */
struct nic_staged_write *bridged_write_begin(void *context, struct nic_staged_span *span);
int bridged_write_place(void *context, struct nic_staged_write *w, uint64_t at,
			const uint8_t *payload, uint32_t bytes, bool first);
int bridged_write_settled(void *context, struct nic_staged_write *w);
void bridged_write_end(void *context, struct nic_staged_write *w);
bool bridged_write_touches(void *context, uint64_t offset, uint64_t bytes);

void bridged_writes_close(struct bridged *b); /* after the NIC was closed */
void bridged_writes_nodes(const struct bridged *b, void (*visit)(void *context, uint16_t node),
			  void *context);
void bridged_writes_reclaim(struct bridged *b, uint64_t address, uint64_t bytes);
bool bridged_writes_touch(const struct bridged *b, uint64_t address, uint64_t bytes);

/* bridged_read.c */
void bridged_reads_nodes(const struct bridged *b, void (*visit)(void *context, uint16_t node),
			 void *context);
void bridged_reads_reclaim(struct bridged *b, uint64_t address, uint64_t bytes);
bool bridged_reads_touch(const struct bridged *b, uint64_t address, uint64_t bytes);
int bridged_read_begin(void *context, struct nic_staged_read *r, uint64_t offset, uint64_t bytes);
void bridged_read_cancel(void *context, struct nic_staged_read *r);
void bridged_read_sent(void *context, void *piece, int status);
/* Completes all pieces with DXP_ECLOSED. Call it after the NIC is closed, because a closed NIC does
 * not return pieces. */
void bridged_reads_close(struct bridged *b);

#endif
