/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry: its creation, rows from the store, expiry of leases, datagrams in and out. */
#include "manager/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "link/datagram.h"
#include "manager/internal.h"
#include "node/limits.h"

/* answers per second to senders with wrong keys: enough for users, too few for an amplification
 * attack */
#define REJECTIONS_PER_S 100
#define REJECTION_UNIT   S_NS

/* A proof of an address is valid in the period of its making and in the next one. */
#define PROOF_PERIOD_NS (60 * S_NS)

int registry_create(const struct registry_options *options, struct registry **out)
{
	struct registry *r = calloc(1, sizeof(*r));
	uint64_t secret[2];

	if (!r)
		return DXP_ENOMEM;
	r->options = *options;
	r->lease_ns = options->lease_ns ? options->lease_ns : FABRIC_LEASE_NS;
	r->rejections = REJECTIONS_PER_S * REJECTION_UNIT;
	int status =
		event_journal_create(&r->events, options->events ? options->events : FABRIC_EVENTS);
	list_init(&r->ready);
	list_init(&r->pushes);
	list_init(&r->repeats);
	for (int i = 0; i < ROSTER_KINDS; i++)
		list_init(&r->idle[i]);
	options->entropy(options->entropy_context, &r->epoch, sizeof(r->epoch));
	r->epoch |= 1; /* an epoch of 0 means that there is none */
	options->entropy(options->entropy_context, r->proof_key, sizeof(r->proof_key));
	options->entropy(options->entropy_context, secret, sizeof(secret));
	r->outbox.entries = calloc(OUTBOX_SIZE, sizeof(*r->outbox.entries));
	if (status == DXP_OK)
		status = roster_create(&r->roster, secret, &r->counters.examined);
	if (status == DXP_OK)
		status = keyring_create(&r->keyring, secret, &r->counters.examined);
	if (status == DXP_OK)
		status = grants_create(&r->grants, options->policy, secret, &r->counters.examined);
	if (status == DXP_OK)
		status = r->outbox.entries ? mac_create(options->key, &r->mac) : DXP_ENOMEM;
	if (status == DXP_OK)
		status = channels_create(&r->channels);
	if (status == DXP_OK && !keys_public(options->private_key, r->public_key))
		status = DXP_EIO;
	if (status != DXP_OK) {
		registry_destroy(r);
		return status;
	}
	*out = r;
	return DXP_OK;
}

void registry_destroy(struct registry *r)
{
	if (!r)
		return;
	mac_destroy(r->mac);
	channels_destroy(r->channels);
	keyring_free(&r->keyring);
	keys_erase(&r->tokens, sizeof(r->tokens));
	keys_erase(&r->options, sizeof(r->options));
	keys_erase(r->proof_key, sizeof(r->proof_key));
	keys_erase(&r->fabric, sizeof(r->fabric));
	keys_erase(&r->manager, sizeof(r->manager));
	free(r->outbox.entries);
	event_journal_destroy(&r->events);
	grants_free(&r->grants);
	roster_destroy(&r->roster);
	free(r);
}

static bool entry_valid(const struct node_entry *e)
{
	return e->id >= WIRE_NODE_FIRST && e->id <= WIRE_NODE_LAST && manage_name_valid(e->name) &&
	       (e->kind == MANAGE_HOST || e->kind == MANAGE_XPU);
}

static int node_load(struct registry *r, const struct store_op *op)
{
	if (!entry_valid(&op->entry) || op->state < NODE_ALIVE || op->state > NODE_GONE ||
	    roster_find(&r->roster, op->entry.id))
		return DXP_EINVAL;
	struct roster_node *n = roster_add(&r->roster, op->entry.id);
	if (!n)
		return DXP_ENOMEM;
	roster_describe(&r->roster, n, &op->entry);
	roster_state_load(&r->roster, n, op->state);
	n->key = op->entry.role ? keyring_find(&r->keyring, op->entry.key) : NULL;
	list_remove(&n->by_dirty);
	if (op->entry.id >= r->roster.next_id && op->entry.id < WIRE_NODE_LAST)
		r->roster.next_id = (uint16_t)(op->entry.id + 1);
	return DXP_OK;
}

