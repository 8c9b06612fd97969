/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests where the host library searches a fabric's settings, and its messages without them. */
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

#include "base/keyfile.h"
#include "base/util.h"
#include "host/config.h"
#include "host/context.h"
#include "wire/ids.h"

static char folder[] = "host-config-XXXXXX";
static char manager[64], key[64];

static void has_text(const char *part)
{
	if (!strstr(dxp_fabric_error(NULL), part))
		fail_msg("'%s' says nothing of '%s'", dxp_fabric_error(NULL), part);
}

static void manager_put(const char *text)
{
	FILE *file = fopen(manager, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int folder_make(void **state)
{
	uint8_t secret[FABRIC_KEY_BYTES];

	if (!mkdtemp(folder))
		return -1;
	snprintf(manager, sizeof(manager), "%s/manager", folder);
	snprintf(key, sizeof(key), "%s/fabric.key", folder);
	return keyfile_create(key, secret);
}

static int folder_drop(void **state)
{
	unlink(manager);
	unlink(key);
	return rmdir(folder);
}

static void config__directory_order(void **state)
{
	char out[CONFIG_PATH_BYTES];

	setenv("DXP_DIR", "/a", 1);
	setenv("XDG_STATE_HOME", "/b", 1);
	setenv("HOME", "/c", 1);
	assert_int_equal(config_directory("/given", out, sizeof(out)), DXP_OK);
	assert_string_equal(out, "/given");
	assert_int_equal(config_directory(NULL, out, sizeof(out)), DXP_OK);
	assert_string_equal(out, "/a");
	setenv("DXP_DIR", "", 1);
	assert_int_equal(config_directory(NULL, out, sizeof(out)), DXP_OK);
	assert_string_equal(out, "/b/dxp");
	unsetenv("XDG_STATE_HOME");
	assert_int_equal(config_directory(NULL, out, sizeof(out)), DXP_OK);
	assert_string_equal(out, "/c/.local/state/dxp");
	assert_int_equal(config_directory(NULL, out, 8), DXP_EINVAL);
	unsetenv("HOME");
	assert_int_equal(config_directory(NULL, out, sizeof(out)), DXP_ENOENT);
}

/* Makes the state folder of a user whose context `lab` is a link to another folder. */
static void contexts_make(char base[64])
{
	char path[128];

	snprintf(base, 64, "%s/state", folder);
	setenv("XDG_STATE_HOME", base, 1);
	assert_int_equal(mkdir(base, 0700), 0);
	snprintf(path, sizeof(path), "%s/dxp", base);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/dxp/fabrics", base);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/dxp/fabrics/lab", base);
	assert_int_equal(symlink("/tmp", path), 0);
}

static void contexts_drop(const char *base)
{
	static const char *const files[] = {"/dxp/fabrics/lab", "/dxp/context"};
	static const char *const folders[] = {"/dxp/fabrics", "/dxp", ""};
	char path[128];

	for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
		snprintf(path, sizeof(path), "%s%s", base, files[i]);
		unlink(path);
	}
	for (size_t i = 0; i < ARRAY_COUNT(folders); i++) {
		snprintf(path, sizeof(path), "%s%s", base, folders[i]);
		assert_int_equal(rmdir(path), 0);
	}
	unsetenv("XDG_STATE_HOME");
}

