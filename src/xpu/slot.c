/* SPDX-License-Identifier: BSD-3-Clause */
#include "xpu/slot.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/log.h"
#include "xpu/slot_internal.h"

/* cores for spinning: a local host, the network thread, an engine's thread, the rest of the
 * system */
#define SPINNERS 4

static void changed(void *context, const struct table_change *change)
{
	tenants_changed(context, change);
}

static void session_ended(void *context, uint16_t peer, int status)
{
	tenants_session_ended(context, peer, status);
}

/* Wakes the node, from any thread. The node may be closed already, because an engine is closed
 * after it. */
static void interrupted(void *context)
{
	struct slot *s = context;

	pthread_mutex_lock(&s->interrupt_lock);
	if (s->interrupted)
		node_wake(s->interrupted);
	pthread_mutex_unlock(&s->interrupt_lock);
}

static const struct slot_hooks hooks = {
	.evict = tenant_evict,
	.worker_started = programs_rebuild,
	.interrupt = interrupted,
};

static int notice_find(void *context, uint16_t node, uint32_t *magic)
{
	struct node_entry entry;
	struct dxp_target to = {.magic = 0};
	int status = slot_peer(context, node, &entry, &to);

	*magic = to.magic;
	return status;
}

static int notice_put(void *context, uint16_t node, uint32_t magic, const struct command_event *e,
		      outbox_done done, void *done_context)
{
	const struct dxp_target to = {.node = node, .qp = NODE_SERVICE_QP, .magic = magic};

	return reply_event_notify(context, &to, e, done, done_context);
}

static struct tenant *notice_tenant(const struct slot *s, const struct notice_host *host)
{
	struct tenant *t = s->closing ? NULL : tenant_find(s, host->node);

	return t && t->owner == host->owner && !t->gone ? t : NULL;
}

static bool notice_needed(void *context, const struct notice_host *host)
{
	return notice_tenant(context, host) != NULL;
}

static uint64_t notice_now_ns(void *context)
{
	return clock_now_ns();
}

static void notice_failed(void *context, const struct notice_host *host, uint16_t node, int status)
{
	struct slot *s = context;
	struct tenant *t = notice_tenant(s, host);

	if (!t)
		return;
	log_warn("node %u gets no events of host node %u from here, although it %s (%s): the "
		 "host's commands are cancelled, its memory is freed; check the network between "
		 "the two xPUs%s",
		 node, host->node,
		 status == DXP_ENOENT ? "may be alive: the node table here has no such node"
				      : "is alive",
		 dxp_status_text(status), status == DXP_ENOENT ? " and to the manager" : "");
	s->hooks->evict(t, DXP_EPEERLOST);
	node_peer_reset(s->node, host->node, DXP_EPEERLOST);
}

static const struct notices_hooks notice_hooks = {
	.find = notice_find,
	.send = notice_put,
	.now_ns = notice_now_ns,
	.needed = notice_needed,
	.failed = notice_failed,
};

static void interrupts_to(struct slot *s, struct node *n)
{
	pthread_mutex_lock(&s->interrupt_lock);
	s->interrupted = n;
	pthread_mutex_unlock(&s->interrupt_lock);
}

/* Workers spin only if cores are left for the network thread and a spinning local host. With three
 * spinning threads on two cores, an empty kernel takes 250 us instead of 27 us. */
static uint32_t worker_spin(uint32_t spin_ns)
{
	if (spin_ns == UINT32_MAX || sysconf(_SC_NPROCESSORS_ONLN) < SPINNERS)
		return 0;
	return spin_ns == 0 ? WAIT_SPIN_NS : spin_ns;
}

/* Opens an engine in this process. All hosts share its compiled kernels, so its cache folder
 * differs from the folders of workers (folders.h). */
static int engine_here(struct slot *s, const char *name)
{
	const char *cache = s->options.cache_folder;
	char folder[PATH_MAX];

	if (cache && snprintf(folder, sizeof(folder), "%s/daemon", cache) >= (int)sizeof(folder))
		cache = NULL;
	struct engine_options options = {
		.name = name,
		.cache_folder = cache ? folder : NULL,
		.memory = arena_base(s->arena),
		.memory_bytes = arena_bytes(s->arena),
		.interrupt = interrupted,
		.interrupt_context = s,
	};

	return engine_open(&options, &s->engine);
}

/* Engines that work in this process's memory can run kernels in other processes. Devices of other
 * engines need one process for all hosts. */
static bool engine_may_fork(const struct slot *s)
{
	const char *name = s->options.engine;
	const size_t letters = strncmp(name, "rv32", 4) == 0  ? 4
			       : strncmp(name, "ocl", 3) == 0 ? 3
							      : 0;

	return s->options.worker_program && letters > 0 &&
	       (name[letters] == '\0' || name[letters] == ':');
}

