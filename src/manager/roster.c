/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes that the manager knows. */
#include "manager/roster.h"

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "node/limits.h"

#define ID_ENTRIES (WIRE_NODE_LAST + 1u)
#define BITS_WORDS (ID_ENTRIES / 64 + 1)

_Static_assert(FABRIC_NODES_MAX <= HASH_INDEX_ROWS, "the hash tables have buckets for all nodes");

static int indexes_create(struct roster *r, const uint64_t secret[2])
{
	int status = hash_index_create(&r->by_uuid, secret, r->examined);

	if (status == DXP_OK)
		status = hash_index_create(&r->by_name, secret, r->examined);
	if (status == DXP_OK)
		status = hash_index_create(&r->by_address, secret, r->examined);
	return status;
}

int roster_create(struct roster *r, const uint64_t secret[2], uint64_t *examined)
{
	*r = (struct roster){.sequence = 1,
			     .next_id = WIRE_NODE_FIRST,
			     .leases.random = secret[0],
			     .examined = examined};
	for (int i = 0; i < ROSTER_KINDS; i++) {
		r->kinds[i].changes.random = secret[1];
		list_init(&r->kinds[i].dead);
	}
	list_init(&r->gone);
	list_init(&r->dirty);
	r->by_id = calloc(ID_ENTRIES, sizeof(*r->by_id));
	r->used = calloc(BITS_WORDS, sizeof(*r->used));
	r->xpus = calloc(BITS_WORDS, sizeof(*r->xpus));
	r->deleted = calloc(BITS_WORDS, sizeof(*r->deleted));
	r->deleting = calloc(BITS_WORDS, sizeof(*r->deleting));
	if (r->by_id && r->used && r->xpus && r->deleted && r->deleting &&
	    indexes_create(r, secret) == DXP_OK)
		return DXP_OK;
	roster_destroy(r);
	return DXP_ENOMEM;
}

void roster_destroy(struct roster *r)
{
	struct roster_node *n = r->by_id && r->used ? roster_next(r, 0, false) : NULL;

	for (struct roster_node *next; n; n = next) {
		next = roster_next(r, n->entry.id + 1u, false);
		free(n);
	}
	hash_index_destroy(&r->by_uuid);
	hash_index_destroy(&r->by_name);
	hash_index_destroy(&r->by_address);
	free(r->by_id);
	free(r->used);
	free(r->xpus);
	free(r->deleted);
	free(r->deleting);
	*r = (struct roster){0};
}

/* ---- searches ---- */

struct roster_node *roster_find(const struct roster *r, uint16_t id)
{
	return id <= WIRE_NODE_LAST ? r->by_id[id] : NULL;
}

/* Returns the first bit >= `id` that is set; ID_ENTRIES: there is none. */
static uint32_t bit_next(const uint64_t *bits, uint32_t id)
{
	uint32_t word = id / 64;

	if (id >= ID_ENTRIES)
		return ID_ENTRIES;
	uint64_t found = bits[word] & ~0ull << id % 64;
	while (found == 0 && ++word < BITS_WORDS)
		found = bits[word];
	return found ? word * 64 + (uint32_t)__builtin_ctzll(found) : ID_ENTRIES;
}

struct roster_node *roster_next(const struct roster *r, uint32_t id, bool xpus)
{
	const uint32_t next = bit_next(xpus ? r->xpus : r->used, id);

	++*r->examined;
	return next < ID_ENTRIES ? r->by_id[next] : NULL;
}

static uint64_t name_hash(const struct roster *r, const char *name)
{
	return hash_index_hash(&r->by_name, name, strnlen(name, FABRIC_NAME_BYTES));
}

static uint64_t address_hash(const struct roster *r, const struct udp_address *address)
{
	uint8_t bytes[sizeof(address->ip) + sizeof(address->port)];

	memcpy(bytes, address->ip, sizeof(address->ip));
	memcpy(bytes + sizeof(address->ip), &address->port, sizeof(address->port));
	return hash_index_hash(&r->by_address, bytes, sizeof(bytes));
}

struct roster_node *roster_find_uuid(const struct roster *r, const uint8_t uuid[WIRE_UUID_BYTES])
{
	const uint64_t hash = hash_index_hash(&r->by_uuid, uuid, WIRE_UUID_BYTES);
	struct hash_link *l = hash_index_first(&r->by_uuid, hash);

	for (; l; l = hash_index_next(&r->by_uuid, l)) {
		struct roster_node *n = ROSTER_NODE(l, by_uuid);
		if (memcmp(n->entry.uuid, uuid, WIRE_UUID_BYTES) == 0)
			return n;
	}
	return NULL;
}

