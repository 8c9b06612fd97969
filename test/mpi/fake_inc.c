/* SPDX-License-Identifier: BSD-3-Clause */
/* include/dxp/inc.h without a network, for tests of the MPI plugins. Members on one host share a
 * mapped file; each writes its contribution and combines all in member order. The library's
 * contracts about order, loss and disagreement hold. Environment variables inject faults:
 *
 *   DXP_FAKE_REFUSE=n      the first n groups are rejected
 *   DXP_FAKE_LOSE=n,m,k    the next k groups are lost in operation n (from 0) after m elements
 *   DXP_FAKE_SLOW=us,k      the first k operations of a group take this many us longer
 *   DXP_FAKE_REPORT=file   member 0 of a destroyed group appends a line: members, operations */
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <mpi.h>

#include <dxp/inc.h>

#define ENTRIES    4
#define MEMBERS    32
#define DATA_BYTES (2u << 20) /* longer operations are not supported */

enum collective { ALLREDUCE, REDUCE, BROADCAST, BARRIER };

struct head {
	/* operation, from 1, of this entry's contribution */
	_Atomic uint64_t ready;
	uint32_t collective, op, type, root;
	uint64_t elements;
};

struct shared {
	_Atomic uint64_t over[MEMBERS]; /* operations completed per member */
	struct head heads[ENTRIES][MEMBERS];
	uint8_t data[ENTRIES][MEMBERS][DATA_BYTES];
};

struct dxp_inc {
	struct dxp_inc_options options;
};

struct dxp_inc_group {
	struct dxp_inc *inc;
	struct shared *shared;
	uint32_t member, members;
	uint64_t calls;
	bool lost, loses;
	int lost_status;
	uint64_t lose_call, lose_elements;
	unsigned slow_us, slow_calls;
};

struct dxp_inc_operation {
	struct dxp_inc_group *group;
	struct head head;
	uint64_t number; /* from 1 */
	const void *send;
	uint8_t *receive;
	size_t bytes, done; /* bytes per element; elements complete */
	bool put;
};

static int refused, lossy;

int dxp_inc_open(const struct dxp_inc_options *options, struct dxp_inc **out)
{
	if (!options->switches && !getenv("DXP_INC_SWITCH"))
		return DXP_ENOENT;
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return DXP_ENOMEM;
	(*out)->options = *options;
	return DXP_OK;
}

void dxp_inc_close(struct dxp_inc *inc)
{
	free(inc);
}

static struct shared *map(const char *name, bool make)
{
	int fd = open(name, make ? O_RDWR | O_CREAT | O_EXCL : O_RDWR, 0600);
	struct shared *s;

	if (fd < 0 || (make && ftruncate(fd, sizeof(*s))))
		abort();
	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (s == MAP_FAILED)
		abort();
	return s;
}

static void meet(struct dxp_inc_group *g, const struct dxp_inc_bootstrap *b)
{
	char names[MEMBERS][64], name[64] = "";
	static int made;

	if (b->member == 0) {
		snprintf(name, sizeof(name), "/dev/shm/dxp-fake-%d-%d", (int)getpid(), made++);
		g->shared = map(name, true);
	}
	if (b->allgather(b->context, name, names, sizeof(name)))
		abort();
	if (b->member != 0)
		g->shared = map(names[0], false);
	if (b->allgather(b->context, name, names, sizeof(name)))
		abort();
	if (b->member == 0)
		unlink(name);
}

int dxp_inc_group_create(struct dxp_inc *inc, const struct dxp_inc_bootstrap *bootstrap,
			 const struct dxp_inc_group_options *options, struct dxp_inc_group **out,
			 char why[DXP_INC_WHY_BYTES])
{
	const char *refuse = getenv("DXP_FAKE_REFUSE"), *lose = getenv("DXP_FAKE_LOSE");
	const char *slow = getenv("DXP_FAKE_SLOW");
	struct dxp_inc_group *g;
	int groups = 1 << 30;

	if (refuse && refused++ < atoi(refuse)) {
		snprintf(why, DXP_INC_WHY_BYTES, "the fake switch has no group left");
		return DXP_EBUSY;
	}
	g = calloc(1, sizeof(*g));
	if (!g || bootstrap->members > MEMBERS)
		abort();
	g->inc = inc;
	g->member = bootstrap->member;
	g->members = bootstrap->members;
	if (lose && sscanf(lose, "%lu,%lu,%d", &g->lose_call, &g->lose_elements, &groups) >= 2)
		g->loses = lossy++ < groups;
	if (slow && sscanf(slow, "%u,%u", &g->slow_us, &g->slow_calls) != 2)
		abort();
	meet(g, bootstrap);
	*out = g;
	return DXP_OK;
}

