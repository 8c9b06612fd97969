/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp join`. The folder of a fabric gets:
 *
 *   node.key      private key of this machine or user, made here; never leaves
 *   fabric.key    the fabric's key, received over the encrypted channel
 *   manager.pub   the manager's public key: another manager is rejected from now on
 *   manager       HOST:PORT of the manager, or of all managers with commas */
#include "cmd/dxp/join.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "base/file_replace.h"
#include "base/keyfile.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/folder.h"
#include "cmd/dxp/owner.h"
#include "cmd/dxp/session.h"
#include "host/config.h"

static bool path_make(const struct joining *j, const char *name, char out[PATH_BYTES])
{
	if (snprintf(out, PATH_BYTES, "%s/%s", j->folder, name) < PATH_BYTES)
		return true;
	print_fail("the folder's name is too long; choose another with --dir");
	return false;
}

/* Reads the first line of a file of the folder; "" if there is none. */
static bool line_read(const struct joining *j, const char *name, char *out, size_t bytes)
{
	char path[PATH_BYTES];

	if (!path_make(j, name, path))
		return false;
	if (!file_head(path, out, bytes))
		out[0] = '\0';
	out[strcspn(out, "\n")] = '\0';
	return true;
}

static bool line_write(const struct joining *j, const char *name, const char *text)
{
	char path[PATH_BYTES];
	struct file_out out;

	if (!path_make(j, name, path) || !file_out_open(&out, path))
		return false;
	bool written =
		descriptor_write(out.fd, text, strlen(text)) && descriptor_write(out.fd, "\n", 1);
	if (!written)
		print_fail("cannot write %s: %s%s", path, strerror(errno), file_write_hint(errno));
	return file_out_close(&out, written) && written;
}

/* Returns whether the text is one address, and that of the manager. */
static bool manager_same(const char *text, const struct control *q)
{
	struct manager_backups others = {0};
	struct udp_address address;

	return managers_parse(text, WIRE_PORT, &address, &others) == DXP_OK && !others.count &&
	       !q->others.count && address_equal(&address, &q->manager);
}

/* Checks that the folder does not belong to another fabric. A manager's service announces its
 * address in the folder of its machine's services, which join there too. */
static bool folder_fits(const struct joining *j, const struct control *q)
{
	char pinned[KEY_TEXT_BYTES + 1], own[KEY_TEXT_BYTES], manager[PATH_BYTES];

	if (!line_read(j, "manager.pub", pinned, sizeof(pinned)) ||
	    !line_read(j, "manager", manager, sizeof(manager)))
		return false;
	if (strcmp(pinned, key_format(j->token.manager, own)) == 0 ||
	    (!*pinned && (!*manager || manager_same(manager, q))))
		return true;
	print_fail(
		"%s belongs to the fabric of another manager, %s; name this one with --context, "
		"choose another folder with --dir, or remove that one; if the manager's key pair "
		"was replaced, run `dxp keys fetch` first, or get a new token",
		j->folder, *manager ? manager : pinned);
	return false;
}

static bool key_ensure(const struct joining *j, uint8_t key[KEYS_BYTES])
{
	char path[PATH_BYTES];

	if (!path_make(j, "node.key", path))
		return false;
	int status = keyfile_create(path, key);
	if (status == DXP_EEXIST)
		status = keyfile_read(path, key);
	return status == DXP_OK;
}

static bool files_write(const struct joining *j, const struct control *q,
			const struct channel_answer *answer)
{
	char path[PATH_BYTES], fingerprint[KEY_TEXT_BYTES];

	return path_make(j, "fabric.key", path) &&
	       keyfile_write(path, answer->fabric_key) == DXP_OK &&
	       line_write(j, "manager.pub", key_format(q->manager_key, fingerprint)) &&
	       line_write(j, "manager", j->host);
}

bool join_run(struct joining *j)
{
	struct control q = {.token = &j->token, .request = {.command = CHANNEL_ADMIT}};
	struct channel *c;
	bool good = false;

	if (managers_parse(j->host, WIRE_PORT, &q.manager, &q.others) != DXP_OK) {
		print_fail("'%s' is not an address, and no machine has this name; write the host "
			   "of the manager, such as 10.0.0.1 or manager.example:%d",
			   j->host, WIRE_PORT);
		return false;
	}
	if (j->name)
		snprintf(q.request.name, sizeof(q.request.name), "%s", j->name);
	else
		config_host_name(q.request.name);
	if (!folder_fits(j, &q) || !key_ensure(j, q.private_key))
		return false;
	memcpy(q.manager_key, j->token.manager, sizeof(q.manager_key));
	if (control_run(&q, &c) == DXP_OK) {
		const struct channel_answer *answer = channel_last(c);
		snprintf(j->given_name, sizeof(j->given_name), "%.*s", FABRIC_NAME_BYTES - 1,
			 answer->text);
		j->role = answer->role;
		good = files_write(j, &q, answer);
		channel_destroy(c);
	} else {
		print_fail("cannot join: %s", q.text);
	}
	keys_erase(&q, sizeof(q));
	return good;
}

static int report(const struct joining *j, bool json)
{
	const char *next = j->role == ROLE_OPERATOR ? "`dxp token create` makes tokens"
			   : j->role == ROLE_XPU    ? "`dxpd` offers this machine's xPUs"
						    : "it may use the xPUs that are granted";

	if (json)
		return print_json_text(json_pack("{s:s, s:s, s:s, s:s}", "folder", j->folder,
						 "manager", j->host, "name", j->given_name, "role",
						 channel_role_text(j->role)));
	printf("joined the fabric of %s as %s, role %s; %s\n"
	       "`dxp nodes` lists the fabric; an operator permits the use of an xPU: dxp grant %s "
	       "XPU\n",
	       j->host, j->given_name, channel_role_text(j->role), next, j->given_name);
	return EXIT_DONE;
}

int command_join(int argc, char **argv)
{
	struct joining j = {0};
	char folder[PATH_BYTES];
	const char *directory = NULL;
	bool json = false, created;
	const struct option_row rows[] = {
		DIRECTORY_NEW_ROWS(directory),
		{"name", "NAME",
		 "name of this machine or user in the fabric, for grants and `dxp node remove` "
		 "(default: the host name)",
		 OPTION_TEXT, &j.name},
		JSON_ROW(json)};
	const struct usage usage = {
		"join", "HOST[:PORT][,HOST[:PORT]...] TOKEN",
		"Joins the fabric of the manager on HOST, or of several managers. `dxp token "
		"create` "
		"there prints TOKEN. "
		"Makes a key pair for this\n"
		"machine or user, and keeps it, the fabric's key and the manager's fingerprint in "
		"FOLDER, where all commands,\n"
		"plugins and `dxpd` find them.",
		ACCEPTS(rows, 2, 2)};
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	j.host = args.at[0];
	const bool parsed = token_parse(args.at[1], &j.token);
	/* Other users of this machine see the arguments of programs. */
	keys_erase(args.at[1], strlen(args.at[1]));
	if (!parsed) {
		print_fail("this is not a token: copy the whole word from `dxp1.` on that `dxp "
			   "token create` printed");
		return EXIT_USAGE;
	}
	if (j.name && !manage_name_valid(j.name)) {
		print_fail("'%s' is not a name; use 1 to %d of A-Z a-z 0-9 . _ -", j.name,
			   FABRIC_NAME_BYTES - 1);
		return EXIT_USAGE;
	}
	if (config_directory(directory, folder, sizeof(folder)) != DXP_OK)
		return session_fail();
	j.folder = folder;
	const bool joined = owner_become(folder) && folders_make(folder, &created) && join_run(&j);
	keys_erase(&j.token, sizeof(j.token));
	if (!joined)
		return EXIT_FAILED;
	return report(&j, json);
}
