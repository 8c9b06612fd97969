/* SPDX-License-Identifier: BSD-3-Clause */
#include "xpu/daemon.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/program.h"
#include "base/util.h"
#include "link/crossbar.h"
#include "link/udp.h"
#include "xpu/identity.h"
#include "xpu/limits.h"

/* ns per round to join one of several slots */
#define JOIN_SLICE_NS (20 * MS_NS)
#define CHECK_NS      (500 * MS_NS) /* ns between two membership checks */

struct daemon_slot {
	struct slot *slot;
	char name[FABRIC_NAME_BYTES];
	bool joined;
};

struct daemon {
	const _Atomic int *stop;
	uint32_t spin_ns;
	struct crossbar *crossbar; /* between the slots; NULL: there is one */
	uint32_t count;
	struct daemon_slot slots[FABRIC_SLOTS_MAX];
	int status;       /* status of an exit without a stop request */
	_Atomic int ends; /* stop request, or a lost membership */
	uint64_t check_ns;
};

/* Makes the slot's name: the given name for one slot, else the base name and a number. */
static int name_make(const struct daemon_options *o, uint32_t index, char out[FABRIC_NAME_BYTES])
{
	const char *base = o->name ? o->name : o->base ? o->base : "xpu";
	int bytes = o->name && o->slots == 1
			    ? snprintf(out, FABRIC_NAME_BYTES, "%s", base)
			    : snprintf(out, FABRIC_NAME_BYTES, "%s%u", base, o->first + index);

	if (bytes > 0 && bytes < FABRIC_NAME_BYTES && manage_name_valid(out))
		return DXP_OK;
	log_error("--name '%s' is not possible; use A-Z a-z 0-9 . _ -, at most %d characters "
		  "including the number",
		  base, FABRIC_NAME_BYTES - 1);
	return DXP_EINVAL;
}

/* The xPU works without offers. */
static void functions_offer(const struct daemon_slot *x, uint32_t functions)
{
	if (functions == 0)
		return;
	int status = node_offer(slot_node(x->slot), functions, NULL);
	if (status != DXP_OK && status != DXP_EUNSUPPORTED)
		log_warn("%s runs without functions for other processes; choose another folder "
			 "with --run, or turn functions off with --functions 0",
			 x->name);
}

static int slot_start(struct daemon *d, const struct daemon_options *o,
		      const struct slot_options *common)
{
	struct daemon_slot *to = &d->slots[d->count];
	struct slot_options options = *common;
	int status = name_make(o, d->count, to->name);

	if (status == DXP_OK && o->state_folder)
		status = identity_get(o->state_folder, to->name, options.node.uuid);
	if (status != DXP_OK)
		return status;
	options.number = d->count;
	options.node.name = to->name;
	if (o->id)
		options.node.wanted_id = (uint16_t)(o->id + d->count);
	if (options.node.bind.port)
		options.node.bind.port = (uint16_t)(options.node.bind.port + d->count);
	else if (o->standard_ports) {
		options.node.bind.port = XPU_PORT_FIRST;
		options.node.bind_ports = XPU_PORTS;
	}
	if (options.node.advertise.port)
		options.node.advertise.port = (uint16_t)(options.node.advertise.port + d->count);
	status = slot_open(&options, &to->slot);
	if (status != DXP_OK)
		return status;
	d->count++;
	functions_offer(to, o->functions);
	return DXP_OK;
}

/* All slots use the buffer size that was measured for the first. */
static void bridge_follow(const struct daemon_slot *first, struct slot_options *common)
{
	struct bridged_state state;

	slot_bridged_state(first->slot, &state);
	common->buffer_bytes = state.buffer_bytes;
}

static int bind_choose(const struct daemon_options *o, struct udp_address *out)
{
	const uint16_t port = o->bind && o->bind->port ? o->bind->port : o->port;
	int status = DXP_OK;

	if (port && port + o->slots - 1 > 65535) {
		log_error("%u slots from port %u on exceed port 65535; choose a lower port",
			  o->slots, port);
		return DXP_EINVAL;
	}
	if (o->bind)
		*out = *o->bind;
	else
		status = link_address_towards(&o->manager, out);
	out->port = port;
	return status;
}

/* Other nodes must reach the address. */
static int advertise_check(const struct daemon_options *o, const struct udp_address *bind)
{
	char shown[UDP_ADDRESS_TEXT_BYTES], own[UDP_ADDRESS_TEXT_BYTES];
	const struct udp_address *a = o->advertise;
	const char *wrong = address_unreachable(a);

	address_format(a, shown);
	if (wrong)
		log_error("--advertise %s is %s; use an address that the other nodes reach", shown,
			  wrong);
	else if (address_ipv4(a) != address_ipv4(bind))
		log_error("--advertise %s and the own address %s have different IP versions; use "
			  "one version, or choose the own address with --bind",
			  shown, address_format(bind, own));
	else if (a->port && bind->port == 0)
		log_error("--advertise %s has a port, but the own port is not fixed; add --port "
			  "with the port to which NAT forwards it",
			  shown);
	else if (a->port && a->port + o->slots - 1 > 65535)
		log_error("%u slots from the advertised port %u on exceed port 65535; choose a "
			  "lower port",
			  o->slots, a->port);
	else
		return DXP_OK;
	return DXP_EINVAL;
}

