/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the tests of the store in etcd: managers on a fake etcd, registries with rows. */
#ifndef TEST_UNIT_ETCD_RIG_H
#define TEST_UNIT_ETCD_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "manager/store_etcd.h"
#include "test/unit/etcd_fake.h"

#define LEASE_NS    (3 * S_NS)
#define VERSION_KEY "/dxp/dxp/version"

UNUSED static struct fake_etcd *etcd_make(void)
{
	struct fake_etcd *e = calloc(1, sizeof(*e));

	assert_non_null(e);
	e->revision = 1;
	e->now_ns = S_NS;
	return e;
}

UNUSED static void etcd_free(struct fake_etcd *e)
{
	fake_etcd_end(e);
	free(e);
}

UNUSED static int manager_try(struct fake_client *c, const char *place, uint8_t key,
			      struct store **out)
{
	struct store_etcd_options options = {.address = "10.0.0.1:4795",
					     .transport = fake_transport(c)};

	assert_int_equal(etcd_place_parse(place, &options.place), DXP_OK);
	memset(options.fabric_key, key, sizeof(options.fabric_key));
	return store_etcd_open(&options, out);
}

UNUSED static struct store *manager_open(struct fake_client *c)
{
	struct store *s = NULL;

	assert_int_equal(manager_try(c, "etcd://a:1,b:2", 7, &s), DXP_OK);
	return s;
}

/* Lets the manager work until it is active, for a time. */
UNUSED static bool becomes_active(struct fake_client *c, struct store *s, uint64_t ns)
{
	const uint64_t until_ns = c->etcd->now_ns + ns;

	while (!store_term(s) && c->etcd->now_ns < until_ns) {
		store_step(s);
		c->etcd->now_ns += 10 * MS_NS;
	}
	return store_term(s) != 0;
}

UNUSED static struct registry *registry_make(void)
{
	static struct rng rng = {1};
	struct registry_options options = {
		.policy = GRANTS_EXPLICIT, .entropy = rng_entropy_rng, .entropy_context = &rng};
	struct registry *r;

	assert_int_equal(registry_create(&options, &r), DXP_OK);
	return r;
}

UNUSED static int row_load(struct registry *r, struct store_op op)
{
	return registry_load(r, &op);
}

UNUSED static int grant_load(struct registry *r, unsigned number)
{
	struct store_op op = {.kind = STORE_GRANT_PUT, .xpu = "*"};

	snprintf(op.host, sizeof(op.host), "host-%u", number);
	return registry_load(r, &op);
}

UNUSED static struct store_op node_op(uint16_t id)
{
	struct store_op op = {.kind = STORE_NODE_PUT,
			      .state = NODE_DEAD,
			      .entry = {.id = id,
					.kind = MANAGE_XPU,
					.capabilities = UINT32_MAX,
					.magic = 0xfffffffe,
					.incarnation = UINT64_MAX,
					.memory_bytes = 1ull << 63,
					.engine = "\xff\xfe", /* no UTF-8 */
					.device = "a 'b' \"c\"",
					.role = ROLE_XPU,
					.key = {5}}};

	address_parse("[fe80::1]:65535", 0, &op.entry.address);
	snprintf(op.entry.name, sizeof(op.entry.name), "node-%u", id);
	memcpy(op.entry.uuid, &id, sizeof(id));
	return op;
}

/* Loads a key, a token, some nodes and a grant, all of which the next save writes. */
UNUSED static void registry_fill(struct registry *r, unsigned nodes)
{
	const struct store_op key = {.kind = STORE_KEY_PUT,
				     .index = 3,
				     .key = {.key = {5},
					     .name = "machine",
					     .role = ROLE_XPU,
					     .removed = true,
					     .replaced = true}};
	const struct store_op token = {.kind = STORE_TOKEN_PUT,
				       .index = 9,
				       .token = {.id = {1},
						 .psk = {0xab, 0xcd, 0xef, 0xab, 0xcd, 0xef},
						 .role = ROLE_HOST,
						 .uses = UINT32_MAX,
						 .expires_s = UINT64_MAX,
						 .revoked = true,
						 .used_by = "someone"}};
	const struct store_op fabric = {.kind = STORE_FABRIC_PUT,
					.fabric = {.generation = UINT32_MAX,
						   .overlap_s = 86400,
						   .rotated_ms = INT64_MAX,
						   .key = {0xfa, 0xb1}}};
	const struct store_op manager = {.kind = STORE_MANAGER_PUT,
					 .manager = {.generation = UINT32_MAX,
						     .overlap_s = 3456000,
						     .rotated_ms = INT64_MAX,
						     .key = {0xfa, 0xb2},
						     .former = {0xfa, 0xb3}}};

	assert_int_equal(row_load(r, key), DXP_OK);
	assert_int_equal(row_load(r, token), DXP_OK);
	assert_int_equal(row_load(r, fabric), DXP_OK);
	assert_int_equal(row_load(r, manager), DXP_OK);
	for (uint16_t id = 1; id <= nodes; id++)
		assert_int_equal(row_load(r, node_op(id)), DXP_OK);
	assert_int_equal(grant_load(r, 0), DXP_OK);
	registry_store_again(r);
}

/* Returns all rows of a registry, one after the other, without padding. */
UNUSED static char *registry_text(struct registry *r)
{
	struct store_op op;
	char *text = NULL, *line;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);

	assert_non_null(f);
	registry_store_again(r);
	while (registry_next_store(r, &op)) {
		const struct node_entry *e = &op.entry;
		assert_true(asprintf(&line,
				     "%d %u %d %u %u %llu %llu %s %s %s %u %u %s %s %zu %s %u "
				     "%s %u %u %llu %d %s %u %u %u %llu %u %u %u %u\n",
				     op.kind, e->id, op.state, e->capabilities, e->magic,
				     (unsigned long long)e->incarnation,
				     (unsigned long long)e->memory_bytes, e->name, e->engine,
				     e->device, e->role, e->address.port, op.host, op.xpu, op.index,
				     op.key.name, op.key.role, op.key.replaced ? "replaced" : "",
				     op.token.role, op.token.uses,
				     (unsigned long long)op.token.expires_s, op.token.revoked,
				     op.token.used_by, op.token.psk[2], op.fabric.generation,
				     op.fabric.overlap_s, (unsigned long long)op.fabric.rotated_ms,
				     op.fabric.key[1], op.manager.generation, op.manager.key[1],
				     op.manager.former[1]) > 0);
		fputs(line, f);
		free(line);
	}
	fclose(f);
	return text;
}

UNUSED static enum fake_fault no_transactions(struct fake_client *c, const char *path)
{
	return strcmp(path, "/v3/kv/txn") == 0 ? FAKE_ERROR : FAKE_NONE;
}

UNUSED static enum fake_fault nothing(struct fake_client *c, const char *path)
{
	return FAKE_DROPPED;
}

UNUSED static enum fake_fault garbage(struct fake_client *c, const char *path)
{
	return FAKE_GARBAGE;
}

#endif