struct roster_node *roster_find_name(const struct roster *r, const char *name)
{
	struct hash_link *l = hash_index_first(&r->by_name, name_hash(r, name));

	for (; l; l = hash_index_next(&r->by_name, l)) {
		struct roster_node *n = ROSTER_NODE(l, by_name);
		if (strcmp(n->entry.name, name) == 0)
			return n;
	}
	return NULL;
}

struct roster_node *roster_find_address(const struct roster *r, const struct udp_address *address)
{
	struct hash_link *l = hash_index_first(&r->by_address, address_hash(r, address));

	for (; l; l = hash_index_next(&r->by_address, l)) {
		struct roster_node *n = ROSTER_NODE(l, by_address);
		if (address_equal(&n->entry.address, address))
			return n;
	}
	return NULL;
}

struct roster_node *roster_changed_after(const struct roster *r, enum roster_kind kind,
					 uint64_t sequence)
{
	struct tree_node *t = tree_ceiling(&r->kinds[kind].changes, sequence + 1, 0);

	++*r->examined;
	return t ? ROSTER_NODE(t, by_change) : NULL;
}

struct roster_node *roster_lease_first(const struct roster *r)
{
	struct tree_node *t = tree_ceiling(&r->leases, 0, 0);

	return t ? ROSTER_NODE(t, by_lease) : NULL;
}

static struct roster_node *dead_first(const struct roster *r, enum roster_kind kind)
{
	const struct list *dead = &r->kinds[kind].dead;

	return list_empty(dead) ? NULL : ROSTER_NODE(dead->next, by_state);
}

struct roster_node *roster_dead_host(const struct roster *r)
{
	return dead_first(r, ROSTER_HOSTS);
}

/* ---- bits of ids ---- */

static void bit_assign(uint64_t *bits, uint16_t id, bool value)
{
	const uint64_t bit = 1ull << id % 64;

	bits[id / 64] = value ? bits[id / 64] | bit : bits[id / 64] & ~bit;
}

static void bit_set(uint64_t *bits, size_t *count, uint16_t id, bool value)
{
	const bool before = bits[id / 64] >> id % 64 & 1;

	*count = *count + value - before;
	bit_assign(bits, id, value);
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
	if (r->deleted_count == 0)
		return 0;
	const uint16_t id = (uint16_t)bit_next(r->deleted, 0);
	bit_set(r->deleted, &r->deleted_count, id, false);
	bit_set(r->deleting, &r->deleting_count, id, true);
	return id;
}

void roster_deleted_stored(struct roster *r)
{
	if (r->deleting_count)
		memset(r->deleting, 0, BITS_WORDS * sizeof(*r->deleting));
	r->deleting_count = 0;
}

void roster_deleted_again(struct roster *r)
{
	while (r->deleting_count > 0)
		deleted_set(r, (uint16_t)bit_next(r->deleting, 0), true);
}

/* ---- description and state ---- */

/* Enters the node in the hash tables in which its state has it. */
static void indexes_update(struct roster *r, struct roster_node *n)
{
	hash_index_remove(&n->by_name);
	hash_index_remove(&n->by_address);
	if (n->state != NODE_GONE)
		hash_index_add(&r->by_name, &n->by_name, name_hash(r, n->entry.name));
	if (n->state == NODE_ALIVE)
		hash_index_add(&r->by_address, &n->by_address, address_hash(r, &n->entry.address));
}

void roster_describe(struct roster *r, struct roster_node *n, const struct node_entry *entry)
{
	const enum roster_kind before = roster_kind_of(&n->entry), kind = roster_kind_of(entry);
	const uint16_t id = n->entry.id;

	n->entry = *entry;
	n->entry.id = id;
	hash_index_remove(&n->by_uuid);
	hash_index_add(&r->by_uuid, &n->by_uuid,
		       hash_index_hash(&r->by_uuid, entry->uuid, WIRE_UUID_BYTES));
	indexes_update(r, n);
	if (kind == before)
		return;
	tree_remove(&r->kinds[before].changes, &n->by_change);
	tree_insert(&r->kinds[kind].changes, &n->by_change, n->changed, 0);
	bit_assign(r->xpus, id, kind == ROSTER_XPUS);
	/* Hosts may still list this xPU, and get no more changes of it. */
	if (before == ROSTER_XPUS)
		r->kinds[ROSTER_XPUS].floor = ++r->sequence;
}

