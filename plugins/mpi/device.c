/* SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "host/mpi_device.h"
#include "wire/reduction.h"

#define REASON_BYTES 160

enum claim_kind { CLAIM_HOST, CLAIM_DEVICE, CLAIM_BAD };

/* Description of a rank's call, which all ranks exchange. */
struct claim {
	uint32_t kind, operation;
	int32_t root, type, reduction;
	uint32_t in_place;
	int32_t error; /* BAD: MPI error code */
	uint64_t count;
	struct mpi_device_member member;
	char reason[REASON_BYTES]; /* BAD */
};

/* A message of one rank to another during a run. */
struct message {
	uint32_t sequence; /* number of the run on this communicator */
	uint32_t step;     /* STEP_ABORT: the run has failed */
};
#define STEP_ABORT UINT32_MAX

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct mpi_device *device; /* NULL: the program does not use libdxp.so */
static bool enabled;

static void device_find(void)
{
	const char *text = getenv("DXP_MPI_DEVICE");
	const struct mpi_device *(*get)(uint32_t version);
	void *symbol = dlsym(RTLD_DEFAULT, MPI_DEVICE_SYMBOL);

	enabled = text && strcmp(text, "1") == 0;
	if (!symbol)
		return;
	/* ISO C has no conversion of object pointers to function pointers. */
	memcpy(&get, &symbol, sizeof(get));
	device = get(MPI_DEVICE_VERSION);
}

/* ---- what this rank passes ---- */

