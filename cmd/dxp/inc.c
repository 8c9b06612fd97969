/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp inc`: shows the switches that compute for this host. */
#include "cmd/dxp/inc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <dxp/inc.h>
#include <dxp/status.h>

#include "base/program.h"
#include "cmd/dxp/command.h"
#include "cmd/options/options.h"
#include "inc/where.h"

#define INTERVAL_MS_MAX 3600000
#define SCREEN_CLEAR    "\033[H\033[2J"

struct inc_command {
	const char *where; /* value of --switch */
	const char *what;  /* NULL, "groups", "refusals", "test" */
	enum inc_section section;
	bool json, watch;
	uint64_t interval_ms;
};

static const char text[] =
	"Shows in-network computing from this host: the switch next to the host and all switches "
	"above.\n"
	"\n"
	"  dxp inc            each switch: planes, capacity in use, packets handled and rejected\n"
	"  dxp inc groups     the groups (communicators) of each switch, with their counters\n"
	"  dxp inc refusals   what each switch rejected, how often and why\n"
	"  dxp inc test       one line: whether offload works from this host, or why not; exit "
	"status 0 or 1\n"
	"\n"
	"The switch is the one that --switch names, or DXP_INC_SWITCH, or \"switch = ...\" "
	"in " INC_WHERE_FILE ":\n"
	"an IPv4 address, or a list NETWORK/BITS=SWITCH,...: the first network that contains this "
	"host selects the switch.";

static int switch_test(const struct inc_command *c)
{
	const struct dxp_inc_options options = {.switches = c->where};
	char line[DXP_INC_WHY_BYTES] = "";
	struct dxp_inc *inc;
	int status = dxp_inc_open(&options, &inc);

	if (status != DXP_OK)
		return print_fail(
			"offload does not work: %s",
			status == DXP_ENOENT
				? "no switch is configured for this host; see `dxp inc --help`"
				: dxp_status_text(status));
	status = dxp_inc_selftest(inc, line);
	dxp_inc_close(inc);
	if (c->json) {
		json_t *o = json_pack("{s:b, s:s}", "works", status == DXP_OK, "line", line);
		int printed = print_json_text(o);
		return status == DXP_OK ? printed : EXIT_FAILED;
	}
	puts(line);
	return status == DXP_OK ? EXIT_DONE : EXIT_FAILED;
}

static int tree_show(const struct inc_command *c, const struct inc_tree *t)
{
	char ip[IP_BYTES];

	if (c->json)
		return print_json_text(inc_tree_json(t, c->section));
	if (t->count > 0 && t->switches[0].silent)
		return print_fail(
			"switch %s does not answer; check that dxp-switch runs there and that "
			"firewalls pass UDP port 4791",
			inc_ip_format(t->switches[0].ip, ip));
	switch (c->section) {
	case INC_SECTION_GROUPS: inc_groups_show(t); break;
	case INC_SECTION_REFUSALS: inc_refusals_show(t); break;
	default: inc_switches_show(t);
	}
	return program_output_check() ? EXIT_DONE : EXIT_FAILED;
}

static int once(const struct inc_command *c, struct inc_client *a, uint32_t switch_ip)
{
	struct inc_tree *t = malloc(sizeof(*t));
	int result;

	if (!t || inc_tree_read(a, switch_ip, c->section, t) != DXP_OK) {
		free(t);
		return print_fail("out of memory");
	}
	result = tree_show(c, t);
	if (c->json && t->switches[0].silent)
		result = EXIT_FAILED;
	inc_client_tree_free(t);
	free(t);
	return result;
}

static int show(const struct inc_command *c)
{
	const struct timespec pause = {(time_t)(c->interval_ms / 1000),
				       (long)(c->interval_ms % 1000 * MS_NS)};
	uint32_t switch_ip, own_ip;
	struct inc_client *a;
	int result;

	/* the reason is logged */
	if (inc_switch_find(c->where, true, &switch_ip, &own_ip) != DXP_OK ||
	    inc_client_open(own_ip, &a) != DXP_OK)
		return EXIT_FAILED;
	do {
		if (c->watch && !c->json && isatty(STDOUT_FILENO))
			fputs(SCREEN_CLEAR, stdout);
		result = once(c, a, switch_ip);
	} while (c->watch && program_output_check() && nanosleep(&pause, NULL) == 0);
	inc_client_close(a);
	return result;
}

/* Selects the section of the subcommand. Returns false if it is unknown. */
static bool section_select(struct inc_command *c)
{
	if (!c->what)
		c->section = INC_SECTION_SWITCH;
	else if (strcmp(c->what, "groups") == 0)
		c->section = INC_SECTION_GROUPS;
	else if (strcmp(c->what, "refusals") == 0)
		c->section = INC_SECTION_REFUSALS;
	else
		return strcmp(c->what, "test") == 0;
	return true;
}

int command_inc(int argc, char **argv)
{
	struct inc_command c = {.interval_ms = 1000};
	const struct option_row rows[] = {
		{"switch", "ADDRESS", "the switch next to this host", OPTION_TEXT, &c.where, 0, 0},
		{"watch", NULL, "repeat until ^C", OPTION_FLAG, &c.watch, 0, 0},
		{"interval", "MS", "interval of --watch (default 1000)", OPTION_NUMBER,
		 &c.interval_ms, 1, INTERVAL_MS_MAX},
		{"json", NULL, "for programs", OPTION_FLAG, &c.json, 0, 0},
	};
	const struct usage usage = {"inc", "[groups|refusals|test]", text, ACCEPTS(rows, 0, 1)};
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	c.what = args.count > 0 ? args.at[0] : NULL;
	if (!section_select(&c)) {
		print_fail("unknown command 'dxp inc %s'; see `dxp inc --help`", c.what);
		return EXIT_USAGE;
	}
	if (c.what && strcmp(c.what, "test") == 0)
		return switch_test(&c);
	return show(&c);
}
