/* SPDX-License-Identifier: BSD-3-Clause */
/* The requests that channels carry: admission of a key by a token, and changes by operators. Each
 * request checks the sender's key again, because an operator may have removed the key since the
 * handshake. */
#include "manager/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

/* seconds; a token expires after at most a year, because a forgotten token is a risk */
#define TOKEN_VALID_MAX_S (366ull * 24 * 3600)
#define TOKEN_USES_MAX    100000u

void manager_text_set(int32_t *status, char text[MANAGE_TEXT_BYTES], int value, const char *format,
		      ...)
{
	va_list arguments;

	*status = value;
	va_start(arguments, format);
	vsnprintf(text, MANAGE_TEXT_BYTES, format, arguments);
	va_end(arguments);
}

static bool token_given(const uint8_t id[TOKEN_ID_BYTES])
{
	static const uint8_t none[TOKEN_ID_BYTES];

	return memcmp(id, none, sizeof(none)) != 0;
}

/* Writes the reason why a token admits no key, and counts the rejection. */
static void token_refuse(struct registry *r, const struct token_row *row,
			 enum channel_token_state state, struct channel_opened *opened)
{
	char id[TOKEN_ID_TEXT];

	token_id_format(row->id, id);
	switch (state) {
	case TOKEN_USED:
		r->counters.token_used++;
		MANAGER_ANSWER(opened, DXP_EACCESS,
			       "token %s was used by %s; make another: `dxp token create`", id,
			       *row->used_by ? row->used_by : "another");
		break;
	case TOKEN_EXPIRED:
		r->counters.token_expired++;
		MANAGER_ANSWER(opened, DXP_EACCESS,
			       "token %s has expired; make another: `dxp token create`", id);
		break;
	default:
		r->counters.token_revoked++;
		MANAGER_ANSWER(opened, DXP_EACCESS,
			       "token %s was revoked; make another: `dxp token create`", id);
	}
}

static void token_open(struct registry *r, struct manager_channel *c, const struct key_row *key,
		       const struct channel_open *open, struct channel_opened *opened)
{
	struct token_row *row = tokens_find(&r->tokens, open->token);
	char id[TOKEN_ID_TEXT];

	if (!row) {
		r->counters.token_unknown++;
		MANAGER_ANSWER(
			opened, DXP_EACCESS,
			"this manager has no token %s; copy the whole line that `dxp token create` "
			"printed, or make another",
			token_id_format(open->token, id));
		return;
	}
	enum channel_token_state state = token_state(row, registry_wall_s(r));
	/* A sender whose key is admitted already may request admission again, because it may not
	 * have received the answer. */
	if (state != TOKEN_VALID && !key) {
		token_refuse(r, row, state, opened);
		return;
	}
	memcpy(c->token, row->id, sizeof(c->token));
	c->tokened = true;
	noise_psk(&c->noise, row->psk);
}

void manager_command_open(struct registry *r, struct manager_channel *c,
			  const struct channel_open *open, struct channel_opened *opened)
{
	struct key_row *key = keyring_find(&r->keyring, c->noise.peer);

	r->sender = key;
	*opened = (struct channel_opened){.status = DXP_OK};
	if (key && key->removed) {
		r->counters.key_removed++;
		MANAGER_ANSWER(opened, DXP_EACCESS, "%s", manager_removed_text(key));
	} else if (token_given(open->token)) {
		token_open(r, c, key, open, opened);
	} else if (!key) {
		r->counters.key_unknown++;
		MANAGER_ANSWER(
			opened, DXP_EACCESS,
			"this key is not admitted; run `dxp join HOST TOKEN`, with a token that "
			"`dxp token create` prints");
	}
	if (opened->status != DXP_OK)
		manager_event_refused(r, &c->from, opened->text, opened->text);
}

/* Uses up one use of a token. Stores this together with the key that the caller has added or
 * changed, so a restart keeps both or neither. If that fails, returns false with the reason in the
 * answer, and the caller undoes its change. */
static bool token_spend(struct registry *r, struct token_row *token, const char *name,
			struct channel_answer *answer)
{
	char before[sizeof(token->used_by)], id[TOKEN_ID_TEXT];

	memcpy(before, token->used_by, sizeof(before));
	token->uses--;
	memcpy(token->used_by, name, sizeof(token->used_by));
	tokens_change(&r->tokens, token);
	if (registry_saved(r)) {
		r->counters.admitted++;
		REGISTRY_EVENT(r, EVENT_TOKEN_USED, name,
			       "the token %s admitted it with the role %s",
			       token_id_format(token->id, id), channel_role_text(token->role));
		return true;
	}
	token->uses++;
	memcpy(token->used_by, before, sizeof(before));
	tokens_change(&r->tokens, token);
	r->counters.unsaved++;
	MANAGER_ANSWER(
		answer, DXP_EIO,
		"the manager cannot record the use of the token, so it admits no key; its log has "
		"the reason; run this again after the repair, the token is still valid");
	return false;
}

