/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp context`: lists, selects, adds and removes the names of fabrics. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/file.h"
#include "cmd/dxp/folder.h"
#include "cmd/dxp/owner.h"
#include "cmd/dxp/session.h"
#include "host/config.h"
#include "host/context.h"

#define MANAGER_TEXT_BYTES 512 /* a line with the addresses of all managers */

struct contexts {
	bool json, with_keys;
	char base[PATH_BYTES];
};

static bool base_path(const struct contexts *c, const char *name, char out[PATH_BYTES])
{
	if (snprintf(out, PATH_BYTES, "%s/%s", c->base, name) < PATH_BYTES)
		return true;
	print_fail("the name of the state folder is too long; set XDG_STATE_HOME to a shorter one");
	return false;
}

/* Prepares a change: becomes the owner of the state folder, and creates it. */
static bool base_open(const struct contexts *c)
{
	char fabrics[PATH_BYTES];
	bool created;

	return base_path(c, "fabrics", fabrics) && owner_become(c->base) &&
	       folders_make(fabrics, &created);
}

/* ---- list ---- */

/* Reads the addresses of the managers; "" if the fabric is down. */
static void manager_of(const char *folder, char out[MANAGER_TEXT_BYTES])
{
	char path[PATH_BYTES];

	if (snprintf(path, sizeof(path), "%s/manager", folder) >= PATH_BYTES ||
	    !file_head(path, out, MANAGER_TEXT_BYTES))
		out[0] = '\0';
	out[strcspn(out, "\n")] = '\0';
}

static int row_show(const struct contexts *c, json_t *all, const char *name, const char *selected)
{
	char link[PATH_BYTES], folder[PATH_MAX], manager[MANAGER_TEXT_BYTES];
	const bool is_selected = strcmp(name, selected) == 0;

	if (context_folder(name, link, sizeof(link)) != DXP_OK)
		return session_fail();
	if (!realpath(link, folder))
		snprintf(folder, sizeof(folder), "%s", link);
	manager_of(folder, manager);
	if (c->json)
		json_array_append_new(all,
				      json_pack("{s:s, s:b, s:s, s:s}", "name", name, "selected",
						is_selected, "manager", manager, "folder", folder));
	else
		printf("%c %-16s  %-24s  %s\n", is_selected ? '*' : ' ', name,
		       *manager ? manager : "-", folder);
	return EXIT_DONE;
}

static int is_name(const struct dirent *entry)
{
	return context_name_valid(entry->d_name);
}

static int list(const struct contexts *c)
{
	char fabrics[PATH_BYTES], selected[FABRIC_NAME_BYTES];
	struct dirent **found = NULL;

	if (!base_path(c, "fabrics", fabrics))
		return EXIT_FAILED;
	if (context_selected(selected) != DXP_OK)
		return session_fail();
	json_t *all = c->json ? json_array() : NULL;
	if (!c->json)
		printf("  %-16s  %-24s  %s\n", "NAME", "MANAGER", "FOLDER");
	int status = row_show(c, all, CONTEXT_DEFAULT, selected);
	int count = scandir(fabrics, &found, is_name, alphasort);
	for (int i = 0; i < count; i++) {
		if (status == EXIT_DONE)
			status = row_show(c, all, found[i]->d_name, selected);
		free(found[i]);
	}
	free(found);
	if (status == EXIT_DONE && (access(CONFIG_SERVICES "/manager", R_OK) == 0 ||
				    strcmp(selected, CONTEXT_SYSTEM) == 0))
		status = row_show(c, all, CONTEXT_SYSTEM, selected);
	if (c->json && status == EXIT_DONE)
		return print_json_text(all);
	json_decref(all);
	return status;
}

/* ---- use, add, remove ---- */

static bool selection_write(const struct contexts *c, const char *name)
{
	char path[PATH_BYTES];
	struct file_out out;

	if (!base_path(c, "context", path))
		return false;
	if (strcmp(name, CONTEXT_DEFAULT) == 0) {
		if (unlink(path) == 0 || errno == ENOENT)
			return true;
		print_fail("cannot remove %s: %s", path, strerror(errno));
		return false;
	}
	if (!file_out_open(&out, path))
		return false;
	const bool written =
		descriptor_write(out.fd, name, strlen(name)) && descriptor_write(out.fd, "\n", 1);
	return file_out_close(&out, written) && written;
}

static int report(const struct contexts *c, const char *name, const char *what)
{
	char link[PATH_BYTES], folder[PATH_MAX];

	if (context_folder(name, link, sizeof(link)) != DXP_OK)
		return session_fail();
	if (!realpath(link, folder))
		snprintf(folder, sizeof(folder), "%s", link);
	if (c->json)
		return print_json_text(
			json_pack("{s:s, s:s, s:s}", "name", name, "folder", folder, "done", what));
	printf("%s: %s (%s)\n", name, what, folder);
	return EXIT_DONE;
}

static int use(const struct contexts *c, const char *name)
{
	static const char *const stronger[] = {"DXP_DIR", "DXP_CONTEXT"};

	if (context_check(name) != DXP_OK)
		return session_fail();
	if (!base_open(c) || !selection_write(c, name))
		return EXIT_FAILED;
	for (size_t i = 0; i < ARRAY_COUNT(stronger); i++) {
		const char *value = getenv(stronger[i]);
		if (value && *value)
			fprintf(stderr, "dxp: warning: %s=%s overrides this; run `unset %s`\n",
				stronger[i], value, stronger[i]);
	}
	return report(c, name, "selected");
}

static bool name_check(const char *name)
{
	if (context_name_valid(name))
		return true;
	print_fail("'%s' is not the name of a context; use 1 to %d of A-Z a-z 0-9 . _ -, but not "
		   "'%s' or '%s'",
		   name, FABRIC_NAME_BYTES - 1, CONTEXT_DEFAULT, CONTEXT_SYSTEM);
	return false;
}

static int add(const struct contexts *c, const char *name, const char *folder)
{
	char link[PATH_BYTES], whole[PATH_MAX];
	struct stat s;

	if (!name_check(name))
		return EXIT_USAGE;
	if (!realpath(folder, whole) || stat(whole, &s) != 0 || !S_ISDIR(s.st_mode))
		return print_fail("%s is not a folder: %s; name the folder of a fabric", folder,
				  errno ? strerror(errno) : "a file");
	if (!base_open(c))
		return EXIT_FAILED;
	if (context_folder(name, link, sizeof(link)) != DXP_OK)
		return session_fail();
	if (symlink(whole, link) == 0)
		return report(c, name, "added");
	if (errno == EEXIST)
		return print_fail("%s exists already; choose another name, or `dxp context remove "
				  "%s` first",
				  name, name);
	return print_fail("cannot create %s: %s", link, strerror(errno));
}

