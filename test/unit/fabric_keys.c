/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the fabric keys of a node: which one sends and which are accepted at each time of a
 * rotation, the file, and failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/keyfile.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/util.h"
#include "node/fabric_keys.h"
#include "wire/probe.h"

static const uint8_t old[FABRIC_KEY_BYTES] = {1}, new[FABRIC_KEY_BYTES] = {2};
static char folder[64], file[96];
static int failing; /* the call of this number fails; 0: none */

int __real_mac_create(const uint8_t key[FABRIC_KEY_BYTES], struct mac **out);
int __wrap_mac_create(const uint8_t key[FABRIC_KEY_BYTES], struct mac **out);
int __wrap_mac_create(const uint8_t key[FABRIC_KEY_BYTES], struct mac **out)
{
	return failing && --failing == 0 ? DXP_ENOMEM : __real_mac_create(key, out);
}

int __real_seal_rekey(struct seal *s, const uint8_t *present, const uint8_t *former,
		      bool send_former);
int __wrap_seal_rekey(struct seal *s, const uint8_t *present, const uint8_t *former,
		      bool send_former);
int __wrap_seal_rekey(struct seal *s, const uint8_t *present, const uint8_t *former,
		      bool send_former)
{
	return failing && --failing == 0 ? DXP_ENOMEM
					 : __real_seal_rekey(s, present, former, send_former);
}

static struct seal *seal_make(void)
{
	const struct seal_options options = {.fabric_key = old, .entropy = rng_entropy_kernel};
	struct seal *s;

	assert_int_equal(seal_create(&options, &s), DXP_OK);
	return s;
}

static struct member_rekey rekey_make(uint64_t use_ns, uint64_t former_until_ns)
{
	struct member_rekey r = {
		.generation = 1, .use_ns = use_ns, .former_until_ns = former_until_ns};

	memcpy(r.key, new, sizeof(r.key));
	return r;
}

/* Fails unless the key `which` is this one; NULL: there is none. */
static void key_check(const struct fabric_keys *k, enum rltp_key which, const uint8_t *key)
{
	uint8_t expected[MAC_BYTES], got[MAC_BYTES];
	struct mac *mac = fabric_keys_mac(k, which), *own;

	assert_int_equal(mac != NULL, key != NULL);
	if (!key)
		return;
	assert_int_equal(__real_mac_create(key, &own), DXP_OK);
	mac_compute(own, "text", 4, NULL, 0, expected);
	mac_compute(mac, "text", 4, NULL, 0, got);
	assert_memory_equal(expected, got, sizeof(got));
	mac_destroy(own);
}

static void keys_check(const struct fabric_keys *k, const uint8_t *send, const uint8_t *present,
		       const uint8_t *former)
{
	key_check(k, RLTP_KEY_SEND, send);
	key_check(k, RLTP_KEY_PRESENT, present);
	key_check(k, RLTP_KEY_FORMER, former);
}

static void fabric_keys__steps_of_a_rotation(void **state)
{
	const struct member_rekey r = rekey_make(20, 100);
	struct seal *seal = seal_make();
	struct fabric_keys k = {0};

	assert_int_equal(fabric_keys_start(&k, old, NULL), DXP_OK);
	keys_check(&k, old, old, NULL);
	assert_true(fabric_keys_deadline(&k) == UINT64_MAX);
	assert_int_equal(fabric_keys_rekey(&k, seal, &r, "n", 10), DXP_OK);
	keys_check(&k, old, new, old);
	assert_true(fabric_keys_deadline(&k) == 20);
	fabric_keys_advance(&k, seal, 19);
	fabric_keys_advance(&k, seal, 20);
	keys_check(&k, new, new, old);
	assert_true(fabric_keys_deadline(&k) == 100);
	fabric_keys_advance(&k, seal, 99);
	keys_check(&k, new, new, old);
	fabric_keys_advance(&k, seal, 100);
	keys_check(&k, new, new, NULL);
	assert_true(fabric_keys_deadline(&k) == UINT64_MAX);
	/* the same key again, as after a restart with a file that has it */
	assert_int_equal(fabric_keys_rekey(&k, seal, &r, "n", 200), DXP_OK);
	keys_check(&k, new, new, NULL);
	fabric_keys_end(&k);
	seal_destroy(seal);
}

static void fabric_keys__without_an_overlap(void **state)
{
	const struct member_rekey r = rekey_make(10, 10);
	struct seal *seal = seal_make();
	struct fabric_keys k = {0};

	assert_int_equal(fabric_keys_start(&k, old, NULL), DXP_OK);
	assert_int_equal(fabric_keys_rekey(&k, seal, &r, "n", 10), DXP_OK);
	assert_true(fabric_keys_deadline(&k) <= 10);
	fabric_keys_advance(&k, seal, 10);
	keys_check(&k, new, new, NULL);
	fabric_keys_end(&k);
	seal_destroy(seal);
}

