/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the store: state is loaded again; damage, foreign files, a second manager and a full disk
 * give different errors. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <signal.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include <dxp/status.h>

#include "base/util.h"
#include "manager/store.h"
#include "node/limits.h"

static char folder[64], path[96];

static int folder_make(void **state)
{
	snprintf(folder, sizeof(folder), "store-test-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/manager.db", folder);
	return 0;
}

static int scratch_folder_remove(void **state)
{
	static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
	char name[128];

	for (size_t i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "%s%s", path, ends[i]);
		unlink(name);
	}
	return rmdir(folder);
}

static struct registry *registry_make(void)
{
	static struct rng rng = {1};
	struct registry_options options = {
		.policy = GRANTS_EXPLICIT, .entropy = rng_entropy_rng, .entropy_context = &rng};
	struct registry *r;

	assert_int_equal(registry_create(&options, &r), DXP_OK);
	return r;
}

static struct store_op node_op(uint16_t id, enum node_state state)
{
	struct store_op op = {.kind = STORE_NODE_PUT,
			      .state = state,
			      .entry = {.id = id,
					.kind = MANAGE_XPU,
					.capabilities = 0xffffffff,
					.magic = 0xfffffffe,
					.incarnation = UINT64_MAX,
					.memory_bytes = 1ull << 63,
					.engine = "ocl",
					.device = "a 'b' \"c\""}};

	address_parse("[fe80::1]:65535", 0, &op.entry.address);
	snprintf(op.entry.name, sizeof(op.entry.name), "node-%u", id);
	memcpy(op.entry.uuid, &id, sizeof(id));
	return op;
}

/* Changes nodes and a grant in the registry, so that the next save writes them. */
static void registry_fill(struct registry *r)
{
	for (uint16_t id = 1; id <= 3; id++) {
		struct store_op op = node_op(id, (enum node_state)id);
		assert_int_equal(registry_load(r, &op), DXP_OK);
	}
	struct store_op grant = {.kind = STORE_GRANT_PUT, .host = "*", .xpu = "node-1"};
	assert_int_equal(registry_load(r, &grant), DXP_OK);
	registry_store_again(r);
}

/* Compares each field, because the padding of the struct has no defined value. */
static void assert_entry_equal(const struct node_entry *a, const struct node_entry *b)
{
	assert_int_equal(a->id, b->id);
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->alive, b->alive);
	assert_int_equal(a->granted, b->granted);
	assert_int_equal(a->capabilities, b->capabilities);
	assert_int_equal(a->magic, b->magic);
	assert_int_equal(a->incarnation, b->incarnation);
	assert_int_equal(a->memory_bytes, b->memory_bytes);
	assert_memory_equal(a->uuid, b->uuid, sizeof(a->uuid));
	assert_true(address_equal(&a->address, &b->address));
	assert_string_equal(a->name, b->name);
	assert_string_equal(a->engine, b->engine);
	assert_string_equal(a->device, b->device);
}

static void store_save__comes_back(void **state)
{
	struct registry *before = registry_make(), *after = registry_make();
	struct store_op op;
	struct store *s;

	registry_fill(before);
	assert_int_equal(store_open(folder, &s), DXP_OK);
	assert_int_equal(store_save(s, before), DXP_OK);
	assert_false(registry_next_store(before, &op));
	store_close(s);
	assert_int_equal(store_open(folder, &s), DXP_OK);
	assert_int_equal(store_load(s, after), DXP_OK);
	assert_false(registry_next_store(after, &op));
	registry_store_again(after);
	for (uint16_t id = 1; id <= 3; id++) {
		struct store_op expected = node_op(id, (enum node_state)id);
		assert_true(registry_next_store(after, &op));
		assert_int_equal(op.kind, STORE_NODE_PUT);
		assert_int_equal(op.state, expected.state);
		assert_entry_equal(&op.entry, &expected.entry);
	}
	assert_true(registry_next_store(after, &op));
	assert_int_equal(op.kind, STORE_GRANT_PUT);
	assert_string_equal(op.host, "*");
	assert_string_equal(op.xpu, "node-1");
	assert_false(registry_next_store(after, &op));
	store_close(s);
	registry_destroy(before);
	registry_destroy(after);
}

