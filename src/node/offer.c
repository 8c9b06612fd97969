/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/offer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "node/limits.h"
#include "node/offer_internal.h"

/* ---- functions: open, close, free ---- */

static void fds_close(struct offer_function *f)
{
	int *const fds[] = {&f->engine_fd, &f->user_fds[0], &f->user_fds[1]};

	for (size_t i = 0; i < ARRAY_COUNT(fds); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

static int fds_make(struct offer_function *f)
{
	f->engine_fd = descriptor_raise(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (f->engine_fd >= 0 &&
	    descriptor_raise_pair(
		    socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, f->user_fds),
		    f->user_fds) == 0) {
		shutdown(f->user_fds[1], SHUT_RD); /* this side only sends */
		return DXP_OK;
	}
	fds_close(f);
	return DXP_EIO;
}

static void function_free(struct offer_function *f)
{
	struct local_memory memories[OFFER_REGIONS_MAX];

	for (uint32_t i = 0; i < f->region_count; i++)
		memories[i] = f->regions[i].memory;
	local_memory_drop(memories, f->region_count);
	free(f->regions);
	local_memory_free(&f->window);
	fds_close(f);
	*f = (struct offer_function){.weight = f->weight,
				     .priority = f->priority,
				     .limit_bytes_per_s = f->limit_bytes_per_s,
				     .window.fd = -1,
				     .engine_fd = -1,
				     .user_fds = {-1, -1}};
}

/* Wakes a sleeping user, so that it detects the close. */
static void user_wake(const struct offer_function *f)
{
	const uint64_t one = 1;

	if (write(f->user_fds[1], &one, sizeof(one)) < 0)
		return; /* full: a wakeup is already pending */
}

static void function_arm(struct offer *o, struct offer_function *f, bool on)
{
	if (f->armed != on)
		o->options.ops.arm(o->options.ops.context, on ? 1 : -1);
	f->armed = on;
}

static void function_close(struct offer *o, uint32_t function, uint64_t now_ns)
{
	struct offer_function *f = &o->functions[function];

	nic_function_close(o->options.nic, function, DXP_ECLOSED, now_ns);
	o->options.ops.users(o->options.ops.context, function, -1, -1);
	user_wake(f);
	function_arm(o, f, false);
	f->client->function = 0;
	f->client->closed = true;
	f->client = NULL;
	f->pid = 0;
	f->state = OFFER_CLOSING;
	o->reclaim = true;
	offer_reclaim(o);
}

static int function_start(struct offer *o, uint32_t function)
{
	struct offer_function *f = &o->functions[function];
	int status = local_memory_create("dxp-window", sizeof(struct dxp_window), &f->window);

	if (status == DXP_OK)
		status = fds_make(f);
	if (status == DXP_OK)
		status = nic_function_open(o->options.nic, function, f->window.base);
	if (status == DXP_OK) {
		nic_function_weight(o->options.nic, function, f->weight);
		nic_function_priority(o->options.nic, function, f->priority);
		nic_function_limit(o->options.nic, function, f->limit_bytes_per_s);
		status = o->options.ops.users(o->options.ops.context, function, f->engine_fd,
					      f->user_fds[1]);
		if (status != DXP_OK)
			nic_function_close(o->options.nic, function, status, 0);
	}
	if (status != DXP_OK)
		function_free(f);
	return status == DXP_EEXIST ? DXP_EBUSY : status;
}

/* Returns the requested or the first free function; 0: none is free. */
static uint32_t function_choose(const struct offer *o, uint32_t wanted)
{
	uint32_t first = wanted ? wanted : 1, last = wanted ? wanted : o->options.functions;

	for (uint32_t i = first; i <= last; i++)
		if (o->functions[i].state == OFFER_FREE &&
		    nic_function_state(o->options.nic, i) == 0)
			return i;
	return 0;
}

/* Returns the function with this label; NIC_FUNCTIONS: none. Function 0 has the node's name. */
static uint32_t label_find(const struct offer *o, const char *label)
{
	return strcmp(label, o->name) == 0 ? 0 : nic_function_labelled(o->options.nic, label);
}

/* Returns true if a function or node has this name. Names are unique among both. */
static bool label_in_use(const struct offer *o, const char *label)
{
	struct dxp_target node;

	return label_find(o, label) < NIC_FUNCTIONS ||
	       o->options.ops.find(o->options.ops.context, label, &node) != DXP_ENOENT;
}

static int answer_open(struct offer *o, struct offer_client *client, const struct attach_request *r,
		       struct attach_answer *a, struct offer_fds *beside)
{
	uint32_t wanted = r->function ? r->function : client->only;

	if (client->closed)
		return DXP_ECLOSED;
	if (client->function)
		return DXP_EINVAL;
	if (wanted > o->options.functions)
		return DXP_ENOENT;
	if (client->only && wanted != client->only)
		return DXP_EACCESS;
	uint32_t function = function_choose(o, wanted);
	if (function == 0)
		return DXP_EBUSY;
	if (r->label[0] && label_in_use(o, r->label))
		return DXP_EEXIST;
	int status = function_start(o, function);
	if (status != DXP_OK)
		return status;
	struct offer_function *f = &o->functions[function];
	f->state = OFFER_OPEN;
	f->client = client;
	f->pid = client->pid;
	nic_function_label(o->options.nic, function, r->label);
	client->function = function;
	a->function = (uint8_t)function;
	a->node = (uint16_t)((struct dxp_window *)f->window.base)->node;
	*beside = (struct offer_fds){{f->window.fd, f->engine_fd, f->user_fds[0]}, 3};
	return DXP_OK;
}

/* ---- memory ---- */

static bool regions_space(struct offer_function *f)
{
	if (f->region_count < f->region_space)
		return true;
	uint32_t space = f->region_space ? 2 * f->region_space : 8;
	struct offer_region *more = realloc(f->regions, space * sizeof(*more));
	if (!more)
		return false;
	f->regions = more;
	f->region_space = space;
	return true;
}

static int answer_register(struct offer *o, struct offer_function *f, uint32_t function,
			   const struct attach_request *r, int fd, struct attach_answer *a)
{
	struct offer_region region = {0};

	if (fd < 0)
		return DXP_EINVAL;
	if (f->region_count >= OFFER_REGIONS_MAX || r->bytes > OFFER_BYTES_MAX - f->mapped_bytes)
		return DXP_EBUSY;
	if (!regions_space(f))
		return DXP_ENOMEM;
	int status = local_memory_map(fd, r->offset, r->bytes, &region.memory);
	if (status != DXP_OK)
		return status;
	status = nic_region_register(o->options.nic, function, region.memory.base, r->bytes,
				     r->rights, &region.key);
	if (status != DXP_OK) {
		local_memory_free(&region.memory);
		return status;
	}
	f->regions[f->region_count++] = region;
	f->mapped_bytes += r->bytes;
	a->key = region.key;
	return DXP_OK;
}

/* Finds a region of this function. The key of another function, even if guessed, does not match. */
static struct offer_region *region_of(struct offer_function *f, uint32_t key)
{
	for (uint32_t i = 0; i < f->region_count; i++)
		if (f->regions[i].key == key && !f->regions[i].revoked)
			return &f->regions[i];
	return NULL;
}

static int answer_revoke(struct offer *o, struct offer_function *f, uint32_t key)
{
	struct offer_region *region = region_of(f, key);

	if (!region)
		return DXP_ENOENT;
	int status = nic_region_revoke(o->options.nic, key);
	region->revoked = true;
	o->reclaim = true;
	offer_reclaim(o);
	return status;
}

static int answer_lookup(struct offer *o, struct offer_function *f, uint32_t function,
			 const struct attach_request *r)
{
	const struct nic_area area = {
		.vaddr = r->vaddr, .bytes = r->bytes, .offset = r->offset, .key = r->key};

	if (!region_of(f, r->key))
		return DXP_ENOENT;
	return nic_area_add(o->options.nic, function, &area);
}

/* ---- targets ---- */

static int answer_find(const struct offer *o, const struct attach_request *r,
		       struct attach_answer *a)
{
	uint32_t function = label_find(o, r->label);

	/* Nodes precede functions, so that a function cannot impersonate a node that joins
	 * later. */
	if (function != 0) {
		int status = o->options.ops.find(o->options.ops.context, r->label, &a->target);
		if (status != DXP_ENOENT || function == NIC_FUNCTIONS)
			return status;
	}
	a->target = (struct dxp_target){
		.function = (uint8_t)function,
		.qp = r->qp,
		.magic = nic_qp_magic(o->options.nic, function, r->qp),
	};
	return a->target.magic ? DXP_OK : DXP_ENOENT;
}

/* ---- requests ---- */

/* Answers a request about the client's own function. */
static int answer_user(struct offer *o, struct offer_client *client, const struct attach_request *r,
		       int fd, struct attach_answer *a)
{
	struct offer_function *f = &o->functions[client->function];

	if (client->function == 0)
		return client->closed ? DXP_ECLOSED : DXP_EINVAL;
	switch (r->type) {
	case ATTACH_REGISTER: return answer_register(o, f, client->function, r, fd, a);
	case ATTACH_REVOKE: return answer_revoke(o, f, r->key);
	case ATTACH_LOOKUP: return answer_lookup(o, f, client->function, r);
	case ATTACH_FIND: return answer_find(o, r, a);
	default: function_arm(o, f, r->on); return DXP_OK;
	}
}

void offer_request(struct offer *o, struct offer_client *client, const struct attach_request *r,
		   int fd, uint64_t now_ns, struct attach_answer *answer, struct offer_fds *beside)
{
	beside->count = 0;
	*answer = (struct attach_answer){.type = r->type};
	switch (r->type) {
	case ATTACH_OPEN: answer->status = answer_open(o, client, r, answer, beside); break;
	case ATTACH_REGISTER:
	case ATTACH_REVOKE:
	case ATTACH_LOOKUP:
	case ATTACH_FIND:
	case ATTACH_ARM: answer->status = answer_user(o, client, r, fd, answer); break;
	default: answer->status = offer_manage(o, client, r, now_ns, answer);
	}
}

/* Closes our copy of the user's socket. The user can queue descriptors in it, and whichever process
 * closes the last copy closes those too. */
void offer_handed_over(struct offer *o, const struct offer_client *client)
{
	struct offer_function *f = &o->functions[client->function];

	if (client->function == 0 || f->user_fds[0] < 0)
		return;
	close(f->user_fds[0]);
	f->user_fds[0] = -1;
}

void offer_client_gone(struct offer *o, struct offer_client *client, uint64_t now_ns)
{
	if (client->function)
		function_close(o, client->function, now_ns);
}

int offer_function_reset(struct offer *o, uint32_t function, uint64_t now_ns)
{
	if (o->functions[function].state != OFFER_OPEN)
		return nic_function_state(o->options.nic, function) ? DXP_EUNSUPPORTED : DXP_ENOENT;
	function_close(o, function, now_ns);
	return DXP_OK;
}

/* ---- release of unused memory ---- */

/* Frees revoked regions that the NIC does not use any more. Returns true if some remain. */
static bool regions_reclaim(struct offer *o, struct offer_function *f)
{
	bool waits = false;

	for (uint32_t i = 0; i < f->region_count;) {
		struct offer_region *region = &f->regions[i];
		bool busy = region->revoked && (nic_region_busy(o->options.nic, region->key) ||
						local_memory_drops_full());
		waits |= busy;
		if (!region->revoked || busy) {
			i++;
			continue;
		}
		f->mapped_bytes -= region->memory.bytes;
		local_memory_drop(&region->memory, 1);
		*region = f->regions[--f->region_count];
	}
	return waits;
}

bool offer_reclaim(struct offer *o)
{
	bool waits = false;

	if (!o->reclaim)
		return false;
	for (uint32_t i = 1; i < NIC_FUNCTIONS; i++) {
		struct offer_function *f = &o->functions[i];
		if (f->state == OFFER_OPEN)
			waits |= regions_reclaim(o, f);
		if (f->state != OFFER_CLOSING)
			continue;
		if (nic_function_idle(o->options.nic, i) && !local_memory_drops_full())
			function_free(f);
		else
			waits = true;
	}
	o->reclaim = waits;
	return waits;
}

void offer_mapped(const struct offer *o, struct offer_mapped *out)
{
	*out = (struct offer_mapped){0};
	for (uint32_t i = 1; i < NIC_FUNCTIONS; i++) {
		const struct offer_function *f = &o->functions[i];
		if (f->state == OFFER_FREE)
			continue;
		out->count += 1 + f->region_count;
		out->bytes += f->window.bytes + f->mapped_bytes;
	}
}

int offer_create(const struct offer_options *options, struct offer **out)
{
	if (options->functions >= NIC_FUNCTIONS || strlen(options->name) >= FABRIC_NAME_BYTES)
		return DXP_EINVAL;
	struct offer *o = calloc(1, sizeof(*o));
	if (!o)
		return DXP_ENOMEM;
	o->options = *options;
	strcpy(o->name, options->name);
	o->options.name = o->name;
	for (uint32_t i = 0; i < NIC_FUNCTIONS; i++) {
		o->functions[i].weight = 1;
		o->functions[i].window.fd = -1;
		o->functions[i].engine_fd = -1;
		o->functions[i].user_fds[0] = o->functions[i].user_fds[1] = -1;
	}
	*out = o;
	return DXP_OK;
}

void offer_destroy(struct offer *o, uint64_t now_ns)
{
	if (!o)
		return;
	for (uint32_t i = 1; i < NIC_FUNCTIONS; i++) {
		if (o->functions[i].state == OFFER_OPEN)
			function_close(o, i, now_ns);
		function_free(&o->functions[i]);
	}
	free(o);
}