/* Removes the files of `dxp join` and the folder. */
static bool joined_remove(const struct contexts *c, const char *name, const char *folder)
{
	static const char *const files[] = {"node.key", "node.key.next", "fabric.key", "manager",
					    "manager.pub"};
	char path[PATH_BYTES + 32];

	snprintf(path, sizeof(path), "%s/registry", folder);
	bool own = access(path, F_OK) == 0;
	snprintf(path, sizeof(path), "%s/run", folder);
	if (own || access(path, F_OK) == 0) {
		print_fail("%s has a manager of its own in %s; run `dxp down --context %s`, then "
			   "remove the folder",
			   name, folder, name);
		return false;
	}
	snprintf(path, sizeof(path), "%s/node.key", folder);
	if (access(path, F_OK) == 0 && !c->with_keys) {
		print_fail("%s has the key with which this user is admitted, and a return needs a "
			   "new token; `dxp context remove --with-keys %s` removes it too",
			   folder, name);
		return false;
	}
	for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
		unlink(path);
	}
	if (rmdir(folder) == 0)
		return true;
	print_fail("cannot remove %s: %s; remove it by hand", folder, strerror(errno));
	return false;
}

static int context_remove(const struct contexts *c, const char *name)
{
	char link[PATH_BYTES], selected[FABRIC_NAME_BYTES];
	struct stat s;

	if (!name_check(name))
		return EXIT_USAGE;
	if (context_folder(name, link, sizeof(link)) != DXP_OK)
		return session_fail();
	if (lstat(link, &s) != 0)
		return print_fail("no context has the name '%s'; `dxp context list` shows all",
				  name);
	if (!base_open(c))
		return EXIT_FAILED;
	if (!S_ISLNK(s.st_mode)) {
		if (!joined_remove(c, name, link))
			return EXIT_FAILED;
	} else if (unlink(link) != 0) {
		return print_fail("cannot remove %s: %s", link, strerror(errno));
	}
	if (context_selected(selected) == DXP_OK && strcmp(selected, name) == 0 &&
	    !selection_write(c, CONTEXT_DEFAULT))
		return EXIT_FAILED;
	return report(c, name, "removed");
}

int command_context(int argc, char **argv)
{
	struct contexts c = {0};
	const struct option_row rows[] = {
		{"with-keys", NULL,
		 "remove: also the keys of a fabric that `dxp join --context` has joined",
		 OPTION_FLAG, &c.with_keys},
		JSON_ROW(c.json)};
	const struct usage usage = {
		"context", "list | use NAME | add NAME FOLDER | remove NAME",
		"Names the fabrics of this user. list shows them, and marks the selected one with "
		"'*'. use selects the one that\n"
		"commands, the C library and the plugins find without --dir, --context, DXP_DIR "
		"and DXP_CONTEXT. add gives a name to\n"
		"a fabric's folder; remove ends the name. `dxp join --context NAME` joins and "
		"names in one step. 'default' is the\n"
		"user's state folder, 'system' the fabric of this machine's services.",
		ACCEPTS(rows, 1, 3)};
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	if (context_base(c.base, sizeof(c.base)) != DXP_OK)
		return session_fail();
	if (args.count == 1 && strcmp(args.at[0], "list") == 0)
		return list(&c);
	if (args.count == 2 && strcmp(args.at[0], "use") == 0)
		return use(&c, args.at[1]);
	if (args.count == 3 && strcmp(args.at[0], "add") == 0)
		return add(&c, args.at[1], args.at[2]);
	if (args.count == 2 && strcmp(args.at[0], "remove") == 0)
		return context_remove(&c, args.at[1]);
	print_fail("write `dxp context list`, `use NAME`, `add NAME FOLDER` or `remove NAME`");
	return EXIT_USAGE;
}
