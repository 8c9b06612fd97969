/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of programs that need not be nodes. ASSIGN, by the fabric key, changes grants; a fabric
 * that admits by token rejects it. STATUS, by the fabric key or by an admitted key, reads the whole
 * table. */
#include "manager/internal.h"

#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

static void assign_answer(struct registry *r, const struct udp_address *to,
			  const struct manage_assign *assign, int status, const char *text)
{
	struct manage_answer answer = {.request = assign->request,
				       .nonce = assign->nonce,
				       .status = status,
				       .epoch = r->epoch,
				       .version = r->grants.version};

	snprintf(answer.text, sizeof(answer.text), "%s", text);
	requests_answer(r, to, WIRE_NODE_NONE, &answer);
}

/* Marks the nodes that the changed row names, because these nodes now see other nodes. */
static void assign_publish(struct registry *r, const struct manage_assign *assign, uint64_t now_ns)
{
	struct roster_node *n;

	ROSTER_EACH(&r->roster, n)
	{
		const char *pattern = n->entry.kind == MANAGE_HOST ? assign->host : assign->xpu;
		const char *name =
			n->entry.kind == MANAGE_HOST && n->key ? n->key->name : n->entry.name;
		if (n->state == NODE_GONE || !grants_match(pattern, name))
			continue;
		roster_change(&r->roster, n);
		push_news(r, n, now_ns);
	}
}

static void grant_event(struct registry *r, const struct manage_assign *assign)
{
	const bool grant = assign->action == MANAGE_GRANT;
	const char *by = r->sender ? r->sender->name : "the fabric key";

	REGISTRY_EVENT(r, grant ? EVENT_GRANTED : EVENT_REVOKED, assign->host, "%s %s, by %s",
		       grant ? "may use" : "may no longer use", assign->xpu, by);
}

int manager_grant_set(struct registry *r, const struct manage_assign *assign, const char **text,
		      uint64_t now_ns)
{
	if (r->grants.policy == GRANTS_ANY) {
		*text = "this manager permits any host to use any xPU; start it with --grants "
			"explicit";
		return DXP_EINVAL;
	}
	const uint64_t version = r->grants.version;
	if (grants_set(&r->grants, assign->host, assign->xpu, assign->action == MANAGE_GRANT) !=
	    DXP_OK) {
		*text = "the grants table is full; revoke some, or use '*' for many";
		return DXP_ENOMEM;
	}
	r->counters.assigned++;
	if (r->grants.version != version)
		grant_event(r, assign);
	assign_publish(r, assign, now_ns);
	if (!registry_saved(r)) {
		*text = MANAGER_UNRECORDED_TEXT;
		return DXP_EIO;
	}
	bool still = assign->action == MANAGE_REVOKE &&
		     grants_allow(&r->grants, assign->host, assign->xpu);
	*text = still ? "revoked, but a grant with '*' still permits it" : "";
	return DXP_OK;
}

void manager_requests_assign(struct registry *r, const struct udp_address *from,
			     struct manage_body body, uint64_t now_ns)
{
	struct manage_assign assign;
	const char *text;

	if (manage_assign_decode(body, &assign) != DXP_OK) {
		r->counters.malformed++;
		return;
	}
	if (r->options.admission == ADMIT_TOKEN) {
		r->counters.key_needed++;
		manager_event_refused(r, from, "assign", "a change of grants with the fabric key");
		assign_answer(r, from, &assign, DXP_EACCESS,
			      "only an operator changes grants here; run `dxp join` with a token "
			      "of `dxp token create --role operator`");
		return;
	}
	/* This also rejects replayed requests, because they name an old version. */
	if (r->grants.policy != GRANTS_ANY &&
	    (assign.epoch != r->epoch || assign.version != r->grants.version)) {
		assign_answer(r, from, &assign, DXP_EAGAIN,
			      "the grants have changed; request them again with this version");
		return;
	}
	int status = manager_grant_set(r, &assign, &text, now_ns);
	assign_answer(r, from, &assign, status, text);
}

/* Returns true if the sender of the present request may read. Otherwise answers with a
 * rejection. */
static bool read_admitted(struct registry *r, const struct udp_address *from, uint64_t request,
			  uint64_t nonce)
{
	struct manage_answer answer = {.request = request, .nonce = nonce, .status = DXP_EACCESS};
	bool removed = r->sender && r->sender->removed;

	if (!removed && (r->sender || r->options.admission == ADMIT_KEY))
		return true;
	*(removed ? &r->counters.key_removed : &r->counters.key_needed) += 1;
	snprintf(answer.text, sizeof(answer.text), "%s",
		 removed ? manager_removed_text(r->sender)
			 : "this fabric admits machines by token; run `dxp join HOST TOKEN` here");
	manager_event_refused(r, from, "read", answer.text);
	requests_answer(r, from, WIRE_NODE_NONE, &answer);
	return false;
}

struct outbox_entry *manager_read_begin(struct registry *r, const struct udp_address *from,
					uint64_t request, uint64_t nonce)
{
	if (!read_admitted(r, from, request, nonce))
		return NULL;
	struct outbox_entry *out = registry_outbox_reserve(r);
	if (!out)
		r->counters.reply_full++;
	return out;
}

void manager_requests_status(struct registry *r, const struct udp_address *from,
			     struct manage_body body)
{
	struct manage_status status;
	struct manage_writer w;

	if (manage_status_decode(body, &status) != DXP_OK) {
		r->counters.malformed++;
		return;
	}
	struct outbox_entry *out = manager_read_begin(r, from, status.request, status.nonce);
	if (!out)
		return;
	struct manage_rows rows = {.request = status.request,
				   .nonce = status.nonce,
				   .epoch = r->epoch,
				   .from = r->roster.sequence,
				   .to = r->roster.sequence,
				   .first = status.first};
	manage_rows_begin(&w, out->data, sizeof(out->data));
	const struct roster_node *n = roster_next(&r->roster, rows.first, false);
	for (; n; n = roster_next(&r->roster, n->entry.id + 1u, false)) {
		if (n->state == NODE_GONE)
			continue;
		struct node_entry entry = n->entry;
		entry.alive = n->state == NODE_ALIVE;
		entry.magic = 0; /* an operator sends nothing to nodes, so it needs no magics */
		if (!manage_rows_add(&w, &entry)) {
			rows.next = n->entry.id;
			break;
		}
	}
	registry_outbox_commit(r, out, from,
			       manage_rows_finish(&w, WIRE_NODE_TABLE, WIRE_NODE_NONE, &rows,
						  registry_sender_mac(r)));
}