/* Adds the key of a channel's sender under a name, and uses up one use of the token. */
static struct key_row *key_add(struct registry *r, const struct manager_channel *c,
			       const char *name, struct channel_answer *answer)
{
	struct token_row *token = tokens_find(&r->tokens, c->token);
	struct key_row row = {0}, replaced;

	if (!c->tokened || !token || token_state(token, registry_wall_s(r)) != TOKEN_VALID) {
		r->counters.token_used++;
		MANAGER_ANSWER(
			answer, DXP_EACCESS,
			"the token has been used, revoked or has expired meanwhile; make another: "
			"`dxp token create`");
		return NULL;
	}
	memcpy(row.key, c->noise.peer, sizeof(row.key));
	memcpy(row.name, name, sizeof(row.name));
	row.role = token->role;
	struct key_row *added = keyring_add(&r->keyring, &row, &replaced);
	if (!added) {
		MANAGER_ANSWER(
			answer, DXP_ENOMEM,
			"the manager has no space for more keys; remove some: `dxp node remove "
			"NAME`, then run this again, the token is still valid");
		return NULL;
	}
	if (token_spend(r, token, name, answer))
		return added;
	keyring_undo_add(&r->keyring, added, &replaced);
	return NULL;
}

/* Gives a key that is already admitted the role of another token, if that role permits more.
 * Returns false if the token's use cannot be stored. */
static bool key_raise(struct registry *r, const struct manager_channel *c, struct key_row *key,
		      struct channel_answer *answer)
{
	struct token_row *token = c->tokened ? tokens_find(&r->tokens, c->token) : NULL;

	if (!token || token->role <= key->role ||
	    token_state(token, registry_wall_s(r)) != TOKEN_VALID)
		return true;
	const uint8_t before = key->role;
	key->role = token->role;
	keyring_change(&r->keyring, key);
	if (token_spend(r, token, key->name, answer))
		return true;
	key->role = before;
	keyring_change(&r->keyring, key);
	return false;
}

static void admit(struct registry *r, const struct manager_channel *c,
		  const struct channel_request *request, struct channel_answer *answer)
{
	struct key_row *key = keyring_find(&r->keyring, c->noise.peer);
	const struct key_row *holder = keyring_find_name(&r->keyring, request->name);

	if (!key && !manage_name_valid(request->name)) {
		MANAGER_ANSWER(answer, DXP_EINVAL, "a name is 1 to 31 of A-Z a-z 0-9 . _ -");
		return;
	}
	if (!key && holder) {
		r->counters.name_used++;
		MANAGER_ANSWER(
			answer, DXP_EEXIST,
			"the name %s belongs to another key; choose another with --name, or an "
			"operator runs `dxp node remove %s`",
			request->name, request->name);
		return;
	}
	if (key && !key_raise(r, c, key, answer))
		return;
	if (!key)
		key = key_add(r, c, request->name, answer);
	if (!key)
		return;
	answer->role = key->role;
	memcpy(answer->fabric_key, registry_fabric_key(r), sizeof(answer->fabric_key));
	MANAGER_ANSWER(answer, DXP_OK, "%s", key->name);
}

static void token_create(struct registry *r, const struct channel_request *request,
			 struct channel_answer *answer)
{
	const uint64_t now_s = registry_wall_s(r);
	struct token_row row = {.role = request->role, .uses = request->uses};
	char id[TOKEN_ID_TEXT];

	if (request->seconds > TOKEN_VALID_MAX_S || request->uses > TOKEN_USES_MAX) {
		MANAGER_ANSWER(answer, DXP_EINVAL,
			       "a token has at most 100000 uses and lasts 366 days");
		return;
	}
	row.expires_s = now_s + request->seconds;
	memcpy(row.id, request->token, sizeof(row.id));
	memcpy(row.psk, request->psk, sizeof(row.psk));
	int status = tokens_add(&r->tokens, &row, now_s);
	keys_erase(&row, sizeof(row));
	if (status == DXP_ENOMEM)
		MANAGER_ANSWER(answer, status, "the manager has %d valid tokens; revoke some first",
			       FABRIC_TOKENS_MAX);
	else if (status != DXP_OK)
		MANAGER_ANSWER(answer, status, "the token was not made: %s",
			       dxp_status_text(status));
	else
		REGISTRY_EVENT(r, EVENT_TOKEN_CREATED, token_id_format(request->token, id),
			       "by %s, with the role %s", r->sender->name,
			       channel_role_text(request->role));
}

static void token_list(struct registry *r, const struct channel_request *request,
		       struct channel_answer *answer)
{
	const uint64_t now_s = registry_wall_s(r);

	for (size_t i = request->first; i < FABRIC_TOKENS_MAX; i++) {
		const struct token_row *row = &r->tokens.rows[i];
		if (!row->present)
			continue;
		if (answer->count == CHANNEL_TOKENS_MAX) {
			answer->next = (uint16_t)i;
			return;
		}
		struct channel_token *out = &answer->tokens[answer->count++];
		memcpy(out->id, row->id, sizeof(out->id));
		memcpy(out->used_by, row->used_by, sizeof(out->used_by));
		out->role = row->role;
		out->state = (uint8_t)token_state(row, now_s);
		out->uses = row->uses;
		out->seconds = row->expires_s > now_s ? row->expires_s - now_s : 0;
	}
}

