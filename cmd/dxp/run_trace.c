/* SPDX-License-Identifier: BSD-3-Clause */
/* Merges the traces of a program's processes by concatenating their records. The trace of a killed
 * process lacks its last records. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "base/descriptor.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/file.h"
#include "cmd/dxp/run.h"

#define LINE_BYTES 4096

struct joined {
	struct file_out out;
	bool some, good;
};

static void put(struct joined *j, const char *text)
{
	j->good = j->good && descriptor_write(j->out.fd, text, strlen(text));
}

/* Copies one record. A record is a line, with a comma after it unless it is the last. Truncated
 * records are skipped. */
static void line_copy(struct joined *j, char *line)
{
	size_t length = strcspn(line, "\n");

	while (length > 0 && line[length - 1] == ',')
		length--;
	if (length < 2 || line[0] != '{' || line[length - 1] != '}' ||
	    strncmp(line, "{\"ph\":", 6) != 0)
		return;
	line[length] = '\0';
	put(j, j->some ? ",\n" : "\n");
	put(j, line);
	j->some = true;
}

static void file_append(struct joined *j, const char *path)
{
	char line[LINE_BYTES];
	FILE *file = fopen(path, "re");

	if (!file)
		return;
	while (fgets(line, sizeof(line), file))
		line_copy(j, line);
	fclose(file);
}

bool run_trace_join(const char *folder, const char *path)
{
	struct joined j = {.good = true};
	DIR *files = opendir(folder);
	struct dirent *entry;

	if (!files || !file_out_open(&j.out, path)) {
		if (files)
			closedir(files);
		return false;
	}
	put(&j, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	while ((entry = readdir(files))) {
		const char *dot = strrchr(entry->d_name, '.');
		char from[PATH_BYTES];
		if (!dot || strcmp(dot, ".trace") != 0)
			continue;
		snprintf(from, sizeof(from), "%.3000s/%.255s", folder, entry->d_name);
		file_append(&j, from);
	}
	closedir(files);
	put(&j, "\n]}\n");
	return file_out_close(&j.out, j.good);
}