int registry_load(struct registry *r, const struct store_op *op)
{
	struct grant forget;
	int status;

	if (op->kind == STORE_NODE_PUT)
		return node_load(r, op);
	if (op->kind == STORE_KEY_PUT)
		return keyring_load(&r->keyring, op->index, &op->key);
	if (op->kind == STORE_TOKEN_PUT)
		return tokens_load(&r->tokens, op->index, &op->token);
	if (op->kind == STORE_FABRIC_PUT)
		return registry_fabric_load(r, &op->fabric);
	if (op->kind == STORE_MANAGER_PUT)
		return registry_manager_load(r, &op->manager);
	if (op->kind != STORE_GRANT_PUT)
		return DXP_EINVAL;
	status = grants_set(&r->grants, op->host, op->xpu, true);
	while (grants_next_dirty(&r->grants, &forget))
		/* marks the loaded rows as stored, because they came from the store */
		;
	return status;
}

void registry_start(struct registry *r, uint64_t now_ns)
{
	struct roster_node *n;

	r->rejections_ns = r->started_ns = now_ns;
	rotation_clock_load(&r->fabric.clock, r->fabric.row.rotated_ms, registry_wall_ms(r),
			    now_ns);
	rotation_clock_load(&r->manager.clock, r->manager.row.rotated_ms, registry_wall_ms(r),
			    now_ns);
	REGISTRY_EVENT(r, EVENT_STARTED, "manager", "the manager started");
	ROSTER_EACH(&r->roster, n)
	{
		if (n->state == NODE_ALIVE)
			roster_alive(&r->roster, n, now_ns + 2 * r->lease_ns);
		else if (n->state == NODE_DEAD)
			roster_dead(&r->roster, n, now_ns);
	}
}

struct outbox_entry *registry_outbox_reserve(struct registry *r)
{
	struct outbox *o = &r->outbox;

	if (o->head - o->tail + r->used >= OUTBOX_SIZE)
		return NULL;
	return &o->entries[o->head % OUTBOX_SIZE];
}

size_t registry_space(const struct registry *r)
{
	return OUTBOX_SIZE - (r->outbox.head - r->outbox.tail) - r->used;
}

void registry_outbox_commit(struct registry *r, struct outbox_entry *entry,
			    const struct udp_address *to, size_t bytes)
{
	entry->to = *to;
	entry->bytes = (uint16_t)bytes;
	r->outbox.head++;
}

bool registry_rejection_allowed(struct registry *r, uint64_t now_ns)
{
	uint64_t passed_ns = min_u64(now_ns - r->rejections_ns, S_NS);

	r->rejections_ns = now_ns;
	r->rejections = min_u64(r->rejections + passed_ns * REJECTIONS_PER_S,
				REJECTIONS_PER_S * REJECTION_UNIT);
	if (r->rejections < REJECTION_UNIT)
		return false;
	r->rejections -= REJECTION_UNIT;
	return true;
}

static bool is_request(uint8_t type)
{
	return type == WIRE_JOIN || type == WIRE_RENEW || type == WIRE_STATUS ||
	       type == WIRE_ASSIGN || type == WIRE_GRANTS || type == WIRE_STATS ||
	       type == WIRE_EVENTS || type == WIRE_REPORT || type == WIRE_CHANNEL;
}

/* Sends a REFUSE that is not authenticated, of at most `bytes` bytes, if the allowance permits. */
static void reject_unproven(struct registry *r, const struct udp_address *to, uint16_t node,
			    const struct manage_answer *answer, size_t bytes, uint64_t now_ns)
{
	struct outbox_entry *entry =
		registry_rejection_allowed(r, now_ns) ? registry_outbox_reserve(r) : NULL;

	if (!entry) {
		r->counters.reply_limited++;
		return;
	}
	bytes = manage_answer_encode(WIRE_REFUSE, node, answer, min_u64(bytes, MANAGE_FRAME_BYTES),
				     NULL, entry->data);
	registry_outbox_commit(r, entry, to, bytes);
}

/* Rejects a request in another version of the wire format. The header of the answer shows the
 * sender this manager's version. */
