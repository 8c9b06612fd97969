/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs messages through the NIC's pipeline, in one or two phases: read of the descriptor, then of
 * the data. */
#include "model/nic.h"

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/util.h"
#include "model/nic_internal.h"
#include "model/pcie.h"

#define NO_MESSAGE UINT32_MAX

/* owner[i] is 2 x number of the job's message + phase; i: the pipeline's number, in order of
 * sending. */
struct nic_run {
	struct model_pipeline pipeline;
	struct model_nic_plan plans[2];
	const struct model_route **routes[2]; /* of each phase's packets */
	uint32_t packets[2];
	const struct model_parameters *p;
	const struct model_nic_job *job;
	struct model_nic_result *out;
	uint32_t *owner;
	uint32_t started, completed;
	uint64_t store_free_ps, doorbell_ps, returned_ps;
	uint64_t ends_ps[2][MODEL_NIC_STAGES]; /* of the first message */
	uint64_t upload_first_ps;
	bool failed;
};

const char *model_op_name(enum model_op op)
{
	static const char *const names[] = {"NAP-imm", "NAP-ind", "PUT", "GET"};

	return names[op];
}

const char *model_nic_part_name(enum model_nic_part part)
{
	static const char *const names[] = {
		"host store",   "descriptor read", "descriptor extract", "turn-around",
		"data read",    "data extract",    "crossbar",           "engine, one sum",
		"hop and wire", "upload",          "event and buffer",   "host sees",
	};
	return names[part];
}

const char *model_nic_stage_name(enum model_nic_stage stage)
{
	static const char *const names[] = {"store",      "request", "memory",   "link",
					    "descriptor", "data",    "crossbar", "upload"};

	return names[stage];
}

/* Adds it if it is new. NULL: too many kinds. */
static const struct model_route *route_of(struct model_nic_plan *plan,
					  const struct model_nic_kind *kind)
{
	for (uint32_t i = 0; i < plan->count; i++) {
		const struct model_nic_kind *k = &plan->kinds[i];
		if (k->bytes == kind->bytes && k->data == kind->data &&
		    k->packets == kind->packets && k->upload_cycles == kind->upload_cycles &&
		    k->first == kind->first && k->last == kind->last)
			return &plan->routes[i];
	}
	if (plan->count == MODEL_NIC_ROUTES)
		return NULL;
	struct model_route *route = &plan->routes[plan->count];
	plan->kinds[plan->count++] = *kind;
	model_nic_send(plan, kind, route);
	if (!plan->descriptor)
		model_nic_receive(plan, kind, route);
	return route;
}

/* Packets of `most` bytes that start before byte `bytes`. */
static uint64_t started_before(uint64_t bytes, uint64_t most)
{
	return (bytes + most - 1) / most;
}

/* The read of one phase: `bytes` bytes from `address` on. The message's data start at
 * `data_from`. */
struct read {
	uint64_t address, bytes, data_from;
};

/* Sets what depends on the message's data among bytes `from` .. `to` of the read. */
static void kind_data(const struct nic_run *r, const struct read *read, uint64_t from, uint64_t to,
		      struct model_nic_kind *kind)
{
	uint64_t start = max_u64(from, read->data_from), mtu = (uint64_t)r->p->mtu_bytes;
	uint64_t target = model_nic_is_nap(r->job->op) ? 0 : (uint64_t)r->p->target_offset_bytes;

	to = min_u64(to, read->data_from + r->job->bytes);
	if (start >= to)
		return;
	start -= read->data_from;
	to -= read->data_from;
	kind->data = to - start;
	kind->packets = started_before(to, mtu) - started_before(start, mtu);
	kind->upload_cycles = model_nic_upload_cycles(r->p, target + start, to - start);
}

/* Cuts a read into requests, and these into completions, the packets of this phase. Writes routes
 * unless NULL. Returns the number of packets; 0: too many kinds. */
static uint32_t phase_cut(struct nic_run *r, unsigned phase, const struct read *read,
			  const struct model_route **routes)
{
	uint64_t request = (uint64_t)r->p->request_bytes, payload = model_pcie_payload(r->p);
	uint64_t boundary = min_u64((uint64_t)r->p->boundary_bytes, payload), at = 0;
	uint32_t count = 0;

	while (at < read->bytes) {
		uint64_t left =
			model_pcie_piece(read->address + at, read->bytes - at, request, request);
		for (bool first = true; left > 0; first = false) {
			struct model_nic_kind kind = {.first = first};
			kind.bytes = model_pcie_piece(read->address + at, left, payload, boundary);
			left -= kind.bytes;
			kind.last = left == 0;
			if (!r->plans[phase].descriptor)
				kind_data(r, read, at, at + kind.bytes, &kind);
			at += kind.bytes;
			if (routes && !(routes[count] = route_of(&r->plans[phase], &kind)))
				return 0;
			count++;
		}
	}
	return count;
}