void dxp_inc_group_destroy(struct dxp_inc_group *g)
{
	const char *report = getenv("DXP_FAKE_REPORT");
	FILE *f = report && g->member == 0 ? fopen(report, "a") : NULL;

	if (f) {
		fprintf(f, "members %u calls %lu\n", g->members, (unsigned long)g->calls);
		fclose(f);
	}
	munmap(g->shared, sizeof(*g->shared));
	free(g);
}

void dxp_inc_group_view(const struct dxp_inc_group *g, struct dxp_inc_group_view *out)
{
	*out = (struct dxp_inc_group_view){
		.member = g->member,
		.members = g->members,
		.lost = g->lost,
		.lost_status = g->lost_status,
		.calls = g->calls,
	};
}

bool dxp_inc_accepts(const struct dxp_inc_group *g, enum dxp_inc_op op, enum dxp_inc_type type,
		     size_t count)
{
	return dxp_inc_defined(op, type);
}

static int start(struct dxp_inc_group *g, struct head head, const void *send, void *receive,
		 struct dxp_inc_operation **out)
{
	struct dxp_inc_operation *call;

	if (g->lost)
		return DXP_EPEERLOST;
	if (head.elements * dxp_inc_type_bytes(head.type) > DATA_BYTES)
		return DXP_EUNSUPPORTED;
	call = calloc(1, sizeof(*call));
	if (!call)
		return DXP_ENOMEM;
	call->group = g;
	call->head = head;
	call->number = ++g->calls;
	if (call->number <= g->slow_calls)
		usleep(g->slow_us);
	call->send = send;
	call->receive = receive;
	call->bytes = dxp_inc_type_bytes(head.type);
	*out = call;
	return DXP_OK;
}

int dxp_inc_allreduce_start(struct dxp_inc_group *g, const void *send, void *receive, size_t count,
			    enum dxp_inc_type type, enum dxp_inc_op op,
			    struct dxp_inc_operation **out)
{
	struct head h = {.collective = ALLREDUCE, .op = op, .type = type, .elements = count};

	return start(g, h, send ? send : receive, receive, out);
}

int dxp_inc_reduce_start(struct dxp_inc_group *g, const void *send, void *receive, size_t count,
			 enum dxp_inc_type type, enum dxp_inc_op op, uint32_t root,
			 struct dxp_inc_operation **out)
{
	struct head h = {.collective = REDUCE, .op = op, .type = type, .root = root};

	h.elements = count;
	return start(g, h, send ? send : receive, g->member == root ? receive : NULL, out);
}

int dxp_inc_broadcast_start(struct dxp_inc_group *g, void *data, size_t bytes, uint32_t root,
			    struct dxp_inc_operation **out)
{
	struct head h = {.collective = BROADCAST, .root = root, .elements = bytes};

	return start(g, h, data, data, out);
}

int dxp_inc_barrier_start(struct dxp_inc_group *g, struct dxp_inc_operation **out)
{
	return start(g, (struct head){.collective = BARRIER}, NULL, NULL, out);
}

static MPI_Datatype mpi_type(uint32_t type)
{
	switch (type) {
	case DXP_INC_INT8: return MPI_INT8_T;
	case DXP_INC_INT16: return MPI_INT16_T;
	case DXP_INC_INT32: return MPI_INT32_T;
	case DXP_INC_INT64: return MPI_INT64_T;
	case DXP_INC_UINT8: return MPI_UINT8_T;
	case DXP_INC_UINT16: return MPI_UINT16_T;
	case DXP_INC_UINT32: return MPI_UINT32_T;
	case DXP_INC_UINT64: return MPI_UINT64_T;
	case DXP_INC_FLOAT: return MPI_FLOAT;
	case DXP_INC_DOUBLE: return MPI_DOUBLE;
	case DXP_INC_INT32_INT: return MPI_2INT;
	case DXP_INC_INT64_INT: return MPI_LONG_INT;
	case DXP_INC_FLOAT_INT: return MPI_FLOAT_INT;
	case DXP_INC_DOUBLE_INT: return MPI_DOUBLE_INT;
	default: return MPI_BYTE;
	}
}

