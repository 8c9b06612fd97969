/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/file_replace.h"
#include "base/program.h"
#include "cmd/dxp/command.h"

char *file_load(const char *path, size_t most, size_t *bytes)
{
	FILE *f = fopen(path, "re");
	char *text = f ? malloc(most + 1) : NULL;
	size_t got = text ? fread(text, 1, most + 1, f) : 0;
	int failed = !text || ferror(f) ? errno : 0;

	if (f)
		fclose(f);
	if (!failed && got <= most) {
		text[got] = '\0';
		if (bytes)
			*bytes = got;
		return text;
	}
	free(text);
	if (failed)
		error_set(DXP_EIO, "cannot read %s: %s; check the path", path, strerror(failed));
	else
		error_set(DXP_EIO, "cannot read %s: it has more than %zu bytes; check the path",
			  path, most);
	return NULL;
}

static bool read_at(int fd, off_t from, char *out, size_t bytes)
{
	ssize_t got = pread(fd, out, bytes - 1, from);

	out[got > 0 ? got : 0] = '\0';
	return got >= 0;
}

bool file_head(const char *path, char *out, size_t bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	bool read = read_at(fd, 0, out, bytes);
	close(fd);
	return read;
}

bool file_tail(const char *path, char *out, size_t bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	off_t size = lseek(fd, 0, SEEK_END);
	off_t most = (off_t)bytes - 1;
	bool read = read_at(fd, size > most ? size - most : 0, out, bytes);
	close(fd);
	return read;
}

bool file_name_ends(const char *name, const char *end)
{
	size_t length = strlen(name), wanted = strlen(end);

	return length > wanted && strcmp(name + length - wanted, end) == 0;
}

void file_each(const char *folder, const char *end, void (*use)(void *context, const char *path),
	       void *context)
{
	DIR *files = opendir(folder);
	struct dirent *entry;
	char path[PATH_BYTES];

	while (files && (entry = readdir(files))) {
		if (!file_name_ends(entry->d_name, end))
			continue;
		snprintf(path, sizeof(path), "%.3000s/%.255s", folder, entry->d_name);
		use(context, path);
	}
	if (files)
		closedir(files);
}

bool file_out_open(struct file_out *out, const char *path)
{
	struct stat s;
	bool exists = stat(path, &s) == 0;

	*out = (struct file_out){.fd = STDOUT_FILENO, .standard = strcmp(path, "-") == 0};
	if (out->standard) {
		if (program_was_closed(STDOUT_FILENO))
			print_fail("standard output is closed; name a file");
		return !program_was_closed(STDOUT_FILENO);
	}
	out->plain = !exists || S_ISREG(s.st_mode);
	int length = snprintf(out->path, sizeof(out->path), "%s", path);
	int part = snprintf(out->part, sizeof(out->part), "%s.%ld.part", path, (long)getpid());
	if (length >= PATH_BYTES || part >= PATH_BYTES) {
		print_fail("the file's name is too long");
		return false;
	}
	out->fd = out->plain ? open(out->part,
				    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666)
			     : open(path, O_WRONLY | O_CLOEXEC);
	if (out->fd >= 0)
		return true;
	print_fail("cannot write %s: %s%s", path, strerror(errno), file_write_hint(errno));
	return false;
}

bool file_out_close(struct file_out *out, bool complete)
{
	if (out->standard)
		return true;
	bool closed = close(out->fd) == 0;
	if (!out->plain)
		return closed;
	if (!complete || !closed) {
		unlink(out->part);
	} else if (rename(out->part, out->path) != 0) {
		print_fail("cannot rename the temporary file to %s: %s", out->path,
			   strerror(errno));
		unlink(out->part);
		return false;
	}
	return closed;
}
