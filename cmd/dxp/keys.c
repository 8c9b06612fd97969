/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp keys`: shows and replaces the key pair of this machine or user, that of the
 * manager, and the fabric key.
 *
 * A new private key is in node.key.next before the manager records its public key, and becomes
 * node.key afterwards. So an interrupted command loses no key: the next run finds out from the
 * manager whether it has recorded the new key. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/keyfile.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/control.h"
#include "cmd/dxp/folder.h"
#include "cmd/dxp/keys_fabric.h"
#include "cmd/dxp/keys_manager.h"
#include "cmd/dxp/session.h"
#include "host/config.h"

enum keys_action { KEYS_SHOW, KEYS_ROTATE, KEYS_FETCH };

#define OVERLAP_DEFAULT UINT64_MAX

struct keys_command {
	struct session_options o;
	enum keys_action action;
	bool fabric, manager_key, force;
	uint64_t overlap_s; /* OVERLAP_DEFAULT: that of the key */
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

/* Writes the path of a file in the folder. */
static bool key_path(const struct keys_command *k, const char *name, char out[PATH_BYTES])
{
	return snprintf(out, PATH_BYTES, "%s/%s", k->folder, name) < PATH_BYTES;
}

static int show(struct keys_command *k)
{
	char own[KEY_TEXT_BYTES], manager[KEY_TEXT_BYTES], address[UDP_ADDRESS_TEXT_BYTES];
	uint8_t public_key[KEYS_BYTES];
	struct key_state fabric = {0};
	struct key_state pinned = {0};
	char file[PATH_BYTES], pin[PATH_BYTES];
	struct admission a;

	if (!keys_public(k->q.private_key, public_key) || !key_path(k, "fabric.key", file) ||
	    !key_path(k, "manager.pub", pin))
		return print_fail("not enough memory");
	key_format(public_key, own);
	key_format(k->q.manager_key, manager);
	address_format(&k->q.manager, address);
	const bool admitted = admission_get(&k->q, k->q.private_key, &a) == DXP_OK;
	if (admitted) { /* unknown to earlier managers */
		keys_fabric_get(&k->q, file, &fabric);
		keys_manager_get(&k->q, pin, &pinned);
	}
	if (k->o.json)
		return print_json_text(json_pack(
			"{s:s, s:s, s:s, s:s, s:b, s:s, s:s, s:s, s:o, s:o}", "folder", k->folder,
			"key", own, "manager", address, "manager_key", manager, "admitted",
			admitted, "name", a.name, "role", a.role, "reason", a.reason, "fabric",
			keys_fabric_json(&fabric), "manager_pair", keys_manager_json(&pinned)));
	printf("key       %s  (%s/node.key)\n", own, k->folder);
	if (admitted)
		printf("admitted  as %s, role %s\n", a.name, a.role);
	else
		printf("admitted  no: %s\n", a.reason);
	printf("manager   %s at %s\n", manager, address);
	keys_manager_print(&pinned, pin);
	keys_fabric_print(&fabric, file);
	keys_erase(&fabric, sizeof(fabric));
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

static int fabric_report(const struct keys_command *k, const struct key_state *f, const char *file)
{
	if (k->o.json)
		return print_json_text(keys_fabric_json(f));
	keys_fabric_print(f, file);
	if (k->action == KEYS_ROTATE)
		printf("running nodes send with this key within 3 s; sessions stay open\n");
	return EXIT_DONE;
}

static int fabric_rotate(struct keys_command *k)
{
	struct key_state f = {0};
	const uint64_t overlap_s =
		k->overlap_s == OVERLAP_DEFAULT ? strtoull(KEYS_OVERLAP_S, NULL, 10) : k->overlap_s;
	char file[PATH_BYTES];
	int code = EXIT_FAILED;

	if (!key_path(k, "fabric.key", file))
		return print_fail("the path of the folder is too long; choose a shorter one");
	int status = keys_fabric_rotate(&k->q, file, overlap_s, k->force, &f);
	if (status == DXP_OK)
		code = fabric_report(k, &f, file);
	else if (status == DXP_ETIMEDOUT)
		print_fail("%s; if it has recorded the new key, `dxp keys show` prints the next "
			   "generation",
			   k->q.text);
	else if (!f.known)
		print_fail("the fabric key was not replaced: %s", k->q.text);
	else
		print_fail("the fabric key was replaced, but %s was not written; repair this and "
			   "run `dxp keys fetch`",
			   file);
	keys_erase(&f, sizeof(f));
	return code;
}

static int manager_report(const struct keys_command *k, const struct key_state *m, const char *file)
{
	if (k->o.json)
		return print_json_text(keys_manager_json(m));
	printf("the manager has a new key pair; running nodes learn it within 3 s, and tokens made "
	       "before are valid while it accepts the former one\n");
	keys_manager_print(m, file);
	return EXIT_DONE;
}

static int manager_rotate(struct keys_command *k)
{
	const uint64_t overlap_s =
		k->overlap_s == OVERLAP_DEFAULT ? KEYS_MANAGER_OVERLAP_S : k->overlap_s;
	struct key_state m = {0};
	char file[PATH_BYTES];

	if (!key_path(k, "manager.pub", file))
		return print_fail("the path of the folder is too long; choose a shorter one");
	int status = keys_manager_rotate(&k->q, file, overlap_s, k->force, &m);
	if (status == DXP_OK)
		return manager_report(k, &m, file);
	if (status == DXP_ETIMEDOUT)
		return print_fail("%s; if it has recorded the new key pair, `dxp keys show` prints "
				  "the next generation",
				  k->q.text);
	if (!m.known)
		return print_fail("the key pair of the manager was not replaced: %s", k->q.text);
	return print_fail("the key pair of the manager was replaced, but %s was not written: %s; "
			  "repair this and run `dxp keys fetch`",
			  file, strerror(errno));
}

/* Writes the present fabric key, and the present public key of the manager, to the folder. */
static int fetch(struct keys_command *k)
{
	struct key_state f = {0};
	struct key_state m = {0};
	char file[PATH_BYTES], pin[PATH_BYTES];
	int code = EXIT_FAILED;

	if (!key_path(k, "fabric.key", file) || !key_path(k, "manager.pub", pin))
		return print_fail("the path of the folder is too long; choose a shorter one");
	if (keys_manager_get(&k->q, pin, &m) == DXP_OK && !keys_manager_store(&m, pin))
		return print_fail("cannot write %s: %s", pin, strerror(errno));
	if (keys_fabric_get(&k->q, file, &f) != DXP_OK) {
		print_fail("%s", k->q.text);
	} else if (f.stored || keyfile_write(file, f.key) == DXP_OK) {
		f.stored = true;
		code = fabric_report(k, &f, file);
	}
	keys_erase(&f, sizeof(f));
	return code;
}

static int action_run(struct keys_command *k, const struct folder *p)
{
	switch (k->action) {
	case KEYS_SHOW: return show(k);
	case KEYS_FETCH: return fetch(k);
	default: break;
	}
	if (k->manager_key)
		return manager_rotate(k);
	return k->fabric ? fabric_rotate(k) : rotate(k, p);
}

/* Finds the folder, and locks it as its owner to write in it. */
static int keys_run(struct keys_command *k)
{
	const bool writes = k->action != KEYS_SHOW;
	struct folder p;
	int code = EXIT_FAILED;

	if (config_directory_find(k->o.fabric.directory, k->folder, sizeof(k->folder)) != DXP_OK)
		return session_fail();
	k->o.fabric.directory = k->folder;
	if (writes && !folder_open(&p, k->folder, false))
		return EXIT_FAILED;
	if (control_find(&k->o.fabric, &k->q) != DXP_OK)
		print_fail("%s", k->q.text);
	else
		code = action_run(k, &p);
	if (writes)
		folder_close(&p);
	keys_erase(&k->q, sizeof(k->q));
	return code;
}

static bool action_parse(const char *text, enum keys_action *out)
{
	static const char *const names[] = {
		[KEYS_SHOW] = "show", [KEYS_ROTATE] = "rotate", [KEYS_FETCH] = "fetch"};

	for (unsigned i = 0; i < ARRAY_COUNT(names); i++)
		if (strcmp(text, names[i]) == 0) {
			*out = (enum keys_action)i;
			return true;
		}
	return false;
}

int command_keys(int argc, char **argv)
{
	struct keys_command k = {.overlap_s = OVERLAP_DEFAULT};
	const struct option_row rows[] = {
		DIRECTORY_ROWS(k.o.fabric.directory),
		COMMON_ROW("manager", "ADDRESS", "the manager (default: from the folder)",
			   k.o.fabric.manager),
		{"fabric", NULL, "rotate: the fabric key, in place of this machine's key pair",
		 OPTION_FLAG, &k.fabric},
		{"manager-key", NULL,
		 "rotate: the key pair of the manager, in place of this machine's", OPTION_FLAG,
		 &k.manager_key},
		{"overlap", "SECONDS",
		 "rotate --fabric, --manager-key: how long the former key is accepted (default 10, "
		 "at most 86400; for the manager 2592000, which is 30 days, at most 3456000)",
		 OPTION_NUMBER, &k.overlap_s, 0, KEYS_OVERLAP_MAX_S},
		{"force", NULL,
		 "rotate --fabric, --manager-key: also if nodes of earlier releases are lost, or "
		 "the last rotation is not complete",
		 OPTION_FLAG, &k.force},
		JSON_ROW(k.o.json)};
	const struct usage usage = {
		"keys", "show | rotate | fetch",
		"show prints the public key of this machine or user, whether the manager admits "
		"it, the manager's public key, and\n"
		"fingerprint and age of the fabric key.\n"
		"rotate replaces the key pair in FOLDER while the fabric runs: name, role and "
		"grants stay, running nodes use the new\n"
		"key within 3 s, and the manager refuses the old one. If it is interrupted, run "
		"it again. With --fabric, it replaces\n"
		"the key that all nodes share. All nodes use the new one within 3 s, and sessions "
		"stay open. Needs the role operator.\n"
		"With --manager-key, it replaces the key pair of the manager, which all machines "
		"and tokens name. Running nodes learn the\n"
		"new one within 3 s. Machines that are off, and tokens, may use the former one "
		"during the overlap. Needs the role\n"
		"operator.\n"
		"fetch writes the present fabric key to FOLDER/fabric.key, for programs that do "
		"not join, such as `dxp top --fabric`,\n"
		"and the manager's public key to FOLDER/manager.pub.",
		ACCEPTS(rows, 1, 1)};
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	if (!action_parse(args.at[0], &k.action)) {
		print_fail("write `dxp keys show`, `dxp keys rotate` or `dxp keys fetch`");
		return EXIT_USAGE;
	}
	if (k.force && !k.fabric && !k.manager_key) {
		print_fail("--force is for `dxp keys rotate --fabric` and --manager-key");
		return EXIT_USAGE;
	}
	if (!k.manager_key && k.overlap_s != OVERLAP_DEFAULT &&
	    k.overlap_s > KEYS_FABRIC_OVERLAP_MAX_S) {
		print_fail("--overlap of --fabric is at most %d", KEYS_FABRIC_OVERLAP_MAX_S);
		return EXIT_USAGE;
	}
	if (k.fabric && k.manager_key) {
		print_fail("rotate one key after the other: --fabric or --manager-key");
		return EXIT_USAGE;
	}
	return keys_run(&k);
}
