/* SPDX-License-Identifier: BSD-3-Clause */
/* Membership as a state machine: creation, state, and what the owner of the node requests.
 * Invariants: only one kind of request (JOIN, RENEW or LEAVE) is outstanding. Each transmission has
 * a new, larger number. An answer is accepted only for a number that was sent, and only once. */
#include "node/member.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "node/member_internal.h"

static void notice_set(struct member *m, enum log_level level, const char *format,
		       va_list arguments)
{
	vsnprintf(m->text, sizeof(m->text), format, arguments);
	m->notice_level = level;
	m->notice = true;
}

void member_log(struct member *m, enum log_level level, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	notice_set(m, level, format, arguments);
	va_end(arguments);
}

void member_fail(struct member *m, int status, const char *format, ...)
{
	va_list arguments;

	m->state = MEMBER_FAILED;
	m->status = status;
	m->ack_due = false;
	va_start(arguments, format);
	notice_set(m, LOG_LEVEL_ERROR, format, arguments);
	va_end(arguments);
}

const char *member_manager_text(const struct member *m, char out[UDP_ADDRESS_TEXT_BYTES])
{
	return address_format(&m->options.manager, out);
}

void member_request_at(struct member *m, uint64_t at_ns)
{
	m->send_ns = at_ns;
	m->retry_ns = MEMBER_RETRY_FIRST_NS;
}

static bool options_valid(const struct member_options *o)
{
	const struct node_entry *self = &o->self;

	return manage_name_valid(self->name) &&
	       (self->kind == MANAGE_HOST || self->kind == MANAGE_XPU) &&
	       self->id <= WIRE_NODE_LAST &&
	       strnlen(self->engine, sizeof(self->engine)) < sizeof(self->engine) &&
	       strnlen(self->device, sizeof(self->device)) < sizeof(self->device) &&
	       o->manager.port != 0;
}

int member_create(const struct member_options *options, uint64_t now_ns, struct member **out)
{
	uint64_t timeout_ns = options->join_timeout_ns ? options->join_timeout_ns : FABRIC_JOIN_NS;

	if (!options_valid(options))
		return DXP_EINVAL;
	struct member *m = calloc(1, sizeof(*m));
	if (!m)
		return DXP_ENOMEM;
	m->options = *options;
	int status =
		mac_create(options->identity ? options->identity->pair : options->key, &m->mac);
	if (options->identity) {
		memcpy(m->public_key, options->identity->public_key, sizeof(m->public_key));
		memcpy(m->pair, options->identity->pair, sizeof(m->pair));
		m->key = m->public_key;
		m->options.self.capabilities |= MANAGE_CAPABILITY_REKEYED |
						MANAGE_CAPABILITY_BOUND |
						MANAGE_CAPABILITY_REPINNED;
	}
	m->options.identity = NULL;
	keys_erase(m->options.key, sizeof(m->options.key));
	if (status == DXP_OK)
		status = node_table_create(&m->table);
	if (status != DXP_OK) {
		member_destroy(m);
		return status;
	}
	options->entropy(options->entropy_context, &m->nonce, sizeof(m->nonce));
	m->id = WIRE_NODE_NONE;
	m->need_join = true;
	m->join_until_ns = timeout_ns > UINT64_MAX - now_ns ? UINT64_MAX : now_ns + timeout_ns;
	m->send_ns = now_ns;
	m->retry_ns = MEMBER_RETRY_FIRST_NS;
	m->renew_ns = FABRIC_RENEW_NS;
	*out = m;
	return DXP_OK;
}

void member_destroy(struct member *m)
{
	if (!m)
		return;
	node_table_destroy(m->table);
	mac_destroy(m->mac);
	keys_erase(m->pair, sizeof(m->pair));
	keys_erase(&m->rekey, sizeof(m->rekey));
	free(m);
}

void member_moved(struct member *m, uint64_t now_ns)
{
	if (m->state < MEMBER_LEAVING)
		member_request_at(m, now_ns);
}

void member_report(struct member *m, const struct path_change *change)
{
	reports_add(&m->reports, change);
}

int member_identity_set(struct member *m, const struct identity *identity, uint64_t now_ns)
{
	struct mac *mac;
	int status = mac_create(identity->pair, &mac);

	if (status != DXP_OK)
		return status;
	mac_destroy(m->mac);
	m->mac = mac;
	memcpy(m->public_key, identity->public_key, sizeof(m->public_key));
	memcpy(m->pair, identity->pair, sizeof(m->pair));
	m->key = m->public_key;
	m->rejected_key_ns = 0;
	if (m->state < MEMBER_LEAVING)
		member_request_at(m, now_ns);
	return DXP_OK;
}

bool member_rekeyed(struct member *m, struct member_rekey *out)
{
	if (!m->rekey_new)
		return false;
	m->rekey_new = false;
	*out = m->rekey;
	return true;
}

bool member_repinned(struct member *m, uint8_t key[KEYS_BYTES])
{
	if (!m->repin_new)
		return false;
	m->repin_new = false;
	memcpy(key, m->repin, KEYS_BYTES);
	return true;
}

void member_rekey_again(struct member *m)
{
	m->rekey.generation = 0;
}

void member_leave(struct member *m, uint64_t now_ns)
{
	if (m->state >= MEMBER_LEAVING)
		return;
	if (m->id == WIRE_NODE_NONE) {
		m->state = MEMBER_LEFT; /* a lease that may still arrive will simply expire */
		return;
	}
	m->state = MEMBER_LEAVING;
	m->ack_due = false;
	member_request_at(m, now_ns);
}

enum member_state member_state(const struct member *m)
{
	return m->state;
}

uint16_t member_id(const struct member *m)
{
	return m->id;
}

struct node_table *member_table(struct member *m)
{
	return m->table;
}

int member_status(const struct member *m)
{
	return m->status;
}

uint8_t member_other_version(const struct member *m)
{
	return m->other_version;
}

const char *member_text(const struct member *m)
{
	return m->text;
}

const char *member_notice(struct member *m, enum log_level *level)
{
	if (!m->notice)
		return NULL;
	m->notice = false;
	*level = m->notice_level;
	return m->text;
}

const struct member_counters *member_counters(const struct member *m)
{
	return &m->counters;
}
