/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/opencl/fake_fabric.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EVENTS_MAX 200000
#define WAITS_MAX  512
#define RANGES_MAX 4096

struct fake_event {
	enum { NONE, PENDING, DONE, FORGOTTEN } state;
	int status;
	struct dxp_xpu *xpu; /* NULL: a command of the host */
	uint32_t wait_count;
	dxp_event *waits;
	bool notify;
	uint64_t cookie;
	struct dxp_event_times times;
	bool forget; /* released on completion */
	int (*act)(void *context);
	void *context;
};

struct range {
	uint64_t address, bytes;
};

struct dxp_xpu {
	uint32_t node, generation;
	uint32_t references;
};

struct fake_node {
	char name[DXP_NAME_BYTES];
	uint64_t memory_bytes, allocated;
	bool alive, opencl;
	uint32_t generation;
	struct dxp_xpu xpu; /* xPU of the present generation */
	struct range ranges[RANGES_MAX];
	uint32_t range_count;
	uint8_t *memory;
};

struct dxp_fabric {
	int unused;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t notified = PTHREAD_COND_INITIALIZER;
static struct dxp_fabric the_fabric;
static struct fake_node nodes[FAKE_NODES_MAX];
static uint32_t node_count;
static struct fake_event *events;
static uint32_t event_count = 1, first_open = 1;
static struct dxp_completion *completions;
static uint32_t completion_first, completion_last;
static bool woken, held;
static int fail_next;
static int64_t clock_ahead;
static uint32_t alloc_calls, last_waits, most_waits;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void notify(uint32_t n)
{
	struct fake_event *e = &events[n];

	completions[completion_last++ % EVENTS_MAX] =
		(struct dxp_completion){.cookie = e->cookie,
					.event = (uint64_t)(e->xpu != NULL) << 32 | n,
					.status = e->status,
					.times = e->times};
	pthread_cond_broadcast(&notified);
}

static void end_event(uint32_t n, int status)
{
	struct fake_event *e = &events[n];
	uint64_t now = now_ns() + (e->xpu ? (uint64_t)clock_ahead : 0);

	e->state = e->forget ? FORGOTTEN : DONE;
	e->status = status;
	free(e->context);
	e->context = NULL;
	e->times = (struct dxp_event_times){now - 3, now - 2, now - 1};
	free(e->waits);
	e->waits = NULL;
	if (e->notify)
		notify(n);
}

/* Returns 0 while a wait is open, otherwise 1 + the status with which it may complete. */
static int can_end(const struct fake_event *e)
{
	int status = DXP_OK;

	for (uint32_t i = 0; i < e->wait_count; i++) {
		const struct fake_event *w = &events[(uint32_t)e->waits[i]];
		if (w->state == PENDING)
			return 1;
		if (w->status != DXP_OK)
			status = DXP_ECANCELED;
	}
	return status;
}

static void act_and_end(uint32_t n, int status)
{
	struct fake_event *e = &events[n];

	if (status == DXP_OK && fail_next) {
		status = fail_next;
		fail_next = 0;
	}
	if (status == DXP_OK && e->act)
		status = e->act(e->context);
	end_event(n, status);
}

static void advance(void)
{
	bool again = !held;

	while (again) {
		again = false;
		for (uint32_t n = first_open; n < event_count; n++) {
			if (events[n].state != PENDING || !events[n].xpu)
				continue;
			int status = can_end(&events[n]);
			if (status > 0)
				continue;
			act_and_end(n, status);
			again = true;
		}
		while (first_open < event_count &&
		       (events[first_open].state == FORGOTTEN || events[first_open].state == DONE))
			first_open++;
	}
}

static bool is_dead(const struct dxp_xpu *x)
{
	return !nodes[x->node].alive || nodes[x->node].generation != x->generation;
}

static uint32_t add_event(struct dxp_xpu *x)
{
	if (!events) {
		events = calloc(EVENTS_MAX, sizeof(*events));
		completions = calloc(EVENTS_MAX, sizeof(*completions));
	}
	assert(event_count < EVENTS_MAX);
	events[event_count] = (struct fake_event){.state = PENDING, .xpu = x};
	return event_count++;
}

/* ---- interface of the tests ---- */

uint32_t fake_node(uint64_t memory_bytes, bool opencl)
{
	struct fake_node *n = &nodes[node_count];

	*n = (struct fake_node){.memory_bytes = memory_bytes, .alive = true, .opencl = opencl};
	snprintf(n->name, sizeof(n->name), "n%u", node_count + 1);
	return node_count++;
}

void fake_lose(uint32_t node)
{
	pthread_mutex_lock(&lock);
	nodes[node].alive = false;
	for (uint32_t n = 1; n < event_count; n++)
		if (events[n].state == PENDING && events[n].xpu == &nodes[node].xpu)
			end_event(n, DXP_EPEERLOST);
	nodes[node].range_count = 0;
	nodes[node].allocated = 0;
	advance();
	pthread_mutex_unlock(&lock);
}

void fake_return(uint32_t node)
{
	pthread_mutex_lock(&lock);
	nodes[node].alive = true;
	nodes[node].generation++;
	pthread_mutex_unlock(&lock);
}

void fake_hold(bool hold)
{
	pthread_mutex_lock(&lock);
	held = hold;
	advance();
	pthread_mutex_unlock(&lock);
}

void fake_fail_next(int status)
{
	fail_next = status;
}

void fake_clock_ahead(int64_t ns)
{
	clock_ahead = ns;
}

uint32_t fake_step(uint32_t count, uint64_t seed)
{
	uint32_t ended = 0;

	pthread_mutex_lock(&lock);
	for (; ended < count; ended++) {
		uint32_t ready = 0, chosen = 0;
		for (uint32_t n = first_open; n < event_count; n++) {
			if (events[n].state != PENDING || !events[n].xpu || can_end(&events[n]) > 0)
				continue;
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			if ((seed >> 33) % ++ready == 0)
				chosen = n;
		}
		if (!ready)
			break;
		act_and_end(chosen, can_end(&events[chosen]));
	}
	while (first_open < event_count && events[first_open].state != PENDING)
		first_open++;
	pthread_mutex_unlock(&lock);
	return ended;
}

uint8_t *fake_memory(const struct dxp_xpu *xpu)
{
	struct fake_node *n = &nodes[xpu->node];

	if (is_dead(xpu))
		return NULL;
	if (!n->memory)
		n->memory = calloc(1, n->memory_bytes);
	return n->memory;
}

uint32_t fake_events(void)
{
	uint32_t count = 0;

	pthread_mutex_lock(&lock);
	for (uint32_t n = 1; n < event_count; n++)
		count += (events[n].state == PENDING && !events[n].forget) ||
			 events[n].state == DONE;
	pthread_mutex_unlock(&lock);
	return count;
}

uint64_t fake_allocated(uint32_t node)
{
	return nodes[node].allocated;
}

uint32_t fake_alloc_calls(void)
{
	return alloc_calls;
}

uint32_t fake_last_waits(void)
{
	return last_waits;
}

uint32_t fake_most_waits(void)
{
	uint32_t most = most_waits;

	most_waits = 0;
	return most;
}

/* ---- the library ---- */

int dxp_fabric_open(const struct dxp_fabric_options *options, struct dxp_fabric **out)
{
	*out = &the_fabric;
	return node_count ? DXP_OK : DXP_ENOENT;
}

void dxp_fabric_close(struct dxp_fabric *fabric)
{
}

const char *dxp_fabric_error(const struct dxp_fabric *fabric)
{
	return "as the test wants it";
}

int dxp_fabric_nodes(struct dxp_fabric *fabric, struct dxp_node_info *out, size_t count)
{
	pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i < node_count && i < count; i++) {
		out[i] = (struct dxp_node_info){.id = (uint16_t)(i + 1),
						.kind = DXP_NODE_XPU,
						.granted = true,
						.alive = nodes[i].alive,
						.memory_bytes = nodes[i].memory_bytes};
		memcpy(out[i].name, nodes[i].name, DXP_NAME_BYTES);
		snprintf(out[i].engine, DXP_NAME_BYTES, "%s", nodes[i].opencl ? "ocl" : "board");
	}
	pthread_mutex_unlock(&lock);
	return (int)node_count;
}