static void store_save__keys_come_back(void **state)
{
	struct registry *before = registry_make(), *after = registry_make();
	struct store_op key = {
		.kind = STORE_KEY_PUT,
		.index = 7,
		.key = {{1, 2}, "laptop", ROLE_OPERATOR, .removed = true, .replaced = true}};
	struct store_op token = {
		.kind = STORE_TOKEN_PUT,
		.index = 9,
		.token = {{3}, {4}, ROLE_XPU, 5, UINT32_MAX + 6ull, true, "box", .present = true}};
	struct store_op node = node_op(1, NODE_ALIVE), op;
	struct store *s;

	node.entry.role = ROLE_HOST;
	node.entry.key[31] = 8;
	assert_int_equal(registry_load(before, &key), DXP_OK);
	assert_int_equal(registry_load(before, &token), DXP_OK);
	assert_int_equal(registry_load(before, &node), DXP_OK);
	registry_store_again(before);
	assert_int_equal(store_open(folder, &s), DXP_OK);
	assert_int_equal(store_save(s, before), DXP_OK);
	assert_int_equal(store_load(s, after), DXP_OK);
	store_close(s);
	registry_store_again(after);
	assert_true(registry_next_store(after, &op));
	assert_int_equal(op.entry.role, ROLE_HOST);
	assert_memory_equal(op.entry.key, node.entry.key, sizeof(op.entry.key));
	assert_true(registry_next_store(after, &op));
	assert_true(op.kind == STORE_KEY_PUT && op.index == 7 && op.key.removed && op.key.replaced);
	assert_memory_equal(op.key.key, key.key.key, sizeof(op.key.key));
	assert_string_equal(op.key.name, "laptop");
	assert_int_equal(op.key.role, ROLE_OPERATOR);
	assert_true(registry_next_store(after, &op));
	assert_true(op.kind == STORE_TOKEN_PUT && op.index == 9 && op.token.revoked);
	assert_memory_equal(op.token.id, token.token.id, sizeof(op.token.id));
	assert_memory_equal(op.token.psk, token.token.psk, sizeof(op.token.psk));
	assert_int_equal(op.token.uses, 5);
	assert_true(op.token.expires_s == token.token.expires_s);
	assert_string_equal(op.token.used_by, "box");
	registry_destroy(before);
	registry_destroy(after);
}

static int version_of(void)
{
	sqlite3_stmt *statement;
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &statement, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	const int version = sqlite3_column_int(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return version;
}

/* Writing a rotated fabric key later keeps the higher version. */
static void store_save__a_rotated_manager_key_comes_back(void **state)
{
	struct store_op fabric = {.kind = STORE_FABRIC_PUT, .fabric = {.generation = 1}};
	struct store_op manager = {.kind = STORE_MANAGER_PUT,
				   .manager = {.generation = 2,
					       .overlap_s = 6,
					       .rotated_ms = 1ull << 41,
					       .key = {[0] = 7, [31] = 8},
					       .former = {[0] = 9, [31] = 8}}};
	struct registry *before = registry_make(), *after = registry_make();
	struct store_op op;
	struct store *s;

	registry_fill(before);
	assert_int_equal(registry_load(before, &manager), DXP_OK);
	for (int i = 0; i < 2; i++) {
		registry_store_again(before);
		assert_int_equal(store_open(folder, &s), DXP_OK);
		assert_int_equal(store_save(s, before), DXP_OK);
		store_close(s);
		assert_int_equal(version_of(), 4);
		assert_int_equal(registry_load(before, &fabric), DXP_OK);
	}
	assert_int_equal(store_open(folder, &s), DXP_OK);
	assert_int_equal(store_load(s, after), DXP_OK);
	store_close(s);
	registry_store_again(after);
	do
		assert_true(registry_next_store(after, &op));
	while (op.kind != STORE_MANAGER_PUT);
	assert_memory_equal(&op.manager, &manager.manager, sizeof(op.manager));
	assert_memory_equal(registry_public_key(after), registry_public_key(before), KEYS_BYTES);
	registry_destroy(before);
	registry_destroy(after);
}

static void store_load__an_invalid_manager_key(void **state)
{
	static const char *const rows[] = {
		"0, zeroblob(32), zeroblob(32), 0, 0", "1, zeroblob(31), zeroblob(32), 0, 0",
		"1, zeroblob(32), zeroblob(33), 0, 0", "1, zeroblob(32), zeroblob(32), -1, 0",
		"1, zeroblob(32), zeroblob(32), 0, 3456001"};
	struct store_op manager = {.kind = STORE_MANAGER_PUT,
				   .manager = {.generation = 1, .key = {1}}};
	struct registry *r = registry_make();
	char sql[128];
	struct store *s;
	sqlite3 *db;

	assert_int_equal(registry_load(r, &manager), DXP_OK);
	registry_store_again(r);
	assert_int_equal(store_open(folder, &s), DXP_OK);
	assert_int_equal(store_save(s, r), DXP_OK);
	store_close(s);
	registry_destroy(r);
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
		snprintf(sql, sizeof(sql), "REPLACE INTO manager VALUES (0, %s)", rows[i]);
		assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
		sqlite3_close(db);
		r = registry_make();
		assert_int_equal(store_open(folder, &s), DXP_OK);
		assert_int_equal(store_load(s, r), DXP_EMALFORMED);
		store_close(s);
		registry_destroy(r);
	}
}

