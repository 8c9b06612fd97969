/* SPDX-License-Identifier: BSD-3-Clause */
/* Attacks by binaries: a node loads only an unchanged one of its own. Skipped without OpenCL. */
#include "test/unit/slot_workers_rig.h"

#include <CL/cl.h>

#include "engine/ocl_pack.h"
#include "engine/seal.h"

/* `data` is allocated by binary_fetch. */
struct binary {
	uint8_t *data;
	size_t bytes;
};

static struct binary binary_fetch(const struct guest *g)
{
	struct binary b;
	void *data;

	ok(dxp_program_binary(g->program, &data, &b.bytes));
	b.data = data;
	return b;
}

static int load(const struct guest *g, const uint8_t *data, size_t bytes, struct dxp_program **out)
{
	const struct dxp_file file = {.name = "binary", .data = data, .bytes = bytes};
	const struct dxp_program_source s = {
		.kind = DXP_PROGRAM_BINARY, .options = "", .files = &file, .file_count = 1};

	return dxp_program_create(g->xpu, &s, out);
}

/* The node rejects these bytes with a reason, before its OpenCL loader. */
static void rejected(const struct guest *g, const uint8_t *data, size_t bytes)
{
	struct dxp_program *p = NULL;

	assert_int_equal(load(g, data, bytes, &p), DXP_EBUILD);
	assert_int_equal(dxp_program_native(p), CL_INVALID_BINARY);
	assert_non_null(strstr(dxp_program_log(p), "build the program from source"));
	dxp_program_release(p);
}

/* The node loads this binary, and its kernel works. */
static void accepted(struct guest *g, const struct binary *b)
{
	struct dxp_program *own = g->program, *loaded;
	const uint32_t before = word(g);

	ok(load(g, b->data, b->bytes, &loaded));
	g->program = loaded;
	ok(end(g, add(g, 5, NULL)));
	assert_int_equal(word(g), before + 5);
	g->program = own;
	dxp_program_release(loaded);
}

static void binary__of_this_node_loads(void **state)
{
	struct guest g = guest_open("owner"), other = guest_open("other");
	struct binary b = binary_fetch(&g);

	accepted(&g, &b);
	accepted(&other, &b); /* a second host may load a binary made for another */
	free(b.data);
	guest_close(&other);
	guest_close(&g);
}

/* Any host can make a binary with a valid checksum but no seal. */
static void binary__without_seal_is_rejected(void **state)
{
	struct guest g = guest_open("forger");
	struct binary b = binary_fetch(&g);
	size_t bytes = seal_skip(b.data, b.bytes);
	struct ocl_pack pack;

	assert_int_equal(bytes, b.bytes - SEAL_BYTES);
	assert_null(ocl_pack_read(b.data, bytes, &pack));
	rejected(&g, b.data, bytes);
	free(b.data);
	guest_close(&g);
}

/* A hostile file, a new checksum and the old seal are rejected. */
static void binary__repacked_is_rejected(void **state)
{
	struct guest g = guest_open("forger");
	struct binary b = binary_fetch(&g);
	struct ocl_pack pack;
	size_t bytes;

	assert_null(ocl_pack_read(b.data, b.bytes - SEAL_BYTES, &pack));
	uint8_t *inner = malloc(pack.binary_bytes);
	assert_non_null(inner);
	memcpy(inner, pack.binary, pack.binary_bytes);
	inner[pack.binary_bytes / 2] ^= 1;
	pack.binary = inner;
	uint8_t *again = ocl_pack_make(&pack, &bytes);
	assert_non_null(again);
	assert_int_equal(bytes, b.bytes - SEAL_BYTES);
	memcpy(b.data, again, bytes);
	rejected(&g, b.data, b.bytes);
	free(again);
	free(inner);
	free(b.data);
	guest_close(&g);
}

static void binary__of_another_node_is_rejected(void **state)
{
	struct guest g = guest_open("visitor");
	struct binary b = binary_fetch(&g);
	const uint8_t key[FABRIC_KEY_BYTES] = {1};
	struct mac *other;

	ok(mac_create(key, &other));
	seal_make(other, b.data, b.bytes - SEAL_BYTES, b.data + b.bytes - SEAL_BYTES);
	rejected(&g, b.data, b.bytes);
	mac_destroy(other);
	free(b.data);
	guest_close(&g);
}