int dxp_xpu_open(struct dxp_fabric *fabric, const char *name, struct dxp_xpu **out)
{
	int status = DXP_ENOENT;

	pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i < node_count; i++) {
		if (strcmp(nodes[i].name, name) != 0)
			continue;
		status = nodes[i].alive ? DXP_OK : DXP_EPEERLOST;
		nodes[i].xpu = (struct dxp_xpu){.node = i, .generation = nodes[i].generation};
		if (status == DXP_OK)
			*out = &nodes[i].xpu;
	}
	pthread_mutex_unlock(&lock);
	return status;
}

void dxp_xpu_close(struct dxp_xpu *xpu)
{
}

int dxp_xpu_caps(struct dxp_xpu *xpu, struct dxp_xpu_caps *out)
{
	const struct fake_node *n = &nodes[xpu->node];

	*out = (struct dxp_xpu_caps){.node = (uint16_t)(xpu->node + 1),
				     .memory_bytes = n->memory_bytes,
				     .free_bytes = n->memory_bytes - n->allocated,
				     .compute_units = 1};
	memcpy(out->name, n->name, DXP_NAME_BYTES);
	snprintf(out->device, sizeof(out->device), "fake");
	return DXP_OK;
}

static void record(uint8_t *out, size_t *at, uint32_t tag, const void *data, uint32_t bytes)
{
	for (int i = 0; i < 4; i++) {
		out[*at + (size_t)i] = (uint8_t)(tag >> 8 * i);
		out[*at + 4 + (size_t)i] = (uint8_t)(bytes >> 8 * i);
	}
	memcpy(out + *at + 8, data, bytes);
	*at += 8 + bytes;
}