/* Only a database with a rotated fabric key has the version that earlier releases refuse. */
static void store_save__a_rotated_fabric_key_comes_back(void **state)
{
	struct store_op fabric = {.kind = STORE_FABRIC_PUT,
				  .fabric = {.generation = 5,
					     .overlap_s = 6,
					     .rotated_ms = 1ull << 41,
					     .key = {[0] = 7, [31] = 8}}};
	struct registry *before = registry_make(), *after = registry_make();
	struct store_op op;
	struct store *s;

	registry_fill(before);
	assert_int_equal(store_open(folder, &s), DXP_OK);
	assert_int_equal(store_save(s, before), DXP_OK);
	store_close(s);
	assert_int_equal(version_of(), 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(registry_load(before, &fabric), DXP_OK);
		registry_store_again(before);
		assert_int_equal(store_open(folder, &s), DXP_OK);
		assert_int_equal(store_save(s, before), DXP_OK);
		store_close(s);
		assert_int_equal(version_of(), 3);
		fabric.fabric.generation++;
	}
	assert_int_equal(store_open(folder, &s), DXP_OK);
	assert_int_equal(store_load(s, after), DXP_OK);
	store_close(s);
	registry_store_again(after);
	do
		assert_true(registry_next_store(after, &op));
	while (op.kind != STORE_FABRIC_PUT);
	assert_int_equal(op.fabric.generation, 6);
	assert_int_equal(op.fabric.overlap_s, 6);
	assert_true(op.fabric.rotated_ms == 1ull << 41);
	assert_memory_equal(op.fabric.key, fabric.fabric.key, FABRIC_KEY_BYTES);
	registry_destroy(before);
	registry_destroy(after);
}

static void store_load__an_invalid_fabric_key(void **state)
{
	static const char *const rows[] = {"0, zeroblob(32), 0, 0", "1, zeroblob(31), 0, 0",
					   "1, zeroblob(32), -1, 0", "1, zeroblob(32), 0, 86401",
					   "4294967296, zeroblob(32), 0, 0"};
	struct store_op fabric = {.kind = STORE_FABRIC_PUT, .fabric = {.generation = 1}};
	struct registry *r = registry_make();
	char sql[128];
	struct store *s;
	sqlite3 *db;

	assert_int_equal(registry_load(r, &fabric), DXP_OK);
	registry_store_again(r);
	assert_int_equal(store_open(folder, &s), DXP_OK);
	assert_int_equal(store_save(s, r), DXP_OK);
	store_close(s);
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
		snprintf(sql, sizeof(sql), "REPLACE INTO fabric VALUES (0, %s)", rows[i]);
		assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
		sqlite3_close(db);
		assert_int_equal(store_open(folder, &s), DXP_OK);
		assert_int_equal(store_load(s, r), DXP_EMALFORMED);
		store_close(s);
	}
	registry_destroy(r);
}