static void other_version(struct registry *r, const struct udp_address *from, const uint8_t *data,
			  size_t bytes, uint64_t now_ns)
{
	const struct manage_answer answer = {.status = DXP_EUNSUPPORTED,
					     .text = "another version of the wire format"};

	char text[EVENT_TEXT_BYTES];

	r->counters.other_version++;
	if (!is_request(data[WIRE_OFF_TYPE]))
		return;
	snprintf(text, sizeof(text),
		 "a request in version %u of the wire format; this manager has version %u: install "
		 "the same release there",
		 wire_other_version(data, bytes), WIRE_VERSION);
	manager_event_refused(r, from, "wire version", text);
	if (bytes >= MANAGE_ANSWER_MIN)
		reject_unproven(r, from, WIRE_NODE_NONE, &answer, bytes, now_ns);
}

/* Rejects a request with a wrong key. The answer is not longer than the request, so it cannot
 * amplify an attack. */
static void wrong_key(struct registry *r, const struct udp_address *from,
		      const struct wire_header *header, struct manage_body body, size_t bytes,
		      uint64_t now_ns)
{
	struct manage_answer answer = {.status = DXP_EAUTH, .text = "wrong key"};

	*(body.key ? &r->counters.key_unknown : &r->counters.unauthentic) += 1;
	r->sender = NULL; /* the frame does not prove its key */
	if (is_request(header->type))
		manager_event_refused(r, from, answer.text,
				      body.key ? "a request with a key that is not admitted"
					       : "a request with another fabric key");
	if (is_request(header->type) && bytes >= MANAGE_ANSWER_MIN &&
	    manage_prefix(body, &answer.request, &answer.nonce))
		reject_unproven(r, from, header->src_node, &answer, bytes, now_ns);
}

struct mac *registry_node_mac(const struct registry *r, const struct roster_node *n)
{
	struct mac *mac =
		n->key ? registry_key_mac(r, n->key, n->former && r->manager.overlap) : NULL;

	return mac ? mac : r->mac;
}

struct mac *registry_sender_mac(const struct registry *r)
{
	if (!r->sender)
		return r->mac;
	return r->sender_former ? r->sender->former_mac : r->sender->mac;
}

bool registry_pair(const struct registry *r, const uint8_t key[KEYS_BYTES], bool former,
		   uint8_t out[KEYS_BYTES])
{
	return former ? keys_pair(r->manager.row.former, key, r->manager.former_public, out)
		      : keys_pair(r->options.private_key, key, r->public_key, out);
}

struct mac *registry_key_mac(const struct registry *r, struct key_row *row, bool former)
{
	struct mac **mac = former ? &row->former_mac : &row->mac;
	uint8_t key[KEYS_BYTES];

	if (*mac)
		return *mac;
	if (registry_pair(r, row->key, former, key) && mac_create(key, mac) != DXP_OK)
		*mac = NULL;
	keys_erase(key, sizeof(key));
	return *mac;
}

uint64_t registry_wall_ms(const struct registry *r)
{
	return r->options.wall_ms ? r->options.wall_ms(r->options.wall_context) : 0;
}

uint64_t registry_wall_s(const struct registry *r)
{
	return registry_wall_ms(r) / 1000;
}

bool registry_saved(const struct registry *r)
{
	return !r->options.save || r->options.save(r->options.save_context) == DXP_OK;
}

static uint64_t proof_of(const struct registry *r, const struct udp_address *at, uint64_t nonce,
			 uint64_t period)
{
	uint8_t bound[18], tag[KEYS_BYTES];

	put_be16(bound, at->port);
	put_be64(bound + 2, nonce);
	put_be64(bound + 10, period);
	if (!keys_hmac(r->proof_key, at->ip, sizeof(at->ip), bound, sizeof(bound), tag))
		return 0;
	return get_be64(tag) | 1;
}

uint64_t registry_proof(const struct registry *r, const struct udp_address *at, uint64_t nonce,
			uint64_t now_ns)
{
	return proof_of(r, at, nonce, now_ns / PROOF_PERIOD_NS);
}

bool registry_proved(const struct registry *r, const struct udp_address *at, uint64_t nonce,
		     uint64_t proof, uint64_t now_ns)
{
	const uint64_t period = now_ns / PROOF_PERIOD_NS;

	return proof != 0 && (proof == proof_of(r, at, nonce, period) ||
			      proof == proof_of(r, at, nonce, period - 1));
}

/* Finds the row of the key that a request states. First looks at the key of the sending node, which
 * is mostly the right one. */
