/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp node remove`, with or without a new fabric key. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "cmd/dxp/command.h"
#include "cmd/dxp/control.h"
#include "cmd/dxp/file.h"
#include "cmd/dxp/keys_fabric.h"
#include "cmd/dxp/session.h"
#include "host/config.h"

struct removal {
	struct session_options o;
	struct control q;
	bool rotate;
	uint64_t overlap_s;
	char name[FABRIC_NAME_BYTES]; /* of the key that was removed */
	struct key_state fabric;      /* after a rotation */
};

static int key_remove(struct removal *r, const char *name)
{
	struct channel *c;

	r->q.request = (struct channel_request){.command = CHANNEL_NODE_REMOVE};
	snprintf(r->q.request.name, sizeof(r->q.request.name), "%s", name);
	int status = control_run(&r->q, &c);
	if (status != DXP_OK)
		return status;
	snprintf(r->name, sizeof(r->name), "%.*s", FABRIC_NAME_BYTES - 1, channel_text(c));
	channel_destroy(c);
	return DXP_OK;
}

/* Replaces the fabric key, which the removed machine has. Returns false after a message. */
static bool key_rotate(struct removal *r)
{
	char folder[PATH_BYTES], file[PATH_BYTES + sizeof("/fabric.key")];

	if (config_directory_find(r->o.fabric.directory, folder, sizeof(folder)) != DXP_OK) {
		session_fail();
		return false;
	}
	snprintf(file, sizeof(file), "%s/fabric.key", folder);
	if (keys_fabric_rotate(&r->q, file, r->overlap_s, false, &r->fabric) == DXP_OK)
		return true;
	if (r->fabric.known)
		print_fail("%s was removed and the fabric key replaced, but the new one was not "
			   "stored here; run `dxp keys fetch`",
			   r->name);
	else
		print_fail("%s was removed, but it still has the fabric key, which was not "
			   "replaced: %s; run `dxp keys rotate --fabric`",
			   r->name, r->q.text);
	return false;
}

static int report(const struct removal *r)
{
	char print[FABRIC_PRINT_TEXT];

	if (r->o.json)
		return print_json_text(json_pack("{s:s, s:b, s:o}", "name", r->name, "removed", 1,
						 "fabric", keys_fabric_json(&r->fabric)));
	printf("%s was removed, and its key is refused from now on\n", r->name);
	if (r->rotate)
		printf("the fabric key now has the generation %u, fingerprint %s\n",
		       r->fabric.state.generation, fabric_key_fingerprint(r->fabric.key, print));
	return EXIT_DONE;
}

static int removal_run(struct removal *r, const char *name)
{
	if (control_find(&r->o.fabric, &r->q) != DXP_OK || key_remove(r, name) != DXP_OK)
		return print_fail("%s", r->q.text);
	return r->rotate && !key_rotate(r) ? EXIT_FAILED : report(r);
}

int command_node(int argc, char **argv)
{
	struct removal r = {.overlap_s = strtoull(KEYS_OVERLAP_S, NULL, 10)};
	const struct option_row rows[] = {
		DIRECTORY_ROWS(r.o.fabric.directory),
		COMMON_ROW("manager", "ADDRESS",
			   "the manager, or all managers with commas (default: from the folder)",
			   r.o.fabric.manager),
		{"rotate", NULL,
		 "also replace the fabric key, which the machine has: see `dxp keys rotate "
		 "--fabric`",
		 OPTION_FLAG, &r.rotate},
		{"overlap", "SECONDS",
		 "with --rotate: nodes accept the former key for this time (default " KEYS_OVERLAP_S
		 ")",
		 OPTION_NUMBER, &r.overlap_s, 0, KEYS_FABRIC_OVERLAP_MAX_S},
		JSON_ROW(r.o.json)};
	const struct usage usage = {
		"node", "remove NAME",
		"Removes a machine or user from the fabric: its nodes leave the node table of all "
		"nodes at once, and its key is\n"
		"refused from then on. NAME is the name given to `dxp join`, or the name of one of "
		"its nodes. Needs the role\n"
		"operator.",
		ACCEPTS(rows, 2, 2)};
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	const char *name = args.at[1];
	if (strcmp(args.at[0], "remove") != 0 || !manage_name_valid(name)) {
		print_fail("write `dxp node remove NAME`, with a name that `dxp nodes` lists");
		return EXIT_USAGE;
	}
	int code = removal_run(&r, name);
	keys_erase(&r.q, sizeof(r.q));
	keys_erase(&r.fabric, sizeof(r.fabric));
	return code;
}