/* Returns the number of nodes on disk. Loads them as another manager would. */
static size_t nodes_on_disk(void)
{
	struct registry *r = registry_make();
	struct store *s;

	assert_int_equal(store_open(folder, &s), DXP_OK);
	assert_int_equal(store_load(s, r), DXP_OK);
	size_t count = registry_node_count(r, NODE_ALIVE) + registry_node_count(r, NODE_DEAD) +
		       registry_node_count(r, NODE_GONE);
	store_close(s);
	registry_destroy(r);
	return count;
}

/* Removed or replaced while the manager has it open. */
static void store_check__the_file_is_gone(void **state)
{
	struct registry *r = registry_make();
	struct store *s;
	char found[128], text[8] = "";

	snprintf(found, sizeof(found), "%s.found", path);
	assert_int_equal(store_open(folder, &s), DXP_OK);
	registry_fill(r);
	assert_int_equal(store_save(s, r), DXP_OK);
	assert_int_equal(store_check(s, r), DXP_OK);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(store_check(s, r), DXP_OK);
	assert_int_equal(store_save(s, r), DXP_OK);
	store_close(s);
	assert_int_equal(nodes_on_disk(), 3);

	assert_int_equal(store_open(folder, &s), DXP_OK);
	assert_int_equal(unlink(path), 0);
	FILE *other = fopen(path, "w");
	assert_non_null(other);
	fputs("other", other);
	fclose(other);
	assert_int_equal(store_check(s, r), DXP_OK);
	assert_int_equal(store_save(s, r), DXP_OK);
	store_close(s);
	assert_int_equal(nodes_on_disk(), 3);
	other = fopen(found, "r");
	assert_non_null(other);
	assert_non_null(fgets(text, sizeof(text), other));
	fclose(other);
	assert_string_equal(text, "other");
	unlink(found);
	registry_destroy(r);
}

static void store_open__the_file_is_private(void **state)
{
	struct store *s;
	struct stat st;

	assert_int_equal(store_open(folder, &s), DXP_OK);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	store_close(s);
}

static void store_open__a_second_manager_is_rejected(void **state)
{
	struct store *first, *second;

	assert_int_equal(store_open(folder, &first), DXP_OK);
	assert_int_equal(store_open(folder, &second), DXP_EBUSY);
	store_close(first);
	assert_int_equal(store_open(folder, &second), DXP_OK);
	store_close(second);
}

static void file_write(const void *data, size_t bytes, off_t at, int flags)
{
	int fd = open(path, O_WRONLY | O_CREAT | flags, 0600);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, data, bytes, at), (int)bytes);
	close(fd);
}

static void store_open__garbage(void **state)
{
	uint8_t garbage[8192];
	struct store *s;

	memset(garbage, 0xa5, sizeof(garbage));
	file_write(garbage, sizeof(garbage), 0, O_TRUNC);
	assert_int_equal(store_open(folder, &s), DXP_EMALFORMED);
}

/* Overwrites the bytes 4096 .. 8191 of a valid database. The store rejects the database. */
static void store_open__damaged_pages(void **state)
{
	uint8_t garbage[4096];
	struct registry *r = registry_make();
	struct store *s;
	struct stat st;

	registry_fill(r);
	assert_int_equal(store_open(folder, &s), DXP_OK);
	assert_int_equal(store_save(s, r), DXP_OK);
	store_close(s);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size >= 2 * 4096);
	memset(garbage, 0xff, sizeof(garbage));
	file_write(garbage, sizeof(garbage), 4096, 0);
	assert_int_equal(store_open(folder, &s), DXP_EMALFORMED);
	registry_destroy(r);
}