static struct key_row *sender_key_find(const struct registry *r, const struct wire_header *header,
				       const uint8_t *key)
{
	const struct roster_node *n = roster_find(&r->roster, header->src_node);

	if (n && n->key && memcmp(n->key->key, key, KEYS_BYTES) == 0)
		return n->key;
	return keyring_find(&r->keyring, key);
}

/* Checks that a request is authentic by the key that it states, or by the fabric key if it states
 * none. Sets r->sender and r->sender_former. */
static bool sender_check(struct registry *r, const uint8_t *data, const struct wire_header *header,
			 struct manage_body body)
{
	r->sender = body.key ? sender_key_find(r, header, body.key) : NULL;
	if (!body.key)
		return manage_authentic(data, body, r->mac);
	for (int former = 0; r->sender && former <= r->manager.overlap; former++) {
		struct mac *mac = registry_key_mac(r, r->sender, former);
		r->sender_former = former;
		if (mac && manage_authentic(data, body, mac))
			return true;
	}
	return false;
}

/* Extends all leases if this process did not run for a while, because renewals may wait unread. */
static void absence_note(struct registry *r, uint64_t now_ns)
{
	struct roster_node *n;

	n = roster_lease_first(&r->roster);
	if (!n || now_ns < n->lease_until_ns || now_ns - n->lease_until_ns < FABRIC_LATE_NS)
		return;
	ROSTER_EACH(&r->roster, n)
	{
		if (n->state == NODE_ALIVE)
			roster_alive(&r->roster, n,
				     max_u64(n->lease_until_ns, now_ns + r->lease_ns));
	}
}

/* Handles expired leases. Marks hosts that have been dead for FABRIC_KEEP_NS as gone. */
static void time_pass(struct registry *r, uint64_t now_ns)
{
	struct roster *roster = &r->roster;
	struct roster_node *n;

	absence_note(r, now_ns);
	while ((n = roster_lease_first(roster)) != NULL && n->lease_until_ns <= now_ns) {
		roster_dead(roster, n, now_ns);
		manager_event_died(r, n);
		roster_change(roster, n);
		push_news(r, n, now_ns);
		r->counters.died++;
	}
	while ((n = roster_dead_host(roster)) != NULL && n->dead_ns + FABRIC_KEEP_NS <= now_ns) {
		roster_gone(roster, n);
		roster_change(roster, n);
		push_news(r, n, now_ns);
	}
}

void registry_receive(struct registry *r, const struct udp_address *from, const uint8_t *data,
		      size_t bytes, uint64_t now_ns)
{
	struct wire_header header;
	struct manage_body body;

	r->used = 0;
	r->now_ns = now_ns;
	r->sender = NULL;
	r->sender_former = false;
	r->claimed = NULL;
	if (wire_other_version(data, bytes) != 0) {
		other_version(r, from, data, bytes, now_ns);
		return;
	}
	registry_manager_pass(r, now_ns);
	if (bytes > WIRE_OFF_TYPE && data[WIRE_OFF_TYPE] == WIRE_CHANNEL) {
		channels_receive(r, from, data, bytes, now_ns);
		return;
	}
	int status = manage_parse(data, bytes, &header, &body);
	if (status != DXP_OK) {
		*(status == DXP_EIO ? &r->counters.damaged : &r->counters.malformed) += 1;
		return;
	}
	/* Checks the rate before the MAC, so that a flood costs little. */
	if (header.type == WIRE_STATS && !stats_service_allowed(&r->stats_limit, now_ns)) {
		r->counters.stats_limited++;
		return;
	}
	if (header.type == WIRE_EVENTS && !manager_events_allowed(r, now_ns))
		return;
	if (!sender_check(r, data, &header, body)) {
		wrong_key(r, from, &header, body, bytes, now_ns);
		return;
	}
	if (header.dst_node != WIRE_NODE_MANAGER) {
		r->counters.unexpected++;
		return;
	}
	time_pass(r, now_ns); /* first ends expired leases, so that they block no request */
	requests_receive(r, from, &header, body, now_ns);
}

