/* SPDX-License-Identifier: BSD-3-Clause */
/* The NIC as a pipeline of stages from doorbell to event: latency, bandwidth, timeline. nic_send.c
 * and nic_receive.c build the routes; nic_rows.c the rows. */
#ifndef MODEL_NIC_H
#define MODEL_NIC_H

#include "model/parameter.h"
#include "model/row.h"
#include "model/stage.h"

#define MODEL_NIC_PEAK_BYTES 2000000     /* bytes of the PUT whose rate is the peak (C-40) */
#define MODEL_NIC_BYTES_MOST (16u << 20) /* bytes of a message: a million packets of 16 B */

enum model_op { MODEL_NAP_IMM, MODEL_NAP_IND, MODEL_PUT, MODEL_GET };
#define MODEL_OPS 4

/* Stages in the order in which a message passes them. */
enum model_nic_stage {
	MODEL_AT_STORE,   /* the host's store and doorbell */
	MODEL_AT_REQUEST, /* read request with its tag */
	MODEL_AT_MEMORY,
	MODEL_AT_LINK,       /* PCIe towards the NIC */
	MODEL_AT_DESCRIPTOR, /* descriptor extract */
	MODEL_AT_DATA,       /* data extract and reorder */
	MODEL_AT_CROSSBAR,   /* packet builder and crossbar */
	MODEL_AT_UPLOAD,     /* dispatch and upload */
	MODEL_NIC_STAGES
};

/* Parts of a latency; their sum is the latency. */
enum model_nic_part {
	MODEL_PART_STORE,
	MODEL_PART_DESCRIPTOR_READ,
	MODEL_PART_DESCRIPTOR_EXTRACT,
	MODEL_PART_TURNAROUND, /* GET: the request's path */
	MODEL_PART_DATA_READ,
	MODEL_PART_DATA_EXTRACT,
	MODEL_PART_CROSSBAR,
	MODEL_PART_ENGINE, /* stated as one sum */
	MODEL_PART_HOP,
	MODEL_PART_UPLOAD,
	MODEL_PART_EVENT, /* including the NAP's buffer */
	MODEL_PART_SEE,
	MODEL_NIC_PARTS
};

/* Is called for each stay of a packet in a stage. */
struct model_nic_trace {
	void (*slice)(void *context, const char *stage, uint32_t packet, uint64_t start_ps,
		      uint64_t end_ps);
	void *context;
};

struct model_nic_job {
	enum model_op op;
	/* bytes per message, 1 .. MODEL_NIC_BYTES_MOST; NAP: at most nap_max_bytes */
	uint64_t bytes;
	uint32_t count;                      /* number of messages */
	uint32_t outstanding;                /* messages at a time */
	const struct model_nic_trace *trace; /* NULL: none */
};

struct model_nic_result {
	uint64_t latency_ps;                /* latency of the first message */
	uint64_t parts_ps[MODEL_NIC_PARTS]; /* parts of that latency */
	/* time of completion of message count / 2, and of the last message */
	uint64_t half_ps, end_ps;
	uint64_t upload_ps; /* time from the first to the last uploaded byte */
	uint64_t moves;
};

static inline bool model_nic_is_nap(enum model_op op)
{
	return op == MODEL_NAP_IMM || op == MODEL_NAP_IND;
}

const char *model_op_name(enum model_op op);
const char *model_nic_part_name(enum model_nic_part part);
const char *model_nic_stage_name(enum model_nic_stage stage);

/* Simulates a job. DXP_EINVAL with error_text(): more bytes than the operation allows.
 * DXP_ENOMEM. */
int model_nic_run(const struct model_parameters *p, const struct model_nic_job *job,
		  struct model_nic_result *out);

/* Returns one message's latency by the equation of a pipeline without queueing. The equation holds
 * for nap_overlap=pieces, forward=beats, and enough tags and buffers. */
uint64_t model_nic_closed_ps(const struct model_parameters *p, enum model_op op, uint64_t bytes);

/* Computes the bandwidth in kB/s: messages one after another, or back to back (host_overlap). */
int model_nic_bandwidth(const struct model_parameters *p, enum model_op op, uint64_t bytes,
			uint64_t *kbps);

/* Emits latency and bandwidth of an operation at a size, with the interval over all settings. */
int model_nic_rows(const struct model_parameters *p, enum model_op op, uint64_t bytes,
		   const struct model_sink *sink);

/* Emits the parts of a latency, each with its interval over all settings. */
int model_nic_breakdown(const struct model_parameters *p, enum model_op op, uint64_t bytes,
			const struct model_sink *sink);

/* Emits the rows of C-43: the parts of a NAP-imm and a PUT of 1 B, and the engines' cycles. */
int model_nic_stage_rows(const struct model_parameters *p, const struct model_sink *sink);

/* Emits the rows of C-25: cycles of the descriptor path, and what they cost a NAP-imm. */
int model_nic_immediate_rows(const struct model_parameters *p, const struct model_sink *sink);

/* Emits the peak of a PUT of 2 MB against request sizes 16 .. 1024 B, with its interval over all
 * settings. */
int model_nic_peak(const struct model_parameters *p, const struct model_sink *sink);

#endif
