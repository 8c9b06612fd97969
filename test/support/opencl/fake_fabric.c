/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/opencl/fake_internal.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EVENTS_MAX 200000
#define WAITS_MAX  512

struct fake_event {
	enum { NONE, PENDING, DONE, FORGOTTEN } state;
	int status;
	struct dxp_xpu *xpu; /* NULL: a command of the host */
	uint32_t wait_count;
	dxp_event *waits;
	bool notify;
	uint64_t cookie;
	struct dxp_event_times times;
	bool forget; /* released when it completes */
	int (*act)(void *context);
	void *context;
};

struct dxp_fabric {
	int unused;
};

pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t notified = PTHREAD_COND_INITIALIZER;
static struct dxp_fabric the_fabric;
struct fake_node fake_nodes[FAKE_NODES_MAX];
static uint32_t node_count;
static struct fake_event *events;
static uint32_t event_count = 1, first_open = 1;
static struct dxp_completion *completions;
static uint32_t completion_first, completion_last;
static bool woken, held;
static int fail_next;
static int64_t clock_ahead;
static uint32_t last_waits, most_waits;

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

/* 1: an event that `e` waits for is pending. Otherwise the status for the completion of `e`, 0 or
 * negative. */
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

bool fake_is_dead(const struct dxp_xpu *x)
{
	return !fake_nodes[x->node].alive || fake_nodes[x->node].generation != x->generation;
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

uint32_t fake_node(uint64_t memory_bytes, bool opencl)
{
	struct fake_node *n = &fake_nodes[node_count];

	*n = (struct fake_node){.memory_bytes = memory_bytes, .alive = true, .opencl = opencl};
	snprintf(n->name, sizeof(n->name), "n%u", node_count + 1);
	return node_count++;
}

void fake_lose(uint32_t node)
{
	pthread_mutex_lock(&fake_lock);
	fake_nodes[node].alive = false;
	for (uint32_t n = 1; n < event_count; n++)
		if (events[n].state == PENDING && events[n].xpu == &fake_nodes[node].xpu)
			end_event(n, DXP_EPEERLOST);
	fake_nodes[node].range_count = 0;
	fake_nodes[node].allocated = 0;
	advance();
	pthread_mutex_unlock(&fake_lock);
}

void fake_return(uint32_t node)
{
	pthread_mutex_lock(&fake_lock);
	fake_nodes[node].alive = true;
	fake_nodes[node].generation++;
	pthread_mutex_unlock(&fake_lock);
}

void fake_hold(bool hold)
{
	pthread_mutex_lock(&fake_lock);
	held = hold;
	advance();
	pthread_mutex_unlock(&fake_lock);
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

	pthread_mutex_lock(&fake_lock);
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
	pthread_mutex_unlock(&fake_lock);
	return ended;
}

uint8_t *fake_memory(const struct dxp_xpu *xpu)
{
	struct fake_node *n = &fake_nodes[xpu->node];

	if (fake_is_dead(xpu))
		return NULL;
	if (!n->memory)
		n->memory = calloc(1, n->memory_bytes);
	return n->memory;
}

uint32_t fake_events(void)
{
	uint32_t count = 0;

	pthread_mutex_lock(&fake_lock);
	for (uint32_t n = 1; n < event_count; n++)
		count += (events[n].state == PENDING && !events[n].forget) ||
			 events[n].state == DONE;
	pthread_mutex_unlock(&fake_lock);
	return count;
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

/* Plugin and fake are compiled together, so the size in `row_bytes` is ignored. */
int dxp_fabric_nodes_sized(struct dxp_fabric *fabric, struct dxp_node_info *out, size_t count,
			   size_t row_bytes)
{
	pthread_mutex_lock(&fake_lock);
	for (uint32_t i = 0; i < node_count && i < count; i++) {
		out[i] = (struct dxp_node_info){.id = (uint16_t)(i + 1),
						.kind = DXP_NODE_XPU,
						.granted = true,
						.alive = fake_nodes[i].alive,
						.memory_bytes = fake_nodes[i].memory_bytes};
		memcpy(out[i].name, fake_nodes[i].name, DXP_NAME_BYTES);
		snprintf(out[i].engine, DXP_NAME_BYTES, "%s",
			 fake_nodes[i].opencl ? "ocl" : "board");
	}
	pthread_mutex_unlock(&fake_lock);
	return (int)node_count;
}

int dxp_xpu_open(struct dxp_fabric *fabric, const char *name, struct dxp_xpu **out)
{
	int status = DXP_ENOENT;

	pthread_mutex_lock(&fake_lock);
	for (uint32_t i = 0; i < node_count; i++) {
		if (strcmp(fake_nodes[i].name, name) != 0)
			continue;
		status = fake_nodes[i].alive ? DXP_OK : DXP_EPEERLOST;
		fake_nodes[i].xpu =
			(struct dxp_xpu){.node = i, .generation = fake_nodes[i].generation};
		if (status == DXP_OK)
			*out = &fake_nodes[i].xpu;
	}
	pthread_mutex_unlock(&fake_lock);
	return status;
}

void dxp_xpu_close(struct dxp_xpu *xpu)
{
}

int dxp_xpu_caps_sized(struct dxp_xpu *xpu, struct dxp_xpu_caps *out, size_t out_bytes)
{
	const struct fake_node *n = &fake_nodes[xpu->node];

	*out = (struct dxp_xpu_caps){.node = (uint16_t)(xpu->node + 1),
				     .memory_bytes = n->memory_bytes,
				     .free_bytes = n->memory_bytes - n->allocated,
				     .compute_units = 1};
	memcpy(out->name, n->name, DXP_NAME_BYTES);
	snprintf(out->device, sizeof(out->device), "fake");
	return DXP_OK;
}

int dxp_xpu_clock(struct dxp_xpu *xpu, struct dxp_clock *out)
{
	uint64_t now = now_ns();

	if (fake_is_dead(xpu))
		return DXP_EPEERLOST;
	*out = (struct dxp_clock){now, now + (uint64_t)clock_ahead, 10};
	return DXP_OK;
}

int fake_post(struct dxp_xpu *xpu, const struct dxp_waits *waits, int (*act)(void *context),
	      void *context, dxp_event *event)
{
	pthread_mutex_lock(&fake_lock);
	if (fake_is_dead(xpu)) {
		free(context);
		pthread_mutex_unlock(&fake_lock);
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
	pthread_mutex_unlock(&fake_lock);
	return DXP_OK;
}

int dxp_mark(struct dxp_xpu *xpu, const struct dxp_waits *waits, dxp_event *event)
{
	return fake_post(xpu, waits, NULL, NULL, event);
}

int dxp_event_create(struct dxp_fabric *fabric, dxp_event *out)
{
	pthread_mutex_lock(&fake_lock);
	*out = add_event(NULL);
	pthread_mutex_unlock(&fake_lock);
	return DXP_OK;
}

int dxp_event_set(struct dxp_fabric *fabric, dxp_event event, int status)
{
	pthread_mutex_lock(&fake_lock);
	bool open = events[(uint32_t)event].state == PENDING;
	if (open)
		end_event((uint32_t)event, status);
	advance();
	pthread_mutex_unlock(&fake_lock);
	return open ? DXP_OK : DXP_EINVAL;
}

int dxp_event_notify(struct dxp_fabric *fabric, dxp_event event, uint64_t cookie)
{
	pthread_mutex_lock(&fake_lock);
	events[(uint32_t)event].notify = true;
	events[(uint32_t)event].cookie = cookie;
	if (events[(uint32_t)event].state == DONE)
		notify((uint32_t)event);
	pthread_mutex_unlock(&fake_lock);
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
	pthread_mutex_lock(&fake_lock);
	while (completion_first == completion_last && !woken)
		if (pthread_cond_timedwait(&notified, &fake_lock, &until))
			break;
	woken = false;
	while (dequeued < count && completion_first != completion_last)
		out[dequeued++] = completions[completion_first++ % EVENTS_MAX];
	pthread_mutex_unlock(&fake_lock);
	return (int)dequeued;
}

void dxp_completions_wake(struct dxp_fabric *fabric)
{
	pthread_mutex_lock(&fake_lock);
	woken = true;
	pthread_cond_broadcast(&notified);
	pthread_mutex_unlock(&fake_lock);
}

/* Commands never have a failure text. */
int dxp_event_failure(struct dxp_fabric *fabric, dxp_event event, char text[DXP_FAILURE_BYTES])
{
	text[0] = '\0';
	return 0;
}

/* The engines have no model of time. */
int dxp_event_cycles(struct dxp_fabric *fabric, dxp_event event, struct dxp_event_cycles *out)
{
	return DXP_ENOENT;
}

/* No command runs long enough to report that it has begun. */
void dxp_completions_begun(struct dxp_fabric *fabric, bool on)
{
}

void dxp_event_forget(struct dxp_fabric *fabric, dxp_event event)
{
	pthread_mutex_lock(&fake_lock);
	struct fake_event *e = &events[(uint32_t)event];
	assert(!e->forget && e->state != FORGOTTEN);
	if (e->state == DONE)
		e->state = FORGOTTEN;
	e->forget = true;
	pthread_mutex_unlock(&fake_lock);
}