static void sql_run(const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void store_open__another_programs_database(void **state)
{
	struct store *s;

	sql_run("CREATE TABLE cats (name)");
	assert_int_equal(store_open(folder, &s), DXP_EMALFORMED);
}

static void store_open__a_later_version(void **state)
{
	struct store *s;

	assert_int_equal(store_open(folder, &s), DXP_OK);
	store_close(s);
	sql_run("PRAGMA user_version = 99");
	assert_int_equal(store_open(folder, &s), DXP_EUNSUPPORTED);
}

/* Version 1 has no keys; it is extended and keeps its nodes. */
static void store_open__an_earlier_version(void **state)
{
	struct registry *r = registry_make();
	struct store *s;

	registry_fill(r);
	assert_int_equal(store_open(folder, &s), DXP_OK);
	assert_int_equal(store_save(s, r), DXP_OK);
	store_close(s);
	sql_run("DROP TABLE key; DROP TABLE token; ALTER TABLE node DROP COLUMN role; ALTER TABLE "
		"node DROP COLUMN key; PRAGMA user_version = 1");
	assert_int_equal(nodes_on_disk(), 3);
	registry_destroy(r);
}

static void store_load__rows_that_cannot_be(void **state)
{
	static const char *const rows[] = {
		"INSERT INTO node VALUES "
		"(0,zeroblob(16),1,1,1,0,0,0,zeroblob(18),'a','','',0,NULL)",
		"INSERT INTO node VALUES "
		"(65534,zeroblob(16),1,1,1,0,0,0,zeroblob(18),'a','','',0,NULL)",
		"INSERT INTO node VALUES "
		"(1,zeroblob(15),1,1,1,0,0,0,zeroblob(18),'a','','',0,NULL)",
		"INSERT INTO node VALUES "
		"(1,zeroblob(16),9,1,1,0,0,0,zeroblob(18),'a','','',0,NULL)",
		"INSERT INTO node VALUES "
		"(1,zeroblob(16),1,7,1,0,0,0,zeroblob(18),'a','','',0,NULL)",
		"INSERT INTO node VALUES (1,zeroblob(16),1,1,1,0,0,0,zeroblob(2),'a','','',0,NULL)",
		"INSERT INTO node VALUES (1,zeroblob(16),1,1,1,0,0,0,zeroblob(18),'a "
		"b','','',0,NULL)",
		"INSERT INTO node VALUES "
		"(1,zeroblob(16),1,1,1,0,0,0,zeroblob(18),'a','','',1,NULL)",
		"INSERT INTO key VALUES (0,zeroblob(31),'a',1,0)",
		"INSERT INTO key VALUES (0,zeroblob(32),'a b',1,0)",
		"INSERT INTO key VALUES (0,zeroblob(32),'a',4,0)",
		"INSERT INTO key VALUES (4096,zeroblob(32),'a',1,0)",
		"INSERT INTO key VALUES (-1,zeroblob(32),'a',1,0)",
		"INSERT INTO token VALUES (0,zeroblob(4),zeroblob(32),1,1,1,0,'')",
		"INSERT INTO token VALUES (0,zeroblob(5),zeroblob(31),1,1,1,0,'')",
		"INSERT INTO token VALUES (0,zeroblob(5),zeroblob(32),0,1,1,0,'')",
		"INSERT INTO token VALUES (256,zeroblob(5),zeroblob(32),1,1,1,0,'')",
	};
	struct store *s;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct registry *r = registry_make();
		assert_int_equal(store_open(folder, &s), DXP_OK);
		store_close(s);
		sql_run("DELETE FROM node; DELETE FROM key; DELETE FROM token");
		sql_run(rows[i]);
		assert_int_equal(store_open(folder, &s), DXP_OK);
		assert_int_equal(store_load(s, r), DXP_EMALFORMED);
		store_close(s);
		registry_destroy(r);
	}
}

/* The path leads through a file, where no folder can exist, whatever the rights of the user. */
static void store_open__no_folder_there(void **state)
{
	struct store *s;

	file_write("x", 1, 0, O_TRUNC);
	assert_int_equal(store_open(path, &s), DXP_EACCESS);
}

/* The folder is read-only. The test runs as another user, because root may write there. */
static void store_open__a_folder_we_may_not_write(void **state)
{
	struct store *s;
	uid_t before = geteuid();

	assert_int_equal(chmod(folder, 0555), 0);
	if (before == 0)
		assert_int_equal(seteuid(65534), 0);
	int status = store_open(folder, &s);
	if (before == 0)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(chmod(folder, 0700), 0);
	assert_int_equal(status, DXP_EACCESS);
}

