/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the fabric: by options, or by the directory of `dxp up`. This directory has the files
 * `manager` (one line, "host:port", or a list with commas) and `fabric.key`. After `dxp join`, it
 * also has `node.key`, the private key of this user or machine, and `manager.pub`, the public key
 * of the manager. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/confinement.h"
#include "base/descriptor.h"
#include "base/keyfile.h"
#include "base/log.h"
#include "host/config.h"
#include "host/context.h"
#include "host/internal.h"
#include "keys/token.h"
#include "link/resolve.h"
#include "link/udp.h"

#define WHY_BYTES 512 /* bytes of a log text of a lower layer that an error text quotes */

/* Returns the directory that the caller or the environment names; NULL: none. */
static const char *directory_named(const char *given)
{
	const char *own = given ? given : getenv("DXP_DIR");

	return own && *own ? own : NULL;
}

int config_directory(const char *given, char *out, size_t bytes)
{
	const char *own = directory_named(given);
	char context[FABRIC_NAME_BYTES];

	if (own) {
		int length = snprintf(out, bytes, "%s", own);
		if (length >= 0 && (size_t)length < bytes)
			return DXP_OK;
		return error_set(DXP_EINVAL, "the path of the fabric's directory is too long; set "
					     "DXP_DIR to a shorter one");
	}
	int status = context_selected(context);
	if (status == DXP_OK)
		status = context_check(context);
	return status == DXP_OK ? context_folder(context, out, bytes) : status;
}

int config_directory_find(const char *given, char *out, size_t bytes)
{
	char path[CONFIG_PATH_BYTES], context[FABRIC_NAME_BYTES];
	int status = config_directory(given, out, bytes);

	if (status != DXP_OK || directory_named(given) || context_selected(context) != DXP_OK ||
	    strcmp(context, CONTEXT_DEFAULT) != 0)
		return status;
	int length = snprintf(path, sizeof(path), "%s/manager", out);
	if (length < CONFIG_PATH_BYTES && access(path, F_OK) == 0)
		return DXP_OK;
	if (access(CONFIG_SERVICES "/manager", R_OK) == 0)
		snprintf(out, bytes, "%s", CONFIG_SERVICES);
	return DXP_OK;
}

/* Writes `given` to `out`. If `given` is NULL, writes the path of file `name` in the directory. */
static int file_of(const char *directory, const char *name, const char *given,
		   char out[CONFIG_PATH_BYTES])
{
	int length = given ? snprintf(out, CONFIG_PATH_BYTES, "%s", given)
			   : snprintf(out, CONFIG_PATH_BYTES, "%s/%s", directory, name);

	if (length < 0 || length >= CONFIG_PATH_BYTES)
		return error_set(DXP_EINVAL, "the path of '%s' is too long; use a shorter one",
				 name);
	return DXP_OK;
}

static int manager_from_file(const char *path, char text[MANAGERS_TEXT_BYTES])
{
	FILE *file = descriptor_fopen(path, "re");

	if (!file && errno == ENOENT)
		return error_set(DXP_ENOENT,
				 "no fabric is up on this machine (%s does not exist); start one "
				 "with `dxp up`",
				 path);
	if (!file)
		return error_set(DXP_EIO, "cannot read %s: %s%s", path, strerror(errno),
				 confinement_hint(errno));
	char *line = fgets(text, MANAGERS_TEXT_BYTES, file);
	fclose(file);
	if (!line)
		return error_set(DXP_EMALFORMED, "%s is empty; run `dxp down` and `dxp up` again",
				 path);
	text[strcspn(text, "\n")] = '\0';
	return DXP_OK;
}

static int resolve_manager(const char *directory, const char *given, struct config *c)
{
	char path[CONFIG_PATH_BYTES], text[MANAGERS_TEXT_BYTES];

	if (!given) {
		int status = file_of(directory, "manager", NULL, path);
		if (status == DXP_OK)
			status = manager_from_file(path, text);
		if (status != DXP_OK)
			return status;
		given = text;
	}
	if (managers_parse(given, WIRE_PORT, &c->manager, &c->other_managers) == DXP_OK)
		return DXP_OK;
	return error_set(DXP_EINVAL,
			 "'%s' is not the address of a manager, and no machine has this name; "
			 "write HOST:PORT, such as 127.0.0.1:%d",
			 given, WIRE_PORT);
}

static int manager_key_read(const char *path, uint8_t key[KEYS_BYTES])
{
	FILE *file = descriptor_fopen(path, "re");
	char text[KEY_TEXT_BYTES + 1];
	bool good = file && fgets(text, sizeof(text), file);

	if (file)
		fclose(file);
	if (good) {
		text[strcspn(text, "\n")] = '\0';
		good = key_parse(text, key);
	}
	return good ? DXP_OK
		    : error_set(DXP_EMALFORMED,
				"%s does not hold the key of a manager; run `dxp join HOST TOKEN` "
				"again",
				path);
}

