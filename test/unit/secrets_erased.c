/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that functions leave no secret on a stack that is searched afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/keyfile.h"
#include "host/config.h"
#include "keys/token.h"

#define STACK_BYTES ((size_t)4 << 20)
#define PART_BYTES  16 /* that count as found */
#define SECRET      "0123456789abcdefGHIJKLMNOPQRSTUV"

static char folder[64];
static char path[256];
static uint8_t key[KEYS_BYTES];
static struct token token = {.id = {1}, .secret = "a token's secret"};
static char token_text[TOKEN_TEXT_BYTES];
static struct token parsed;
static struct config config;

static int folder_make(void **state)
{
	snprintf(folder, sizeof(folder), "secrets-erased-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int folder_drop(void **state)
{
	static const char *const names[] = {"new.key", "node.key", "fabric.key", "manager",
					    "manager.pub"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	return rmdir(folder);
}

/* `bytes` of the secret on a stack of its own. */
static bool leaves(void (*work)(void), const void *secret, size_t bytes)
{
	uint8_t *stack =
		mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ucontext_t here, there;

	assert_true(stack != MAP_FAILED);
	assert_int_equal(getcontext(&there), 0);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = STACK_BYTES;
	there.uc_link = &here;
	makecontext(&there, work, 0);
	assert_int_equal(swapcontext(&here, &there), 0);
	const bool found = memmem(stack, STACK_BYTES, secret, bytes) != NULL;
	munmap(stack, STACK_BYTES);
	return found;
}

static void leave_one(void)
{
	volatile uint8_t copy[KEYS_BYTES];

	for (size_t i = 0; i < sizeof(copy); i++)
		copy[i] = (uint8_t)SECRET[i];
}

static void secrets_erased__the_search_works(void **state)
{
	assert_true(leaves(leave_one, SECRET, PART_BYTES));
}

static void key_read(void)
{
	assert_int_equal(keyfile_read(path, key), DXP_OK);
}

static void key_create(void)
{
	assert_int_equal(keyfile_create(path, key), DXP_OK);
}

static void key_write(void)
{
	assert_int_equal(keyfile_write(path, (const uint8_t *)SECRET), DXP_OK);
}

static void secrets_erased__key_files(void **state)
{
	char digits[] = "30313233343536373839616263646566";

	snprintf(path, sizeof(path), "%s/new.key", folder);
	assert_false(leaves(key_create, key, PART_BYTES));
	snprintf(path, sizeof(path), "%s/node.key", folder);
	assert_false(leaves(key_write, digits, PART_BYTES));
	assert_false(leaves(key_read, SECRET, PART_BYTES));
	assert_false(leaves(key_read, digits, PART_BYTES));
}

static void token_read(void)
{
	assert_true(token_parse(token_text, &parsed));
}

static void psk_make(void)
{
	assert_true(token_psk(&token, key));
}

static void secrets_erased__tokens(void **state)
{
	token_format(&token, token_text);
	assert_false(leaves(token_read, token.secret, PART_BYTES));
	assert_false(leaves(psk_make, token.secret, PART_BYTES));
	assert_memory_equal(token.secret, parsed.secret, sizeof(token.secret));
}

static void text_write(const char *name, const char *text)
{
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void config_read(void)
{
	const struct dxp_fabric_options options = {.directory = folder, .name = "reader"};

	assert_int_equal(config_resolve(&options, &config), DXP_OK);
	assert_true(config.keyed);
}

/* The keys of a fabric that `dxp join` has joined. */
static void secrets_erased__configurations(void **state)
{
	static const uint8_t fabric[KEYS_BYTES] = "the key of a fabric, 32 bytes...";
	uint8_t manager[KEYS_BYTES];
	char text[KEY_TEXT_BYTES];

	assert_true(keys_public((const uint8_t *)"another private key, of a manag", manager));
	text_write("manager.pub", key_format(manager, text));
	text_write("manager", "127.0.0.1:9\n");
	snprintf(path, sizeof(path), "%s/node.key", folder);
	assert_int_equal(keyfile_write(path, (const uint8_t *)SECRET), DXP_OK);
	snprintf(path, sizeof(path), "%s/fabric.key", folder);
	assert_int_equal(keyfile_write(path, fabric), DXP_OK);
	assert_false(leaves(config_read, SECRET, PART_BYTES));
	assert_false(leaves(config_read, fabric, PART_BYTES));
	assert_false(leaves(config_read, config.identity.pair, PART_BYTES));
	assert_memory_equal(config.key, fabric, sizeof(fabric));
}

int main(void)
{
#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, folder_make, folder_drop)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(secrets_erased__the_search_works),
		IN_FOLDER(secrets_erased__key_files),
		IN_FOLDER(secrets_erased__tokens),
		IN_FOLDER(secrets_erased__configurations),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