/* Writes image sizes, and for each kind of image RGBA of bytes and R of floats. */
static void images(uint8_t *data, size_t *bytes)
{
	static const uint32_t sizes[] = {0x1011, 0x1012, 0x1013, 0x1014, 0x1015, 0x1040, 0x1041};
	const uint32_t yes = 1;
	const uint64_t size = 4096;

	record(data, bytes, 0x1016, &yes, sizeof(yes));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		record(data, bytes, sizes[i], &size, sizeof(size));
	for (uint32_t object = 0x10f1; object <= 0x10f6; object++) {
		const uint32_t formats[] = {1, object, 0x10b5, 0x10d2, 0x10b0, 0x10de};
		record(data, bytes, 0x10000001, formats, sizeof(formats));
	}
}

/* Returns a name and extensions, one of which the plugin must ignore. 0x102B and 0x1030 are
 * OpenCL's. */
int dxp_xpu_about(struct dxp_xpu *xpu, void **out, size_t *bytes)
{
	static const char text[] = "cl_khr_fp64 cl_khr_spir cl_khr_int64_base_atomics";
	const uint64_t type = 2;
	uint8_t *data;

	if (!nodes[xpu->node].opencl)
		return DXP_EUNSUPPORTED;
	data = malloc(1024);
	*bytes = 0;
	images(data, bytes);
	record(data, bytes, 0x102B, "Fake 1", 7);
	record(data, bytes, 0x1030, text, sizeof(text));
	record(data, bytes, 0x1000, &type, sizeof(type));
	*out = data;
	return DXP_OK;
}

int dxp_xpu_clock(struct dxp_xpu *xpu, struct dxp_clock *out)
{
	uint64_t now = now_ns();

	if (is_dead(xpu))
		return DXP_EPEERLOST;
	*out = (struct dxp_clock){now, now + (uint64_t)clock_ahead, 10};
	return DXP_OK;
}

static bool is_free(const struct fake_node *n, uint64_t address, uint64_t bytes, uint64_t *next)
{
	for (uint32_t i = 0; i < n->range_count; i++) {
		const struct range *r = &n->ranges[i];
		if (address < r->address + r->bytes && r->address < address + bytes) {
			*next = (r->address + r->bytes + 255) & ~255ull;
			return false;
		}
	}
	return address + bytes <= n->memory_bytes;
}

int dxp_mem_alloc(struct dxp_xpu *xpu, uint64_t bytes, uint64_t *address)
{
	struct fake_node *n = &nodes[xpu->node];
	int status = DXP_ENOMEM;
	uint64_t at = 0;

	pthread_mutex_lock(&lock);
	alloc_calls++;
	if (is_dead(xpu))
		status = DXP_EPEERLOST;
	while (status == DXP_ENOMEM && at + bytes <= n->memory_bytes) {
		if (is_free(n, at, bytes, &at)) {
			n->ranges[n->range_count++] = (struct range){at, bytes};
			n->allocated += bytes;
			*address = at;
			status = DXP_OK;
		}
	}
	pthread_mutex_unlock(&lock);
	return status;
}

