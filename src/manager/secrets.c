/* SPDX-License-Identifier: BSD-3-Clause */
#include "manager/secrets.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/file_replace.h"
#include "base/keyfile.h"
#include "base/log.h"

static int path_make(const char *folder, const char *name, char out[PATH_MAX])
{
	if (snprintf(out, PATH_MAX, "%s/%s", folder, name) < PATH_MAX)
		return DXP_OK;
	log_error("the name of the state folder is too long; choose a shorter one");
	return DXP_EIO;
}

int secrets_manager_key(const char *folder, uint8_t key[KEYS_BYTES])
{
	char path[PATH_MAX];
	int status = path_make(folder, "manager.key", path);

	if (status == DXP_OK)
		status = keyfile_create(path, key);
	return status == DXP_EEXIST ? keyfile_read(path, key) : status;
}

int secrets_store_key(const char *folder, const uint8_t given[FABRIC_KEY_BYTES],
		      uint8_t out[FABRIC_KEY_BYTES])
{
	char path[PATH_MAX];
	int status = path_make(folder, "store.key", path);

	if (status != DXP_OK)
		return status;
	if (access(path, F_OK) == 0)
		return keyfile_read(path, out);
	memcpy(out, given, FABRIC_KEY_BYTES);
	return DXP_OK;
}

int secrets_store_key_keep(const char *folder, const uint8_t key[FABRIC_KEY_BYTES])
{
	char path[PATH_MAX];
	int status = path_make(folder, "store.key", path);

	if (status != DXP_OK || access(path, F_OK) == 0)
		return status;
	mkdir(folder, 0700); /* keyfile_write reports a failure */
	return keyfile_write(path, key);
}

int secrets_operator_token(const char *folder, struct registry *r, uint64_t expires_s)
{
	struct token token;
	struct token_row row = {.role = ROLE_OPERATOR, .uses = 1, .expires_s = expires_s};
	char path[PATH_MAX], text[TOKEN_TEXT_BYTES + 1];
	int status = path_make(folder, "operator.token", path);

	if (status != DXP_OK)
		return status;
	mkdir(folder, 0700); /* a store in etcd has not made it; file_replace reports a failure */
	rng_entropy_kernel(NULL, token.id, sizeof(token.id));
	rng_entropy_kernel(NULL, token.secret, sizeof(token.secret));
	memcpy(token.manager, registry_public_key(r), sizeof(token.manager));
	memcpy(row.id, token.id, sizeof(row.id));
	status = token_psk(&token, row.psk) ? registry_token_add(r, &row) : DXP_ENOMEM;
	token_format(&token, text);
	strcat(text, "\n");
	if (status == DXP_OK && !file_replace(path, text, 0600)) {
		log_error("cannot write %s: %s", path, strerror(errno));
		status = DXP_EIO;
	}
	keys_erase(&token, sizeof(token));
	keys_erase(&row, sizeof(row));
	keys_erase(text, sizeof(text));
	return status;
}