static void bad(struct claim *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void bad(struct claim *c, const char *format, ...)
{
	va_list arguments;

	if (c->kind == CLAIM_BAD)
		return;
	c->kind = CLAIM_BAD;
	c->error = MPI_ERR_BUFFER;
	va_start(arguments, format);
	vsnprintf(c->reason, sizeof(c->reason), format, arguments);
	va_end(arguments);
}

/* Looks a pointer up. Returns its device address; adds what it names to the claim. */
static uint64_t pointer_add(struct claim *c, const void *pointer, uint64_t bytes, bool *first,
			    struct dxp_xpu **xpu)
{
	struct mpi_device_place place;
	const int status = device ? device->find(pointer, &place) : DXP_ENOENT;
	const enum claim_kind kind = status == DXP_ENOENT ? CLAIM_HOST : CLAIM_DEVICE;

	if (status != DXP_OK && status != DXP_ENOENT)
		bad(c, "%s", device->error());
	else if (!*first && c->kind != kind)
		bad(c,
		    "one buffer is device memory, the other host memory; pass the same for both");
	if (c->kind == CLAIM_BAD)
		return 0;
	*first = false;
	c->kind = kind;
	if (kind == CLAIM_HOST)
		return 0;
	if (*xpu && *xpu != place.xpu)
		bad(c, "its buffers are on two xPUs; pass buffers of one xPU");
	if (bytes > place.bytes)
		bad(c, "the call needs %llu bytes, but the buffer on xPU '%s' has %llu",
		    (unsigned long long)bytes, place.name, (unsigned long long)place.bytes);
	*xpu = place.xpu;
	c->member.node = place.node;
	c->member.key = place.key;
	return place.address;
}

/* Returns DXP_TYPES if xPUs do not combine such elements. */
static enum dxp_type type_of(const struct mpi_mapping *m)
{
	unsigned type = 0;

	while (type < DXP_TYPES && reduction_type((enum dxp_type)type) != m->type)
		type++;
	return m->layout == MPI_LAYOUT_PLAIN && m->parts == 1 ? (enum dxp_type)type : DXP_TYPES;
}

static enum dxp_reduction reduction_of(const struct mpi_mapping *m)
{
	unsigned reduction = 0;

	while (reduction < DXP_REDUCTIONS && reduction_op((enum dxp_reduction)reduction) != m->op)
		reduction++;
	return (enum dxp_reduction)reduction;
}

/* A call of the program. */
struct device_call {
	enum mpi_device_operation operation;
	const void *send;
	void *receive;
	int count, root;
	MPI_Datatype type;
	MPI_Op op;
};

/* Sets type and reduction, and the count of a broadcast. Returns the bytes of an element; 0: not
 * supported. */
static uint64_t elements_describe(struct claim *c, const struct device_call *call)
{
	struct mpi_mapping m;
	MPI_Count bytes;

	if (call->operation == MPI_DEVICE_BROADCAST) {
		c->type = DXP_UINT8;
		if (!mpi_lies_flat(call->type) || PMPI_Type_size_x(call->type, &bytes))
			return 0;
		c->count = (uint64_t)call->count * (uint64_t)bytes;
		return (uint64_t)bytes;
	}
	if (!mpi_map(call->type, call->op, &m) || type_of(&m) == DXP_TYPES ||
	    reduction_of(&m) == DXP_REDUCTIONS)
		return 0;
	c->type = (int32_t)type_of(&m);
	c->reduction = (int32_t)reduction_of(&m);
	return m.bytes;
}

static struct claim buffers_describe(const struct dxp_mpi_comm *comm,
				     const struct device_call *call, struct dxp_xpu **xpu)
{
	struct claim c = {
		.operation = call->operation, .root = call->root, .count = (uint64_t)call->count};
	const bool root = comm->rank == call->root;
	const bool sends = call->operation != MPI_DEVICE_BROADCAST || root;
	const bool receives = call->operation != MPI_DEVICE_REDUCE || root;
	const void *from = call->send == MPI_IN_PLACE ? call->receive : call->send;
	const uint64_t size = elements_describe(&c, call);
	const uint64_t bytes = (uint64_t)call->count * size;
	bool first = true;

	if (sends)
		c.member.from = pointer_add(&c, from, bytes, &first, xpu);
	if (receives)
		c.member.to = pointer_add(&c, call->receive, bytes, &first, xpu);
	c.in_place = sends && receives && from == call->receive;
	if (c.kind == CLAIM_DEVICE && size == 0)
		bad(&c, "xPUs do not combine this type by this operator; use predefined numbers "
			"with MPI_SUM, MPI_PROD, MPI_MIN or MPI_MAX");
	if (c.kind == CLAIM_DEVICE && size && ((c.member.from | c.member.to) % size) &&
	    call->operation != MPI_DEVICE_BROADCAST)
		bad(&c, "a buffer is not aligned to its elements of %llu bytes in device memory",
		    (unsigned long long)size);
	if (c.kind == CLAIM_DEVICE && comm->device_lacking < comm->ranks)
		bad(&c,
		    "device memory needs DXP_MPI_DEVICE=1 in the environment of all ranks; rank %d "
		    "does not have it",
		    comm->device_lacking);
	return c;
}

/* Calls without elements may pass any pointers, also NULL at some ranks. */
static struct claim claim_make(const struct dxp_mpi_comm *comm, const struct device_call *call,
			       struct dxp_xpu **xpu)
{
	struct claim c = {.operation = call->operation, .root = call->root};

	if (call->count < 0) {
		bad(&c, "the count is %d; use 0 or more", call->count);
		c.error = MPI_ERR_COUNT;
		return c;
	}
	if (call->count == 0)
		return c;
	c = buffers_describe(comm, call, xpu);
	if (c.kind == CLAIM_DEVICE && device->scratch_reserve(*xpu, &c.member.scratch) != DXP_OK)
		bad(&c, "%s", device->error());
	return c;
}

/* ---- agreement ---- */

/* Returns the first rank whose claim has this kind; -1: none. */
static int rank_with(const struct claim *all, int ranks, enum claim_kind kind)
{
	for (int i = 0; i < ranks; i++)
		if (all[i].kind == kind)
			return i;
	return -1;
}

/* Returns the first rank that makes another call than rank 0; 0: none. */
static int rank_differs(const struct claim *all, int ranks)
{
	for (int i = 1; i < ranks; i++)
		if (all[i].count != all[0].count || all[i].type != all[0].type ||
		    all[i].reduction != all[0].reduction || all[i].root != all[0].root ||
		    all[i].operation != all[0].operation)
			return i;
	return 0;
}

/* Returns MPI_SUCCESS if the xPUs can do the call. All ranks return the same. */
static int claims_judge(struct dxp_mpi_comm *c, const struct claim *all)
{
	const int wrong = rank_with(all, c->ranks, CLAIM_BAD);
	const int host = rank_with(all, c->ranks, CLAIM_HOST);
	const int other = rank_with(all, c->ranks, CLAIM_DEVICE);
	const int differs = rank_differs(all, c->ranks);

	if (wrong < 0 && other < 0)
		return DXP_MPI_ORDINARY;
	if (wrong >= 0 && (c->rank == wrong || c->rank == 0))
		mpi_log(0, c, "rank %d: %s", wrong, all[wrong].reason);
	if (wrong >= 0)
		return all[wrong].error;
	if (host >= 0) {
		if (c->rank == 0)
			mpi_log(0, c,
				"rank %d passes device memory, but rank %d passes %s; pass the "
				"same at all ranks",
				other, host, all[host].count ? "host memory" : "no elements");
		return MPI_ERR_BUFFER;
	}
	if (differs && c->rank == 0)
		mpi_log(0, c,
			"rank %d calls with another length, type, operator or root than rank 0 "
			"(%llu and %llu elements)",
			differs, (unsigned long long)all[differs].count,
			(unsigned long long)all[0].count);
	return differs ? MPI_ERR_ARG : MPI_SUCCESS;
}

/* ---- the run ---- */

struct run {
	struct dxp_mpi_comm *c;
	struct mpi_device_call call;
	struct mpi_device_run *state; /* NULL: it could not begin */
	int status;                   /* enum dxp_status; DXP_EAGAIN: under way */
	bool aborted;                 /* another rank has reported the failure */
	bool quiet;                   /* no command of this rank is under way */
};

static void message_send(const struct run *r, int rank, uint32_t step)
{
	const struct message m = {r->c->device_runs, step};

	(void)PMPI_Send(&m, sizeof(m), MPI_BYTE, rank, 0, r->c->device_comm);
}

static void messages_receive(struct run *r)
{
	MPI_Status from;
	struct message m;
	int waiting;

	while (PMPI_Iprobe(MPI_ANY_SOURCE, 0, r->c->device_comm, &waiting, &from) == MPI_SUCCESS &&
	       waiting) {
		if (PMPI_Recv(&m, sizeof(m), MPI_BYTE, from.MPI_SOURCE, 0, r->c->device_comm,
			      MPI_STATUS_IGNORE) != MPI_SUCCESS)
			return;
		if (m.sequence != r->c->device_runs)
			continue; /* of a run that has failed */
		if (m.step == STEP_ABORT) {
			r->aborted = true;
			r->status = DXP_ECANCELED;
		} else if (r->state) {
			(void)device->notified(r->state, (uint32_t)from.MPI_SOURCE, m.step);
		}
	}
}

static void failure_spread(const struct run *r)
{
	if (r->aborted)
		return;
	mpi_log(0, r->c, "rank %d: %s", r->c->rank, device->error());
	for (int i = 0; i < r->c->ranks; i++)
		if (i != r->c->rank)
			message_send(r, i, STEP_ABORT);
}

static void run_advance(struct run *r)
{
	uint32_t member, step;

	r->status = device->advance(r->state);
	while (device->notice(r->state, &member, &step))
		message_send(r, (int)member, step);
	if (r->status == DXP_EAGAIN)
		messages_receive(r);
}

/* Returns an MPI error code, the same at all ranks. */
static int run(struct dxp_mpi_comm *c, const struct mpi_device_call *call, bool *quiet)
{
	struct run r = {.c = c, .call = *call, .quiet = true};
	int own[2], worst[2];

	c->device_runs++;
	r.status = device->begin(call, &r.state);
	if (r.status == DXP_OK)
		r.status = DXP_EAGAIN;
	while (r.status == DXP_EAGAIN)
		run_advance(&r);
	if (r.status != DXP_OK)
		failure_spread(&r);
	if (r.state)
		r.quiet = device->end(r.state);
	/* No rank returns before all are complete, so that buffers and scratch memory are free. */
	own[0] = r.status;
	own[1] = r.quiet;
	if (PMPI_Allreduce(own, worst, 2, MPI_INT, MPI_MIN, c->device_comm) != MPI_SUCCESS)
		return MPI_ERR_OTHER;
	*quiet = worst[1];
	return worst[0] == DXP_OK ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static bool device_join(struct dxp_mpi_comm *c)
{
	if (c->device_comm != MPI_COMM_NULL)
		return true;
	return mpi_enlist(c) && PMPI_Comm_dup(c->comm, &c->device_comm) == MPI_SUCCESS &&
	       mpi_adopt(c->device_comm) == MPI_SUCCESS;
}

/* Sets *quiet if no command of any rank is under way at the end. */
static int claims_run(struct dxp_mpi_comm *c, const struct claim *all, struct dxp_xpu *xpu,
		      bool *quiet)
{
	struct mpi_device_member *members = calloc((size_t)c->ranks, sizeof(*members));
	struct mpi_device_call call = {.operation = (enum mpi_device_operation)all[0].operation,
				       .members = (uint32_t)c->ranks,
				       .self = (uint32_t)c->rank,
				       .root = (uint32_t)all[0].root,
				       .count = all[0].count,
				       .type = (enum dxp_type)all[0].type,
				       .reduction = (enum dxp_reduction)all[0].reduction,
				       .xpu = xpu,
				       .all = members};

	if (!members || !device_join(c)) {
		free(members);
		return MPI_ERR_NO_MEM;
	}
	for (int i = 0; i < c->ranks; i++) {
		members[i] = all[i].member;
		if (i < DXP_GROUP_MEMBERS_MAX)
			call.in_place |= (uint64_t)all[i].in_place << i;
	}
	const int error = run(c, &call, quiet);
	free(members);
	return error;
}

/* The first call on a communicator agrees that all ranks have the setting. Returns false if MPI
 * failed. */
static bool agree(struct dxp_mpi_comm *c)
{
	const int own = enabled ? c->ranks : c->rank;

	if (c->device_agreed)
		return true;
	c->device_busy = true;
	c->device_agreed = PMPI_Allreduce(&own, &c->device_lacking, 1, MPI_INT, MPI_MIN, c->comm) ==
			   MPI_SUCCESS;
	c->device_busy = false;
	return c->device_agreed;
}

/* Returns true if calls on this communicator may use device memory, or may try to. */
static bool suits(struct dxp_mpi_comm *c, const struct device_call *call)
{
	int inter;

	pthread_once(&once, device_find);
	if (c->state == MPI_JOINING)
		return false;
	if (c->ranks == 0 &&
	    (PMPI_Comm_test_inter(c->comm, &inter) || inter || PMPI_Comm_rank(c->comm, &c->rank) ||
	     PMPI_Comm_size(c->comm, &c->ranks)))
		return false;
	return agree(c) && (device || c->device_lacking == c->ranks) && call->root >= 0 &&
	       call->root < c->ranks;
}

/* The exchange and the run. */
static int claim_handle(struct dxp_mpi_comm *c, const struct claim *own, struct dxp_xpu *xpu,
			bool *quiet)
{
	struct claim *all = calloc((size_t)c->ranks, sizeof(*all));
	int error;

	if (!all)
		return MPI_ERR_NO_MEM;
	c->device_busy = true;
	error = PMPI_Allgather(own, sizeof(*own), MPI_BYTE, all, sizeof(*own), MPI_BYTE, c->comm);
	if (error == MPI_SUCCESS)
		error = claims_judge(c, all);
	if (error == MPI_SUCCESS && all[0].count > 0) {
		*quiet = false;
		error = claims_run(c, all, xpu, quiet);
	}
	c->device_busy = false;
	free(all);
	return error;
}

static int device_call(struct dxp_mpi_comm *c, const struct device_call *call)
{
	struct dxp_xpu *xpu = NULL;
	struct claim own;
	bool quiet = true;
	int error;

	if (!suits(c, call))
		return DXP_MPI_ORDINARY;
	own = claim_make(c, call, &xpu);
	if (c->device_lacking < c->ranks) {
		if (own.kind == CLAIM_BAD)
			mpi_log(0, c, "rank %d: %s", c->rank, own.reason);
		return own.kind == CLAIM_BAD ? own.error : DXP_MPI_ORDINARY;
	}
	error = claim_handle(c, &own, xpu, &quiet);
	if (own.kind == CLAIM_DEVICE)
		device->scratch_release(xpu, own.member.scratch, quiet);
	return error;
}

int mpi_device_allreduce(struct dxp_mpi_comm *c, const void *send, void *receive, int count,
			 MPI_Datatype type, MPI_Op op)
{
	const struct device_call call = {MPI_DEVICE_ALLREDUCE, send, receive, count, 0, type, op};

	return device_call(c, &call);
}

int mpi_device_reduce(struct dxp_mpi_comm *c, const void *send, void *receive, int count,
		      MPI_Datatype type, MPI_Op op, int root)
{
	const struct device_call call = {MPI_DEVICE_REDUCE, send, receive, count, root, type, op};

	return device_call(c, &call);
}

int mpi_device_bcast(struct dxp_mpi_comm *c, void *buffer, int count, MPI_Datatype type, int root)
{
	const struct device_call call = {MPI_DEVICE_BROADCAST, buffer, buffer, count, root, type,
					 MPI_OP_NULL};

	return device_call(c, &call);
}
