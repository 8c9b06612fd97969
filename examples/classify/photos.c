/* SPDX-License-Identifier: BSD-3-Clause */
#include "photos.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <dxp/status.h>

#include "bounds.h"

static int add(struct photos *p, const char *folder, const char *name, struct fault *fault)
{
	char *path;

	if (p->count == PHOTOS_MAX)
		return fault_set(fault, DXP_ERANGE, "more than %d photos", PHOTOS_MAX);
	if (asprintf(&path, "%s%s%s", folder, *folder ? "/" : "", name) < 0)
		return fault_set(fault, DXP_ENOMEM, "out of memory");
	p->paths[p->count++] = path;
	return DXP_OK;
}

static int is_photo(const struct dirent *entry)
{
	static const char *const ends[] = {".jpg", ".jpeg", ".png", ".ppm"};
	const char *dot = strrchr(entry->d_name, '.');

	for (size_t i = 0; dot && i < ARRAY_COUNT(ends); i++)
		if (strcasecmp(dot, ends[i]) == 0)
			return 1;
	return 0;
}

static int add_folder(struct photos *p, const char *folder, struct fault *fault)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, is_photo, alphasort), status = DXP_OK;

	if (count < 0)
		return fault_set(fault, DXP_EIO, "%s: %s", folder, strerror(errno));
	for (int i = 0; i < count; i++) {
		if (status == DXP_OK)
			status = add(p, folder, entries[i]->d_name, fault);
		free(entries[i]);
	}
	free(entries);
	if (count == 0)
		return fault_set(fault, DXP_ENOENT, "%s: no photos in this folder", folder);
	return status;
}

int photos_find(char *const *arguments, uint32_t count, struct photos *out, struct fault *fault)
{
	struct photos p = {.paths = calloc(PHOTOS_MAX, sizeof(*p.paths))};
	int status = p.paths ? DXP_OK : fault_set(fault, DXP_ENOMEM, "out of memory");

	for (uint32_t i = 0; status == DXP_OK && i < count; i++) {
		struct stat about;
		if (stat(arguments[i], &about) != 0)
			status = fault_set(fault, DXP_ENOENT, "%s: %s", arguments[i],
					   strerror(errno));
		else if (S_ISDIR(about.st_mode))
			status = add_folder(&p, arguments[i], fault);
		else
			status = add(&p, "", arguments[i], fault);
	}
	if (status == DXP_OK)
		*out = p;
	else
		photos_release(&p);
	return status;
}

void photos_release(struct photos *p)
{
	for (uint32_t i = 0; p->paths && i < p->count; i++)
		free(p->paths[i]);
	free(p->paths);
	*p = (struct photos){0};
}
