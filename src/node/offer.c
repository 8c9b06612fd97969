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

/* ---- users: open, close, free ---- */

static void fds_close(struct offer_user *u)
{
	int *const fds[] = {&u->engine_fd, &u->user_fds[0], &u->user_fds[1]};

	for (size_t i = 0; i < ARRAY_COUNT(fds); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

static int fds_make(struct offer_user *u)
{
	u->engine_fd = descriptor_raise(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (u->engine_fd >= 0 &&
	    descriptor_raise_pair(
		    socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, u->user_fds),
		    u->user_fds) == 0) {
		shutdown(u->user_fds[1], SHUT_RD); /* this side of the socket only sends */
		return DXP_OK;
	}
	fds_close(u);
	return DXP_EIO;
}

static void user_free(struct offer_user *u)
{
	struct local_memory memories[OFFER_REGIONS_MAX];

	for (uint32_t i = 0; i < u->region_count; i++)
		memories[i] = u->regions[i].memory;
	local_memory_drop(memories, u->region_count);
	free(u->regions);
	local_memory_free(&u->window);
	fds_close(u);
	*u = (struct offer_user){.window.fd = -1, .engine_fd = -1, .user_fds = {-1, -1}};
}

/* Wakes a sleeping user, so that it detects that it was closed. */
static void user_wake(const struct offer_user *u)
{
	const uint64_t one = 1;

	if (write(u->user_fds[1], &one, sizeof(one)) < 0)
		return; /* the socket is full, so a wakeup is pending, or the user has exited */
}

static void user_arm(struct offer *o, struct offer_user *u, bool on)
{
	if (u->armed != on)
		o->options.ops.arm(o->options.ops.context, on ? 1 : -1);
	u->armed = on;
}

static void user_close(struct offer *o, uint32_t user, uint64_t now_ns)
{
	struct offer_user *u = &o->users[user];

	nic_user_close(o->options.nic, user, DXP_ECLOSED, now_ns);
	o->options.ops.users(o->options.ops.context, user, -1, -1);
	user_wake(u);
	user_arm(o, u, false);
	u->client->user = 0;
	u->client->closed = true;
	u->client = NULL;
	u->pid = 0;
	u->state = OFFER_CLOSING;
	o->reclaim = true;
	offer_reclaim(o);
}

static void settings_apply(const struct offer *o, uint32_t function)
{
	const struct offer_function *f = &o->functions[function];

	nic_function_weight(o->options.nic, function, f->weight);
	nic_function_priority(o->options.nic, function, f->priority);
	nic_function_limit(o->options.nic, function, f->limit_bytes_per_s);
}

static int user_start(struct offer *o, uint32_t user, uint32_t qps)
{
	struct offer_user *u = &o->users[user];
	int status = local_memory_create("dxp-window", DXP_WINDOW_FILE_BYTES, &u->window);

	if (status == DXP_OK)
		status = fds_make(u);
	if (status == DXP_OK)
		status = nic_user_open(o->options.nic, user, qps, u->window.base);
	if (status == DXP_OK) {
		settings_apply(o, user % NIC_FUNCTIONS);
		status = o->options.ops.users(o->options.ops.context, user, u->engine_fd,
					      u->user_fds[1]);
		if (status != DXP_OK)
			nic_user_close(o->options.nic, user, status, 0);
	}
	if (status != DXP_OK)
		user_free(u);
	return status == DXP_EEXIST ? DXP_EBUSY : status;
}

/* ---- labels ---- */

/* Returns the user with this label; NIC_USERS: none. The label of user 0 is the node's name. */
static uint32_t label_find(const struct offer *o, const char *label)
{
	return strcmp(label, o->name) == 0 ? 0 : nic_user_labelled(o->options.nic, label);
}

/* Returns true if a user or a node of the fabric has this name. A name may exist only once among
 * both. */
static bool label_in_use(const struct offer *o, const char *label)
{
	struct dxp_target node;

	return label_find(o, label) < NIC_USERS ||
	       o->options.ops.find(o->options.ops.context, label, &node) != DXP_ENOENT;
}

/* ---- OPEN ---- */

static int answer_open(struct offer *o, struct offer_client *client, const struct attach_request *r,
		       struct attach_answer *a, struct offer_fds *beside)
{
	uint32_t user, qps;

	if (client->closed)
		return DXP_ECLOSED;
	if (client->user)
		return DXP_EINVAL;
	int status = offer_choose(o, client, r, &user, &qps);
	if (status == DXP_OK && r->label[0] && label_in_use(o, r->label))
		status = DXP_EEXIST;
	if (status == DXP_OK)
		status = user_start(o, user, qps);
	if (status != DXP_OK)
		return status;
	struct offer_user *u = &o->users[user];
	u->state = OFFER_OPEN;
	u->client = client;
	u->pid = client->pid;
	nic_user_label(o->options.nic, user, r->label);
	client->user = user;
	a->function = (uint8_t)(user % NIC_FUNCTIONS);
	a->qp = (uint8_t)(user / NIC_FUNCTIONS);
	a->node = (uint16_t)((struct dxp_window *)u->window.base)->node;
	*beside = (struct offer_fds){{u->window.fd, u->engine_fd, u->user_fds[0]}, 3};
	return DXP_OK;
}

/* ---- memory ---- */

static bool regions_space(struct offer_user *u)
{
	if (u->region_count < u->region_space)
		return true;
	uint32_t space = u->region_space ? 2 * u->region_space : 8;
	struct offer_region *more = realloc(u->regions, space * sizeof(*more));
	if (!more)
		return false;
	u->regions = more;
	u->region_space = space;
	return true;
}

static int answer_register(struct offer *o, struct offer_user *u, uint32_t user,
			   const struct attach_request *r, int fd, struct attach_answer *a)
{
	struct offer_region region = {0};

	if (fd < 0)
		return DXP_EINVAL;
	if (u->region_count >= OFFER_REGIONS_MAX || r->bytes > OFFER_BYTES_MAX - u->mapped_bytes)
		return DXP_EBUSY;
	if (!regions_space(u))
		return DXP_ENOMEM;
	int status = local_memory_map(fd, r->offset, r->bytes, &region.memory);
	if (status != DXP_OK)
		return status;
	status = nic_region_register(o->options.nic, user, region.memory.base, r->bytes, r->rights,
				     &region.key);
	if (status != DXP_OK) {
		local_memory_free(&region.memory);
		return status;
	}
	u->regions[u->region_count++] = region;
	u->mapped_bytes += r->bytes;
	a->key = region.key;
	return DXP_OK;
}

/* Finds a region of this user. A key that belongs to another user does not match, even if it was
 * guessed. */
static struct offer_region *region_of(struct offer_user *u, uint32_t key)
{
	for (uint32_t i = 0; i < u->region_count; i++)
		if (u->regions[i].key == key && !u->regions[i].revoked)
			return &u->regions[i];
	return NULL;
}

static int answer_revoke(struct offer *o, struct offer_user *u, uint32_t key)
{
	struct offer_region *region = region_of(u, key);

	if (!region)
		return DXP_ENOENT;
	int status = nic_region_revoke(o->options.nic, key);
	region->revoked = true;
	o->reclaim = true;
	offer_reclaim(o);
	return status;
}

static int answer_lookup(struct offer *o, struct offer_user *u, uint32_t user,
			 const struct attach_request *r)
{
	const struct nic_area area = {
		.vaddr = r->vaddr, .bytes = r->bytes, .offset = r->offset, .key = r->key};

	if (!region_of(u, r->key))
		return DXP_ENOENT;
	return nic_area_add(o->options.nic, user, &area);
}

/* ---- targets ---- */

static int answer_find(const struct offer *o, const struct attach_request *r,
		       struct attach_answer *a)
{
	uint32_t user = label_find(o, r->label);

	/* Nodes have priority over users of the same name, so that a user cannot impersonate a node
	 * that joins later. */
	if (user != 0) {
		int status = o->options.ops.find(o->options.ops.context, r->label, &a->target);
		if (status != DXP_ENOENT || user == NIC_USERS)
			return status;
	}
	if (r->qp >= nic_user_qps(o->options.nic, user))
		return DXP_ENOENT;
	uint32_t function = user % NIC_FUNCTIONS, qp = user / NIC_FUNCTIONS + r->qp;
	a->target = (struct dxp_target){
		.function = (uint8_t)function,
		.qp = (uint8_t)qp,
		.magic = nic_qp_magic(o->options.nic, function, qp),
	};
	return DXP_OK;
}

/* ---- requests ---- */

/* Answers a request that concerns the client's own user. */
static int answer_user(struct offer *o, struct offer_client *client, const struct attach_request *r,
		       int fd, struct attach_answer *a)
{
	struct offer_user *u = &o->users[client->user];

	if (client->user == 0)
		return client->closed ? DXP_ECLOSED : DXP_EINVAL;
	switch (r->type) {
	case ATTACH_REGISTER: return answer_register(o, u, client->user, r, fd, a);
	case ATTACH_REVOKE: return answer_revoke(o, u, r->key);
	case ATTACH_LOOKUP: return answer_lookup(o, u, client->user, r);
	case ATTACH_FIND: return answer_find(o, r, a);
	default: user_arm(o, u, r->on); return DXP_OK;
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

/* Closes the node's copy of the user's socket. The user can queue descriptors in this socket. The
 * process that closes the last copy also closes these descriptors, which may take long. */
void offer_handed_over(struct offer *o, const struct offer_client *client)
{
	struct offer_user *u = &o->users[client->user];

	if (client->user == 0 || u->user_fds[0] < 0)
		return;
	close(u->user_fds[0]);
	u->user_fds[0] = -1;
}

void offer_client_gone(struct offer *o, struct offer_client *client, uint64_t now_ns)
{
	if (client->user)
		user_close(o, client->user, now_ns);
}

int offer_function_reset(struct offer *o, uint32_t function, uint64_t now_ns)
{
	bool used = false, closed = false;

	for (uint32_t q = 0; q < NIC_QPS_PER_FUNCTION; q++) {
		uint32_t user = NIC_USER(function, q);
		used |= nic_user_state(o->options.nic, user) != 0;
		if (o->users[user].state != OFFER_OPEN)
			continue;
		user_close(o, user, now_ns);
		closed = true;
	}
	return closed ? DXP_OK : used ? DXP_EUNSUPPORTED : DXP_ENOENT;
}

/* ---- release of unused memory ---- */

/* Frees revoked regions that the NIC does not use any more. Returns true if some revoked regions
 * remain. */
static bool regions_reclaim(struct offer *o, struct offer_user *u)
{
	bool waits = false;

	for (uint32_t i = 0; i < u->region_count;) {
		struct offer_region *region = &u->regions[i];
		bool busy = region->revoked && (nic_region_busy(o->options.nic, region->key) ||
						local_memory_drops_full());
		waits |= busy;
		if (!region->revoked || busy) {
			i++;
			continue;
		}
		u->mapped_bytes -= region->memory.bytes;
		local_memory_drop(&region->memory, 1);
		*region = u->regions[--u->region_count];
	}
	return waits;
}

bool offer_reclaim(struct offer *o)
{
	bool waits = false;

	if (!o->reclaim)
		return false;
	for (uint32_t i = 1; i < NIC_USERS; i++) {
		struct offer_user *u = &o->users[i];
		if (u->state == OFFER_OPEN)
			waits |= regions_reclaim(o, u);
		if (u->state != OFFER_CLOSING)
			continue;
		if (nic_user_idle(o->options.nic, i) && !local_memory_drops_full())
			user_free(u);
		else
			waits = true;
	}
	o->reclaim = waits;
	return waits;
}

void offer_mapped(const struct offer *o, struct offer_mapped *out)
{
	*out = (struct offer_mapped){0};
	for (uint32_t i = 1; i < NIC_USERS; i++) {
		const struct offer_user *u = &o->users[i];
		if (u->state == OFFER_FREE)
			continue;
		out->count += 1 + u->region_count;
		out->bytes += u->window.bytes + u->mapped_bytes;
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
	for (uint32_t i = 0; i < NIC_FUNCTIONS; i++)
		o->functions[i].weight = 1;
	for (uint32_t i = 0; i < NIC_USERS; i++) {
		o->users[i].window.fd = -1;
		o->users[i].engine_fd = -1;
		o->users[i].user_fds[0] = o->users[i].user_fds[1] = -1;
	}
	*out = o;
	return DXP_OK;
}

void offer_destroy(struct offer *o, uint64_t now_ns)
{
	if (!o)
		return;
	for (uint32_t i = 1; i < NIC_USERS; i++) {
		if (o->users[i].state == OFFER_OPEN)
			user_close(o, i, now_ns);
		user_free(&o->users[i]);
	}
	free(o);
}
