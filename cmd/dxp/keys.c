/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp keys`: shows and replaces the key pair of this machine or user.
 *
 * A new private key is in node.key.next before the manager records its public key, and becomes
 * node.key afterwards. So an interrupted command loses no key: the next run finds out from the
 * manager whether it has recorded the new key. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/keyfile.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/control.h"
#include "cmd/dxp/folder.h"
#include "cmd/dxp/session.h"
#include "host/config.h"

struct keys_command {
	struct session_options o;
	char folder[PATH_BYTES];
	struct control q; /* the manager, and the key in node.key */
};

/* The manager's answer about a key. */
struct admission {
	int status;
	char name[FABRIC_NAME_BYTES], role[16];
	char reason[CONTROL_TEXT_BYTES]; /* why the key is not admitted */
};

/* Reads from the manager whether it admits this key. */
static int admission_get(const struct control *q, const uint8_t key[KEYS_BYTES],
			 struct admission *out)
{
	struct control query = *q;
	struct channel *c;

	*out = (struct admission){0};
	query.request = (struct channel_request){.command = CHANNEL_ADMIT};
	memcpy(query.private_key, key, sizeof(query.private_key));
	out->status = control_run(&query, &c);
	if (out->status == DXP_OK) {
		snprintf(out->name, sizeof(out->name), "%.*s", FABRIC_NAME_BYTES - 1,
			 channel_text(c));
		snprintf(out->role, sizeof(out->role), "%s",
			 channel_role_text(channel_last(c)->role));
		channel_destroy(c);
	} else {
		snprintf(out->reason, sizeof(out->reason), "%s", query.text);
	}
	keys_erase(&query, sizeof(query));
	return out->status;
}

static int show(const struct keys_command *k)
{
	char own[KEY_TEXT_BYTES], manager[KEY_TEXT_BYTES], address[UDP_ADDRESS_TEXT_BYTES];
	uint8_t public_key[KEYS_BYTES];
	struct admission a;

	if (!keys_public(k->q.private_key, public_key))
		return print_fail("not enough memory");
	key_format(public_key, own);
	key_format(k->q.manager_key, manager);
	address_format(&k->q.manager, address);
	const bool admitted = admission_get(&k->q, k->q.private_key, &a) == DXP_OK;
	if (k->o.json)
		return print_json_text(json_pack(
			"{s:s, s:s, s:s, s:s, s:b, s:s, s:s, s:s}", "folder", k->folder, "key", own,
			"manager", address, "manager_key", manager, "admitted", admitted, "name",
			a.name, "role", a.role, "reason", a.reason));
	printf("key       %s  (%s/node.key)\n", own, k->folder);
	if (admitted)
		printf("admitted  as %s, role %s\n", a.name, a.role);
	else
		printf("admitted  no: %s\n", a.reason);
	printf("manager   %s at %s\n", manager, address);
	return EXIT_DONE;
}

/* Requests from the manager that the key `next` replaces the present one. */
static int replace(struct control *q, const uint8_t next[KEYS_BYTES])
{
	uint8_t pair[KEYS_BYTES], before[KEYS_BYTES];
	struct channel_request *r = &q->request;
	struct channel *c;
	int status = DXP_ENOMEM;

	*r = (struct channel_request){.command = CHANNEL_ROTATE};
	if (keys_public(next, r->psk) && keys_pair(next, r->psk, q->manager_key, pair) &&
	    keys_public(q->private_key, before) && keys_rotation_proof(pair, before, r->proof))
		status = control_run(q, &c);
	else
		snprintf(q->text, sizeof(q->text), "not enough memory");
	keys_erase(pair, sizeof(pair));
	if (status == DXP_OK)
		channel_destroy(c);
	return status;
}

/* Replaces the key at the manager, unless an interrupted run has done so already. */
static bool record(struct keys_command *k, const uint8_t next[KEYS_BYTES], bool resumed,
		   struct admission *a)
{
	if (resumed && admission_get(&k->q, next, a) == DXP_OK)
		return true;
	int status = replace(&k->q, next);
	/* The manager may have recorded the key although its answer did not arrive. */
	if ((status == DXP_OK || status == DXP_ETIMEDOUT) &&
	    admission_get(&k->q, next, a) == DXP_OK)
		return true;
	if (status == DXP_OK || status == DXP_ETIMEDOUT)
		print_fail("%s; run `dxp keys rotate` again: it continues with the new key, which "
			   "the manager may have recorded",
			   a->reason);
	else
		print_fail("the key was not replaced: %s", k->q.text);
	return false;
}

static bool key_install(const struct folder *p, const char *next)
{
	char path[PATH_BYTES];

	if (!folder_path(p, "node.key", path))
		return false;
	if (rename(next, path) == 0 && fsync(p->lock) == 0)
		return true;
	print_fail("cannot rename %s to %s: %s; the manager refuses the old key from now on, so "
		   "repair this and run `dxp keys rotate` again",
		   next, path, strerror(errno));
	return false;
}

static int report(const struct keys_command *k, const uint8_t key[KEYS_BYTES], bool resumed,
		  const struct admission *a)
{
	char text[KEY_TEXT_BYTES] = "";
	uint8_t public_key[KEYS_BYTES];

	if (keys_public(key, public_key))
		key_format(public_key, text);
	if (k->o.json)
		return print_json_text(json_pack("{s:s, s:s, s:b}", "name", a->name, "key", text,
						 "resumed", resumed));
	printf("%s has the key %s%s\n"
	       "the manager refuses the old key; running nodes use the new one within 3 s\n",
	       a->name, text, resumed ? ", which an interrupted rotation had made" : "");
	return EXIT_DONE;
}

static int rotate(struct keys_command *k, const struct folder *p)
{
	char next[PATH_BYTES];
	uint8_t key[KEYS_BYTES];
	struct admission a = {0};

	if (!folder_path(p, "node.key.next", next))
		return EXIT_FAILED;
	int status = keyfile_create(next, key);
	const bool resumed = status == DXP_EEXIST;
	if (resumed)
		status = keyfile_read(next, key);
	int code = EXIT_FAILED; /* the key file has logged its error */
	if (status == DXP_OK && record(k, key, resumed, &a) && key_install(p, next))
		code = report(k, key, resumed, &a);
	keys_erase(key, sizeof(key));
	return code;
}

/* Finds the folder, and locks it as its owner for a rotation. */
static int keys_run(struct keys_command *k, bool rotates)
{
	struct folder p;
	int code = EXIT_FAILED;

	if (config_directory_find(k->o.fabric.directory, k->folder, sizeof(k->folder)) != DXP_OK)
		return session_fail();
	k->o.fabric.directory = k->folder;
	if (rotates && !folder_open(&p, k->folder, false))
		return EXIT_FAILED;
	if (control_find(&k->o.fabric, &k->q) != DXP_OK)
		print_fail("%s", k->q.text);
	else
		code = rotates ? rotate(k, &p) : show(k);
	if (rotates)
		folder_close(&p);
	keys_erase(&k->q, sizeof(k->q));
	return code;
}

int command_keys(int argc, char **argv)
{
	struct keys_command k = {0};
	const struct option_row rows[] = {DIRECTORY_ROWS(k.o.fabric.directory),
					  COMMON_ROW("manager", "ADDRESS",
						     "the manager (default: from the folder)",
						     k.o.fabric.manager),
					  JSON_ROW(k.o.json)};
	const struct usage usage = {
		"keys", "show | rotate",
		"show prints the public key of this machine or user, whether the manager admits "
		"it, and the manager's public key.\n"
		"rotate replaces the key pair in FOLDER while the fabric runs: name, role and "
		"grants stay, running nodes use the new\n"
		"key within 3 s, and the manager refuses the old one. If it is interrupted, run "
		"it again.",
		ACCEPTS(rows, 1, 1)};
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	const bool rotates = strcmp(args.at[0], "rotate") == 0;
	if (!rotates && strcmp(args.at[0], "show") != 0) {
		print_fail("write `dxp keys show` or `dxp keys rotate`");
		return EXIT_USAGE;
	}
	return keys_run(&k, rotates);
}
