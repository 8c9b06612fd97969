/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/context.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "host/config.h"
#include "host/internal.h"

static int path_write(char *out, size_t bytes, const char *folder, const char *rest)
{
	int length = snprintf(out, bytes, "%s%s", folder, rest);

	if (length >= 0 && (size_t)length < bytes)
		return DXP_OK;
	return error_set(DXP_EINVAL, "the path of the fabric's directory is too long; set DXP_DIR "
				     "to a shorter one");
}

int context_base(char *out, size_t bytes)
{
	const char *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");

	if (state && *state)
		return path_write(out, bytes, state, "/dxp");
	if (home && *home)
		return path_write(out, bytes, home, "/.local/state/dxp");
	return error_set(DXP_ENOENT,
			 "neither DXP_DIR nor HOME is set; set DXP_DIR to the fabric's directory");
}

bool context_name_valid(const char *name)
{
	return manage_name_valid(name) && name[0] != '.' && name[0] != '-' &&
	       strcmp(name, CONTEXT_DEFAULT) != 0 && strcmp(name, CONTEXT_SYSTEM) != 0;
}

int context_folder(const char *name, char *out, size_t bytes)
{
	char base[CONFIG_PATH_BYTES], rest[FABRIC_NAME_BYTES + sizeof("/fabrics/")];

	if (strcmp(name, CONTEXT_SYSTEM) == 0)
		return path_write(out, bytes, CONFIG_SERVICES, "");
	if (strcmp(name, CONTEXT_DEFAULT) == 0)
		return context_base(out, bytes);
	if (!context_name_valid(name))
		return error_set(DXP_EINVAL,
				 "'%s' is not the name of a context; use 1 to %d of A-Z a-z 0-9 . "
				 "_ -",
				 name, FABRIC_NAME_BYTES - 1);
	int status = context_base(base, sizeof(base));
	snprintf(rest, sizeof(rest), "/fabrics/%s", name);
	return status == DXP_OK ? path_write(out, bytes, base, rest) : status;
}

int context_check(const char *name)
{
	char folder[CONFIG_PATH_BYTES];
	int status = context_folder(name, folder, sizeof(folder));

	if (status != DXP_OK || strcmp(name, CONTEXT_DEFAULT) == 0 || access(folder, F_OK) == 0)
		return status;
	return error_set(DXP_ENOENT,
			 "this user has no context '%s' (%s: %s); `dxp context list` shows all, "
			 "`dxp context use NAME` selects one, `dxp join --context %s HOST TOKEN` "
			 "makes this one",
			 name, folder, strerror(errno), name);
}

/* Reads the file `context`. Leaves the name unchanged if there is none. */
static int file_read(char name[FABRIC_NAME_BYTES])
{
	char path[CONFIG_PATH_BYTES], line[FABRIC_NAME_BYTES + 1];
	int status = context_base(path, sizeof(path) - sizeof("/context"));

	if (status != DXP_OK)
		return status;
	strcat(path, "/context");
	FILE *file = descriptor_fopen(path, "re");
	if (!file && (errno == ENOENT || errno == ENOTDIR))
		return DXP_OK;
	if (!file)
		return error_set(DXP_EIO, "cannot read %s: %s", path, strerror(errno));
	const bool read = fgets(line, sizeof(line), file) != NULL;
	fclose(file);
	if (read)
		line[strcspn(line, "\n")] = '\0';
	if (!read || (!context_name_valid(line) && strcmp(line, CONTEXT_SYSTEM) != 0))
		return error_set(DXP_EMALFORMED,
				 "%s does not hold the name of a context; run `dxp context use "
				 "NAME`",
				 path);
	snprintf(name, FABRIC_NAME_BYTES, "%.*s", FABRIC_NAME_BYTES - 1, line);
	return DXP_OK;
}

int context_selected(char name[FABRIC_NAME_BYTES])
{
	const char *given = getenv("DXP_CONTEXT");

	snprintf(name, FABRIC_NAME_BYTES, "%s", CONTEXT_DEFAULT);
	if (!given || !*given)
		return file_read(name);
	if (strlen(given) >= FABRIC_NAME_BYTES)
		return error_set(DXP_EINVAL, "DXP_CONTEXT is longer than a name may be, %d letters",
				 FABRIC_NAME_BYTES - 1);
	snprintf(name, FABRIC_NAME_BYTES, "%s", given);
	return DXP_OK;
}
