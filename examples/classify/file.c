/* SPDX-License-Identifier: BSD-3-Clause */
#include "file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <dxp/status.h>

static int read_all(FILE *in, const char *path, size_t size, uint8_t **bytes, size_t *count,
		    struct fault *fault)
{
	uint8_t *all = malloc(size + 1);

	if (!all)
		return fault_set(fault, DXP_ENOMEM, "%s: out of memory", path);
	size_t got = fread(all, 1, size, in);
	if (ferror(in)) {
		free(all);
		return fault_set(fault, DXP_EIO, "%s: %s", path, strerror(errno));
	}
	all[got] = 0;
	*bytes = all;
	*count = got;
	return DXP_OK;
}

int file_read(const char *path, size_t most, uint8_t **bytes, size_t *count, struct fault *fault)
{
	struct stat about;
	FILE *in = fopen(path, "rb");

	if (!in)
		return fault_set(fault, errno == ENOENT ? DXP_ENOENT : DXP_EIO, "%s: %s", path,
				 strerror(errno));
	int status;
	if (fstat(fileno(in), &about) != 0 || !S_ISREG(about.st_mode))
		status = fault_set(fault, DXP_EIO, "%s: not a file", path);
	else if ((uint64_t)about.st_size > most)
		status = fault_set(fault, DXP_ERANGE, "%s: longer than %zu MiB", path, most >> 20);
	else
		status = read_all(in, path, (size_t)about.st_size, bytes, count, fault);
	fclose(in);
	return status;
}

int file_write(const char *path, const void *bytes, size_t count, struct fault *fault)
{
	FILE *out = fopen(path, "wb");

	if (!out)
		return fault_set(fault, DXP_EIO, "%s: %s", path, strerror(errno));
	size_t put = fwrite(bytes, 1, count, out);
	int closed = fclose(out);
	if (put != count || closed != 0)
		return fault_set(fault, DXP_EIO, "%s: %s", path, strerror(errno));
	return DXP_OK;
}
