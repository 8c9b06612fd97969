/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp node remove`. */
#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "cmd/dxp/command.h"
#include "cmd/dxp/control.h"
#include "cmd/dxp/session.h"

int command_node(int argc, char **argv)
{
	struct session_options o = {0};
	struct control q = {.request = {.command = CHANNEL_NODE_REMOVE}};
	const struct option_row rows[] = {DIRECTORY_ROWS(o.fabric.directory),
					  COMMON_ROW("manager", "ADDRESS",
						     "the manager, or all managers with commas "
						     "(default: from the folder)",
						     o.fabric.manager),
					  JSON_ROW(o.json)};
	const struct usage usage = {
		"node", "remove NAME",
		"Removes a machine or user from the fabric: its nodes leave the node table of all "
		"nodes at once, and its key is\n"
		"refused from then on. NAME is the name given to `dxp join`, or the name of one of "
		"its nodes. Needs the role\n"
		"operator.",
		ACCEPTS(rows, 2, 2)};
	struct channel *c;
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	const char *name = args.at[1];
	if (strcmp(args.at[0], "remove") != 0 || !manage_name_valid(name)) {
		print_fail("write `dxp node remove NAME`, with a name that `dxp nodes` lists");
		return EXIT_USAGE;
	}
	snprintf(q.request.name, sizeof(q.request.name), "%s", name);
	if (control_find(&o.fabric, &q) != DXP_OK || control_run(&q, &c) != DXP_OK)
		return print_fail("%s", q.text);
	int status = EXIT_DONE;
	if (o.json)
		status = print_json_text(
			json_pack("{s:s, s:b}", "name", channel_text(c), "removed", 1));
	else
		printf("%s was removed, and its key is refused from now on\n", channel_text(c));
	channel_destroy(c);
	keys_erase(&q, sizeof(q));
	return status;
}