int config_identity(const char *directory, struct config *c)
{
	char own[CONFIG_PATH_BYTES], pinned[CONFIG_PATH_BYTES], why[WHY_BYTES];
	uint8_t private_key[KEYS_BYTES], manager[KEYS_BYTES];
	int status = file_of(directory, "node.key", NULL, own);

	if (status == DXP_OK)
		status = file_of(directory, "manager.pub", NULL, pinned);
	if (status != DXP_OK || access(pinned, F_OK) != 0)
		return status;
	log_divert(why, sizeof(why));
	status = keyfile_read(own, private_key);
	log_divert(NULL, 0);
	if (status != DXP_OK)
		return error_set(status, "%s", why);
	status = manager_key_read(pinned, manager);
	c->keyed = status == DXP_OK && identity_make(private_key, manager, &c->identity);
	keys_erase(private_key, sizeof(private_key));
	memcpy(c->identity_file, own, sizeof(c->identity_file));
	if (status == DXP_OK && !c->keyed)
		return error_set(DXP_EMALFORMED, "%s holds no usable key", pinned);
	return status;
}

static int resolve_key(const char *directory, const char *given, struct config *c)
{
	char *path = c->key_file, why[WHY_BYTES];
	int status = file_of(directory, "fabric.key", given, c->key_file);

	if (status != DXP_OK)
		return status;
	log_divert(why, sizeof(why));
	status = keyfile_read(path, c->key);
	log_divert(NULL, 0);
	switch (status) {
	case DXP_OK: return DXP_OK;
	case DXP_ENOENT:
		return error_set(
			status,
			"no fabric key at %s; start a fabric with `dxp up`, or copy its key there",
			path);
	case DXP_EMALFORMED:
		return error_set(status,
				 "%s holds no fabric key; copy it again from the manager's machine",
				 path);
	default: return error_set(status, "%s", why);
	}
}

void config_host_name(char out[FABRIC_NAME_BYTES])
{
	char host[HOST_NAME_MAX + 1] = "";

	if (gethostname(host, sizeof(host)) != 0)
		host[0] = '\0';
	snprintf(out, FABRIC_NAME_BYTES, "%.*s", (int)strcspn(host, "."), host);
	if (!manage_name_valid(out))
		snprintf(out, FABRIC_NAME_BYTES, "machine");
}

void config_default_name(char out[FABRIC_NAME_BYTES])
{
	int length = snprintf(out, FABRIC_NAME_BYTES, "%.20s-%d", program_invocation_short_name,
			      (int)getpid());

	for (int i = 0; i < length && i < FABRIC_NAME_BYTES; i++) {
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-",
			    out[i]))
			out[i] = '-';
	}
}

static int resolve_bind(const struct udp_address *manager, struct udp_address *out)
{
	char why[WHY_BYTES];

	log_divert(why, sizeof(why));
	int status = link_address_towards(manager, out);
	log_divert(NULL, 0);
	return status == DXP_OK ? DXP_OK : error_set(DXP_EIO, "the manager: %s", why);
}

static int resolve_name(const char *given, char out[FABRIC_NAME_BYTES])
{
	if (!given)
		config_default_name(out);
	else if (!manage_name_valid(given))
		return error_set(DXP_EINVAL,
				 "'%s' is not a valid node name; use 1 to %d of A-Z a-z 0-9 . _ -",
				 given, FABRIC_NAME_BYTES - 1);
	else
		snprintf(out, FABRIC_NAME_BYTES, "%s", given);
	return DXP_OK;
}

static int resolve_own_address(const char *given, struct config *c)
{
	if (!given)
		return resolve_bind(&c->manager, &c->bind);
	if (resolve_address(given, 0, &c->bind) == DXP_OK)
		return DXP_OK;
	return error_set(DXP_EINVAL,
			 "'%s' is not an address to bind; write ADDRESS or ADDRESS:PORT", given);
}

int config_resolve(const struct dxp_fabric_options *options, struct config *out)
{
	struct config c = {0};
	char directory[CONFIG_PATH_BYTES];
	int status = config_directory_find(options->directory, directory, sizeof(directory));

	if (status == DXP_OK)
		status = resolve_manager(directory, options->manager, &c);
	if (status == DXP_OK)
		status = resolve_key(directory, options->key_file, &c);
	if (status == DXP_OK && !options->key_file)
		status = config_identity(directory, &c);
	if (status == DXP_OK)
		status = resolve_own_address(options->bind, &c);
	if (status == DXP_OK)
		status = resolve_name(options->name, c.name);
	if (status == DXP_OK)
		*out = c;
	keys_erase(&c, sizeof(c));
	return status;
}
