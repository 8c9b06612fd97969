/* SPDX-License-Identifier: BSD-3-Clause */
/* The election of the active manager in etcd: its lease and the key that is bound to it. */
#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "base/log.h"
#include "manager/etcd_store.h"

#define LEASE_S   3             /* s; etcd's shortest lease is 2 s */
#define KEEP_NS   (500 * MS_NS) /* a sixth of the lease, so that some renewals may fail */
#define POLL_NS   (300 * MS_NS) /* wait of a standing-by manager between two looks */
#define RESIGN_NS (1 * S_NS)    /* another manager takes over meanwhile */

void etcd_lease_end(struct etcd_store *s)
{
	struct etcd_answer a;

	for (unsigned i = 0; s->lease && i < s->etcd.endpoints; i++)
		if (etcd_call(&s->etcd, "/v3/lease/revoke", etcd_lease_body(s->lease), &a) ==
		    DXP_OK) {
			etcd_answer_free(&a);
			break;
		}
	s->lease = 0;
}

void etcd_lease_give_up(struct etcd_store *s, const char *why)
{
	if (s->term)
		log_warn("this manager stands by now: %s", why);
	s->term = 0;
	s->lease_until_ns = 0;
	etcd_save_clear(s);
	etcd_lease_end(s);
	s->step_ns = etcd_store_now(s) + ETCD_RETRY_NS;
}

void etcd_lease_resign(struct store *base)
{
	etcd_lease_give_up(etcd_store_own(base), "it cannot act");
	etcd_store_own(base)->step_ns = etcd_store_now(etcd_store_own(base)) + RESIGN_NS;
}

uint64_t etcd_lease_term(const struct store *base)
{
	const struct etcd_store *s = etcd_store_own(base);

	return s->term && etcd_store_now(s) < s->lease_until_ns ? (uint64_t)s->term : 0;
}

/* Renews the lease by one attempt. */
static void lease_keep(struct etcd_store *s)
{
	const uint64_t sent_ns = etcd_store_now(s);
	struct etcd_answer a;
	int status = etcd_call(&s->etcd, "/v3/lease/keepalive", etcd_lease_body(s->lease), &a);

	if (status != DXP_OK) {
		s->step_ns = sent_ns + ETCD_RETRY_NS;
		if (etcd_store_now(s) >= s->lease_until_ns)
			etcd_lease_give_up(s, "it could not renew its lease in etcd");
		return;
	}
	const bool ended = a.ttl_s <= 0 || a.lease != s->lease;
	const uint64_t ttl_ns = min_u64((uint64_t)a.ttl_s, LEASE_S) * S_NS;
	etcd_answer_free(&a);
	if (ended)
		s->lease = 0;
	if (ended || etcd_store_now(s) >= s->lease_until_ns) {
		etcd_lease_give_up(s, "its lease in etcd has ended");
		return;
	}
	s->lease_until_ns = sent_ns + ttl_ns;
	s->step_ns = sent_ns + KEEP_NS;
}

static void elected(struct etcd_store *s, int64_t term)
{
	s->term = term;
	s->other[0] = '\0';
	s->step_ns = etcd_store_now(s) + KEEP_NS;
	log_info("this manager is active now");
}

/* Looks who is active. DXP_OK: none, or this manager, which sets s->term. DXP_EBUSY: another. */
static int active_look(struct etcd_store *s)
{
	char key[ETCD_KEY_BYTES];
	struct etcd_answer a;
	int status = etcd_call(&s->etcd, "/v3/kv/range",
			       etcd_range_body(etcd_store_key(s, "active", key), NULL, 1), &a);
	const struct etcd_pair *pair = etcd_answer_find(&a, key);

	if (pair && s->lease && pair->lease == s->lease) {
		elected(s, pair->created); /* the answer to the election was lost */
	} else if (pair) {
		snprintf(s->other, sizeof(s->other), "%s", pair->value);
		status = DXP_EBUSY;
	}
	etcd_answer_free(&a);
	return status;
}

static int lease_get(struct etcd_store *s)
{
	const uint64_t sent_ns = etcd_store_now(s);
	struct etcd_answer a;
	int status = etcd_call(&s->etcd, "/v3/lease/grant", etcd_grant_body(LEASE_S), &a);

	if (status != DXP_OK)
		return status;
	s->lease = a.lease;
	s->lease_until_ns = sent_ns + min_u64(a.ttl_s > 0 ? (uint64_t)a.ttl_s : 0, LEASE_S) * S_NS;
	etcd_answer_free(&a);
	return DXP_OK;
}

/* Creates the election key if there is none. */
static void election_try(struct etcd_store *s)
{
	char key[ETCD_KEY_BYTES];
	struct etcd_answer a;
	struct etcd_txn t;

	etcd_store_key(s, "active", key);
	etcd_txn_begin(&t);
	etcd_txn_created(&t, key, 0);
	etcd_txn_put(&t, key, s->address, s->lease);
	int status = etcd_call(&s->etcd, "/v3/kv/txn", etcd_txn_body(&t), &a);
	if (status == DXP_OK && a.succeeded)
		elected(s, a.revision);
	etcd_answer_free(&a);
}

/* Tries to become active. */
static void campaign(struct etcd_store *s)
{
	if (s->lease && etcd_store_now(s) >= s->lease_until_ns)
		s->lease = 0;
	s->step_ns = etcd_store_now(s) + POLL_NS;
	int status = active_look(s);
	if (status == DXP_OK && !s->term && !s->lease)
		status = lease_get(s);
	if (status == DXP_OK && !s->term)
		election_try(s);
	if (status == DXP_EBUSY && s->lease)
		etcd_lease_end(s);
	if (s->term && etcd_store_now(s) >= s->lease_until_ns)
		etcd_lease_give_up(s, "its lease in etcd has ended");
}

uint64_t etcd_lease_step(struct store *base)
{
	struct etcd_store *s = etcd_store_own(base);

	if (s->term && etcd_store_now(s) >= s->lease_until_ns)
		etcd_lease_give_up(s, "it could not renew its lease in etcd");
	if (etcd_store_now(s) >= s->step_ns) {
		if (s->term)
			lease_keep(s);
		else
			campaign(s);
	}
	return s->step_ns - min_u64(s->step_ns, etcd_store_now(s));
}