/* Saves while a limit on file sizes models a full disk. */
static int save_on_a_full_disk(struct store *s, struct registry *r)
{
	struct rlimit before, tight;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	tight = (struct rlimit){4096, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
	int status = store_save(s, r);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	return status;
}

/* The node that a full table has forgotten is deleted once the disk has space again. */
static void store_save__deletes_after_a_full_disk(void **state)
{
	struct registry *r = registry_make();
	struct store_op op;
	struct store *s;

	assert_int_equal(store_open(folder, &s), DXP_OK);
	for (uint16_t id = 1; id <= FABRIC_NODES_MAX; id++) {
		op = node_op(id, NODE_GONE);
		assert_int_equal(registry_load(r, &op), DXP_OK);
	}
	registry_store_again(r);
	assert_int_equal(store_save(s, r), DXP_OK);
	op = node_op(FABRIC_NODES_MAX + 1, NODE_GONE);
	assert_int_equal(registry_load(r, &op), DXP_OK); /* forgets the first one */
	assert_int_equal(save_on_a_full_disk(s, r), DXP_EIO);
	assert_int_equal(store_save(s, r), DXP_OK);
	store_close(s);
	registry_destroy(r);
	r = registry_make();
	assert_int_equal(store_open(folder, &s), DXP_OK);
	assert_int_equal(store_load(s, r), DXP_OK);
	assert_int_equal(registry_node_count(r, NODE_GONE), FABRIC_NODES_MAX);
	assert_false(registry_next_store(r, &op)); /* the table was not overfull */
	registry_store_again(r);
	assert_true(registry_next_store(r, &op));
	assert_int_equal(op.kind, STORE_NODE_PUT);
	assert_int_equal(op.entry.id, 2);
	store_close(s);
	registry_destroy(r);
}

/* The save fails as a whole, and a later one succeeds. */
static void store_save__again_after_a_full_disk(void **state)
{
	struct registry *r = registry_make();
	struct store_op op;
	struct store *s;

	registry_fill(r);
	assert_int_equal(store_open(folder, &s), DXP_OK);
	assert_int_equal(save_on_a_full_disk(s, r), DXP_EIO);
	assert_int_equal(store_save(s, r), DXP_OK);
	assert_false(registry_next_store(r, &op));
	store_close(s);
	registry_destroy(r);
	r = registry_make();
	assert_int_equal(store_open(folder, &s), DXP_OK);
	assert_int_equal(store_load(s, r), DXP_OK);
	assert_int_equal(registry_node_count(r, NODE_DEAD), 1);
	store_close(s);
	registry_destroy(r);
}

int main(void)
{
#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, folder_make, scratch_folder_remove)
	const struct CMUnitTest tests[] = {
		IN_FOLDER(store_save__comes_back),
		IN_FOLDER(store_check__the_file_is_gone),
		IN_FOLDER(store_open__the_file_is_private),
		IN_FOLDER(store_open__a_second_manager_is_rejected),
		IN_FOLDER(store_open__garbage),
		IN_FOLDER(store_open__damaged_pages),
		IN_FOLDER(store_open__another_programs_database),
		IN_FOLDER(store_save__keys_come_back),
		IN_FOLDER(store_save__a_rotated_fabric_key_comes_back),
		IN_FOLDER(store_load__an_invalid_fabric_key),
		IN_FOLDER(store_save__a_rotated_manager_key_comes_back),
		IN_FOLDER(store_load__an_invalid_manager_key),
		IN_FOLDER(store_open__an_earlier_version),
		IN_FOLDER(store_open__a_later_version),
		IN_FOLDER(store_load__rows_that_cannot_be),
		IN_FOLDER(store_open__no_folder_there),
		IN_FOLDER(store_open__a_folder_we_may_not_write),
		IN_FOLDER(store_save__again_after_a_full_disk),
		IN_FOLDER(store_save__deletes_after_a_full_disk),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
