/* SPDX-License-Identifier: BSD-3-Clause */
/* Options, session and rows of `dxp bench NAME --to NODE`. */
#include "cmd/dxp/bench_to.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "bench/options.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/reach.h"
#include "host/path.h"

/* bytes of memory on the xPU: more than level-2 caches hold, and little for a device */
#define MEMORY_BYTES (32u << 20)
#define MEMORY_LEAST (64u << 10)

static const struct {
	const char *name, *heading, *text;
	int (*run)(struct bench_to *b);
} kinds[] = {
	{"latency", "Latency to an xPU",
	 "Measures round trips to an xPU: a register, PUT and GET of 4 bytes to 64 KiB, and a "
	 "command, which the xPU's own\nqueue completes. A PUT lasts until the bytes are there "
	 "and acknowledged.",
	 bench_to_latency},
	{"stream", "Bandwidth to an xPU",
	 "Measures the bandwidth of PUT and GET between this machine and an xPU's memory, with 1 "
	 "and 8 outstanding transfers.",
	 bench_to_stream},
	{"rate", "Small messages to an xPU",
	 "Measures how many commands, PUTs and GETs of 64 bytes an xPU completes in a second, "
	 "with 128 outstanding.",
	 bench_to_rate},
};

bool bench_to_wanted(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--to") == 0 || strncmp(argv[i], "--to=", 5) == 0)
			return true;
	return false;
}

/* Excludes tail probes, which a late acknowledgement also causes. */
static uint64_t resent_packets(const struct rltp_counters *c)
{
	const uint64_t resent = (uint64_t)c->retransmitted_gap + c->retransmitted_timeout;

	return resent > c->spurious ? resent - c->spurious : 0;
}

static void counters_read(const struct bench_to *b, struct rltp_counters *out)
{
	struct rltp_view view = {0};

	if (path_view(b->session.fabric, b->session.caps.node, &view) == DXP_OK)
		*out = view.counters;
}

bool bench_to_begin(struct bench_to *b, const char *name, uint64_t bytes)
{
	if (!bench_wanted(b->only, name))
		return false;
	b->rows++;
	if (bytes > b->bytes) {
		report_note("%s: left out, because the xPU has only %llu KiB of memory for this "
			    "host",
			    name, (unsigned long long)b->bytes >> 10);
		return false;
	}
	counters_read(b, &b->before);
	return true;
}

void bench_to_row(struct bench_to *b, struct report_row *row)
{
	struct rltp_counters after = b->before;
	char note[80] = "";

	counters_read(b, &after);
	const uint64_t resent = resent_packets(&after) - resent_packets(&b->before);
	const uint64_t sent = after.sent_packets - b->before.sent_packets;
	if (resent > 0 && resent <= sent)
		snprintf(note, sizeof(note), "%llu of %llu packets sent again",
			 (unsigned long long)resent, (unsigned long long)sent);
	row->bench = b->bench;
	row->contender = b->session.caps.name;
	row->samples = (unsigned)b->rounds;
	row->note = note[0] ? note : NULL;
	report_row(row);
}

/* Allocates as much as the xPU gives this host, up to MEMORY_BYTES. */
static int memory_allocate(struct bench_to *b)
{
	int status = DXP_ENOMEM;

	for (b->bytes = MEMORY_BYTES; status == DXP_ENOMEM && b->bytes >= MEMORY_LEAST;) {
		status = dxp_mem_alloc(b->session.xpu, b->bytes, &b->address);
		if (status == DXP_ENOMEM)
			b->bytes /= 2;
	}
	if (status != DXP_OK)
		return status;
	b->buffer = calloc(1, b->bytes);
	b->times_ns = calloc(BENCH_TO_SAMPLES, sizeof(*b->times_ns));
	return b->buffer && b->times_ns ? DXP_OK : DXP_ENOMEM;
}

static int session_measure(struct bench_to *b, const char *heading, int (*work)(struct bench_to *b))
{
	int status = session_begin(&b->options, b->to, &b->session);

	if (status == DXP_OK)
		status = memory_allocate(b);
	if (status != DXP_OK)
		return status;
	report_begin(b->options.json, heading);
	return work(b);
}

static int finish(struct bench_to *b, int status)
{
	const struct reach_failure failure = {.options = &b->options,
					      .xpu = b->to,
					      .joined = b->session.fabric != NULL,
					      .status = status,
					      .since_ns = b->begin_ns};
	int code = status == DXP_OK ? EXIT_DONE : reach_report(&failure);

	session_close(&b->session); /* also frees the memory on the xPU */
	free(b->buffer);
	free(b->times_ns);
	if (code == EXIT_DONE && b->rows == 0) {
		print_fail("no case of `dxp bench %s --to` has '%s' in its name", b->bench,
			   b->only);
		return EXIT_USAGE;
	}
	return code;
}

int bench_to_run(int argc, char **argv)
{
	struct bench_to b = {.rounds = 5};
	const struct option_row rows[] = {
		{"to", "NODE", "the xPU: a name or id of `dxp nodes`", OPTION_TEXT, &b.to},
		SESSION_ROWS(b.options),
		{"case", "TEXT", "only cases whose name contains it", OPTION_TEXT, &b.only},
		{"rounds", "N", "samples of each case, 1 to 99 (default 5)", OPTION_NUMBER,
		 &b.rounds, 1, BENCH_ROUNDS_MAX},
		{"quick", NULL, "a tenth of the work; otherwise a sample lasts at most a second",
		 OPTION_FLAG, &b.quick},
		JSON_ROW(b.options.json)};
	size_t kind = 0;

	while (kind < ARRAY_COUNT(kinds) && strcmp(kinds[kind].name, argv[0]) != 0)
		kind++;
	if (kind == ARRAY_COUNT(kinds)) {
		print_fail("`dxp bench %s` has no --to; latency, stream and rate have it", argv[0]);
		return EXIT_USAGE;
	}
	b.bench = kinds[kind].name;
	char name[32];
	snprintf(name, sizeof(name), "bench %s", b.bench);
	const struct usage usage = {name,
				    "",
				    kinds[kind].text,
				    rows,
				    ARRAY_COUNT(rows),
				    .notes = "The xPU's daemon is the other end: nothing is "
					     "started there, and any host that may "
					     "use the xPU may measure.\n"
					     "Other users of the xPU are slower meanwhile. `dxp "
					     "doctor --to NODE` checks the path."};
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	b.budget_ns = b.quick ? S_NS / 10 : S_NS;
	b.begin_ns = clock_now_ns();
	return finish(&b, session_measure(&b, kinds[kind].heading, kinds[kind].run));
}