/* Hosts know the fabric key, so the node seals with a key of its own. */
static void binary__sealed_by_the_fabric_key_is_rejected(void **state)
{
	struct guest g = guest_open("forger");
	struct binary b = binary_fetch(&g);
	struct mac *fabric;

	ok(mac_create(w.key, &fabric));
	seal_make(fabric, b.data, b.bytes - SEAL_BYTES, b.data + b.bytes - SEAL_BYTES);
	rejected(&g, b.data, b.bytes);
	mac_destroy(fabric);
	free(b.data);
	guest_close(&g);
}

/* Bits spread over the binary; test/unit/seal.c flips every bit of a short text. */
static void binary__with_a_changed_bit_is_rejected(void **state)
{
	struct guest g = guest_open("flipper");
	struct binary b = binary_fetch(&g);
	const size_t step = b.bytes / 40 + 1;

	for (size_t at = 0; at < b.bytes; at += at + SEAL_BYTES < b.bytes ? step : 1) {
		b.data[at] ^= 0x10;
		rejected(&g, b.data, b.bytes);
		b.data[at] ^= 0x10;
	}
	accepted(&g, &b);
	free(b.data);
	guest_close(&g);
}

static void binary__of_another_length_is_rejected(void **state)
{
	struct guest g = guest_open("cutter");
	struct binary b = binary_fetch(&g);
	const size_t lengths[] = {1, SEAL_BYTES - 1, SEAL_BYTES, b.bytes / 2, b.bytes - 1};
	uint8_t *longer = calloc(1, b.bytes + 1);

	for (size_t i = 0; i < ARRAY_COUNT(lengths); i++)
		rejected(&g, b.data, lengths[i]);
	assert_non_null(longer);
	memcpy(longer, b.data, b.bytes);
	rejected(&g, longer, b.bytes + 1);
	free(longer);
	free(b.data);
	guest_close(&g);
}

static void key_path(char out[128])
{
	snprintf(out, 128, "%s/binaries.key", w.folder);
}

static void daemon_restart(void)
{
	test_daemon_close(&w.ocl);
	ok(world_reopen());
}

/* A node with a state folder accepts its own binaries after a restart; another key rejects them. */
static void binary__after_a_restart(void **state)
{
	struct guest g = guest_open("first");
	struct binary b = binary_fetch(&g);
	char path[128];
	struct stat s;

	guest_close(&g);
	daemon_restart();
	g = guest_open("second");
	accepted(&g, &b);
	guest_close(&g);
	key_path(path);
	assert_int_equal(stat(path, &s), 0);
	assert_int_equal(s.st_mode & 07777, 0600);
	assert_int_equal(unlink(path), 0);
	daemon_restart();
	g = guest_open("third");
	rejected(&g, b.data, b.bytes);
	guest_close(&g);
	free(b.data);
}

/* A node with a damaged key file does not start, and reports why. */
static void key__damaged_is_an_error(void **state)
{
	char path[128];

	test_daemon_close(&w.ocl);
	key_path(path);
	assert_int_equal(unlink(path), 0);
	daemons_file(&w, "binaries.key", "not a key\n");
	assert_int_equal(world_reopen(), DXP_EMALFORMED);
	assert_int_equal(unlink(path), 0);
	ok(world_reopen());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(binary__of_this_node_loads),
		TEST(binary__without_seal_is_rejected),
		TEST(binary__repacked_is_rejected),
		TEST(binary__of_another_node_is_rejected),
		TEST(binary__sealed_by_the_fabric_key_is_rejected),
		TEST(binary__with_a_changed_bit_is_rejected),
		TEST(binary__of_another_length_is_rejected),
		TEST(binary__after_a_restart),
		TEST(key__damaged_is_an_error),
	};

	if (!daemons_opencl()) {
		printf("skipped: no OpenCL device that works in host memory\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, world_open, world_close);
}
