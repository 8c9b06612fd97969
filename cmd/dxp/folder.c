/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dxp/mmd.h>

#include "base/descriptor.h"
#include "base/file_replace.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/owner.h"
#include "cmd/dxp/session.h"
#include "host/config.h"

/* Time from SIGTERM to SIGKILL: an xPU completes its kernel and leaves the fabric within 3 s. All
 * daemons stop at the same time; each adds a little. */
#define END_PATIENCE_NS (3 * S_NS)
#define END_EACH_NS     (100 * MS_NS)

bool folder_path(const struct folder *p, const char *name, char out[PATH_BYTES])
{
	int length = snprintf(out, PATH_BYTES, "%s/%s", p->folder, name);

	if (length > 0 && length < PATH_BYTES)
		return true;
	print_fail("the folder's name is too long; choose another with --dir");
	return false;
}

bool folders_make(const char *path, bool *created)
{
	char part[PATH_BYTES];

	snprintf(part, sizeof(part), "%s", path);
	for (char *at = part + 1;; at++) {
		if (*at != '/' && *at != '\0')
			continue;
		char end = *at;
		*at = '\0';
		*created = mkdir(part, 0700) == 0;
		if (!*created && errno != EEXIST) {
			print_fail("cannot create the folder %s: %s%s", part, strerror(errno),
				   file_write_hint(errno));
			return false;
		}
		if (end == '\0')
			return true;
		*at = end;
	}
}

bool folder_open(struct folder *p, const char *given, bool create)
{
	*p = (struct folder){.lock = -1};
	if (config_directory(given, p->folder, sizeof(p->folder)) != DXP_OK) {
		session_fail();
		return false;
	}
	if (!owner_become(p->folder))
		return false;
	if (create && !folders_make(p->folder, &p->folder_created))
		return false;
	p->lock = open(p->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p->lock < 0) {
		print_fail("no fabric was started from %s (%s); choose its folder with --dir",
			   p->folder, strerror(errno));
		return false;
	}
	if (flock(p->lock, LOCK_EX | LOCK_NB) == 0)
		return true;
	print_fail("another `dxp up`, `dxp down` or `dxp keys rotate` is running in %s; wait "
		   "until it exits",
		   p->folder);
	close(p->lock);
	return false;
}

void folder_close(struct folder *p)
{
	if (p->folder_created && p->count == 0)
		rmdir(p->folder);
	close(p->lock);
}

static bool load_process(json_t *row, struct process *out)
{
	const char *name;
	json_int_t pid, start;

	if (json_unpack(row, "{s:s, s:I, s:I}", "name", &name, "pid", &pid, "start", &start) != 0)
		return false;
	snprintf(out->name, sizeof(out->name), "%s", name);
	out->pid = (pid_t)pid;
	out->start = (uint64_t)start;
	return true;
}

bool folder_load(struct folder *p)
{
	char path[PATH_BYTES];
	json_t *rows;
	int key_created, folder_created;

	if (!folder_path(p, "run/fabric", path))
		return false;
	json_t *record = json_load_file(path, 0, NULL);
	if (!record)
		return false;
	p->count = 0;
	if (json_unpack(record, "{s:b, s:b, s:o}", "key_created", &key_created, "folder_created",
			&folder_created, "processes", &rows) == 0) {
		p->key_created = key_created;
		p->folder_created = folder_created;
		for (size_t i = 0; i < json_array_size(rows) && p->count < FOLDER_PROCESSES_MAX;
		     i++)
			p->count += load_process(json_array_get(rows, i), &p->processes[p->count]);
	}
	json_decref(record);
	return true;
}

