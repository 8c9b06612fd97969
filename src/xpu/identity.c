/* SPDX-License-Identifier: BSD-3-Clause */
#include "xpu/identity.h"

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
#include "base/keyfile.h"
#include "base/log.h"
#include "base/rng.h"

#define TEXT_BYTES (2 * WIRE_UUID_BYTES)

static int failed(const char *what, const char *path)
{
	log_error("cannot %s %s: %s; choose another --state", what, path, strerror(errno));
	return DXP_EACCESS;
}

int identity_folder(const char *folder)
{
	char path[PATH_MAX];
	size_t bytes = strlen(folder);

	if (bytes == 0 || bytes >= sizeof(path)) {
		log_error("--state must name a folder");
		return DXP_EINVAL;
	}
	for (size_t i = 1; i <= bytes; i++) {
		if (folder[i] != '/' && folder[i] != '\0')
			continue;
		snprintf(path, sizeof(path), "%.*s", (int)i, folder);
		if (mkdir(path, 0700) != 0 && errno != EEXIST)
			return failed("make folder", path);
	}
	return DXP_OK;
}

static bool text_parse(const char *text, uint8_t uuid[WIRE_UUID_BYTES])
{
	for (int i = 0; i < WIRE_UUID_BYTES; i++) {
		unsigned value;
		int used = 0;
		if (sscanf(text + 2 * i, "%2x%n", &value, &used) != 1 || used != 2)
			return false;
		uuid[i] = (uint8_t)value;
	}
	return text[TEXT_BYTES] == '\n' && text[TEXT_BYTES + 1] == '\0';
}

static int file_read(const char *path, uint8_t uuid[WIRE_UUID_BYTES])
{
	char text[TEXT_BYTES + 3] = "";
	uint8_t parsed[WIRE_UUID_BYTES];
	int fd = descriptor_raise(open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));

	if (fd < 0)
		return errno == ENOENT ? DXP_ENOENT : failed("open", path);
	ssize_t bytes = read(fd, text, sizeof(text) - 1);
	int status = bytes < 0 ? failed("read", path) : DXP_OK;
	close(fd);
	if (status != DXP_OK)
		return status;
	if (bytes != TEXT_BYTES + 1 || !text_parse(text, parsed)) {
		log_error("%s is not the identity of an xPU; remove it to get a new one", path);
		return DXP_EMALFORMED;
	}
	memcpy(uuid, parsed, WIRE_UUID_BYTES);
	return DXP_OK;
}

static bool text_write(int fd, const uint8_t uuid[WIRE_UUID_BYTES])
{
	char text[TEXT_BYTES + 2];

	for (int i = 0; i < WIRE_UUID_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", uuid[i]);
	text[TEXT_BYTES] = '\n';
	return write(fd, text, TEXT_BYTES + 1) == TEXT_BYTES + 1 && fsync(fd) == 0;
}

/* Renames a temporary file: a crash leaves the whole file or none. */
static int file_write(const char *path, const uint8_t uuid[WIRE_UUID_BYTES])
{
	char temporary[PATH_MAX + 16];

	snprintf(temporary, sizeof(temporary), "%s.%d", path, (int)getpid());
	int fd = descriptor_raise(open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
	if (fd < 0)
		return failed("make", temporary);
	int status = text_write(fd, uuid) ? DXP_OK : failed("write", temporary);
	close(fd);
	if (status == DXP_OK && rename(temporary, path) != 0)
		status = failed("make", path);
	if (status != DXP_OK)
		unlink(temporary);
	return status;
}

int identity_get(const char *folder, const char *name, uint8_t uuid[WIRE_UUID_BYTES])
{
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s/%s.id", folder, name) >= sizeof(path)) {
		log_error("the name of folder %s is too long; choose another --state", folder);
		return DXP_EINVAL;
	}
	int status = file_read(path, uuid);
	if (status != DXP_ENOENT)
		return status;
	uint8_t drawn[WIRE_UUID_BYTES];
	rng_entropy_kernel(NULL, drawn, sizeof(drawn));
	status = file_write(path, drawn);
	if (status == DXP_OK)
		memcpy(uuid, drawn, WIRE_UUID_BYTES);
	return status;
}

int identity_seal_key(const char *folder, uint8_t key[FABRIC_KEY_BYTES])
{
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s/binaries.key", folder) >= sizeof(path)) {
		log_error("the name of folder %s is too long; choose another --state", folder);
		return DXP_EINVAL;
	}
	int status = keyfile_create(path, key);
	if (status != DXP_OK && status != DXP_EEXIST)
		return DXP_EACCESS;
	if (status == DXP_EEXIST)
		status = keyfile_read(path, key);
	if (status == DXP_OK)
		return DXP_OK;
	log_error("xPUs cannot seal program binaries; remove %s to get a new key, with which "
		  "programs "
		  "build their stored binaries again",
		  path);
	return status == DXP_EMALFORMED ? DXP_EMALFORMED : DXP_EACCESS;
}