static struct read phase_read(const struct nic_run *r, unsigned phase)
{
	uint64_t descriptor = (uint64_t)r->p->descriptor_bytes, bytes = r->job->bytes;
	uint64_t offset = (uint64_t)r->p->immediate_offset_bytes;

	if (phase == 1)
		return (struct read){(uint64_t)r->p->source_offset_bytes, bytes, 0};
	if (model_nic_immediate(r->job->op))
		return (struct read){0, max_u64(descriptor, offset + bytes), offset};
	return (struct read){0, descriptor, 0};
}

static int phase_plan(struct nic_run *r, unsigned phase, uint64_t rest_ps)
{
	struct read read = phase_read(r, phase);
	bool immediate = model_nic_immediate(r->job->op);

	r->plans[phase].p = r->p;
	r->plans[phase].op = r->job->op;
	r->plans[phase].descriptor = phase == 0 && !immediate;
	r->plans[phase].rest_ps = rest_ps;
	if (phase == 1 && immediate)
		return DXP_OK;
	uint32_t count = phase_cut(r, phase, &read, NULL);
	r->routes[phase] = calloc(count, sizeof(struct model_route *));
	if (!r->routes[phase])
		return DXP_ENOMEM;
	r->packets[phase] = count;
	return phase_cut(r, phase, &read, r->routes[phase])
		       ? DXP_OK
		       : error_set(DXP_EINVAL,
				   "these sizes and offsets make more than %d kinds of "
				   "packets; use multiples of the MTU",
				   MODEL_NIC_ROUTES);
}

static void phase_send(struct nic_run *r, uint32_t message, unsigned phase, uint64_t at_ps)
{
	uint32_t number =
		model_pipeline_send(&r->pipeline, at_ps, r->routes[phase], r->packets[phase]);

	if (number == NO_MESSAGE)
		r->failed = true;
	else
		r->owner[number] = 2 * message + phase;
}

/* Starts a message by its doorbell; the processor makes one store at a time. */
static void message_start(struct nic_run *r, uint64_t now_ps)
{
	uint64_t at_ps = max_u64(now_ps, r->store_free_ps) + (uint64_t)r->p->doorbell_ns * 1000;

	if (r->started == 0)
		r->doorbell_ps = at_ps;
	if (r->job->trace)
		r->job->trace->slice(r->job->trace->context, model_nic_stage_name(MODEL_AT_STORE),
				     r->started, at_ps - (uint64_t)r->p->doorbell_ns * 1000, at_ps);
	r->store_free_ps = at_ps;
	phase_send(r, r->started++, 0, at_ps);
}

static void message_complete(struct nic_run *r, uint64_t uploaded_ps)
{
	uint64_t at_ps = uploaded_ps +
			 model_cycles_ps(r->p, model_nic_event_cycles(r->p, r->job->op)) +
			 model_nic_see_ps(r->p);

	if (r->completed == 0)
		r->out->latency_ps = at_ps;
	r->completed++;
	if (r->completed == r->job->count / 2)
		r->out->half_ps = at_ps;
	r->out->end_ps = at_ps;
	if (r->started < r->job->count)
		message_start(r, at_ps);
}

static void phase_done(void *context, uint32_t number, uint64_t at_ps)
{
	struct nic_run *r = context;
	uint32_t message = r->owner[number] / 2;

	if (r->owner[number] % 2 == 1 || model_nic_immediate(r->job->op)) {
		message_complete(r, at_ps);
		return;
	}
	if (r->job->op == MODEL_GET)
		at_ps += model_cycles_ps(r->p, model_nic_turnaround_cycles(r->p));
	if (message == 0)
		r->returned_ps = at_ps;
	phase_send(r, message, 1, at_ps);
}

