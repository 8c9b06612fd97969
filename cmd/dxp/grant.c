/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp grant`, `dxp revoke` and `dxp grants`: which host may use which xPU. */
#include <stdio.h>

#include "cmd/dxp/command.h"
#include "cmd/dxp/grant.h"
#include "cmd/dxp/inquiry.h"
#include "cmd/dxp/session.h"

static int assign(int argc, char **argv, enum query_kind kind, const char *text)
{
	struct session_options o = {0};
	struct inquiry q = {.fabric = &o.fabric, .kind = kind};
	struct query *a;
	const struct option_row rows[] = {MANAGER_ROWS(o), JSON_ROW(o.json)};
	const struct usage usage = {argv[0], "HOST XPU", text, rows, ARRAY_COUNT(rows), 2, 2};
	int first = options_parse(argc, argv, &usage);

	if (first < 0)
		return -1 - first;
	q.host = argv[first];
	q.xpu = argv[first + 1];
	if (inquiry_run(&q, &a) != DXP_OK)
		return print_fail("%s", q.text);
	int status = EXIT_DONE;
	if (o.json)
		status = print_json_text(json_pack("{s:s, s:s, s:b, s:s}", "host", argv[first],
						   "xpu", argv[first + 1], "granted",
						   kind == QUERY_GRANT, "text", query_text(a)));
	else
		printf("%s may %s use %s%s%s\n", argv[first],
		       kind == QUERY_GRANT ? "now" : "no longer", argv[first + 1],
		       *query_text(a) ? ": " : "", query_text(a));
	query_destroy(a);
	return status;
}

int command_grant(int argc, char **argv)
{
	return assign(argc, argv, QUERY_GRANT,
		      "Permits HOST to use XPU. Both are names of nodes, which need not have "
		      "joined yet, or '*'.");
}

int command_revoke(int argc, char **argv)
{
	return assign(argc, argv, QUERY_REVOKE,
		      "Revokes a grant; HOST and XPU as in `dxp grant`. The host's commands on the "
		      "xPU are cancelled at once.");
}

static int grants_table(const struct query *a)
{
	const struct grants_row *rows;
	const size_t count = query_grants(a, &rows);

	if (!query_explicit(a))
		puts("any host may use any xPU; the manager decides by grants with --grants "
		     "explicit");
	if (query_explicit(a) || count)
		printf("%-31s  %s\n", "HOST", "XPU");
	for (size_t i = 0; i < count; i++)
		printf("%-31s  %s\n", rows[i].host, rows[i].xpu);
	return EXIT_DONE;
}

int command_grants(int argc, char **argv)
{
	struct session_options o = {0};
	struct inquiry q = {.fabric = &o.fabric, .kind = QUERY_GRANTS};
	struct query *a;
	const struct option_row rows[] = {MANAGER_ROWS(o), JSON_ROW(o.json)};
	const struct usage usage = {
		"grants",
		"",
		"Lists the grants: which host may use which xPU. '*' means all.",
		rows,
		ARRAY_COUNT(rows),
		0,
		0};
	int first = options_parse(argc, argv, &usage);

	if (first < 0)
		return -1 - first;
	if (inquiry_run(&q, &a) != DXP_OK)
		return print_fail("%s", q.text);
	int status = o.json ? print_json_text(grant_list_json(a)) : grants_table(a);
	query_destroy(a);
	return status;
}
