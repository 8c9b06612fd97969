/* SPDX-License-Identifier: BSD-3-Clause */
/* An etcd for tests, with its promises: transactions are atomic, and a key with a lease ends with
 * it. Faults can be injected into each request. The time is virtual. Each manager has its own
 * transport and its own clock, which the test may stop. */
#ifndef TEST_UNIT_ETCD_FAKE_H
#define TEST_UNIT_ETCD_FAKE_H

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <openssl/evp.h>

#include <dxp/status.h>

#include "base/util.h"
#include "manager/etcd.h"

#define FAKE_KEYS    2048
#define FAKE_LEASES  64
#define FAKE_CLUSTER "17000000000000000001"
#define FAKE_RTT_NS  (2 * MS_NS)

enum fake_fault {
	FAKE_NONE,
	FAKE_LOST,    /* executed, but the answer is lost */
	FAKE_DROPPED, /* not executed, and no answer */
	FAKE_GARBAGE, /* executed, but the answer is no JSON of etcd */
	FAKE_ERROR,   /* not executed; etcd answers an error */
	FAKE_LATE,    /* no answer; executed after the next request */
	FAKE_FOREIGN, /* answered by another cluster */
	FAKE_FAULTS
};

struct fake_key {
	char *name, *value;
	int64_t created, lease;
};

struct fake_etcd {
	struct fake_key keys[FAKE_KEYS];
	size_t count;
	struct {
		int64_t id;
		uint64_t until_ns, ttl_ns;
	} leases[FAKE_LEASES];
	int64_t revision, last_lease;
	uint64_t now_ns;
	unsigned transactions; /* that changed something */
	uint64_t put_bytes;    /* of keys and values */
	bool full;             /* etcd rejects puts, as above its quota */
	char *late_body;       /* a transaction that is executed after the next request */
};

/* The transport of one manager. */
struct fake_client {
	struct fake_etcd *etcd;
	/* the fault of the next request; NULL: none */
	enum fake_fault (*fault)(struct fake_client *c, const char *path);
	enum fake_fault next; /* for fake_once */
	bool stopped;         /* its clock stands still, as if the process were stopped */
	uint64_t stopped_ns;
	unsigned posts;
	void *context;
};

static inline char *fake_text(const json_t *object, const char *name)
{
	const char *coded = json_string_value(json_object_get(object, name));
	const size_t bytes = coded ? strlen(coded) : 0;
	unsigned char *out = calloc(1, bytes + 1);

	assert(out && bytes % 4 == 0);
	int length = bytes ? EVP_DecodeBlock(out, (const unsigned char *)coded, (int)bytes) : 0;
	for (size_t i = bytes; length > 0 && i > bytes - 2 && coded[i - 1] == '='; i--)
		length--;
	out[length] = '\0';
	return (char *)out;
}

static inline json_t *fake_coded(const char *text)
{
	char out[16384];

	assert(strlen(text) < 12000);
	EVP_EncodeBlock((unsigned char *)out, (const unsigned char *)text, (int)strlen(text));
	return json_string(out);
}

static inline int64_t fake_number(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? strtoll(text, NULL, 10) : 0;
}

static inline struct fake_key *fake_find(struct fake_etcd *e, const char *name)
{
	for (size_t i = 0; i < e->count; i++)
		if (strcmp(e->keys[i].name, name) == 0)
			return &e->keys[i];
	return NULL;
}

static inline const char *fake_value(struct fake_etcd *e, const char *name)
{
	const struct fake_key *k = fake_find(e, name);

	return k ? k->value : NULL;
}

static inline void fake_delete(struct fake_etcd *e, struct fake_key *k)
{
	if (!k)
		return;
	free(k->name);
	free(k->value);
	const size_t at = (size_t)(k - e->keys);
	memmove(k, k + 1, (--e->count - at) * sizeof(*k));
}

/* Keeps the keys sorted. */
static inline void fake_put(struct fake_etcd *e, const char *name, const char *value, int64_t lease)
{
	struct fake_key *k = fake_find(e, name);
	size_t at = 0;

	if (!k) {
		assert(e->count < FAKE_KEYS);
		while (at < e->count && strcmp(e->keys[at].name, name) < 0)
			at++;
		k = &e->keys[at];
		memmove(k + 1, k, (e->count++ - at) * sizeof(*k));
		*k = (struct fake_key){.name = strdup(name), .created = e->revision};
	}
	free(k->value);
	k->value = strdup(value);
	k->lease = lease;
	e->put_bytes += strlen(name) + strlen(value);
}

static inline void fake_lease_end(struct fake_etcd *e, int64_t id)
{
	for (size_t i = 0; i < FAKE_LEASES; i++)
		if (e->leases[i].id == id)
			e->leases[i].id = 0;
	for (size_t i = e->count; i-- > 0;)
		if (id && e->keys[i].lease == id)
			fake_delete(e, &e->keys[i]);
}