bool folder_save(const struct folder *p)
{
	char path[PATH_BYTES];
	json_t *rows = json_array();

	for (unsigned i = 0; i < p->count; i++)
		json_array_append_new(rows,
				      json_pack("{s:s, s:I, s:I}", "name", p->processes[i].name,
						"pid", (json_int_t)p->processes[i].pid, "start",
						(json_int_t)p->processes[i].start));
	json_t *record = json_pack("{s:b, s:b, s:o}", "key_created", p->key_created,
				   "folder_created", p->folder_created, "processes", rows);
	bool saved = folder_path(p, "run/fabric", path) &&
		     json_dump_file(record, path, JSON_INDENT(1)) == 0;
	json_decref(record);
	if (!saved)
		print_fail("cannot write %s: %s%s", path, strerror(errno), file_write_hint(errno));
	return saved;
}

bool folder_alive(const struct folder *p)
{
	for (unsigned i = 0; i < p->count; i++) {
		if (process_alive(&p->processes[i]))
			return true;
	}
	return false;
}

static void remove_run(const struct folder *p)
{
	char path[PATH_BYTES];
	struct dirent *entry;

	if (!folder_path(p, "run", path))
		return;
	DIR *run = opendir(path);
	while (run && (entry = readdir(run))) {
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(run), entry->d_name, 0);
	}
	if (run)
		closedir(run);
	rmdir(path);
}

bool folder_vacant(const struct folder *p)
{
	char path[PATH_BYTES];

	if (!folder_path(p, "manager", path))
		return false;
	if (access(path, F_OK) == 0) {
		print_fail(
			"%s names the manager of another fabric; choose another folder with --dir",
			path);
		return false;
	}
	/* removes the files of a `dxp up` that was killed before it started a process */
	remove_run(p);
	return true;
}

bool folder_acquire(struct folder *p)
{
	char path[PATH_BYTES], key[PATH_BYTES];

	if (!folder_path(p, "run", path) || !folder_path(p, "fabric.key", key))
		return false;
	if (mkdir(path, 0700) != 0) {
		print_fail("cannot create the folder %s: %s%s", path, strerror(errno),
			   file_write_hint(errno));
		return false;
	}
	p->key_created = access(key, F_OK) != 0;
	return folder_save(p);
}

static void remove_file(const struct folder *p, const char *name)
{
	char path[PATH_BYTES];

	if (folder_path(p, name, path))
		unlink(path);
}

bool folder_clear(struct folder *p)
{
	/* The manager is the first process. It stops after the daemons have left its fabric. */
	unsigned daemons = p->count ? p->count - 1 : 0, managers = p->count - daemons;
	unsigned left = processes_end(p->processes + managers, daemons,
				      END_PATIENCE_NS + daemons * END_EACH_NS);

	managers = processes_end(p->processes, managers, END_PATIENCE_NS);
	if (managers == 0)
		memmove(p->processes, p->processes + 1, left * sizeof(*p->processes));
	p->count = managers + left;
	if (p->count) {
		folder_save(p);
		return false;
	}
	remove_file(p, "manager");
	if (p->key_created)
		remove_file(p, "fabric.key");
	remove_run(p);
	return true;
}

bool folder_manager_listens(const struct folder *p, char out[UDP_ADDRESS_TEXT_BYTES])
{
	static const char mark[] = "listening on ";
	char log[PATH_BYTES], text[2048];
	const char *line;

	if (!folder_path(p, "run/manager.log", log) || !file_tail(log, text, sizeof(text)) ||
	    !(line = strstr(text, mark)) || !strchr(line, '\n'))
		return false;
	line += sizeof(mark) - 1;
	snprintf(out, UDP_ADDRESS_TEXT_BYTES, "%.*s", (int)strcspn(line, "\n"), line);
	return true;
}

bool folder_manager_write(const struct folder *p, const char *address)
{
	char path[PATH_BYTES];
	struct file_out out;

	if (!folder_path(p, "manager", path) || !file_out_open(&out, path))
		return false;
	bool written = descriptor_write(out.fd, address, strlen(address)) &&
		       descriptor_write(out.fd, "\n", 1);
	return file_out_close(&out, written) && written;
}