static void selection_put(const char *base, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/dxp/context", base);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* Fails unless this is the folder that the library finds without options. */
static void found(const char *base, const char *wanted)
{
	char out[CONFIG_PATH_BYTES], path[128];

	snprintf(path, sizeof(path), "%s%s", wanted[0] == '+' ? base : "",
		 wanted + (wanted[0] == '+'));
	assert_int_equal(config_directory(NULL, out, sizeof(out)), DXP_OK);
	assert_string_equal(out, path);
}

static void config__context_order(void **state)
{
	char base[64], out[CONFIG_PATH_BYTES], name[FABRIC_NAME_BYTES];

	unsetenv("DXP_DIR");
	contexts_make(base);
	found(base, "+/dxp");
	selection_put(base, "lab\n");
	found(base, "+/dxp/fabrics/lab");
	setenv("DXP_CONTEXT", "default", 1);
	found(base, "+/dxp");
	setenv("DXP_CONTEXT", "system", 1);
	if (access(CONFIG_SERVICES, F_OK) == 0)
		found(base, CONFIG_SERVICES);
	setenv("DXP_CONTEXT", "lab", 1);
	found(base, "+/dxp/fabrics/lab");
	assert_int_equal(config_directory_find(NULL, out, sizeof(out)), DXP_OK);
	setenv("DXP_DIR", "/a", 1);
	found(base, "/a");
	setenv("DXP_DIR", "", 1);
	setenv("DXP_CONTEXT", "", 1);
	found(base, "+/dxp/fabrics/lab");
	assert_int_equal(config_directory("/given", out, sizeof(out)), DXP_OK);
	assert_string_equal(out, "/given");
	assert_int_equal(context_selected(name), DXP_OK);
	assert_string_equal(name, "lab");
	contexts_drop(base);
	unsetenv("DXP_DIR");
	unsetenv("DXP_CONTEXT");
}

static void config__names_the_wrong_context(void **state)
{
	static const char *const wrong[] = {
		"",       "two words\n", "../lab\n",
		".lab\n", "default\n",   "a-name-that-is-longer-than-thirty-one-letters\n"};
	char base[64], out[CONFIG_PATH_BYTES];

	contexts_make(base);
	for (size_t i = 0; i < ARRAY_COUNT(wrong); i++) {
		selection_put(base, wrong[i]);
		assert_int_equal(config_directory(NULL, out, sizeof(out)), DXP_EMALFORMED);
		has_text("dxp context use NAME");
	}
	selection_put(base, "gone\n");
	assert_int_equal(config_directory(NULL, out, sizeof(out)), DXP_ENOENT);
	has_text("no context 'gone'");
	setenv("DXP_CONTEXT", "a/b", 1);
	assert_int_equal(config_directory(NULL, out, sizeof(out)), DXP_EINVAL);
	has_text("'a/b' is not the name of a context");
	setenv("DXP_CONTEXT", wrong[5], 1);
	assert_int_equal(config_directory(NULL, out, sizeof(out)), DXP_EINVAL);
	has_text("DXP_CONTEXT is longer");
	setenv("DXP_CONTEXT", "lab", 1);
	assert_int_equal(context_folder("lab", out, 20), DXP_EINVAL);
	unsetenv("DXP_CONTEXT");
	contexts_drop(base);
}

static void config__all_from_the_folder(void **state)
{
	const struct dxp_fabric_options options = {.directory = folder};
	struct config c;

	manager_put("127.0.0.1:4242\n");
	assert_int_equal(config_resolve(&options, &c), DXP_OK);
	assert_int_equal(c.manager.port, 4242);
	/* A manager on loopback binds the host to loopback. */
	assert_memory_equal(c.bind.ip, c.manager.ip, sizeof(c.bind.ip));
	assert_int_equal(c.bind.port, 0);
	char pid[16];
	snprintf(pid, sizeof(pid), "-%d", (int)getpid());
	assert_non_null(strstr(c.name, pid));
}

static void config__options_first(void **state)
{
	const struct dxp_fabric_options options = {.directory = "nowhere",
						   .manager = "[::1]:7",
						   .key_file = key,
						   .bind = "127.0.0.9:88",
						   .name = "me"};
	struct config c;

	assert_int_equal(config_resolve(&options, &c), DXP_OK);
	assert_int_equal(c.manager.port, 7);
	assert_int_equal(c.bind.port, 88);
	assert_string_equal(c.name, "me");
}

static void config__names_the_error(void **state)
{
	struct dxp_fabric_options options = {.directory = folder};
	struct config c;

	unlink(manager);
	assert_int_equal(config_resolve(&options, &c), DXP_ENOENT);
	has_text("dxp up");
	manager_put("");
	assert_int_equal(config_resolve(&options, &c), DXP_EMALFORMED);
	has_text("empty");
	manager_put("somewhere\n");
	assert_int_equal(config_resolve(&options, &c), DXP_EINVAL);
	has_text("'somewhere'");
	manager_put("127.0.0.1:4242\n");
	options.bind = "here";
	assert_int_equal(config_resolve(&options, &c), DXP_EINVAL);
	has_text("'here'");
	options.bind = NULL;
	options.name = "two words";
	assert_int_equal(config_resolve(&options, &c), DXP_EINVAL);
	has_text("'two words'");
	options.name = NULL;
	options.key_file = "no-such-file";
	assert_int_equal(config_resolve(&options, &c), DXP_ENOENT);
	has_text("no-such-file");
	options.key_file = key;
	chmod(key, 0644);
	assert_int_equal(config_resolve(&options, &c), DXP_EACCESS);
	has_text("chmod 600");
	chmod(key, 0600);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(config__directory_order),
		cmocka_unit_test(config__context_order),
		cmocka_unit_test(config__names_the_wrong_context),
		cmocka_unit_test(config__all_from_the_folder),
		cmocka_unit_test(config__options_first),
		cmocka_unit_test(config__names_the_error),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_drop);
}
