/* SPDX-License-Identifier: BSD-3-Clause */
/* The NIC as a pipeline from doorbell to event: latency, bandwidth, timeline. nic_send.c and
 * nic_receive.c build the routes, nic_rows.c emits rows. */
#ifndef MODEL_NIC_H
#define MODEL_NIC_H

#include "model/parameter.h"
#include "model/row.h"
#include "model/stage.h"

/* PUT of the peak rate (C-40) */
#define MODEL_NIC_PEAK_BYTES 2000000
/* longest message: a million packets of 16 B */
#define MODEL_NIC_BYTES_MOST (16u << 20)

enum model_op { MODEL_NAP_IMM, MODEL_NAP_IND, MODEL_PUT, MODEL_GET };
#define MODEL_OPS 4

/* Stages in the order in which a message passes them. */
enum model_nic_stage {
	MODEL_AT_STORE,   /* the host's */
	MODEL_AT_REQUEST, /* of the read, gets its tag */
	MODEL_AT_MEMORY,
	MODEL_AT_LINK,       /* PCIe, towards the NIC */
	MODEL_AT_DESCRIPTOR, /* extraction */
	MODEL_AT_DATA,       /* extraction and ordering */
	MODEL_AT_CROSSBAR,   /* packet builder and crossbar */
	MODEL_AT_UPLOAD,     /* dispatch and upload to host memory */
	MODEL_NIC_STAGES
};

/* They sum to the latency. */
enum model_nic_part {
	MODEL_PART_STORE,
	MODEL_PART_DESCRIPTOR_READ,
	MODEL_PART_DESCRIPTOR_EXTRACT,
	MODEL_PART_TURNAROUND, /* of a GET: descriptor to the peer's first read */
	MODEL_PART_DATA_READ,
	MODEL_PART_DATA_EXTRACT,
	MODEL_PART_CROSSBAR,
	MODEL_PART_ENGINE, /* of the engines, which the source (row.h) states only as a sum */
	MODEL_PART_HOP,
	MODEL_PART_UPLOAD,
	MODEL_PART_EVENT, /* the event, with the receive buffer of an indirect NAP */
	MODEL_PART_SEE,
	MODEL_NIC_PARTS
};

/* Each stay of a packet in a stage. */
struct model_nic_trace {
	void (*slice)(void *context, const char *stage, uint32_t packet, uint64_t start_ps,
		      uint64_t end_ps);
	void *context;
};

struct model_nic_job {
	enum model_op op;
	/* 1 .. MODEL_NIC_BYTES_MOST; of a NAP at most nap_max_bytes */
	uint64_t bytes;
	uint32_t count;
	uint32_t outstanding;                /* messages at a time */
	const struct model_nic_trace *trace; /* NULL: no trace */
};

struct model_nic_result {
	uint64_t latency_ps;                /* of the first message */
	uint64_t parts_ps[MODEL_NIC_PARTS]; /* of the first message */
	/* completion of message count / 2, and of the last */
	uint64_t half_ps, end_ps;
	/* first to last byte */
	uint64_t upload_ps;
	uint64_t moves;
};

static inline bool model_nic_is_nap(enum model_op op)
{
	return op == MODEL_NAP_IMM || op == MODEL_NAP_IND;
}

const char *model_op_name(enum model_op op);
const char *model_nic_part_name(enum model_nic_part part);
const char *model_nic_stage_name(enum model_nic_stage stage);

/* Simulates a job. DXP_EINVAL: more bytes than the operation permits, with error_text();
 * DXP_ENOMEM. */
int model_nic_run(const struct model_parameters *p, const struct model_nic_job *job,
		  struct model_nic_result *out);

/* Returns ps without queueing; valid for nap_overlap=pieces and forward=beats, with enough tags and
 * buffers. */
uint64_t model_nic_closed_ps(const struct model_parameters *p, enum model_op op, uint64_t bytes);

/* Computes kB/s of messages one after another, or back to back if host_overlap is set. */
int model_nic_bandwidth(const struct model_parameters *p, enum model_op op, uint64_t bytes,
			uint64_t *kbps);

/* Emits latency and bandwidth, with intervals over all settings. */
int model_nic_rows(const struct model_parameters *p, enum model_op op, uint64_t bytes,
		   const struct model_sink *sink);

/* Emits each part with its interval over all settings. */
int model_nic_breakdown(const struct model_parameters *p, enum model_op op, uint64_t bytes,
			const struct model_sink *sink);

/* Emits C-43: parts of a NAP-imm and a PUT of 1 B, and the engines' cycles. */
int model_nic_stage_rows(const struct model_parameters *p, const struct model_sink *sink);

/* Emits C-25: cycles of the path for descriptors, and what they cost a NAP-imm. */
int model_nic_immediate_rows(const struct model_parameters *p, const struct model_sink *sink);

/* Emits the rate of the PCIe link after coding (C-39). */
void model_nic_link_row(const struct model_parameters *p, const struct model_sink *sink);

/* Emits the peak of a PUT of 2 MB by request size, 16 .. 1024 B, with intervals over all
 * settings. */
int model_nic_peak(const struct model_parameters *p, const struct model_sink *sink);

#endif