static void stay(void *context, uint32_t stage, uint32_t unit, uint64_t start_ps, uint64_t end_ps)
{
	struct nic_run *r = context;
	uint32_t owner = r->owner[r->pipeline.units[unit].message];
	uint64_t *last = &r->ends_ps[owner % 2][stage];

	if (owner / 2 == 0)
		*last = max_u64(*last, end_ps);
	if (stage == MODEL_AT_UPLOAD && r->upload_first_ps == 0)
		r->upload_first_ps = start_ps;
	if (stage == MODEL_AT_UPLOAD)
		r->out->upload_ps = end_ps - r->upload_first_ps;
	if (r->job->trace)
		r->job->trace->slice(r->job->trace->context, model_nic_stage_name(stage), unit,
				     start_ps, end_ps);
}

/* Splits the first message's latency; a stage's part ends when it has all bytes. */
static void parts_fill(const struct nic_run *r)
{
	bool immediate = model_nic_immediate(r->job->op);
	const uint64_t *a = r->ends_ps[0], *b = immediate ? a : r->ends_ps[1];
	uint64_t *parts = r->out->parts_ps, hop = (uint64_t)(r->p->hops * r->p->hop_ns) * 1000;
	uint64_t rest = r->plans[!immediate].rest_ps;

	parts[MODEL_PART_STORE] = r->doorbell_ps;
	parts[MODEL_PART_DESCRIPTOR_READ] = a[MODEL_AT_LINK] - r->doorbell_ps;
	parts[MODEL_PART_DESCRIPTOR_EXTRACT] = a[MODEL_AT_DESCRIPTOR] - a[MODEL_AT_LINK];
	if (!immediate) {
		parts[MODEL_PART_TURNAROUND] = r->returned_ps - a[MODEL_AT_DESCRIPTOR];
		parts[MODEL_PART_DATA_READ] = b[MODEL_AT_LINK] - r->returned_ps;
		parts[MODEL_PART_DATA_EXTRACT] = b[MODEL_AT_DATA] - b[MODEL_AT_LINK];
	}
	parts[MODEL_PART_CROSSBAR] =
		b[MODEL_AT_CROSSBAR] - b[immediate ? MODEL_AT_DESCRIPTOR : MODEL_AT_DATA];
	parts[MODEL_PART_ENGINE] = rest;
	parts[MODEL_PART_HOP] = hop;
	parts[MODEL_PART_UPLOAD] = b[MODEL_AT_UPLOAD] - b[MODEL_AT_CROSSBAR] - hop - rest;
	parts[MODEL_PART_SEE] = model_nic_see_ps(r->p);
	parts[MODEL_PART_EVENT] = r->out->latency_ps - b[MODEL_AT_UPLOAD] - parts[MODEL_PART_SEE];
}

static void stages_set(struct nic_run *r)
{
	struct model_pipeline *m = &r->pipeline;
	uint32_t depth = (uint32_t)r->p->buffer_packets;

	for (unsigned i = 0; i < MODEL_NIC_STAGES; i++) {
		m->stages[i].name = model_nic_stage_name(i);
		m->stages[i].servers = 1;
	}
	m->stages[MODEL_AT_MEMORY].servers = (uint32_t)r->p->read_slots;
	m->stages[MODEL_AT_DATA].depth = m->stages[MODEL_AT_DESCRIPTOR].depth = depth;
	m->stages[MODEL_AT_CROSSBAR].depth = m->stages[MODEL_AT_UPLOAD].depth = depth;
	m->stage_count = MODEL_NIC_STAGES;
	m->pools[MODEL_POOL_TAGS] = (uint32_t)r->p->tags;
	m->pools[MODEL_POOL_PIECE] = 1;
	m->done = phase_done;
	m->trace = stay;
	m->context = r;
}

static void run_release(struct nic_run *r)
{
	model_pipeline_destroy(&r->pipeline);
	free(r->routes[0]);
	free(r->routes[1]);
	free(r->owner);
	free(r);
}