static inline void fake_leases_expire(struct fake_etcd *e)
{
	for (size_t i = 0; i < FAKE_LEASES; i++)
		if (e->leases[i].id && e->now_ns >= e->leases[i].until_ns) {
			e->revision++;
			fake_lease_end(e, e->leases[i].id);
		}
}

static inline json_t *fake_header(const struct fake_etcd *e)
{
	return json_pack("{s:{s:s, s:o}}", "header", "cluster_id", FAKE_CLUSTER, "revision",
			 json_sprintf("%lld", (long long)e->revision));
}

static inline json_t *fake_pair(const struct fake_key *k)
{
	json_t *pair = json_pack("{s:o, s:o, s:o}", "key", fake_coded(k->name), "value",
				 fake_coded(k->value), "create_revision",
				 json_sprintf("%lld", (long long)k->created));

	if (k->lease)
		json_object_set_new(pair, "lease", json_sprintf("%lld", (long long)k->lease));
	return pair;
}

static inline json_t *fake_range(struct fake_etcd *e, const json_t *request)
{
	char *from = fake_text(request, "key"), *end = fake_text(request, "range_end");
	const int64_t limit = fake_number(request, "limit");
	json_t *out = fake_header(e), *pairs = json_array();
	bool more = false;

	for (size_t i = 0; i < e->count; i++) {
		const char *name = e->keys[i].name;
		if (*end ? strcmp(name, from) < 0 || strcmp(name, end) >= 0
			 : strcmp(name, from) != 0)
			continue;
		if (limit && (int64_t)json_array_size(pairs) == limit)
			more = true;
		else
			json_array_append_new(pairs, fake_pair(&e->keys[i]));
	}
	if (json_array_size(pairs))
		json_object_set(out, "kvs", pairs);
	json_decref(pairs);
	if (more)
		json_object_set_new(out, "more", json_true());
	free(from);
	free(end);
	return out;
}

static inline bool fake_compare(struct fake_etcd *e, const json_t *c)
{
	char *name = fake_text(c, "key"), *value = fake_text(c, "value");
	const struct fake_key *k = fake_find(e, name);
	bool equal = strcmp(json_string_value(json_object_get(c, "target")), "CREATE") == 0
			     ? (k ? k->created : 0) == fake_number(c, "create_revision")
			     : k && strcmp(k->value, value) == 0;

	free(name);
	free(value);
	return equal;
}

static inline void fake_change(struct fake_etcd *e, const json_t *operation)
{
	const json_t *put = json_object_get(operation, "request_put");
	const json_t *end = json_object_get(operation, "request_delete_range");
	char *name = fake_text(put ? put : end, "key"), *last = fake_text(end, "range_end");

	if (put) {
		char *value = fake_text(put, "value");
		fake_put(e, name, value, fake_number(put, "lease"));
		free(value);
	} else if (*last) {
		for (size_t i = e->count; i-- > 0;)
			if (strcmp(e->keys[i].name, name) >= 0 && strcmp(e->keys[i].name, last) < 0)
				fake_delete(e, &e->keys[i]);
	} else {
		fake_delete(e, fake_find(e, name));
	}
	free(last);
	free(name);
}

/* Returns whether a put names a lease that has ended, which etcd rejects. */
static inline bool fake_lease_missing(const struct fake_etcd *e, const json_t *operation)
{
	const int64_t id = fake_number(json_object_get(operation, "request_put"), "lease");

	for (size_t i = 0; i < FAKE_LEASES; i++)
		if (e->leases[i].id == id)
			return false;
	return id != 0;
}

static inline json_t *fake_txn(struct fake_etcd *e, const json_t *request)
{
	const json_t *compare = json_object_get(request, "compare");
	const json_t *success = json_object_get(request, "success");
	const json_t *failure = json_object_get(request, "failure");
	json_t *responses = json_array();
	bool good = true;

	assert(json_array_size(compare) <= 128 && json_array_size(success) <= 128);
	for (size_t i = 0; i < json_array_size(compare); i++)
		good = good && fake_compare(e, json_array_get(compare, i));
	if (good && e->full) {
		json_decref(responses);
		return json_pack("{s:s, s:i}", "error", "etcdserver: mvcc: database space exceeded",
				 "code", 8);
	}
	for (size_t i = 0; good && i < json_array_size(success); i++)
		if (fake_lease_missing(e, json_array_get(success, i))) {
			json_decref(responses);
			return json_pack("{s:s, s:i}", "error",
					 "etcdserver: requested lease not found", "code", 5);
		}
	if (good) {
		e->revision++;
		e->transactions++;
	}
	for (size_t i = 0; good && i < json_array_size(success); i++)
		fake_change(e, json_array_get(success, i));
	for (size_t i = 0; !good && i < json_array_size(failure); i++)
		json_array_append_new(
			responses,
			json_pack("{s:o}", "response_range",
				  fake_range(e, json_object_get(json_array_get(failure, i),
								"request_range"))));
	json_t *out = fake_header(e);
	if (good)
		json_object_set_new(out, "succeeded", json_true());
	json_object_set_new(out, "responses", responses);
	return out;
}