/* The given folder, or one in the state folder, or in the user's cache. False: none. */
static bool cache_choose(const struct daemon_options *o, char out[PATH_MAX])
{
	const char *caches = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int bytes = -1;

	if (o->cache_folder)
		bytes = snprintf(out, PATH_MAX, "%s", o->cache_folder);
	else if (o->state_folder)
		bytes = snprintf(out, PATH_MAX, "%s/kernels", o->state_folder);
	else if (caches && caches[0] == '/')
		bytes = snprintf(out, PATH_MAX, "%s/dxp/kernels", caches);
	else if (home && home[0] == '/')
		bytes = snprintf(out, PATH_MAX, "%s/.cache/dxp/kernels", home);
	return bytes > 0 && bytes < PATH_MAX;
}

/* Without the folder, kernels are compiled again after each start. */
static void cache_create(const struct daemon_options *o, char cache[PATH_MAX],
			 struct slot_options *out)
{
	if (!cache_choose(o, cache))
		return;
	if (identity_folder(cache) == DXP_OK)
		out->cache_folder = cache;
	else
		log_warn("cannot create %s, so compiled kernels are not kept; choose another "
			 "folder with --cache",
			 cache);
}

/* The key in the state folder, or a new one for this run. */
static int seal_choose(const struct daemon_options *o, uint8_t key[FABRIC_KEY_BYTES])
{
	if (o->state_folder)
		return identity_seal_key(o->state_folder, key);
	rng_entropy_kernel(NULL, key, FABRIC_KEY_BYTES);
	return DXP_OK;
}

static int slots_start(struct daemon *d, const struct daemon_options *o)
{
	char cache[PATH_MAX];
	uint8_t seal_key[FABRIC_KEY_BYTES];
	struct slot_options common = {
		.node = {.manager = o->manager,
			 .other_managers = o->other_managers,
			 .fabric_key = o->fabric_key,
			 .identity = o->identity,
			 .identity_file = o->identity_file,
			 .key_file = o->key_file,
			 .spin_ns = o->spin_ns,
			 .crossbar = d->crossbar,
			 .outside = o->outside,
			 .keep_hosts_ns = o->keep_hosts_ns},
		.memory_bytes = o->memory_bytes,
		.host_bytes = o->host_bytes,
		.hosts_max = o->hosts_max,
		.switches = o->switches,
		.engine = o->engine,
		.worker_program = o->worker_program,
		.cache_shared = o->cache_shared,
		.sandbox = o->sandbox,
		.buffers = o->buffers,
		.buffer_bytes = o->buffer_bytes,
		.reads = o->reads,
		.stall_ns = o->stall_ns,
		.seal_key = seal_key,
	};
	int status = bind_choose(o, &common.node.bind);
	common.node.follow_address = !o->bind;

	if (status == DXP_OK && o->advertise) {
		common.node.advertise = *o->advertise;
		status = advertise_check(o, &common.node.bind);
	}
	if (status == DXP_OK && o->state_folder)
		status = identity_folder(o->state_folder);
	if (status == DXP_OK)
		cache_create(o, cache, &common);
	if (status == DXP_OK)
		status = seal_choose(o, seal_key);
	while (status == DXP_OK && d->count < o->slots) {
		status = slot_start(d, o, &common);
		if (status == DXP_OK)
			bridge_follow(&d->slots[0], &common);
	}
	return status;
}

int daemon_open(const struct daemon_options *options, struct daemon **out)
{
	if (options->slots < 1 || options->slots > FABRIC_SLOTS_MAX ||
	    (options->id && options->id + options->slots - 1 > WIRE_NODE_LAST))
		return DXP_EINVAL;
	struct daemon *d = calloc(1, sizeof(*d));
	if (!d)
		return DXP_ENOMEM;
	d->stop = options->stop;
	d->spin_ns = options->spin_ns;
	int status = options->slots > 1 ? crossbar_create(&d->crossbar) : DXP_OK;
	if (status == DXP_OK)
		status = slots_start(d, options);
	if (status != DXP_OK) {
		daemon_close(d);
		return status;
	}
	*out = d;
	return DXP_OK;
}

void daemon_close(struct daemon *d)
{
	if (!d)
		return;
	for (uint32_t i = 0; i < d->count; i++)
		slot_close(d->slots[i].slot);
	crossbar_destroy(d->crossbar);
	free(d);
}

uint32_t daemon_slots(const struct daemon *d)
{
	return d->count;
}

struct slot *daemon_slot(const struct daemon *d, uint32_t index)
{
	return d->slots[index].slot;
}

