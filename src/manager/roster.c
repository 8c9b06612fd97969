/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes that the manager knows. */
#include "manager/roster.h"

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "manager/limits.h"
#include "node/limits.h"

#define ID_ENTRIES (WIRE_NODE_LAST + 1u)
#define USED_WORDS (ID_ENTRIES / 64 + 1)
#define BITS_BYTES (ID_ENTRIES / 8 + 1)

int roster_create(struct roster *r)
{
	*r = (struct roster){.sequence = 1, .next_id = WIRE_NODE_FIRST};
	list_init(&r->by_change);
	list_init(&r->leases);
	list_init(&r->fading);
	list_init(&r->left);
	list_init(&r->dirty);
	r->by_id = calloc(ID_ENTRIES, sizeof(*r->by_id));
	r->used = calloc(USED_WORDS, sizeof(*r->used));
	r->deleted = calloc(BITS_BYTES, 1);
	r->deleting = calloc(BITS_BYTES, 1);
	if (r->by_id && r->used && r->deleted && r->deleting)
		return DXP_OK;
	roster_destroy(r);
	return DXP_ENOMEM;
}

void roster_destroy(struct roster *r)
{
	while (!list_empty(&r->by_change)) {
		struct roster_node *n = ROSTER_NODE(r->by_change.next, by_change);
		list_remove(&n->by_change);
		free(n);
	}
	free(r->by_id);
	free(r->used);
	free(r->deleted);
	free(r->deleting);
	r->by_id = NULL;
	r->used = NULL;
	r->deleted = r->deleting = NULL;
}

struct roster_node *roster_find(const struct roster *r, uint16_t id)
{
	return id <= WIRE_NODE_LAST ? r->by_id[id] : NULL;
}

struct roster_node *roster_next(const struct roster *r, uint32_t id)
{
	uint32_t word = id / 64;

	if (id > WIRE_NODE_LAST)
		return NULL;
	uint64_t bits = r->used[word] & ~0ull << id % 64;
	while (bits == 0 && ++word < USED_WORDS)
		bits = r->used[word];
	return bits ? r->by_id[word * 64 + (uint32_t)__builtin_ctzll(bits)] : NULL;
}

struct roster_node *roster_find_uuid(const struct roster *r, const uint8_t uuid[WIRE_UUID_BYTES])
{
	struct roster_node *n;

	ROSTER_EACH(r, n)
	if (memcmp(n->entry.uuid, uuid, WIRE_UUID_BYTES) == 0)
		return n;
	return NULL;
}

struct roster_node *roster_find_name(const struct roster *r, const char *name)
{
	struct roster_node *n;

	ROSTER_EACH(r, n)
	if (n->state != NODE_GONE && strcmp(n->entry.name, name) == 0)
		return n;
	return NULL;
}

struct roster_node *roster_find_address(const struct roster *r, const struct udp_address *address)
{
	struct roster_node *n;

	ROSTER_EACH(r, n)
	if (n->state == NODE_ALIVE && address_equal(&n->entry.address, address))
		return n;
	return NULL;
}

static void bit_set(uint8_t *bits, size_t *count, uint16_t id, bool value)
{
	uint8_t bit = (uint8_t)(1u << id % 8), *byte = &bits[id / 8];

	if (value && !(*byte & bit))
		(*count)++;
	if (!value && (*byte & bit))
		(*count)--;
	*byte = (uint8_t)(value ? *byte | bit : *byte & ~bit);
}

/* A deletion that may not be stored yet is void as soon as the id has another node, because the
 * store replaces the row. */
static void deleted_set(struct roster *r, uint16_t id, bool deleted)
{
	bit_set(r->deleted, &r->deleted_count, id, deleted);
	bit_set(r->deleting, &r->deleting_count, id, false);
}

uint16_t roster_deleted_next(struct roster *r)
{
	uint16_t id = 0;

	if (r->deleted_count == 0)
		return 0;
	while (!(r->deleted[id / 8] & 1u << id % 8))
		id++;
	bit_set(r->deleted, &r->deleted_count, id, false);
	bit_set(r->deleting, &r->deleting_count, id, true);
	return id;
}

void roster_deleted_stored(struct roster *r)
{
	if (r->deleting_count)
		memset(r->deleting, 0, BITS_BYTES);
	r->deleting_count = 0;
}

void roster_deleted_again(struct roster *r)
{
	for (uint32_t id = 0; r->deleting_count > 0 && id < ID_ENTRIES; id++)
		if (r->deleting[id / 8] & 1u << id % 8)
			deleted_set(r, (uint16_t)id, true);
}