/* A PROBE by either key finds it; one by another key is left to the present one. */
static void fabric_keys__match_of_a_frame(void **state)
{
	const uint8_t other[FABRIC_KEY_BYTES] = {3};
	const uint8_t *const keys[] = {old, new, other};
	const struct member_rekey r = rekey_make(20, 100);
	struct seal *seal = seal_make();
	struct fabric_keys k = {0};
	uint8_t frame[PROBE_BYTES_MAX];

	assert_int_equal(fabric_keys_start(&k, old, NULL), DXP_OK);
	assert_int_equal(fabric_keys_rekey(&k, seal, &r, "n", 10), DXP_OK);
	for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
		struct mac *mac;
		assert_int_equal(__real_mac_create(keys[i], &mac), DXP_OK);
		const struct datagram_arrival a = {
			.data = frame, .bytes = probe_encode(1, PROBE_BYTES_MIN, 1, 2, mac, frame)};
		assert_ptr_equal(fabric_keys_match(&k, &a), i == 0 ? k.former : k.present);
		mac_destroy(mac);
	}
	fabric_keys_end(&k);
	seal_destroy(seal);
}

static void fabric_keys__the_file(void **state)
{
	const struct member_rekey r = rekey_make(20, 100);
	struct seal *seal = seal_make();
	uint8_t stored[FABRIC_KEY_BYTES];

	for (int writable = 1; writable >= 0; writable--) {
		struct fabric_keys k = {0};
		assert_int_equal(keyfile_write(file, old), DXP_OK);
		assert_int_equal(chmod(folder, writable ? 0700 : 0500), 0);
		assert_int_equal(fabric_keys_start(&k, old, file), DXP_OK);
		assert_int_equal(fabric_keys_rekey(&k, seal, &r, "n", 10), DXP_OK);
		keys_check(&k, old, new, old);
		assert_int_equal(chmod(folder, 0700), 0);
		assert_int_equal(keyfile_read(file, stored), DXP_OK);
		if (writable || geteuid() == 0)
			assert_memory_equal(stored, new, sizeof(stored));
		else
			assert_memory_equal(stored, old, sizeof(stored));
		fabric_keys_end(&k);
	}
	seal_destroy(seal);
}

/* Without memory the present key stays, and steps that are due are repeated. */
static void fabric_keys__each_call_fails_once(void **state)
{
	const struct member_rekey r = rekey_make(20, 100);
	struct seal *seal = seal_make();
	struct fabric_keys k = {0};

	failing = 1;
	assert_int_equal(fabric_keys_start(&k, old, file), DXP_ENOMEM);
	fabric_keys_end(&k);
	assert_int_equal(fabric_keys_start(&k, old, NULL), DXP_OK);
	for (int call = 1; call <= 2; call++) {
		failing = call;
		assert_int_equal(fabric_keys_rekey(&k, seal, &r, "n", 10), DXP_ENOMEM);
		keys_check(&k, old, old, NULL);
		assert_true(fabric_keys_deadline(&k) == UINT64_MAX);
	}
	assert_int_equal(fabric_keys_rekey(&k, seal, &r, "n", 10), DXP_OK);
	failing = 1;
	fabric_keys_advance(&k, seal, 20);
	keys_check(&k, old, new, old);
	fabric_keys_advance(&k, seal, 21);
	failing = 1;
	fabric_keys_advance(&k, seal, 100);
	keys_check(&k, new, new, old);
	assert_true(fabric_keys_deadline(&k) == 100);
	fabric_keys_advance(&k, seal, 101);
	keys_check(&k, new, new, NULL);
	fabric_keys_end(&k);
	seal_destroy(seal);
}

static int folder_make(void **state)
{
	snprintf(folder, sizeof(folder), "fabric-keys-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(file, sizeof(file), "%s/fabric.key", folder);
	return 0;
}

static int scratch_folder_remove(void **state)
{
	unlink(file);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fabric_keys__steps_of_a_rotation),
		cmocka_unit_test(fabric_keys__without_an_overlap),
		cmocka_unit_test(fabric_keys__match_of_a_frame),
		cmocka_unit_test(fabric_keys__the_file),
		cmocka_unit_test(fabric_keys__each_call_fails_once),
	};
	return cmocka_run_group_tests(tests, folder_make, scratch_folder_remove);
}
