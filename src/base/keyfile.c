/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses key files strictly, and never replaces a key by creation. */
#include "base/keyfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "base/file_replace.h"
#include "base/log.h"
#include "base/rng.h"

#define TEXT_BYTES (2 * FABRIC_KEY_BYTES)

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Accepts exactly the digits, with or without one newline. */
static bool key_parse(const char *text, size_t bytes, uint8_t key[FABRIC_KEY_BYTES])
{
	if (bytes != TEXT_BYTES && !(bytes == TEXT_BYTES + 1 && text[TEXT_BYTES] == '\n'))
		return false;
	for (size_t i = 0; i < FABRIC_KEY_BYTES; i++) {
		int high = digit_value(text[2 * i]), low = digit_value(text[2 * i + 1]);
		if (high < 0 || low < 0)
			return false;
		key[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

static int open_error(const char *path, int error)
{
	if (error == ENOENT) {
		log_error("key file %s does not exist; `dxp up` creates one, or copy the fabric's "
			  "key there",
			  path);
		return DXP_ENOENT;
	}
	log_error("cannot open key file %s: %s; choose another with --key, or get a copy from its "
		  "owner (mode 600)",
		  path, strerror(error));
	return error == EACCES ? DXP_EACCESS : DXP_EIO;
}

static int content_read(const char *path, int fd, uint8_t key[FABRIC_KEY_BYTES])
{
	char text[TEXT_BYTES + 2];
	uint8_t parsed[FABRIC_KEY_BYTES];
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		log_error("key file %s is not a regular file; name the file itself, such as "
			  "FOLDER/fabric.key",
			  path);
		return DXP_EIO;
	}
	if (st.st_mode & (S_IRWXG | S_IRWXO)) {
		log_error("key file %s is open to other users (mode %04o); run: chmod 600 %s, and "
			  "create a new key if another user may have read it",
			  path, (unsigned)(st.st_mode & 07777), path);
		return DXP_EACCESS;
	}
	ssize_t bytes = read(fd, text, sizeof(text));
	if (bytes < 0) {
		log_error("cannot read key file %s: %s", path, strerror(errno));
		return DXP_EIO;
	}
	if (!key_parse(text, (size_t)bytes, parsed)) {
		log_error("key file %s holds no key; it must hold %d hexadecimal digits and "
			  "nothing else",
			  path, TEXT_BYTES);
		return DXP_EMALFORMED;
	}
	memcpy(key, parsed, FABRIC_KEY_BYTES);
	explicit_bzero(text, sizeof(text));
	explicit_bzero(parsed, sizeof(parsed));
	return DXP_OK;
}

int keyfile_read(const char *path, uint8_t key[FABRIC_KEY_BYTES])
{
	int fd = descriptor_raise(open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));

	if (fd < 0)
		return open_error(path, errno);
	int status = content_read(path, fd, key);
	close(fd);
	return status;
}

static bool content_write(int fd, const uint8_t key[FABRIC_KEY_BYTES])
{
	static const char digits[] = "0123456789abcdef";
	char text[TEXT_BYTES + 1];

	for (size_t i = 0; i < FABRIC_KEY_BYTES; i++) {
		text[2 * i] = digits[key[i] >> 4];
		text[2 * i + 1] = digits[key[i] & 15];
	}
	text[TEXT_BYTES] = '\n';
	bool written = write(fd, text, sizeof(text)) == (ssize_t)sizeof(text) && fsync(fd) == 0;
	explicit_bzero(text, sizeof(text));
	return written;
}

/* Gives the final name: link() does not replace a file; rename() does. */
static bool name_give(const char *temporary, const char *path, bool replace)
{
	return replace ? rename(temporary, path) == 0 : link(temporary, path) == 0;
}

static bool owner_keep(int fd, const struct stat *old)
{
	/* A file of the same owner may have a group that this process cannot give. */
	return (fchown(fd, old->st_uid, old->st_gid) == 0 || old->st_uid == geteuid()) &&
	       fchmod(fd, old->st_mode & S_IRWXU) == 0;
}

/* Renames a temporary file, so that `path` never has a part of a key. `old`: the file that it
 * replaces; NULL: there is none. */
static int file_create(const char *path, const char *temporary, const uint8_t key[FABRIC_KEY_BYTES],
		       bool replace, const struct stat *old)
{
	int fd = descriptor_raise(open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));

	if (fd < 0)
		return -errno;
	int error = content_write(fd, key) && (!old || owner_keep(fd, old)) ? 0 : -errno;
	close(fd);
	if (error == 0 && !name_give(temporary, path, replace))
		error = -errno;
	unlink(temporary);
	return error;
}

static int key_write(const char *path, const uint8_t key[FABRIC_KEY_BYTES], bool replace)
{
	char temporary[PATH_MAX];
	struct stat old;
	const bool present = replace && lstat(path, &old) == 0;
	int length = snprintf(temporary, sizeof(temporary), "%s.%ld.new", path, (long)getpid());

	if (length < 0 || (size_t)length >= sizeof(temporary)) {
		log_error("the name of the key file is too long; choose a shorter one");
		return DXP_EIO;
	}
	if (present && !S_ISREG(old.st_mode)) {
		log_error("key file %s is a link or not a regular file, and is not replaced; name "
			  "the file itself, such as FOLDER/fabric.key",
			  path);
		return DXP_EIO;
	}
	int error = file_create(path, temporary, key, replace, present ? &old : NULL);
	if (error == -EEXIST)
		return DXP_EEXIST;
	if (error != 0) {
		log_error("cannot create key file %s: %s%s", path, strerror(-error),
			  file_write_hint(-error));
		return DXP_EIO;
	}
	return DXP_OK;
}

int keyfile_create(const char *path, uint8_t key[FABRIC_KEY_BYTES])
{
	uint8_t drawn[FABRIC_KEY_BYTES];

	rng_entropy_kernel(NULL, drawn, sizeof(drawn));
	int status = key_write(path, drawn, false);
	if (status == DXP_OK)
		memcpy(key, drawn, FABRIC_KEY_BYTES);
	explicit_bzero(drawn, sizeof(drawn));
	return status;
}

int keyfile_write(const char *path, const uint8_t key[FABRIC_KEY_BYTES])
{
	return key_write(path, key, true);
}
