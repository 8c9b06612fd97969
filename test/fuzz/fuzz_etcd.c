/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes a manager's reads of etcd. The first byte selects: 'a' an answer, 'r' a row (a line with
 * its key, then JSON), 'p' the store's place, 'e' a block of events, 't' the rows of an export.
 * Decoded rows and events fit the registry, and are written as they were read. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "manager/etcd_events.h"
#include "manager/etcd_rows.h"
#include "manager/transfer.h"
#include "test/fuzz/fuzz.h"

#define PREFIX "/dxp/lab/"

static struct etcd_seal seal;

static void answer_check(const char *text, size_t bytes)
{
	struct etcd_answer a;

	if (etcd_answer_decode(text, bytes, &a) != DXP_OK) {
		assert(a.count == 0 && !a.pairs);
		return;
	}
	assert(*a.error || a.revision > 0);
	for (size_t i = 0; i < a.count; i++)
		assert(etcd_answer_find(&a, a.pairs[i].key));
	etcd_answer_free(&a);
}

static void place_check(const char *text)
{
	struct etcd_place p;

	if (etcd_place_parse(text, &p) != DXP_OK)
		return;
	assert(p.count >= 1 && p.count <= ETCD_ENDPOINTS_MAX && *p.fabric);
	for (unsigned i = 0; i < p.count; i++)
		assert(strchr(p.endpoints[i], ':'));
}

static void row_check(char *text)
{
	char *json = strchr(text, '\n');
	struct store_op op, again;
	struct etcd_row row;

	if (!json)
		return;
	*json++ = '\0';
	char *sealed = etcd_seal_text(&seal, text, json);
	assert(sealed);
	const struct etcd_pair pair = {.key = text, .value = sealed};
	int status = etcd_row_read(&seal, PREFIX, &pair, &op);
	if (status == DXP_OK) {
		assert(etcd_row_make(&seal, PREFIX, &op, &row) == DXP_OK);
		assert(strcmp(row.key, text) == 0 && row.value);
		const struct etcd_pair second = {.key = row.key, .value = row.value};
		assert(etcd_row_read(&seal, PREFIX, &second, &again) == DXP_OK);
		assert(again.kind == op.kind && again.index == op.index &&
		       again.entry.id == op.entry.id);
		assert(strcmp(again.host, op.host) == 0 && strcmp(again.xpu, op.xpu) == 0);
		free(row.value);
	} else {
		assert(status == DXP_EMALFORMED);
	}
	free(sealed);
}

static void events_check(char *text)
{
	struct event_journal l, again;

	assert(event_journal_create(&l, 100) == DXP_OK &&
	       event_journal_create(&again, 100) == DXP_OK);
	etcd_events_read(text, 16, &l);
	char *written = etcd_events_write(&l, 16, 32);
	assert(written && etcd_events_read(written, 16, &again) == 0);
	assert(again.next == l.next);
	free(written);
	event_journal_destroy(&l);
	event_journal_destroy(&again);
}

static struct registry *registry_make(void)
{
	static struct rng rng = {1};
	const struct registry_options options = {.policy = GRANTS_EXPLICIT,
						 .events = 100,
						 .entropy = rng_entropy_rng,
						 .entropy_context = &rng};
	struct registry *r;

	assert(registry_create(&options, &r) == DXP_OK);
	return r;
}

/* Puts the head of a file before the text, with the check value of the key. */
static char *transfer_text(const uint8_t key[FABRIC_KEY_BYTES], const char *text)
{
	struct transfer none = {.registry = registry_make()};
	char *head = transfer_write(&none, key), *out;

	assert(head);
	*strstr(head, "\"rows\"") = '\0';
	assert(asprintf(&out, "%s%s", head, text) > 0);
	free(head);
	registry_destroy(none.registry);
	return out;
}

static void transfer_check(const char *rest)
{
	static const uint8_t key[FABRIC_KEY_BYTES] = {1};
	struct transfer t = {.registry = registry_make()}, again = {.registry = registry_make()};
	char *text = transfer_text(key, rest);

	if (transfer_read(text, key, &t) == DXP_OK) {
		struct transfer written = {.registry = t.registry, .version = t.version};
		char *out = transfer_write(&written, key);
		assert(out && transfer_read(out, key, &again) == DXP_OK);
		assert(again.nodes == written.nodes && again.keys == written.keys);
		assert(again.tokens == written.tokens && again.grants == written.grants);
		assert(again.events == written.events && again.version == t.version);
		free(out);
	}
	registry_destroy(t.registry);
	registry_destroy(again.registry);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const uint8_t key[FABRIC_KEY_BYTES] = {1};

	if (bytes == 0 || (!seal.entropy && etcd_seal_open(key, &seal) != DXP_OK))
		return 0;
	char *text = malloc(bytes);
	assert(text);
	memcpy(text, data + 1, bytes - 1);
	text[bytes - 1] = '\0';
	if (data[0] == 'a')
		answer_check(text, bytes - 1);
	else if (data[0] == 'p')
		place_check(text);
	else if (data[0] == 't')
		transfer_check(text);
	else if (data[0] == 'e')
		events_check(text);
	else
		row_check(text);
	free(text);
	return 0;
}