static int zygote_begin(struct slot *s)
{
	s->wakeup_fd = descriptor_raise(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (s->wakeup_fd < 0) {
		log_error("cannot create an eventfd: %s; raise the limit of open files (ulimit -n)",
			  strerror(errno));
		return DXP_EIO;
	}
	const struct zygote_options options = {
		.program = s->options.worker_program,
		.engine = s->options.engine,
		.cache_folder = s->options.cache_folder,
		.cache_shared = s->options.cache_shared,
		.memory_bytes = arena_bytes(s->arena),
		.wakeup_fd = s->wakeup_fd,
		.spin_ns = s->worker_spin_ns,
		.sandbox = s->options.sandbox,
	};
	return zygote_open(&options, &s->zygote, &s->about);
}

static int engine_start(struct slot *s)
{
	s->worker_spin_ns = worker_spin(s->options.node.spin_ns);
	if (engine_may_fork(s)) {
		int status = zygote_begin(s);
		if (status != DXP_OK)
			return status;
		if (s->about.memory_kind == DXP_MEMORY_DIRECT) {
			arena_separate(s->arena);
			return engine_here(s, "none");
		}
		zygote_close(s->zygote);
		s->zygote = NULL;
	}
	if (s->options.sandbox.mode == SANDBOX_STRICT && strcmp(s->options.engine, "none") != 0) {
		log_error("engine %s runs kernels in dxpd itself, without a sandbox; use --sandbox "
			  "auto if all hosts are trusted",
			  s->options.engine);
		return DXP_EUNSUPPORTED;
	}
	int status = engine_here(s, s->options.engine);
	if (status == DXP_OK)
		engine_describe(s->engine, &s->about);
	return status;
}

static bool node_silent(void *context, uint16_t node)
{
	const struct slot *s = context;

	return s->node && node_silent_since(s->node, node) != 0;
}

static int bridge_start(struct slot *s)
{
	const struct bridged_options options = {
		.engine = s->engine,
		.memory_bytes = arena_bytes(s->arena),
		.buffers = s->options.buffers,
		.buffer_bytes = s->options.buffer_bytes,
		.reads = s->options.reads,
		.stall_ns = s->options.stall_ns,
		.silent = node_silent,
		.silent_context = s,
	};

	if (s->about.memory_kind != DXP_MEMORY_BRIDGED)
		return DXP_OK;
	arena_unmap(s->arena);
	return bridged_create(&options, &s->bridged);
}

static bool uuid_empty(const uint8_t uuid[WIRE_UUID_BYTES])
{
	static const uint8_t zero[WIRE_UUID_BYTES];

	return memcmp(uuid, zero, sizeof(zero)) == 0;
}

static int node_start(struct slot *s)
{
	struct node_options options = s->options.node;

	if (uuid_empty(options.uuid))
		rng_entropy_kernel(NULL, options.uuid, sizeof(options.uuid));
	memcpy(s->uuid, options.uuid, sizeof(s->uuid));
	options.xpu = true;
	options.engine = s->about.name;
	options.device = s->about.device;
	options.memory_bytes = arena_bytes(s->arena);
	options.capabilities = (s->bridged ? MANAGE_CAPABILITY_BRIDGED : 0) |
			       (s->switches ? MANAGE_CAPABILITY_SWITCH : 0);
	/* the buffers of a bridge are for short frames */
	options.no_long_frames = s->bridged != NULL;
	options.cfg = &registers_ops;
	options.cfg_context = s;
	options.changed = changed;
	options.session_ended = session_ended;
	options.changed_context = s;
	int status = node_open(&options, &s->node);
	if (status != DXP_OK)
		return status;
	/* The outbox identifies messages by context. */
	nic_user_unordered(node_nic(s->node), 0);
	interrupts_to(s, s->node);
	return DXP_OK;
}

/* Workers never have this key. */
static int seal_start(struct slot *s)
{
	uint8_t drawn[FABRIC_KEY_BYTES];

	if (s->options.seal_key)
		return mac_create(s->options.seal_key, &s->seal_key);
	rng_entropy_kernel(NULL, drawn, sizeof(drawn));
	return mac_create(drawn, &s->seal_key);
}

static int parts_start(struct slot *s)
{
	int status = arena_create(s->options.memory_bytes, &s->arena);

	if (status == DXP_OK)
		status = engine_start(s);
	if (status == DXP_OK)
		status = seal_start(s);
	if (status == DXP_OK)
		status = bridge_start(s);
	if (status == DXP_OK)
		status = node_start(s);
	if (status == DXP_OK)
		status = outbox_create(node_window(s->node), &s->outbox);
	if (status == DXP_OK)
		status = notices_create(&notice_hooks, s, &s->notices);
	if (status == DXP_OK)
		status = s->zygote ? node_watch(s->node, s->wakeup_fd)
				   : worker_open_thread(s, &s->worker);
	if (status == DXP_OK && s->bridged)
		status = bridged_attach(s->bridged, node_nic(s->node));
	return status;
}

int slot_open(const struct slot_options *options, struct slot **out)
{
	if (options->memory_bytes < XPU_MEMORY_MIN || options->memory_bytes > XPU_MEMORY_MAX ||
	    options->hosts_max > XPU_HOSTS_MAX)
		return DXP_EINVAL;
	struct slot *s = calloc(1, sizeof(*s));
	if (!s)
		return DXP_ENOMEM;
	s->options = *options;
	s->hooks = &hooks;
	if (!s->options.hosts_max)
		s->options.hosts_max = XPU_HOSTS_DEFAULT;
	s->clearings_tail = &s->clearings;
	s->builds_tail = &s->builds;
	s->wakeup_fd = -1;
	pthread_mutex_init(&s->interrupt_lock, NULL);
	s->by_host = calloc(UINT16_MAX + 1, sizeof(struct tenant *));
	if (options->switches)
		s->switches = strdup(options->switches);
	const bool memory = s->by_host && (s->switches || !options->switches);
	int status = memory ? parts_start(s) : DXP_ENOMEM;
	/* The caller may free these texts. */
	s->options.engine = s->options.cache_folder = s->options.worker_program = NULL;
	s->options.sandbox.reads = NULL;
	s->options.seal_key = NULL;
	s->options.switches = NULL;
	if (status != DXP_OK) {
		slot_close(s);
		return status;
	}
	*out = s;
	return DXP_OK;
}

void slot_close(struct slot *s)
{
	if (!s)
		return;
	s->closing = true;
	ports_close(s); /* ends the wait of kernels for their NIC */
	tenants_silence(s);
	workers_close(s);
	switches_close(s);
	tenants_cancel(s);
	outbox_destroy(s->outbox);
	notices_destroy(s->notices);
	interrupts_to(s, NULL);
	node_close(s->node); /* before the memory that it sends from is freed */
	if (s->wakeup_fd >= 0)
		close(s->wakeup_fd);
	bridged_destroy(s->bridged);
	/* before tenants: each port counts in `busy` */
	ports_free(s);
	tenants_free(s);
	tenant_memories_free(s);
	engine_close(s->engine);
	arena_destroy(s->arena);
	mac_destroy(s->seal_key);
	pthread_mutex_destroy(&s->interrupt_lock);
	free(s->by_host);
	free(s->switches);
	free(s);
}

struct node *slot_node(const struct slot *s)
{
	return s->node;
}

void slot_describe(const struct slot *s, struct engine_description *out)
{
	*out = s->about;
}

uint64_t slot_memory_bytes(const struct slot *s)
{
	return arena_bytes(s->arena);
}

void slot_bridged_state(const struct slot *s, struct bridged_state *out)
{
	bridged_state(s->bridged, out);
}

static uint32_t messages_receive(struct slot *s)
{
	struct dxp_window *w = node_window(s->node);
	const struct dxp_nic_event *event;
	const uint8_t *data;
	uint32_t dequeued = 0;

	while (dequeued < XPU_MESSAGES_POLL && (event = nic_user_received_peek(w, &data))) {
		if (event->type == DXP_EVENT_NAP && event->status == DXP_OK)
			commands_message_receive(s, event, data);
		dxp_received_release(w);
		dequeued++;
	}
	return dequeued;
}

uint32_t slot_service(struct slot *s)
{
	workers_resumed(s);
	uint32_t work = workers_poll(s);

	work += outbox_service(s->outbox); /* dequeues completions */
	work += messages_receive(s);
	work += memory_clearings_advance(s);
	work += keys_scrub_advance(s);
	work += switches_poll(s);
	work += works_advance(s);
	work += tenants_needed(s);
	work += tenant_memories_check(s);
	if (s->bridged)
		work += bridged_poll(s->bridged);
	work += workers_begun_notify(s);
	work += reply_events_flush_due(s);
	if (notices_deadline(s->notices) != UINT64_MAX)
		work += notices_advance(s->notices);
	work += tenants_reap(s);
	work += ports_reap(s);
	work += tenant_memories_advance(s);
	return work + outbox_service(s->outbox); /* posts messages queued above */
}

uint32_t slot_idle(struct slot *s)
{
	return s->bridged && bridged_idle(s->bridged);
}

bool slot_woke(struct slot *s)
{
	bool woke = s->woke;

	s->woke = false;
	return woke;
}

uint64_t slot_deadline(struct slot *s)
{
	if (!workers_sleeping(s) || (s->clearings && !s->bridged) || tenant_memories_due(s))
		return 0;
	uint64_t deadline_ns = min_u64(reply_events_deadline(s), workers_begun_deadline(s));
	deadline_ns = min_u64(deadline_ns, notices_deadline(s->notices));
	deadline_ns = min_u64(deadline_ns, tenant_memories_deadline(s));
	return s->bridged ? min_u64(deadline_ns, bridged_deadline(s->bridged)) : deadline_ns;
}