size_t registry_send(struct registry *r, struct datagram *out, size_t count, uint64_t now_ns)
{
	struct outbox *o = &r->outbox;

	r->used = 0;
	r->now_ns = now_ns;
	time_pass(r, now_ns);
	manager_events_summarize(r, now_ns);
	if (o->head - o->tail < OUTBOX_SIZE / 2)
		push_send(r, now_ns);
	while (r->used < count && r->used < OUTBOX_SIZE / 2 && o->tail != o->head) {
		const struct outbox_entry *entry = &o->entries[o->tail++ % OUTBOX_SIZE];
		datagram_place(&out[r->used++], &entry->to, entry->data, entry->bytes);
	}
	return r->used;
}

uint64_t registry_deadline(const struct registry *r)
{
	uint64_t deadline_ns = min_u64(push_deadline(r), manager_events_deadline(r));

	if (r->outbox.head != r->outbox.tail)
		return 0;
	const struct roster_node *lease = roster_lease_first(&r->roster);
	const struct roster_node *dead = roster_dead_host(&r->roster);
	if (lease)
		deadline_ns = min_u64(deadline_ns, lease->lease_until_ns);
	if (dead)
		deadline_ns = min_u64(deadline_ns, dead->dead_ns + FABRIC_KEEP_NS);
	return deadline_ns;
}

bool registry_next_store(struct registry *r, struct store_op *out)
{
	struct roster *roster = &r->roster;
	struct grant grant;

	*out = (struct store_op){.kind = STORE_NODE_DELETE,
				 .entry.id = roster_deleted_next(roster)};
	if (out->entry.id)
		return true;
	if (!list_empty(&roster->dirty)) {
		struct roster_node *n = ROSTER_NODE(roster->dirty.next, by_dirty);
		list_remove(&n->by_dirty);
		*out = (struct store_op){
			.kind = STORE_NODE_PUT, .entry = n->entry, .state = n->state};
		return true;
	}
	*out = (struct store_op){.kind = STORE_KEY_PUT};
	if (keyring_next_dirty(&r->keyring, &out->index, &out->key))
		return true;
	*out = (struct store_op){.kind = STORE_FABRIC_PUT, .fabric = r->fabric.row};
	if (r->fabric.dirty) {
		r->fabric.dirty = false;
		return true;
	}
	*out = (struct store_op){.kind = STORE_MANAGER_PUT, .manager = r->manager.row};
	if (r->manager.dirty) {
		r->manager.dirty = false;
		return true;
	}
	*out = (struct store_op){.kind = STORE_TOKEN_PUT};
	if (tokens_next_dirty(&r->tokens, &out->index, &out->token))
		return true;
	if (!grants_next_dirty(&r->grants, &grant))
		return false;
	*out = (struct store_op){.kind = grant.present ? STORE_GRANT_PUT : STORE_GRANT_DELETE};
	memcpy(out->host, grant.host, sizeof(out->host));
	memcpy(out->xpu, grant.xpu, sizeof(out->xpu));
	return true;
}

void registry_store_done(struct registry *r)
{
	roster_deleted_stored(&r->roster);
}

void registry_store_again(struct registry *r)
{
	struct roster_node *n;

	roster_deleted_again(&r->roster);
	ROSTER_EACH(&r->roster, n)
	list_append(&r->roster.dirty, &n->by_dirty);
	grants_dirty_all(&r->grants);
	keyring_dirty_all(&r->keyring);
	r->fabric.dirty = r->fabric.row.generation != 0;
	r->manager.dirty = r->manager.row.generation != 0;
	tokens_dirty_all(&r->tokens);
}

int registry_token_add(struct registry *r, const struct token_row *row)
{
	return tokens_add(&r->tokens, row, registry_wall_s(r));
}

bool registry_has_operator(const struct registry *r)
{
	for (size_t i = 0; i < r->keyring.count; i++) {
		const struct key_row *row = r->keyring.rows[i];
		if (row && !row->removed && row->role == ROLE_OPERATOR)
			return true;
	}
	return false;
}

const uint8_t *registry_public_key(const struct registry *r)
{
	return r->public_key;
}

struct event_journal *registry_events(struct registry *r)
{
	return &r->events;
}

const struct registry_counters *registry_counters(const struct registry *r)
{
	return &r->counters;
}

size_t registry_node_count(const struct registry *r, enum node_state state)
{
	return r->roster.states[state];
}