int dxp_mem_free(struct dxp_xpu *xpu, uint64_t address)
{
	struct fake_node *n = &nodes[xpu->node];
	int status = DXP_ENOENT;

	pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i < n->range_count && status == DXP_ENOENT; i++) {
		if (n->ranges[i].address == address) {
			n->allocated -= n->ranges[i].bytes;
			n->ranges[i] = n->ranges[--n->range_count];
			status = DXP_OK;
		}
	}
	pthread_mutex_unlock(&lock);
	return status;
}

int fake_post(struct dxp_xpu *xpu, const struct dxp_waits *waits, int (*act)(void *context),
	      void *context, dxp_event *event)
{
	pthread_mutex_lock(&lock);
	if (is_dead(xpu)) {
		free(context);
		pthread_mutex_unlock(&lock);
		return DXP_EPEERLOST;
	}
	uint32_t n = add_event(xpu);
	struct fake_event *e = &events[n];
	e->act = act;
	e->context = context;
	last_waits = e->wait_count = waits->count;
	if (most_waits < last_waits)
		most_waits = last_waits;
	if (waits->count) {
		e->waits = malloc(waits->count * sizeof(dxp_event));
		memcpy(e->waits, waits->events, waits->count * sizeof(dxp_event));
	}
	for (uint32_t i = 0; i < waits->count; i++)
		assert(!events[(uint32_t)waits->events[i]].forget &&
		       (events[(uint32_t)waits->events[i]].state == PENDING ||
			events[(uint32_t)waits->events[i]].state == DONE));
	if (event)
		*event = 1ull << 32 | n;
	e->forget = !event;
	advance();
	pthread_mutex_unlock(&lock);
	return DXP_OK;
}

int dxp_mark(struct dxp_xpu *xpu, const struct dxp_waits *waits, dxp_event *event)
{
	return fake_post(xpu, waits, NULL, NULL, event);
}

int dxp_event_create(struct dxp_fabric *fabric, dxp_event *out)
{
	pthread_mutex_lock(&lock);
	*out = add_event(NULL);
	pthread_mutex_unlock(&lock);
	return DXP_OK;
}

int dxp_event_set(struct dxp_fabric *fabric, dxp_event event, int status)
{
	pthread_mutex_lock(&lock);
	bool open = events[(uint32_t)event].state == PENDING;
	if (open)
		end_event((uint32_t)event, status);
	advance();
	pthread_mutex_unlock(&lock);
	return open ? DXP_OK : DXP_EINVAL;
}

int dxp_event_notify(struct dxp_fabric *fabric, dxp_event event, uint64_t cookie)
{
	pthread_mutex_lock(&lock);
	events[(uint32_t)event].notify = true;
	events[(uint32_t)event].cookie = cookie;
	if (events[(uint32_t)event].state == DONE)
		notify((uint32_t)event);
	pthread_mutex_unlock(&lock);
	return DXP_OK;
}

int dxp_completions(struct dxp_fabric *fabric, struct dxp_completion *out, uint32_t count,
		    uint64_t timeout_ns)
{
	struct timespec until;
	uint32_t dequeued = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	timeout_ns += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(timeout_ns / 1000000000u);
	until.tv_nsec = (long)(timeout_ns % 1000000000u);
	pthread_mutex_lock(&lock);
	while (completion_first == completion_last && !woken)
		if (pthread_cond_timedwait(&notified, &lock, &until))
			break;
	woken = false;
	while (dequeued < count && completion_first != completion_last)
		out[dequeued++] = completions[completion_first++ % EVENTS_MAX];
	pthread_mutex_unlock(&lock);
	return (int)dequeued;
}

void dxp_completions_wake(struct dxp_fabric *fabric)
{
	pthread_mutex_lock(&lock);
	woken = true;
	pthread_cond_broadcast(&notified);
	pthread_mutex_unlock(&lock);
}

/* Failures have no sentence here. */
int dxp_event_failure(struct dxp_fabric *fabric, dxp_event event, char text[DXP_FAILURE_BYTES])
{
	text[0] = '\0';
	return 0;
}

/* All commands are short here. */
void dxp_completions_begun(struct dxp_fabric *fabric, bool on)
{
}

void dxp_event_forget(struct dxp_fabric *fabric, dxp_event event)
{
	pthread_mutex_lock(&lock);
	struct fake_event *e = &events[(uint32_t)event];
	assert(!e->forget && e->state != FORGOTTEN);
	if (e->state == DONE)
		e->state = FORGOTTEN;
	e->forget = true;
	pthread_mutex_unlock(&lock);
}
