/* SPDX-License-Identifier: BSD-3-Clause */
/* The gateway omits members with the value 0, and writes 64-bit numbers as texts. */
#include "manager/etcd_json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include <dxp/status.h>

#define PAIRS_MAX 4096 /* pairs of one answer; a page has fewer */

static char *base64_encode(const char *text)
{
	const size_t bytes = strlen(text);
	char *out = malloc((bytes + 2) / 3 * 4 + 1);

	if (out)
		EVP_EncodeBlock((unsigned char *)out, (const unsigned char *)text, (int)bytes);
	return out;
}

/* Decodes base64 to a text without zero bytes; the caller frees it. NULL: malformed, or no
 * memory. */
static char *base64_decode(const char *coded)
{
	const size_t bytes = strlen(coded);
	unsigned char *out = bytes % 4 == 0 && bytes < INT32_MAX ? malloc(bytes / 4 * 3 + 1) : NULL;

	if (!out)
		return NULL;
	int length = bytes ? EVP_DecodeBlock(out, (const unsigned char *)coded, (int)bytes) : 0;
	for (size_t i = bytes; length > 0 && i > bytes - 2 && coded[i - 1] == '='; i--)
		length--;
	if (length < 0 || memchr(out, '\0', (size_t)length)) {
		free(out);
		return NULL;
	}
	out[length] = '\0';
	return (char *)out;
}

/* Reads a 64-bit number, which is a text or a JSON number. Returns false if it is neither; a
 * missing member is 0. */
static bool number_get(const json_t *object, const char *name, int64_t *out)
{
	const json_t *value = json_object_get(object, name);
	char *end;

	*out = 0;
	if (!value)
		return true;
	if (json_is_integer(value)) {
		*out = json_integer_value(value);
		return true;
	}
	const char *text = json_string_value(value);
	if (!text || !*text)
		return false;
	errno = 0;
	*out = *text == '-' ? strtoll(text, &end, 10) : (int64_t)strtoull(text, &end, 10);
	return *end == '\0' && errno == 0;
}

static bool text_get(const json_t *object, const char *name, char **out)
{
	const json_t *value = json_object_get(object, name);
	const char *coded = value ? json_string_value(value) : "";

	*out = coded ? base64_decode(coded) : NULL;
	return *out != NULL;
}

static bool pair_read(const json_t *object, struct etcd_pair *out)
{
	*out = (struct etcd_pair){0};
	return json_is_object(object) && number_get(object, "create_revision", &out->created) &&
	       number_get(object, "lease", &out->lease) && text_get(object, "key", &out->key) &&
	       text_get(object, "value", &out->value);
}

static bool range_read(const json_t *range, struct etcd_answer *a)
{
	const json_t *kvs = json_object_get(range, "kvs");
	const size_t count = json_array_size(kvs);

	a->more = a->more || json_is_true(json_object_get(range, "more"));
	if (kvs && !json_is_array(kvs))
		return false;
	if (count > PAIRS_MAX - a->count)
		return false;
	struct etcd_pair *pairs = realloc(a->pairs, (a->count + count + 1) * sizeof(*pairs));
	if (!pairs)
		return false;
	a->pairs = pairs;
	for (size_t i = 0; i < count; i++)
		if (!pair_read(json_array_get(kvs, i), &pairs[a->count++]))
			return false;
	return true;
}

static bool answer_read(const json_t *root, struct etcd_answer *a)
{
	/* answers of a stream are within "result" */
	const json_t *result = json_object_get(root, "result");
	const json_t *body = result ? result : root;
	const json_t *header = json_object_get(body, "header");
	const json_t *responses = json_object_get(body, "responses");
	const char *error = json_string_value(json_object_get(root, "error"));
	int64_t cluster;

	if (error || json_object_get(root, "error")) {
		snprintf(a->error, sizeof(a->error), "%s", error && *error ? error : "unknown");
		return true;
	}
	if (!json_is_object(header) || !number_get(header, "cluster_id", &cluster) ||
	    !number_get(header, "revision", &a->revision) || a->revision <= 0 ||
	    !number_get(body, "ID", &a->lease) || !number_get(body, "TTL", &a->ttl_s))
		return false;
	a->cluster = (uint64_t)cluster;
	a->succeeded = json_is_true(json_object_get(body, "succeeded"));
	bool good = range_read(body, a);
	for (size_t i = 0; good && i < json_array_size(responses); i++)
		good = range_read(json_object_get(json_array_get(responses, i), "response_range"),
				  a);
	return good;
}

