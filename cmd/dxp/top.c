/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp top`: shows the nodes on this machine, from the files that they publish, or the
 * nodes of the fabric, from their answers to STATS requests. */
#include "cmd/dxp/top.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/program.h"
#include "cmd/dxp/choice.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/services.h"
#include "cmd/dxp/session.h"
#include "cmd/options/options.h"

#define SCREEN_BEGIN "\033[?1049h\033[?25l"
#define SCREEN_END   "\033[?25h\033[?1049l"
#define SCREEN_HOME  "\033[H"
#define CLEAR_LINE   "\033[K"
#define CLEAR_BELOW  "\033[J"
#define INTERVAL_MIN 100
#define INTERVAL_MAX 3600000
#define ROWS_DEFAULT 24 /* rows of a terminal of unknown size */
#define ROWS_LEAST   4  /* rows kept for title and nodes, above the manager and the switches */
#define COLS_DEFAULT 80
#define FRAME_BYTES  (256u << 10) /* bytes of a screen, drawn in one write */

struct top {
	struct top_options options;
	const char *sort;
	uint64_t interval_ms;
	bool once, json, fabric;
	struct session_options session; /* how to join, for --fabric */
	struct option_list switches;    /* for --fabric */
	struct fabric_stats source;
	struct top_readings readings;
	struct fabric_services services;
	uint32_t seen; /* nodes in the last table that was printed */
};

static volatile sig_atomic_t ended;

static void on_end(int number)
{
	ended = 1;
}

/* Does nothing: the signal only interrupts the wait. Each frame queries the terminal's size. */
static void on_resize(int number)
{
}

/* Reads all nodes, the manager and the switches of the fabric. */
static bool fabric_read(struct top *t)
{
	fabric_services_free(&t->services);
	return fabric_stats_all(&t->source, &t->readings.now) == DXP_OK &&
	       fabric_services_read(&t->source, t->switches.values, t->switches.count,
				    &t->services) == DXP_OK;
}

/* Replaces the earlier reading by the last one, and reads all nodes. If `loud`, prints errors of
 * single nodes. */
static bool reading_read(struct top *t, bool loud)
{
	stats_list_free(&t->readings.before);
	t->readings.before = t->readings.now;
	t->readings.now = (struct stats_list){0};
	if (t->fabric)
		return fabric_read(t);
	snprintf(t->source.text, sizeof(t->source.text), "out of memory");
	return stats_read(&t->readings.now, loud ? choice_complain : NULL, NULL) == DXP_OK;
}

static const char *none_text(const struct top *t)
{
	const bool chosen = t->options.node || t->options.pid;

	if (t->fabric)
		return chosen ? "no such node is in the fabric; `dxp nodes` lists them"
			      : "the fabric has no nodes; start some with `dxpd`";
	return chosen ? "no such node runs on this machine"
		      : "no node runs on this machine; start some with `dxp up`";
}

/* Returns whether the output has the manager and the switches. */
static bool services_shown(const struct top *t)
{
	return t->fabric && !t->options.node && !t->options.pid;
}

static void readings_free(struct top *t)
{
	fabric_services_free(&t->services);
	stats_list_free(&t->readings.before);
	stats_list_free(&t->readings.now);
}

static void pause_ms(uint64_t ms)
{
	const struct timespec wait = {(time_t)(ms / 1000), (long)(ms % 1000 * MS_NS)};

	nanosleep(&wait, NULL);
}

static json_t *readings_json(const struct top *t)
{
	json_t *out = top_json(&t->readings.now, &t->options);

	if (services_shown(t))
		json_object_set_new(out, "services", services_json(&t->services));
	return out;
}

static int once(struct top *t)
{
	if (!reading_read(t, true))
		return print_fail("%s", t->source.text);
	if (t->json)
		return print_json_text(readings_json(t));
	pause_ms(t->interval_ms);
	if (!reading_read(t, false))
		return print_fail("%s", t->source.text);
	uint32_t nodes = top_table(stdout, &t->readings, &t->options, 0, 0);
	if (services_shown(t))
		services_table(stdout, &t->services, 0);
	if (nodes == 0) {
		if (t->fabric)
			return print_fail("%s", none_text(t));
		choice_none(t->options.node, t->options.pid);
		return EXIT_FAILED;
	}
	return program_output_check() ? EXIT_DONE : EXIT_FAILED;
}

static void screen_size(unsigned *rows, unsigned *columns)
{
	struct winsize size;

	*rows = ROWS_DEFAULT;
	*columns = COLS_DEFAULT;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 2 && size.ws_col > 0) {
		*rows = size.ws_row;
		*columns = size.ws_col;
	}
}

static void title(const struct top *t, FILE *out, unsigned columns)
{
	char text[160], now[16];
	time_t clock = time(NULL);
	struct tm local;

	strftime(now, sizeof(now), "%H:%M:%S", localtime_r(&clock, &local));
	snprintf(text, sizeof(text),
		 "dxp top  %s  %u nodes  every %.1f s   keys: q quit  n name  i in  o out  r "
		 "repeats  p queue pairs",
		 now, t->readings.now.count, (double)t->interval_ms / 1e3);
	fprintf(out, "%.*s\n", (int)columns, text);
}

/* Draws over the last frame line by line, to avoid flicker. */
static bool frame_draw(struct top *t)
{
	static char frame[FRAME_BYTES];
	unsigned rows, columns;

	screen_size(&rows, &columns);
	FILE *out = fmemopen(frame, sizeof(frame), "w");
	if (!out)
		return false;
	title(t, out, columns);
	const unsigned below = services_shown(t) ? (unsigned)t->services.count + 1 : 0;
	rows = rows > below + ROWS_LEAST ? rows - below : ROWS_LEAST;
	if (top_table(out, &t->readings, &t->options, rows - 2, columns) == 0)
		fprintf(out, "%.*s\n", (int)columns, none_text(t));
	if (below)
		services_table(out, &t->services, columns);
	fclose(out);
	fputs(SCREEN_HOME, stdout);
	for (char *line = strtok(frame, "\n"); line; line = strtok(NULL, "\n"))
		printf("%s" CLEAR_LINE "\n", line);
	fputs(CLEAR_BELOW, stdout);
	return fflush(stdout) == 0;
}

/* Handles a key. Returns false to quit. */
static bool key_handle(struct top *t)
{
	char key;

	if (read(STDIN_FILENO, &key, 1) != 1)
		return false;
	switch (key) {
	case 'q':
	case 'Q': return false;
	case 'n': t->options.sort = TOP_NAME; break;
	case 'i': t->options.sort = TOP_IN; break;
	case 'o': t->options.sort = TOP_OUT; break;
	case 'r': t->options.sort = TOP_REPEATS; break;
	case 'p': t->options.qps = !t->options.qps; break;
	default: break;
	}
	return true;
}

/* Waits until the next frame is due. Returns false to quit. A key or a resize redraws at once. */
static bool frame_wait(struct top *t, uint64_t until_ns, bool *early)
{
	struct pollfd keys = {.fd = STDIN_FILENO, .events = POLLIN};
	uint64_t now_ns = clock_now_ns();
	int ms = now_ns < until_ns ? (int)((until_ns - now_ns + MS_NS - 1) / MS_NS) : 0;
	int ready = poll(&keys, 1, ms);

	*early = ready != 0;
	return !ended && (ready <= 0 || key_handle(t));
}

static int frames(struct top *t)
{
	for (;;) {
		uint64_t until_ns = clock_now_ns() + t->interval_ms * MS_NS;
		bool early = true;
		if (!reading_read(t, false))
			return EXIT_FAILED;
		while (early) {
			if (!frame_draw(t))
				return EXIT_FAILED;
			if (!frame_wait(t, until_ns, &early))
				return EXIT_DONE;
		}
	}
}

static int watch(struct top *t)
{
	struct sigaction action = {.sa_handler = on_end};
	struct termios before, raw;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) ||
	    tcgetattr(STDIN_FILENO, &before) != 0)
		return print_fail("standard output is not a terminal; use --once or --json");
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	action.sa_handler = on_resize;
	sigaction(SIGWINCH, &action, NULL);
	raw = before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	fputs(SCREEN_BEGIN, stdout);
	int status = frames(t);
	fputs(SCREEN_END, stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSANOW, &before);
	if (status == EXIT_FAILED && t->source.text[0])
		return print_fail("%s", t->source.text);
	return status;
}

static bool sort_parse(const char *text, enum top_sort *out)
{
	static const char *const names[] = {
		[TOP_NAME] = "name", [TOP_IN] = "in", [TOP_OUT] = "out", [TOP_REPEATS] = "repeats"};

	for (unsigned i = 0; i < ARRAY_COUNT(names); i++) {
		if (strcmp(text, names[i]) == 0) {
			*out = (enum top_sort)i;
			return true;
		}
	}
	print_fail("--sort is name, in, out or repeats, not '%s'", text);
	return false;
}

int command_top(int argc, char **argv)
{
	struct top t = {.sort = "name", .interval_ms = 1000};
	const struct option_row rows[] = {
		{"fabric", NULL, "show all nodes of the fabric and its manager, over the network",
		 OPTION_FLAG, &t.fabric, 0, 0},
		SWITCH_ROW(t.switches),
		MANAGER_ROWS(t.session),
		BIND_ROW(t.session),
		CHOICE_ROWS(t.options.node, t.options.pid),
		{"interval", "MS", "interval between two samples (default 1000)", OPTION_NUMBER,
		 &t.interval_ms, INTERVAL_MIN, INTERVAL_MAX},
		{"once", NULL, "print one table over one interval, then exit", OPTION_FLAG, &t.once,
		 0, 0},
		{"json", NULL, "print all counters once, as JSON", OPTION_FLAG, &t.json, 0, 0},
		{"qp", NULL, "show queue pairs, too", OPTION_FLAG, &t.options.qps, 0, 0},
		{"sort", "WHAT", "sort by name, in, out or repeats (default name)", OPTION_TEXT,
		 &t.sort, 0, 0},
	};
	const struct usage usage = {
		"top", "",
		"Shows the traffic of the nodes on this machine: those of your "
		"own programs; for root, those of all users.\n"
		"With --fabric, shows all nodes of the fabric, its manager, "
		"and the switches of --switch with those above and below; one that\n"
		"does not answer within a second is named as such.\n"
		"Rates and percentages cover the last interval, counts start "
		"with the node. `z` marks an idle session.",
		ACCEPTS(rows, 0, 0)};
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	if (!sort_parse(t.sort, &t.options.sort))
		return EXIT_USAGE;
	if (t.switches.count && !t.fabric) {
		print_fail("--switch needs --fabric");
		return EXIT_USAGE;
	}
	t.source = (struct fabric_stats){.fabric = &t.session.fabric, .details = true};
	int status = t.once || t.json ? once(&t) : watch(&t);
	readings_free(&t);
	return status;
}
