/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp grant`, `dxp revoke` and `dxp grants`: which host may use which xPU. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "cmd/dxp/command.h"
#include "cmd/dxp/control.h"
#include "cmd/dxp/grant.h"
#include "cmd/dxp/inquiry.h"
#include "cmd/dxp/session.h"

struct assignment {
	struct session_options o;
	enum query_kind kind;
	const char *host, *xpu;
};

static int report(const struct assignment *a, const char *text)
{
	const bool granted = a->kind == QUERY_GRANT;

	if (a->o.json)
		return print_json_text(json_pack("{s:s, s:s, s:b, s:s}", "host", a->host, "xpu",
						 a->xpu, "granted", granted, "text", text));
	printf("%s may %s use %s%s%s\n", a->host, granted ? "now" : "no longer", a->xpu,
	       *text ? ": " : "", text);
	return EXIT_DONE;
}

static bool name_good(const char *name)
{
	return manage_name_valid(name) || strcmp(name, "*") == 0;
}

/* Changes the grant with an operator's key. */
static int assign_keyed(const struct assignment *a, struct control *q)
{
	struct channel *c;

	if (!name_good(a->host) || !name_good(a->xpu))
		return print_fail("a node's name is 1 to 31 of A-Z a-z 0-9 . _ -, or '*'");
	q->request.command = a->kind == QUERY_GRANT ? CHANNEL_GRANT : CHANNEL_REVOKE;
	snprintf(q->request.name, sizeof(q->request.name), "%s", a->host);
	snprintf(q->request.xpu, sizeof(q->request.xpu), "%s", a->xpu);
	int status = control_run(q, &c);
	keys_erase(q, offsetof(struct control, text));
	if (status != DXP_OK)
		return print_fail("%s", q->text);
	status = report(a, channel_text(c));
	channel_destroy(c);
	return status;
}

static int assign(int argc, char **argv, enum query_kind kind, const char *text)
{
	struct assignment a = {.kind = kind};
	struct inquiry q = {.fabric = &a.o.fabric, .kind = kind};
	struct control keyed = {0};
	struct query *query;
	const struct option_row rows[] = {MANAGER_ROWS(a.o), JSON_ROW(a.o.json)};
	const struct usage usage = {argv[0], "HOST XPU", text, ACCEPTS(rows, 2, 2)};
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	a.host = q.host = args.at[0];
	a.xpu = q.xpu = args.at[1];
	int status = control_find(&a.o.fabric, &keyed);
	if (status == DXP_OK)
		return assign_keyed(&a, &keyed);
	if (status != DXP_EUNSUPPORTED)
		return print_fail("%s", keyed.text);
	if (inquiry_run(&q, &query) != DXP_OK)
		return print_fail("%s", q.text);
	status = report(&a, query_text(query));
	query_destroy(query);
	return status;
}

int command_grant(int argc, char **argv)
{
	return assign(argc, argv, QUERY_GRANT,
		      "Permits HOST to use XPU. Both are names of nodes, which need not have "
		      "joined yet, or '*'. HOST of a machine or\n"
		      "user that joined with a token is the name given to `dxp join`.");
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
		"grants", "", "Lists the grants: which host may use which xPU. '*' means all.",
		ACCEPTS(rows, 0, 0)};
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	if (inquiry_run(&q, &a) != DXP_OK)
		return print_fail("%s", q.text);
	int status = o.json ? print_json_text(grant_list_json(a)) : grants_table(a);
	query_destroy(a);
	return status;
}