/* Simulates a job. `rest_ps`: of the engines, besides the stages. */
static int run_with(const struct model_parameters *p, const struct model_nic_job *job,
		    uint64_t rest_ps, struct model_nic_result *out)
{
	struct nic_run *r = calloc(1, sizeof(*r));
	int status = r ? DXP_OK : DXP_ENOMEM;

	if (status)
		return error_set(status, "out of memory");
	*out = (struct model_nic_result){0};
	r->p = p;
	r->job = job;
	r->out = out;
	for (unsigned i = 0; !status && i < 2; i++)
		status = phase_plan(r, i, rest_ps);
	if (!status)
		status = model_pipeline_create(
			&r->pipeline, job->count * (r->packets[0] + r->packets[1]), 2 * job->count);
	r->owner = calloc(2 * (size_t)job->count, sizeof(*r->owner));
	if (!status && r->owner) {
		stages_set(r);
		for (uint32_t i = 0; i < job->outstanding && i < job->count; i++)
			message_start(r, 0);
		status = model_pipeline_run(&r->pipeline);
		out->moves = r->pipeline.moves;
		parts_fill(r);
	}
	if (!r->owner || r->failed || status == DXP_ENOMEM)
		status = error_set(DXP_ENOMEM, "out of memory");
	else if (status == DXP_EBUSY)
		status = error_set(DXP_EINVAL, "packets wait for each other; raise buffer_packets");
	run_release(r);
	return status;
}

static uint64_t engine_cycles(const struct model_parameters *p, enum model_op op)
{
	return (uint64_t)(op == MODEL_NAP_IMM ? p->nap_engine_cycles : p->put_engine_cycles);
}

/* Computes the engines' rest: the source states their cycles for 1 byte on its hardware; other
 * hardware needs as many besides its stages. */
static int rest_of(const struct model_parameters *p, enum model_op op, uint64_t *rest_ps)
{
	struct model_parameters source;
	struct model_nic_job one = {.op = op, .bytes = 1, .count = 1, .outstanding = 1};
	struct model_nic_result r;

	model_parameters_default(&source);
	source.completion_header = p->completion_header;
	source.forward = p->forward;
	source.nap_overlap = p->nap_overlap;
	int status = run_with(&source, &one, 0, &r);
	if (status)
		return status;
	uint64_t stages = 0, known = engine_cycles(p, op) * 4000;
	uint64_t reads = op == MODEL_NAP_IMM ? 1 : 2;
	for (unsigned i = MODEL_PART_DESCRIPTOR_READ; i <= MODEL_PART_UPLOAD; i++)
		if (i != MODEL_PART_TURNAROUND && i != MODEL_PART_HOP)
			stages += r.parts_ps[i];
	stages -= reads * (uint64_t)source.memory_read_cycles * 4000;
	uint64_t rest = known > stages ? known - stages : 0;
	*rest_ps = rest * (uint64_t)model_cycle_ps(p) / 4000;
	return DXP_OK;
}

int model_nic_run(const struct model_parameters *p, const struct model_nic_job *job,
		  struct model_nic_result *out)
{
	uint64_t most =
		model_nic_is_nap(job->op) ? (uint64_t)p->nap_max_bytes : MODEL_NIC_BYTES_MOST;
	uint64_t rest_ps;

	if (job->bytes < 1 || job->bytes > most)
		return error_set(DXP_EINVAL, "%s of %llu B is out of range; allowed: 1 to %llu",
				 model_op_name(job->op), (unsigned long long)job->bytes,
				 (unsigned long long)most);
	int status = rest_of(p, job->op, &rest_ps);
	return status ? status : run_with(p, job, rest_ps, out);
}

uint64_t model_nic_closed_ps(const struct model_parameters *p, enum model_op op, uint64_t bytes)
{
	uint64_t reads = op == MODEL_NAP_IMM ? 1 : 2, cycles, one;

	uint64_t fixed = engine_cycles(p, op) + model_nic_event_cycles(p, op) +
			 (op == MODEL_GET ? model_nic_turnaround_cycles(p) : 0);
	if (op == MODEL_NAP_IMM) {
		uint64_t read = max_u64((uint64_t)p->descriptor_bytes,
					(uint64_t)p->immediate_offset_bytes + bytes);
		uint64_t payload = model_pcie_payload(p), width = (uint64_t)p->extract_bytes;
		one = model_pcie_completion_cycles(p, (uint64_t)p->descriptor_bytes, width);
		cycles = read / payload * model_pcie_completion_cycles(p, payload, width);
		if (read % payload)
			cycles += model_pcie_completion_cycles(p, read % payload, width);
	} else {
		one = model_pcie_return_cycles(p, 1);
		cycles = model_pcie_return_cycles(p, bytes);
	}
	return (uint64_t)p->doorbell_ns * 1000 + reads * (uint64_t)p->memory_read_cycles * 4000 +
	       model_cycles_ps(p, fixed + cycles - one) + (uint64_t)(p->hops * p->hop_ns) * 1000 +
	       model_nic_see_ps(p);
}
