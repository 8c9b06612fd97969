/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that only an exact private key file can be read. */
#include <fcntl.h>
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

static char folder[64], path[96];

static int folder_make(void **state)
{
	snprintf(folder, sizeof(folder), "keyfile-test-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/key", folder);
	return 0;
}

static int scratch_folder_remove(void **state)
{
	unlink(path);
	return rmdir(folder); /* fails if a temporary file is left */
}

static void write_text(const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (int)strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

#define HEX "00112233445566778899aabbccddeeffFFEEDDCCBBAA99887766554433221100"

static void keyfile_create__can_be_read_and_is_private(void **state)
{
	uint8_t made[FABRIC_KEY_BYTES], got[FABRIC_KEY_BYTES], zero[FABRIC_KEY_BYTES] = {0};
	struct stat st;

	assert_int_equal(keyfile_create(path, made), DXP_OK);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(keyfile_read(path, got), DXP_OK);
	assert_memory_equal(made, got, sizeof(got));
	assert_memory_not_equal(got, zero, sizeof(got));
}

static void keyfile_create__never_replaces(void **state)
{
	uint8_t first[FABRIC_KEY_BYTES], second[FABRIC_KEY_BYTES], got[FABRIC_KEY_BYTES];

	assert_int_equal(keyfile_create(path, first), DXP_OK);
	assert_int_equal(keyfile_create(path, second), DXP_EEXIST);
	assert_int_equal(keyfile_read(path, got), DXP_OK);
	assert_memory_equal(first, got, sizeof(got));
}

static void keyfile_create__no_such_folder(void **state)
{
	uint8_t key[FABRIC_KEY_BYTES];

	assert_int_equal(keyfile_create("no-such-folder/key", key), DXP_EIO);
}

static void keyfile_read__accepts_digits_with_and_without_line_end(void **state)
{
	uint8_t key[FABRIC_KEY_BYTES];

	write_text(HEX, 0600);
	assert_int_equal(keyfile_read(path, key), DXP_OK);
	assert_int_equal(key[1], 0x11);
	assert_int_equal(key[16], 0xff);
	write_text(HEX "\n", 0400);
	assert_int_equal(keyfile_read(path, key), DXP_OK);
}

static void keyfile_read__rejects_open_modes(void **state)
{
	static const mode_t modes[] = {0640, 0604, 0620, 0602, 0610, 0644, 0666};
	uint8_t key[FABRIC_KEY_BYTES];

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		write_text(HEX, modes[i]);
		assert_int_equal(keyfile_read(path, key), DXP_EACCESS);
	}
}

static void keyfile_read__rejects_what_is_no_key(void **state)
{
	static const char *const texts[] = {"",         "\n",    "0011", HEX "0",
					    HEX "\n\n", HEX " ", HEX HEX};
	uint8_t key[FABRIC_KEY_BYTES], before[FABRIC_KEY_BYTES];
	char text[] = HEX;

	memset(key, 0x5a, sizeof(key));
	memcpy(before, key, sizeof(key));
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		write_text(texts[i], 0600);
		assert_int_equal(keyfile_read(path, key), DXP_EMALFORMED);
	}
	text[63] = 'g';
	write_text(text, 0600);
	assert_int_equal(keyfile_read(path, key), DXP_EMALFORMED);
	assert_memory_equal(key, before, sizeof(key));
}

static void keyfile_read__no_file_and_no_regular_file(void **state)
{
	uint8_t key[FABRIC_KEY_BYTES];

	assert_int_equal(keyfile_read(path, key), DXP_ENOENT);
	assert_int_equal(keyfile_read(folder, key), DXP_EIO);
}

#define OTHER 4321 /* a user and group */

static void keyfile_write__keeps_owner_and_mode(void **state)
{
	const uint8_t key[FABRIC_KEY_BYTES] = {1};
	const uid_t owner = geteuid() == 0 ? OTHER : geteuid();
	uint8_t got[FABRIC_KEY_BYTES];
	struct stat st;

	assert_int_equal(keyfile_write(path, key), DXP_OK);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(st.st_uid, geteuid());
	for (mode_t mode = 0400; mode <= 0600; mode += 0200) {
		write_text(HEX, mode);
		assert_int_equal(chown(path, owner, geteuid() == 0 ? OTHER : getegid()), 0);
		assert_int_equal(keyfile_write(path, key), DXP_OK);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 07777, mode);
		assert_int_equal(st.st_uid, owner);
		assert_int_equal(st.st_gid, geteuid() == 0 ? OTHER : getegid());
		assert_int_equal(keyfile_read(path, got), DXP_OK);
		assert_memory_equal(got, key, sizeof(got));
		unlink(path);
	}
}

/* Only root can give a file away. */
static void keyfile_write__a_file_of_another_user(void **state)
{
	const uint8_t key[FABRIC_KEY_BYTES] = {1};
	uint8_t got[FABRIC_KEY_BYTES];

	if (geteuid() != 0) {
		printf("skipped: a key file of another user: needs root\n");
		skip();
	}
	write_text(HEX, 0600);
	assert_int_equal(chmod(folder, 0777), 0);
	assert_int_equal(seteuid(OTHER), 0);
	const int status = keyfile_write(path, key);
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(status, DXP_EIO);
	assert_int_equal(keyfile_read(path, got), DXP_OK);
	assert_int_equal(got[1], 0x11);
}

static void keyfile_write__follows_no_link(void **state)
{
	const uint8_t key[FABRIC_KEY_BYTES] = {1};
	uint8_t got[FABRIC_KEY_BYTES];
	char target[128];
	struct stat st;

	write_text(HEX, 0600);
	snprintf(target, sizeof(target), "%s.real", path);
	assert_int_equal(rename(path, target), 0);
	assert_int_equal(symlink("key.real", path), 0);
	assert_int_equal(keyfile_write(path, key), DXP_EIO);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(keyfile_read(path, got), DXP_OK);
	assert_int_equal(got[1], 0x11);
	unlink(target);
}

int main(void)
{
#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, folder_make, scratch_folder_remove)
	const struct CMUnitTest tests[] = {
		IN_FOLDER(keyfile_create__can_be_read_and_is_private),
		IN_FOLDER(keyfile_create__never_replaces),
		IN_FOLDER(keyfile_create__no_such_folder),
		IN_FOLDER(keyfile_read__accepts_digits_with_and_without_line_end),
		IN_FOLDER(keyfile_read__rejects_open_modes),
		IN_FOLDER(keyfile_read__rejects_what_is_no_key),
		IN_FOLDER(keyfile_read__no_file_and_no_regular_file),
		IN_FOLDER(keyfile_write__keeps_owner_and_mode),
		IN_FOLDER(keyfile_write__a_file_of_another_user),
		IN_FOLDER(keyfile_write__follows_no_link),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