static void token_revoke(struct registry *r, const struct channel_request *request,
			 struct channel_answer *answer)
{
	struct token_row *row = tokens_find(&r->tokens, request->token);
	char id[TOKEN_ID_TEXT];

	if (!row) {
		MANAGER_ANSWER(answer, DXP_ENOENT, "no such token; `dxp token list` shows all");
		return;
	}
	row->revoked = true;
	REGISTRY_EVENT(r, EVENT_TOKEN_REVOKED, token_id_format(row->id, id), "by %s",
		       r->sender->name);
	tokens_change(&r->tokens, row);
	if (!registry_saved(r))
		MANAGER_ANSWER(answer, DXP_EIO, MANAGER_UNRECORDED_TEXT);
}

static void node_remove(struct registry *r, const struct channel_request *request,
			struct channel_answer *answer, uint64_t now_ns)
{
	const struct roster_node *n = roster_find_name(&r->roster, request->name);
	struct key_row *key = keyring_find_name(&r->keyring, request->name);

	if (!key && n)
		key = n->key;
	if (!key) {
		MANAGER_ANSWER(
			answer, DXP_ENOENT,
			n ? "%s joined with the fabric key and has no key of its own; start the "
			    "manager with --admit token"
			  : "no machine or node has the name %s; `dxp nodes` lists all",
			request->name);
		return;
	}
	key->removed = true;
	keyring_change(&r->keyring, key);
	manager_key_end(r, key, now_ns);
	r->counters.removed++;
	REGISTRY_EVENT(r, EVENT_REMOVED, key->name, "by %s: its key may no longer be used",
		       r->sender->name);
	if (registry_saved(r))
		MANAGER_ANSWER(answer, DXP_OK, "%s", key->name);
	else
		MANAGER_ANSWER(answer, DXP_EIO, MANAGER_UNRECORDED_TEXT);
}

static void grant(struct registry *r, const struct channel_request *request,
		  struct channel_answer *answer, uint64_t now_ns)
{
	struct manage_assign assign = {.action = request->command == CHANNEL_GRANT ? MANAGE_GRANT
										   : MANAGE_REVOKE};
	const char *text;

	memcpy(assign.host, request->name, sizeof(assign.host));
	memcpy(assign.xpu, request->xpu, sizeof(assign.xpu));
	if (!*assign.host || !*assign.xpu) {
		MANAGER_ANSWER(answer, DXP_EINVAL,
			       "a name is 1 to 31 of A-Z a-z 0-9 . _ -, or '*'");
		return;
	}
	int status = manager_grant_set(r, &assign, &text, now_ns);
	MANAGER_ANSWER(answer, status, "%s", text);
}

/* Runs the request of a sender with this key. */
static void request_run(struct registry *r, const struct manager_channel *c,
			const struct key_row *key, const struct channel_request *request,
			struct channel_answer *answer, uint64_t now_ns)
{
	if (key && key->removed) {
		r->counters.key_removed++;
		MANAGER_ANSWER(answer, DXP_EACCESS, "%s", manager_removed_text(key));
		return;
	}
	if (request->command == CHANNEL_ADMIT) {
		admit(r, c, request, answer);
		return;
	}
	if (request->command == CHANNEL_ROTATE) {
		manager_rotate(r, c, request, answer, now_ns);
		return;
	}
	if (key && request->command == CHANNEL_FABRIC_SHOW) {
		manager_fabric_show(r, answer, now_ns);
		return;
	}
	if (key && request->command == CHANNEL_MANAGER_SHOW) {
		manager_key_show(r, answer, now_ns);
		return;
	}
	if (!key || key->role != ROLE_OPERATOR) {
		r->counters.role++;
		MANAGER_ANSWER(
			answer, DXP_EACCESS,
			"this key has the role %s; only an operator may do this: join with a token "
			"of `dxp token create --role operator`",
			channel_role_text(key ? key->role : ROLE_NONE));
		return;
	}
	switch (request->command) {
	case CHANNEL_TOKEN_CREATE: token_create(r, request, answer); break;
	case CHANNEL_TOKEN_LIST: token_list(r, request, answer); break;
	case CHANNEL_TOKEN_REVOKE: token_revoke(r, request, answer); break;
	case CHANNEL_NODE_REMOVE: node_remove(r, request, answer, now_ns); break;
	case CHANNEL_FABRIC_ROTATE: manager_fabric_rotate(r, request, answer, now_ns); break;
	case CHANNEL_MANAGER_ROTATE: manager_key_rotate(r, request, answer, now_ns); break;
	default: grant(r, request, answer, now_ns);
	}
}

void manager_command_run(struct registry *r, const struct manager_channel *c,
			 const struct channel_request *request, struct channel_answer *answer,
			 uint64_t now_ns)
{
	r->sender = keyring_find(&r->keyring, c->noise.peer);
	request_run(r, c, r->sender, request, answer, now_ns);
	if (answer->status == DXP_EACCESS || answer->status == DXP_EEXIST)
		manager_event_refused(r, &c->from, answer->text, answer->text);
}