int etcd_answer_decode(const char *text, size_t bytes, struct etcd_answer *out)
{
	json_t *root = json_loadb(text, bytes, 0, NULL);

	*out = (struct etcd_answer){0};
	bool good = json_is_object(root) && answer_read(root, out);
	json_decref(root);
	if (good)
		return DXP_OK;
	etcd_answer_free(out);
	return DXP_EMALFORMED;
}

void etcd_answer_free(struct etcd_answer *a)
{
	for (size_t i = 0; i < a->count; i++) {
		free(a->pairs[i].key);
		free(a->pairs[i].value);
	}
	free(a->pairs);
	*a = (struct etcd_answer){0};
}

const struct etcd_pair *etcd_answer_find(const struct etcd_answer *a, const char *key)
{
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(a->pairs[i].key, key) == 0)
			return &a->pairs[i];
	return NULL;
}

/* Returns the text of a value and frees the value. NULL: no memory. */
static char *body_of(json_t *value)
{
	char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;

	json_decref(value);
	return text;
}

static json_t *coded(const char *text)
{
	char *code = base64_encode(text);
	json_t *value = code ? json_string(code) : NULL;

	free(code);
	return value;
}

/* Writes a 64-bit number as a text, because many programs read JSON numbers with 53 bits. */
static json_t *numeral(int64_t number)
{
	return json_sprintf("%" PRId64, number);
}

char *etcd_range_body(const char *key, const char *end, unsigned limit)
{
	/* etcd returns pairs in the order of keys. With sort_order, it would read all pairs of the
	 * range before it applies the limit. */
	json_t *body = json_pack("{s:o, s:o}", "key", coded(key), "limit", numeral(limit));

	if (end && json_object_set_new(body, "range_end", coded(end)) != 0) {
		json_decref(body);
		return NULL;
	}
	return body_of(body);
}

char *etcd_grant_body(int64_t ttl_s)
{
	return body_of(json_pack("{s:o}", "TTL", numeral(ttl_s)));
}

char *etcd_lease_body(int64_t lease)
{
	return body_of(json_pack("{s:o}", "ID", numeral(lease)));
}

void etcd_txn_begin(struct etcd_txn *t)
{
	*t = (struct etcd_txn){json_array(), json_array(), json_array(), false};
}

static void append(struct etcd_txn *t, json_t *list, json_t *element)
{
	if (json_array_append_new(list, element) != 0)
		t->failed = true;
}

void etcd_txn_created(struct etcd_txn *t, const char *key, int64_t revision)
{
	append(t, t->compare,
	       json_pack("{s:o, s:s, s:s, s:o}", "key", coded(key), "target", "CREATE", "result",
			 "EQUAL", "create_revision", numeral(revision)));
}

void etcd_txn_equals(struct etcd_txn *t, const char *key, const char *value)
{
	append(t, t->compare,
	       json_pack("{s:o, s:s, s:s, s:o}", "key", coded(key), "target", "VALUE", "result",
			 "EQUAL", "value", coded(value)));
}

void etcd_txn_put(struct etcd_txn *t, const char *key, const char *value, int64_t lease)
{
	append(t, t->success,
	       json_pack("{s:{s:o, s:o, s:o}}", "request_put", "key", coded(key), "value",
			 coded(value), "lease", numeral(lease)));
}

void etcd_txn_delete(struct etcd_txn *t, const char *key)
{
	append(t, t->success, json_pack("{s:{s:o}}", "request_delete_range", "key", coded(key)));
}

void etcd_txn_delete_range(struct etcd_txn *t, const char *key, const char *end)
{
	append(t, t->success,
	       json_pack("{s:{s:o, s:o}}", "request_delete_range", "key", coded(key), "range_end",
			 coded(end)));
}

void etcd_txn_read(struct etcd_txn *t, const char *key)
{
	append(t, t->failure, json_pack("{s:{s:o}}", "request_range", "key", coded(key)));
}

char *etcd_txn_body(struct etcd_txn *t)
{
	json_t *body = json_pack("{s:o, s:o, s:o}", "compare", t->compare, "success", t->success,
				 "failure", t->failure);

	if (t->failed) {
		json_decref(body);
		body = NULL;
	}
	*t = (struct etcd_txn){0};
	return body_of(body);
}