static void joined_report(struct daemon_slot *x)
{
	struct node *n = slot_node(x->slot);
	struct engine_description engine;
	struct udp_address address, advertised;
	char text[UDP_ADDRESS_TEXT_BYTES], shown[UDP_ADDRESS_TEXT_BYTES] = "";
	bool known = node_advertised(n, &advertised);

	node_address(n, &address);
	slot_describe(x->slot, &engine);
	printf("%s: node %u at %s%s%s, %llu MiB, %s%s%s%s\n", x->name, node_id(n),
	       address_format(&address, text), known ? ", advertised as " : "",
	       known ? address_format(&advertised, shown) : "",
	       (unsigned long long)(slot_memory_bytes(x->slot) >> 20), engine.name,
	       engine.device[0] ? " (" : "", engine.device, engine.device[0] ? ")" : "");
	program_output_check();
	x->joined = true;
}

/* Joins one slot for up to JOIN_SLICE_NS. DXP_EAGAIN: it has not joined yet. */
static int slot_join(struct daemon_slot *x, uint64_t deadline_ns)
{
	uint64_t now_ns = clock_now_ns();
	int status = node_join(slot_node(x->slot), min_u64(deadline_ns, now_ns + JOIN_SLICE_NS));

	if (status == DXP_OK)
		joined_report(x);
	return status == DXP_ETIMEDOUT && clock_now_ns() < deadline_ns ? DXP_EAGAIN : status;
}

static void timeout_report(const struct daemon_slot *x)
{
	log_error("%s could not join: no manager answers; check that it runs; `dxp doctor` looks "
		  "for the reason",
		  x->name);
}

/* A slice for each slot; polls those that have joined. */
static int join_round(struct daemon *d, uint64_t deadline_ns, uint32_t *left)
{
	*left = 0;
	for (uint32_t i = 0; i < d->count; i++) {
		struct daemon_slot *x = &d->slots[i];
		if (x->joined) {
			node_poll(slot_node(x->slot));
			slot_service(x->slot);
			continue;
		}
		int status = slot_join(x, deadline_ns);
		if (status == DXP_ETIMEDOUT)
			timeout_report(x);
		if (status != DXP_OK && status != DXP_EAGAIN)
			return status;
		*left += status != DXP_OK;
	}
	return DXP_OK;
}

int daemon_join(struct daemon *d, uint64_t deadline_ns)
{
	uint32_t left = d->count;

	while (left > 0) {
		if (*d->stop)
			return DXP_ECLOSED;
		int status = join_round(d, deadline_ns, &left);
		if (status != DXP_OK)
			return status;
	}
	return DXP_OK;
}

/* Stops the daemon if another process uses a slot's identity, or the manager now rejects the fabric
 * key; not if the manager is lost. */
static void membership_check(struct daemon *d, uint64_t now_ns)
{
	if (now_ns < d->check_ns)
		return;
	d->check_ns = now_ns + CHECK_NS;
	for (uint32_t i = 0; i < d->count; i++) {
		int status = node_join(slot_node(d->slots[i].slot), 0);
		if (status == DXP_OK || status == DXP_ETIMEDOUT)
			continue;
		log_error("%s has left the fabric: %s", d->slots[i].name,
			  node_error(slot_node(d->slots[i].slot)));
		d->status = status;
		d->ends = 1;
	}
}

static uint32_t daemon_service(void *context)
{
	struct daemon *d = context;
	uint32_t work = 0;

	for (uint32_t i = 0; i < d->count; i++)
		work += slot_service(d->slots[i].slot);
	if (work == 0)
		membership_check(d, clock_now_ns());
	if (*d->stop)
		d->ends = 1;
	return work;
}

static uint32_t daemon_idle(void *context)
{
	struct daemon *d = context;
	uint32_t work = 0;

	for (uint32_t i = 0; i < d->count; i++)
		work += slot_idle(d->slots[i].slot);
	return work;
}

static bool daemon_woke(void *context)
{
	struct daemon *d = context;
	bool woke = false;

	for (uint32_t i = 0; i < d->count; i++)
		woke |= slot_woke(d->slots[i].slot);
	return woke;
}

static uint64_t daemon_deadline(void *context)
{
	struct daemon *d = context;
	uint64_t deadline_ns = UINT64_MAX;

	for (uint32_t i = 0; i < d->count; i++)
		deadline_ns = min_u64(deadline_ns, slot_deadline(d->slots[i].slot));
	return deadline_ns;
}

int daemon_run(struct daemon *d)
{
	struct node *nodes[FABRIC_SLOTS_MAX];
	struct node_loop loop = {
		.nodes = nodes,
		.count = d->count,
		.spin_ns = d->spin_ns,
		.service = daemon_service,
		.service_context = d,
		.idle = daemon_idle,
		.woke = daemon_woke,
		.service_deadline = daemon_deadline,
		.stop = &d->ends,
	};

	for (uint32_t i = 0; i < d->count; i++)
		nodes[i] = slot_node(d->slots[i].slot);
	int status = node_loop_run(&loop);
	return status == DXP_OK ? d->status : status;
}
