/* SPDX-License-Identifier: BSD-3-Clause */
/* Two readings of a bridge's registers, and the rates between them. */
#ifndef CMD_DXP_BRIDGE_VIEW_H
#define CMD_DXP_BRIDGE_VIEW_H

#include <jansson.h>
#include <stdbool.h>

#include <dxp/mmd.h>

#include "wire/manage.h"
#include "xpu/cfg.h"

#define BRIDGE_VIEW_FIRST CFG_MEMORY_KIND
#define BRIDGE_VIEW_WORDS (CFG_BRIDGE_OUT_TAKEN + 1 - BRIDGE_VIEW_FIRST)

struct bridge_reading {
	uint64_t at_ns;
	uint32_t words[BRIDGE_VIEW_WORDS];
};

struct bridge_view {
	char name[FABRIC_NAME_BYTES];
	struct dxp_xpu *xpu; /* NULL: not opened, or lost */
	struct bridge_reading before, after;
};

/* Returns whether the row is a live xPU with a bridge. */
bool bridge_view_has(const struct node_entry *row);

/* Reads the registers; closes the xPU if it does not answer. */
void bridge_view_read(struct bridge_view *v, struct bridge_reading *out);

/* Return a value of the last reading: of one register, or of the two registers that start with
 * `low`, as 64 bits. */
uint64_t bridge_view_one(const struct bridge_view *v, enum cfg_register index);
uint64_t bridge_view_pair(const struct bridge_view *v, enum cfg_register low);

/* Return how a register pair or register changed between the two readings.
 * _rate: increase of a pair per second.
 * _busy: share of the time that a pair in microseconds grew by, in percent.
 * _grown: increase of a 32-bit counter. */
double bridge_view_rate(const struct bridge_view *v, enum cfg_register low);
double bridge_view_busy(const struct bridge_view *v, enum cfg_register low);
uint32_t bridge_view_grown(const struct bridge_view *v, enum cfg_register index);

/* The bottleneck of a bridge during the interval, as the table of docs/guide/observe.md decides. */
enum bridge_verdict {
	BRIDGE_SILENT,  /* the registers could not be read */
	BRIDGE_FAILING, /* transfers failed or stalled in the interval */
	BRIDGE_IDLE,    /* no transfer in the interval */
	BRIDGE_DEVICE,  /* DMA is busy nearly all the time */
	BRIDGE_BUFFERS, /* bytes from the network find no buffer, although DMA is idle */
	BRIDGE_READER,  /* the network does not drain the buffers from the device */
	BRIDGE_NETWORK, /* DMA waits for bytes from the network */
	BRIDGE_VERDICTS
};

struct bridge_load {
	bool known;
	/* percent of the interval in which DMA to and from the device was busy */
	double in_busy, out_busy;
	double moved_bytes; /* bytes per second, sum of both directions */
	uint32_t full;      /* arrivals that found no free buffer, in the interval */
	uint32_t failures;  /* failed or stalled transfers, in the interval */
	uint32_t buffers, out_used, transfers;
};

enum bridge_verdict bridge_verdict_of(const struct bridge_load *l);
/* Return the verdict's word for programs, and its sentence with the next step for users. */
const char *bridge_verdict_name(enum bridge_verdict v);
const char *bridge_verdict_text(enum bridge_verdict v);

/* Returns the JSON of a bridge, or NULL if out of memory. */
json_t *bridge_view_json(const struct bridge_view *v);

#endif