static MPI_Op mpi_op(uint32_t op)
{
	switch (op) {
	case DXP_INC_SUM: return MPI_SUM;
	case DXP_INC_PROD: return MPI_PROD;
	case DXP_INC_MIN: return MPI_MIN;
	case DXP_INC_MAX: return MPI_MAX;
	case DXP_INC_LAND: return MPI_LAND;
	case DXP_INC_LOR: return MPI_LOR;
	case DXP_INC_LXOR: return MPI_LXOR;
	case DXP_INC_BAND: return MPI_BAND;
	case DXP_INC_BOR: return MPI_BOR;
	case DXP_INC_BXOR: return MPI_BXOR;
	case DXP_INC_MINLOC: return MPI_MINLOC;
	default: return MPI_MAXLOC;
	}
}

/* Writes this member's contribution once the entry is free. Returns whether all have. */
static bool all_there(struct dxp_inc_operation *call, struct head *heads,
		      uint8_t (*data)[DATA_BYTES])
{
	struct dxp_inc_group *g = call->group;
	struct head *own = &heads[g->member];
	bool there = true;

	for (uint32_t i = 0; i < g->members && !call->put; i++)
		if (g->shared->over[i] + ENTRIES < call->number)
			return false;
	if (!call->put) {
		call->head.ready = own->ready;
		*own = call->head;
		if (call->send)
			memcpy(data[g->member], call->send, call->head.elements * call->bytes);
		atomic_store(&own->ready, call->number);
		call->put = true;
	}
	for (uint32_t i = 0; i < g->members; i++)
		there = there && atomic_load(&heads[i].ready) >= call->number;
	return there;
}

static bool differ(const struct head *a, const struct head *b)
{
	return a->collective != b->collective || a->op != b->op || a->type != b->type ||
	       a->root != b->root || a->elements != b->elements;
}

static int lose(struct dxp_inc_group *g, int status)
{
	g->lost = true;
	g->lost_status = status == DXP_EPEERLOST ? DXP_ETIMEDOUT : status;
	return status;
}

static void fold(struct dxp_inc_operation *call, uint8_t (*data)[DATA_BYTES], size_t elements)
{
	uint32_t members = call->group->members;

	if (call->head.collective == BROADCAST) {
		memcpy(call->receive, data[call->head.root], elements);
		return;
	}
	memcpy(call->receive, data[0], elements * call->bytes);
	for (uint32_t i = 1; i < members; i++)
		PMPI_Reduce_local(data[i], call->receive, (int)elements, mpi_type(call->head.type),
				  mpi_op(call->head.op));
}

static int advance(struct dxp_inc_operation *call)
{
	struct dxp_inc_group *g = call->group;
	size_t index = call->number % ENTRIES, count = call->head.elements;
	struct head *heads = g->shared->heads[index];
	bool losing = g->loses && call->number == g->lose_call + 1;

	if (!all_there(call, heads, g->shared->data[index]))
		return DXP_EAGAIN;
	for (uint32_t i = 1; i < g->members; i++)
		if (differ(&heads[0], &heads[i]))
			return lose(g, DXP_EINVAL);
	if (losing && g->lose_elements < count)
		count = g->lose_elements;
	if (call->receive && count)
		fold(call, g->shared->data[index], count);
	call->done = count;
	return losing ? lose(g, DXP_EPEERLOST) : DXP_OK;
}

int dxp_inc_test(struct dxp_inc_operation *call, size_t *done)
{
	int rc = call->group->lost ? DXP_EPEERLOST : advance(call);

	if (rc == DXP_EAGAIN)
		return rc;
	if (done)
		*done = call->done;
	call->group->shared->over[call->group->member] = call->number;
	free(call);
	return rc;
}

int dxp_inc_wait(struct dxp_inc_operation *call, size_t *done)
{
	struct dxp_inc *inc = call->group->inc;
	int rc;

	while ((rc = dxp_inc_test(call, done)) == DXP_EAGAIN) {
		if (inc->options.idle)
			inc->options.idle(inc->options.idle_context);
		sched_yield();
	}
	return rc;
}