static inline json_t *fake_grant(struct fake_etcd *e, const json_t *request)
{
	const int64_t ttl_s = fake_number(request, "TTL");
	size_t i = 0;

	while (e->leases[i].id)
		assert(++i < FAKE_LEASES);
	e->leases[i].id = ++e->last_lease;
	e->leases[i].ttl_ns = (uint64_t)ttl_s * S_NS;
	e->leases[i].until_ns = e->now_ns + e->leases[i].ttl_ns;
	json_t *out = fake_header(e);
	json_object_set_new(out, "ID", json_sprintf("%lld", (long long)e->last_lease));
	json_object_set_new(out, "TTL", json_sprintf("%lld", (long long)ttl_s));
	return out;
}

static inline json_t *fake_keep(struct fake_etcd *e, const json_t *request)
{
	const int64_t id = fake_number(request, "ID");
	json_t *out = fake_header(e);

	json_object_set_new(out, "ID", json_sprintf("%lld", (long long)id));
	for (size_t i = 0; i < FAKE_LEASES; i++)
		if (id && e->leases[i].id == id) {
			e->leases[i].until_ns = e->now_ns + e->leases[i].ttl_ns;
			json_object_set_new(out, "TTL", json_string("3"));
		}
	return json_pack("{s:o}", "result", out);
}

static inline json_t *fake_execute(struct fake_etcd *e, const char *path, const char *body)
{
	json_t *request = json_loads(body, 0, NULL), *out;

	assert(request);
	fake_leases_expire(e);
	if (strcmp(path, "/v3/kv/range") == 0) {
		out = fake_range(e, request);
	} else if (strcmp(path, "/v3/kv/txn") == 0) {
		out = fake_txn(e, request);
	} else if (strcmp(path, "/v3/lease/grant") == 0) {
		out = fake_grant(e, request);
	} else if (strcmp(path, "/v3/lease/keepalive") == 0) {
		out = fake_keep(e, request);
	} else {
		fake_lease_end(e, fake_number(request, "ID"));
		out = fake_header(e);
	}
	json_decref(request);
	return out;
}

static inline void fake_late_run(struct fake_etcd *e)
{
	if (e->late_body)
		json_decref(fake_execute(e, "/v3/kv/txn", e->late_body));
	free(e->late_body);
	e->late_body = NULL;
}

static inline int fake_silent(struct fake_client *c, json_t *answer, char *reason)
{
	json_decref(answer);
	c->etcd->now_ns += ETCD_ATTEMPT_MS * MS_NS;
	snprintf(reason, ETCD_ERROR_BYTES, "no answer");
	return DXP_EIO;
}

static inline int fake_post(void *context, unsigned endpoint, const char *path, const char *body,
			    char **answer, size_t *bytes, char *reason)
{
	struct fake_client *c = context;
	struct fake_etcd *e = c->etcd;
	const enum fake_fault fault = c->fault ? c->fault(c, path) : FAKE_NONE;

	c->posts++;
	e->now_ns += FAKE_RTT_NS;
	if (fault == FAKE_LATE && strcmp(path, "/v3/kv/txn") == 0 && !e->late_body) {
		e->late_body = strdup(body);
		return fake_silent(c, NULL, reason);
	}
	if (fault == FAKE_DROPPED || fault == FAKE_LATE)
		return fake_silent(c, NULL, reason);
	json_t *out = fault == FAKE_ERROR ? json_pack("{s:s, s:i}", "error",
						      "etcdserver: no leader", "code", 14)
					  : fake_execute(e, path, body);
	fake_late_run(e);
	if (fault == FAKE_LOST)
		return fake_silent(c, out, reason);
	if (fault == FAKE_FOREIGN)
		json_object_set_new(json_object_get(out, "header"), "cluster_id", json_string("9"));
	*answer = fault == FAKE_GARBAGE ? strdup("<html>{}</html>") : json_dumps(out, 0);
	*bytes = strlen(*answer);
	json_decref(out);
	return DXP_OK;
}

static inline uint64_t fake_now(void *context)
{
	const struct fake_client *c = context;

	return c->stopped ? c->stopped_ns : c->etcd->now_ns;
}

static inline void fake_pause(void *context, unsigned ms)
{
	struct fake_client *c = context;

	c->etcd->now_ns += ms * MS_NS;
}

static inline void fake_close(void *context)
{
}

static inline struct etcd_transport fake_transport(struct fake_client *c)
{
	return (struct etcd_transport){.post = fake_post,
				       .now_ns = fake_now,
				       .pause = fake_pause,
				       .close = fake_close,
				       .context = c};
}

/* A fault function: injects c->next into the next transaction only. */
static inline enum fake_fault fake_once(struct fake_client *c, const char *path)
{
	const enum fake_fault fault = c->next;

	if (strcmp(path, "/v3/kv/txn") != 0)
		return FAKE_NONE;
	c->next = FAKE_NONE;
	return fault;
}

static inline void fake_etcd_end(struct fake_etcd *e)
{
	while (e->count)
		fake_delete(e, &e->keys[0]);
	free(e->late_body);
}

#endif