void roster_move(struct roster *r, struct roster_node *n, const struct udp_address *address)
{
	n->entry.address = *address;
	indexes_update(r, n);
}

/* Ends what the node's present state needs. */
static void state_set(struct roster *r, struct roster_node *n, enum node_state state)
{
	const bool changed = n->state != state;

	if (n->lease_until_ns)
		tree_remove(&r->leases, &n->by_lease);
	n->lease_until_ns = 0;
	list_remove(&n->by_state);
	r->states[n->state]--;
	r->states[state]++;
	n->state = state;
	if (changed)
		indexes_update(r, n);
}

void roster_alive(struct roster *r, struct roster_node *n, uint64_t lease_until_ns)
{
	state_set(r, n, NODE_ALIVE);
	n->lease_until_ns = lease_until_ns;
	tree_insert(&r->leases, &n->by_lease, lease_until_ns, n->entry.id);
}

void roster_dead(struct roster *r, struct roster_node *n, uint64_t now_ns)
{
	state_set(r, n, NODE_DEAD);
	n->dead_ns = now_ns;
	list_remove(&n->by_push);
	list_append(&r->kinds[roster_kind_of(&n->entry)].dead, &n->by_state);
}

void roster_gone(struct roster *r, struct roster_node *n)
{
	state_set(r, n, NODE_GONE);
	list_remove(&n->by_push);
	list_append(&r->gone, &n->by_state);
}

void roster_state_load(struct roster *r, struct roster_node *n, enum node_state state)
{
	if (state != NODE_GONE)
		state_set(r, n, state);
}

void roster_change(struct roster *r, struct roster_node *n)
{
	struct tree *changes = &r->kinds[roster_kind_of(&n->entry)].changes;

	if (n->changed)
		tree_remove(changes, &n->by_change);
	n->changed = ++r->sequence;
	tree_insert(changes, &n->by_change, n->changed, 0);
	list_append(&r->dirty, &n->by_dirty);
}

/* ---- adding and forgetting ---- */

static void node_forget(struct roster *r, struct roster_node *n)
{
	const enum roster_kind kind = roster_kind_of(&n->entry);
	/* Other nodes still list a dead node, so they must receive its removal. */
	const uint64_t floor = n->state == NODE_GONE ? n->changed : ++r->sequence;

	r->kinds[kind].floor = max_u64(r->kinds[kind].floor, floor);
	state_set(r, n, NODE_GONE);
	r->states[NODE_GONE]--;
	r->by_id[n->entry.id] = NULL;
	bit_assign(r->used, n->entry.id, false);
	bit_assign(r->xpus, n->entry.id, false);
	deleted_set(r, n->entry.id, true);
	r->count--;
	tree_remove(&r->kinds[kind].changes, &n->by_change);
	list_remove(&n->by_push);
	list_remove(&n->by_dirty);
	hash_index_remove(&n->by_uuid);
	free(n);
}

/* If the roster is full, forgets the node that is gone for longest. Without such a node, forgets
 * the node that is dead for longest. Returns false if all nodes are alive. */
static bool space_make(struct roster *r)
{
	struct roster_node *host = dead_first(r, ROSTER_HOSTS), *xpu = dead_first(r, ROSTER_XPUS);
	struct roster_node *n = host;

	if (r->count < FABRIC_NODES_MAX)
		return true;
	if (!list_empty(&r->gone))
		n = ROSTER_NODE(r->gone.next, by_state);
	else if (xpu && (!host || xpu->dead_ns < host->dead_ns))
		n = xpu;
	if (n)
		node_forget(r, n);
	return n != NULL;
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

struct roster_node *roster_add(struct roster *r, uint16_t wanted)
{
	if (!space_make(r))
		return NULL;
	struct roster_node *n = calloc(1, sizeof(*n));
	if (!n)
		return NULL;
	n->entry.id = id_choose(r, wanted);
	n->state = NODE_GONE;
	r->states[NODE_GONE]++;
	list_init(&n->by_state);
	list_init(&n->by_push);
	list_init(&n->by_dirty);
	list_append(&r->gone, &n->by_state);
	deleted_set(r, n->entry.id, false);
	r->by_id[n->entry.id] = n;
	bit_assign(r->used, n->entry.id, true);
	r->count++;
	if (r->next_id == n->entry.id)
		r->next_id =
			r->next_id == WIRE_NODE_LAST ? WIRE_NODE_FIRST : (uint16_t)(r->next_id + 1);
	roster_change(r, n);
	return n;
}
