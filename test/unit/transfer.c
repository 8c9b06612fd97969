/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the move of a registry between SQLite and etcd: both ways, interrupted, into stores that
 * are not empty, from damaged files. */
#include "test/unit/etcd_rig.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/keyfile.h"
#include "manager/limits.h"
#include "manager/transfer.h"

static char folder[64], file[96];
static struct server_options options;

static int folder_make(void **state)
{
	snprintf(folder, sizeof(folder), "transfer-test-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(file, sizeof(file), "%s/export", folder);
	options = (struct server_options){.state_folder = folder, .policy = GRANTS_EXPLICIT};
	memset(options.key, 7, sizeof(options.key)); /* the key of manager_open */
	return 0;
}

static void store_remove(void)
{
	static const char *const names[] = {"manager.db", "manager.db-wal", "manager.db-shm",
					    "manager.key"};
	char path[128];

	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
}

static int folder_remove(void **state)
{
	store_remove();
	unlink(file);
	return rmdir(folder);
}

static void events_add(struct registry *r, unsigned count)
{
	struct event_journal *l = registry_events(r);

	for (unsigned i = 0; i < count; i++)
		event_journal_add(l, l->next, EVENT_JOINED, "a\xff", "%u", i);
}

static uint64_t events_count(struct registry *r)
{
	return registry_events(r)->next - registry_events(r)->first;
}

/* Puts a registry with many rows into SQLite. Returns its rows as text. */
static char *sqlite_fill(void)
{
	struct registry *r = registry_make();
	uint8_t key[KEYS_BYTES];
	struct store *s;

	assert_int_equal(store_open(folder, &s), DXP_OK);
	assert_int_equal(store_private_key(s, key), DXP_OK);
	registry_fill(r, 300);
	events_add(r, 40);
	assert_int_equal(store_save(s, r), DXP_OK);
	char *text = registry_text(r);
	registry_destroy(r);
	store_close(s);
	return text;
}

static void file_text(char **out)
{
	FILE *f = fopen(file, "re");
	size_t bytes;

	assert_non_null(f);
	*out = NULL;
	assert_true(getdelim(out, &(size_t){0}, '\0', f) > 0);
	bytes = strlen(*out);
	assert_true(bytes > 0);
	fclose(f);
}

/* Opens a store in etcd for an import, and makes it active. */
static struct store *import_open(struct fake_client *c, struct store_import *import)
{
	struct store_etcd_options o = {
		.address = "import", .transport = fake_transport(c), .import = import};
	struct store *s;

	assert_int_equal(etcd_place_parse("etcd://a:1,b:2", &o.place), DXP_OK);
	memcpy(o.fabric_key, options.key, sizeof(o.fabric_key));
	assert_int_equal(store_etcd_open(&o, &s), DXP_OK);
	assert_true(becomes_active(c, s, 2 * LEASE_NS));
	return s;
}

/* SQLite to etcd, and back into another SQLite. */
static void transfer__round_trip(void **state)
{
	struct fake_etcd *e = etcd_make();
	struct fake_client c = {.etcd = e};
	char *rows = sqlite_fill(), *text;
	struct transfer t;
	struct stat st;
	uint8_t key[KEYS_BYTES];

	assert_int_equal(transfer_export(&options, file, &t), DXP_OK);
	assert_int_equal(t.nodes, 300);
	assert_int_equal(t.keys, 1);
	assert_int_equal(t.tokens, 1);
	assert_int_equal(t.grants, 1);
	assert_int_equal(t.events, 40);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(transfer_export(&options, file, &t), DXP_EEXIST);
	file_text(&text);

	struct transfer in = {.registry = registry_make()};
	assert_int_equal(transfer_read(text, options.key, &in), DXP_OK);
	struct store_import import = {
		.private_key = in.private_key, .version = 1000, .digest = "d"};
	struct store *s = import_open(&c, &import);
	assert_int_equal(transfer_empty(s, &import), DXP_OK);
	assert_int_equal(transfer_save(&in, s, &import), DXP_OK);
	assert_null(fake_value(e, "/dxp/dxp/importing"));
	assert_int_equal(store_private_key(s, key), DXP_OK);
	assert_memory_equal(key, in.private_key, KEYS_BYTES);
	registry_destroy(in.registry);

	struct transfer out = {.registry = registry_make()};
	assert_int_equal(store_load(s, out.registry), DXP_OK);
	char *there = registry_text(out.registry);
	assert_string_equal(there, rows);
	assert_int_equal(events_count(out.registry), 40);
	out.version = store_version(s);
	assert_true(out.version > 1000); /* transactions go on from there */
	assert_int_equal(transfer_empty(s, NULL), DXP_EEXIST);
	memcpy(out.private_key, key, sizeof(key));
	char *second = transfer_write(&out, options.key);
	store_close(s);
	store_remove();
	unlink(file);
	FILE *f = fopen(file, "we");
	fputs(second, f);
	fclose(f);
	assert_int_equal(transfer_import(&options, file, &t), DXP_OK);
	assert_int_equal(t.version, out.version);
	assert_int_equal(store_open(folder, &s), DXP_OK);
	struct registry *back = registry_make();
	assert_int_equal(store_load(s, back), DXP_OK);
	char *again = registry_text(back);
	assert_string_equal(again, rows);
	assert_int_equal(events_count(back), 40);
	assert_int_equal(store_private_key(s, key), DXP_OK);
	assert_memory_equal(key, out.private_key, KEYS_BYTES);
	store_close(s);
	registry_destroy(back);
	registry_destroy(out.registry);
	free(rows);
	free(text);
	free(there);
	free(second);
	free(again);
	etcd_free(e);
}

static enum fake_fault after_some(struct fake_client *c, const char *path)
{
	unsigned *left = c->context;

	return strcmp(path, "/v3/kv/txn") == 0 && (*left == 0 || (*left)-- == 0) ? FAKE_DROPPED
										 : FAKE_NONE;
}

/* An import that ends after each of its transactions: no manager uses the fabric, the same file
 * completes it, and another file is refused. */
static void transfer__interrupted(void **state)
{
	char *rows = sqlite_fill(), *text;
	struct transfer t;

	assert_int_equal(transfer_export(&options, file, &t), DXP_OK);
	file_text(&text);
	for (unsigned transactions = 1; transactions < 6; transactions++) {
		struct fake_etcd *e = etcd_make();
		unsigned left = transactions;
		struct fake_client c = {.etcd = e, .context = &left};
		struct transfer in = {.registry = registry_make()};
		assert_int_equal(transfer_read(text, options.key, &in), DXP_OK);
		struct store_import import = {.private_key = in.private_key, .digest = "d"};
		struct store *s = import_open(&c, &import);
		assert_int_equal(transfer_empty(s, &import), DXP_OK);
		c.fault = after_some;
		assert_int_equal(transfer_save(&in, s, &import), DXP_EIO);
		c.fault = NULL;
		store_close(s);
		registry_destroy(in.registry);

		struct registry *r = registry_make();
		s = manager_open(&c);
		assert_true(becomes_active(&c, s, 2 * LEASE_NS));
		assert_int_equal(store_load(s, r), DXP_EUNSUPPORTED);
		registry_destroy(r);
		store_close(s);
		struct store_import other = {.digest = "other"};
		s = import_open(&c, &other);
		assert_int_equal(transfer_empty(s, &other), DXP_EUNSUPPORTED);
		store_close(s);

		in = (struct transfer){.registry = registry_make()};
		assert_int_equal(transfer_read(text, options.key, &in), DXP_OK);
		s = import_open(&c, &import);
		assert_int_equal(transfer_empty(s, &import), DXP_OK);
		assert_true(import.resumed);
		assert_int_equal(transfer_save(&in, s, &import), DXP_OK);
		r = registry_make();
		assert_int_equal(store_load(s, r), DXP_OK);
		char *there = registry_text(r);
		assert_string_equal(there, rows);
		free(there);
		registry_destroy(r);
		registry_destroy(in.registry);
		store_close(s);
		etcd_free(e);
	}
	free(rows);
	free(text);
}

static void transfer_export__without_a_store(void **state)
{
	struct transfer t;
	struct store *s;

	assert_int_equal(transfer_export(&options, file, &t), DXP_ENOENT);
	assert_int_not_equal(access(file, F_OK), 0);
	free(sqlite_fill());
	assert_int_equal(store_open(folder, &s), DXP_OK); /* as a running manager */
	assert_int_equal(transfer_export(&options, file, &t), DXP_EBUSY);
	store_close(s);
	assert_int_not_equal(access(file, F_OK), 0);
}

static void transfer_import__refuses(void **state)
{
	char *rows = sqlite_fill(), path[128];
	uint8_t key[KEYS_BYTES];
	struct transfer t;
	struct store *s;

	assert_int_equal(transfer_import(&options, file, &t), DXP_ENOENT);
	assert_int_equal(transfer_export(&options, file, &t), DXP_OK);
	assert_int_equal(transfer_import(&options, file, &t), DXP_EEXIST); /* not empty */
	options.key[0] ^= 1;
	assert_int_equal(transfer_import(&options, file, &t), DXP_EMALFORMED);
	options.key[0] ^= 1;
	store_remove();
	assert_int_equal(store_open(folder, &s), DXP_OK);
	assert_int_equal(transfer_import(&options, file, &t), DXP_EBUSY);
	store_close(s);
	snprintf(path, sizeof(path), "%s/manager.key", folder); /* of another fabric */
	assert_int_equal(keyfile_create(path, key), DXP_OK);
	assert_int_equal(transfer_import(&options, file, &t), DXP_EEXIST);
	unlink(path);
	assert_int_equal(transfer_import(&options, file, &t), DXP_OK);
	assert_int_equal(t.nodes, 300);
	free(rows);
}

/* Puts this many events into SQLite. */
static void sqlite_events(unsigned count)
{
	struct registry_options o = {.events = FABRIC_EVENTS_MAX, .entropy = rng_entropy_kernel};
	struct registry *r;
	uint8_t key[KEYS_BYTES];
	struct store *s;

	assert_int_equal(registry_create(&o, &r), DXP_OK);
	assert_int_equal(store_open(folder, &s), DXP_OK);
	assert_int_equal(store_private_key(s, key), DXP_OK);
	registry_fill(r, 1);
	events_add(r, count);
	assert_int_equal(store_save(s, r), DXP_OK);
	store_close(s);
	registry_destroy(r);
}

/* The size of the log of the manager that imports or exports does not matter. etcd keeps the newest
 * events, and the others are counted. */
static void transfer__many_events(void **state)
{
	const unsigned count = ETCD_EVENTS_MAX + 3000;
	struct fake_etcd *e = etcd_make();
	struct fake_client c = {.etcd = e};
	struct transfer t;
	char *text;

	sqlite_events(count);
	options.events = FABRIC_EVENTS_MIN;
	assert_int_equal(transfer_export(&options, file, &t), DXP_OK);
	assert_int_equal(t.events, count);
	store_remove();
	assert_int_equal(transfer_import(&options, file, &t), DXP_OK);
	assert_int_equal(t.events, count);
	assert_int_equal(t.events_left_out, 0);
	unlink(file);
	assert_int_equal(transfer_export(&options, file, &t), DXP_OK);
	assert_int_equal(t.events, count);

	file_text(&text);
	struct registry_options o = {.events = FABRIC_EVENTS_MAX, .entropy = rng_entropy_kernel};
	struct transfer in = {0};
	assert_int_equal(registry_create(&o, &in.registry), DXP_OK);
	assert_int_equal(transfer_read(text, options.key, &in), DXP_OK);
	struct store_import import = {.private_key = in.private_key, .digest = "d"};
	struct store *s = import_open(&c, &import);
	assert_int_equal(transfer_empty(s, &import), DXP_OK);
	assert_int_equal(transfer_save(&in, s, &import), DXP_OK);
	assert_int_equal(in.events_left_out, 3000);
	registry_destroy(in.registry);
	assert_int_equal(registry_create(&o, &in.registry), DXP_OK);
	assert_int_equal(store_load(s, in.registry), DXP_OK);
	assert_int_equal(events_count(in.registry), ETCD_EVENTS_MAX);
	assert_int_equal(registry_events(in.registry)->first, 3001);
	registry_destroy(in.registry);
	store_close(s);
	etcd_free(e);
	free(text);
}

/* The disk is full: an import writes all or nothing, and can be repeated. */
static void transfer_import__full_disk(void **state)
{
	struct rlimit before, tight;
	struct transfer t;
	char path[128];
	struct stat st;

	signal(SIGXFSZ, SIG_IGN);
	sqlite_events(20000);
	assert_int_equal(transfer_export(&options, file, &t), DXP_OK);
	store_remove();
	free(sqlite_fill()); /* the size of a database with the rows but few events */
	snprintf(path, sizeof(path), "%s/manager.db", folder);
	assert_int_equal(stat(path, &st), 0);
	store_remove();
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	tight = (struct rlimit){4 * (rlim_t)st.st_size, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
	const int status = transfer_import(&options, file, &t);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(status, DXP_EIO);
	assert_int_equal(transfer_import(&options, file, &t), DXP_OK);
	assert_int_equal(t.events, 20000);
	assert_int_equal(t.nodes, 1);
}

/* Without manager.key an export would have a new key, and no machine would accept its managers. */
static void transfer_export__without_the_managers_key(void **state)
{
	struct transfer t;
	char path[128];

	free(sqlite_fill());
	snprintf(path, sizeof(path), "%s/manager.key", folder);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(transfer_export(&options, file, &t), DXP_ENOENT);
	assert_int_not_equal(access(path, F_OK), 0);
	assert_int_not_equal(access(file, F_OK), 0);
}

/* Shorter files, and some with a wrong member, are refused. */
static void transfer_read__damaged(void **state)
{
	static const char *const bad[] = {
		"", "[]", "{}", "{\"dxp_registry\":1}",
		"{\"dxp_registry\":1,\"check\":\"x\",\"private_key\":\"x\",\"version\":\"0\"}"};
	struct transfer t = {.registry = registry_make()};

	registry_fill(t.registry, 2);
	events_add(t.registry, 3);
	char *text = transfer_write(&t, options.key);
	assert_non_null(text);
	registry_destroy(t.registry);
	for (size_t n = 0; n < strlen(text); n += 13) {
		char *part = strndup(text, n);
		t = (struct transfer){.registry = registry_make()};
		assert_int_equal(transfer_read(part, options.key, &t), DXP_EMALFORMED);
		registry_destroy(t.registry);
		free(part);
	}
	for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
		t = (struct transfer){.registry = registry_make()};
		assert_int_equal(transfer_read(bad[i], options.key, &t), DXP_EMALFORMED);
		registry_destroy(t.registry);
	}
	t = (struct transfer){.registry = registry_make()};
	assert_int_equal(transfer_read("{\"dxp_registry\":2}", options.key, &t), DXP_EUNSUPPORTED);
	registry_destroy(t.registry);
	free(text);
}

int main(void)
{
#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, folder_make, folder_remove)
	const struct CMUnitTest tests[] = {
		IN_FOLDER(transfer__round_trip),
		IN_FOLDER(transfer__interrupted),
		IN_FOLDER(transfer_export__without_a_store),
		IN_FOLDER(transfer_import__refuses),
		IN_FOLDER(transfer__many_events),
		IN_FOLDER(transfer_import__full_disk),
		IN_FOLDER(transfer_export__without_the_managers_key),
		IN_FOLDER(transfer_read__damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