static void node_forget(struct roster *r, struct roster_node *n)
{
	/* Other nodes still list a dead node, so they must receive its removal. */
	r->floor = max_u64(r->floor, n->state == NODE_GONE ? n->changed : ++r->sequence);
	r->by_id[n->entry.id] = NULL;
	r->used[n->entry.id / 64] &= ~(1ull << n->entry.id % 64);
	deleted_set(r, n->entry.id, true);
	r->count--;
	list_remove(&n->by_change);
	list_remove(&n->by_time);
	list_remove(&n->by_push);
	list_remove(&n->by_dirty);
	free(n);
}

/* If the roster is full, forgets one node. by_change has the oldest change first. So the first node
 * that is gone has been gone longest, and is forgotten. Without such a node, forgets the first dead
 * node. Returns false if all nodes are alive. */
static bool space_make(struct roster *r)
{
	struct roster_node *n, *dead = NULL;

	if (r->count < FABRIC_NODES_MAX)
		return true;
	ROSTER_EACH(r, n)
	{
		if (n->state == NODE_GONE) {
			node_forget(r, n);
			return true;
		}
		if (n->state == NODE_DEAD && !dead)
			dead = n;
	}
	if (dead)
		node_forget(r, dead);
	return dead != NULL;
}

/* Returns `wanted` if it is free, else the next free id in cyclic order. So a freed id stays unused
 * for long. */
static uint16_t id_choose(struct roster *r, uint16_t wanted)
{
	if (wanted >= WIRE_NODE_FIRST && wanted <= WIRE_NODE_LAST && !r->by_id[wanted])
		return wanted;
	while (r->by_id[r->next_id])
		r->next_id =
			r->next_id == WIRE_NODE_LAST ? WIRE_NODE_FIRST : (uint16_t)(r->next_id + 1);
	return r->next_id;
}

static void links_init(struct roster_node *n)
{
	list_init(&n->by_change);
	list_init(&n->by_time);
	list_init(&n->by_push);
	list_init(&n->by_dirty);
}

struct roster_node *roster_add(struct roster *r, uint16_t wanted)
{
	if (!space_make(r))
		return NULL;
	struct roster_node *n = calloc(1, sizeof(*n));
	if (!n)
		return NULL;
	n->entry.id = id_choose(r, wanted);
	n->state = NODE_GONE;
	links_init(n);
	deleted_set(r, n->entry.id, false);
	r->by_id[n->entry.id] = n;
	r->used[n->entry.id / 64] |= 1ull << n->entry.id % 64;
	r->count++;
	if (r->next_id == n->entry.id)
		r->next_id =
			r->next_id == WIRE_NODE_LAST ? WIRE_NODE_FIRST : (uint16_t)(r->next_id + 1);
	roster_change(r, n);
	return n;
}

struct roster_node *roster_reuse(struct roster *r, uint64_t now_ns)
{
	if (list_empty(&r->left))
		return NULL;
	struct roster_node *n = ROSTER_NODE(r->left.next, by_time);
	if (n->dead_ns + FABRIC_REUSE_NS > now_ns)
		return NULL;
	const uint16_t id = n->entry.id;

	list_remove(&n->by_change);
	list_remove(&n->by_time);
	list_remove(&n->by_dirty);
	*n = (struct roster_node){.entry.id = id, .state = NODE_GONE};
	links_init(n);
	roster_change(r, n);
	return n;
}

void roster_change(struct roster *r, struct roster_node *n)
{
	n->changed = ++r->sequence;
	list_append(&r->by_change, &n->by_change);
	list_append(&r->dirty, &n->by_dirty);
}

void roster_alive(struct roster *r, struct roster_node *n, uint64_t lease_until_ns)
{
	n->state = NODE_ALIVE;
	n->lease_until_ns = lease_until_ns;
	list_remove(&n->by_time);
	/* Searches from the end, because only leases that a restart extended expire later than a
	 * new one. */
	struct list *before = r->leases.previous;
	while (before != &r->leases &&
	       ROSTER_NODE(before, by_time)->lease_until_ns > lease_until_ns)
		before = before->previous;
	list_insert(before, &n->by_time);
}

void roster_dead(struct roster *r, struct roster_node *n, uint64_t now_ns)
{
	n->state = NODE_DEAD;
	n->dead_ns = now_ns;
	list_remove(&n->by_push);
	if (n->entry.kind == MANAGE_HOST)
		list_append(&r->fading, &n->by_time);
	else
		list_remove(&n->by_time);
}

void roster_gone(struct roster *r, struct roster_node *n)
{
	n->state = NODE_GONE;
	list_remove(&n->by_time);
	list_remove(&n->by_push);
}

void roster_left(struct roster *r, struct roster_node *n, uint64_t now_ns)
{
	roster_gone(r, n);
	n->dead_ns = now_ns;
	if (n->entry.kind == MANAGE_HOST)
		list_append(&r->left, &n->by_time);
}

struct list *roster_after(const struct roster *r, uint64_t sequence)
{
	struct list *at = r->by_change.previous;

	while (at != &r->by_change && ROSTER_NODE(at, by_change)->changed > sequence)
		at = at->previous;
	return at->next;
}
