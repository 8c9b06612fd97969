/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp trace`: writes what running nodes send and receive to a pcapng file, without
 * root. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/program.h"
#include "cmd/dxp/choice.h"
#include "cmd/dxp/command.h"
#include "cmd/options/options.h"
#include "node/tap_read.h"

#define POLL_NS     (2 * MS_NS)   /* ns: a ring of 16 MiB fills in ten times this time */
#define ANSWER_NS   (500 * MS_NS) /* ns: a sleeping node checks every 100 ms */
#define SECONDS_MAX 1000000

struct source {
	struct tap_reader *tap;
	const struct tap_record *record; /* record that was read but is not written yet */
	const char *name;
	/* packets that the trace has seen, and packets that its records report as dropped */
	uint64_t seen, dropped;
	uint64_t last_ns;
	bool attached, done;
};

struct trace {
	const char *node, *path;
	uint64_t pid, seconds, count, snap, ring;
	bool all;
	FILE *out;
	struct source *sources;
	uint32_t source_count;
	uint64_t written;
	uint8_t block[PCAPNG_BLOCK_MAX];
};

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	interrupted = 1;
}

static int write_fail(const struct trace *t)
{
	if (t->out == stdout && !program_output_check())
		return EXIT_FAILED;
	return print_fail("cannot write %s: %s", t->path, strerror(errno));
}

static bool block_write(struct trace *t, size_t bytes)
{
	return fwrite(t->block, 1, bytes, t->out) == bytes;
}

static const char *attach_trouble(int status, uint32_t other, char out[64])
{
	if (status == DXP_EBUSY && other != UINT32_MAX)
		snprintf(out, 64, "process %u already traces this node", other);
	else if (status == DXP_EBUSY)
		snprintf(out, 64, "another process is starting to trace this node");
	else if (status == DXP_ENOENT)
		snprintf(out, 64, "it has ended");
	else if (status == DXP_EIO)
		snprintf(out, 64, "not enough memory for the ring; use a smaller --ring");
	else
		snprintf(out, 64, "%s", dxp_status_text(status));
	return out;
}

static bool sources_open(struct trace *t, const struct stats_list *nodes)
{
	t->sources = calloc(nodes->count + 1, sizeof(*t->sources));
	if (!t->sources)
		return print_fail("out of memory") == EXIT_DONE;
	for (uint32_t i = 0; i < nodes->count; i++) {
		const struct stats_view *v = &nodes->views[i];
		char why[64];
		uint32_t other;
		if (!choice_matches(v, t->node, t->pid))
			continue;
		struct source *s = &t->sources[t->source_count];
		int status = tap_attach(v, (uint32_t)t->ring, (uint32_t)t->snap, &s->tap, &other);
		if (status != DXP_OK) {
			print_fail("cannot trace '%s' (process %u): %s", v->node.name, v->pid,
				   attach_trouble(status, other, why));
			return false;
		}
		s->name = v->node.name;
		t->source_count++;
	}
	return true;
}

static void sources_close(struct trace *t)
{
	for (uint32_t i = 0; i < t->source_count; i++)
		tap_detach(t->sources[i].tap);
	free(t->sources);
}

static bool front_write(struct trace *t)
{
	bool good = block_write(t, pcapng_section(t->block, "Direct xPU, dxp trace"));

	for (uint32_t i = 0; good && i < t->source_count; i++)
		good = block_write(t,
				   pcapng_interface(t->block, t->sources[i].name,
						    "a node's NIC, before UDP", (uint32_t)t->snap));
	return good;
}

/* Handles a new answer of the node to the tap. Returns false, after a message, if tracing is
 * impossible. */
static bool source_look(struct source *s, bool late)
{
	switch (tap_answered(s->tap)) {
	case TAP_BUSY: s->attached = true; return true;
	case TAP_GONE: s->done = true; return true;
	case TAP_REFUSED:
		print_fail("'%s' already writes its own trace (DXP_TRACE), or has no memory for a "
			   "second "
			   "one",
			   s->name);
		return false;
	case TAP_REQUESTED: break;
	}
	if (late && !s->attached) {
		fprintf(stderr,
			"dxp trace: '%s' has not started to trace yet; waiting (is its program "
			"stopped?)\n",
			s->name);
		s->attached = true; /* prints this once */
	}
	return true;
}

/* Returns the source with the oldest next record, so that the file is in order of time; NULL if
 * none. */
static struct source *oldest(struct trace *t)
{
	struct source *best = NULL;

	for (uint32_t i = 0; i < t->source_count; i++) {
		struct source *s = &t->sources[i];
		bool broken = false;
		if (!s->record)
			s->record = tap_next(s->tap, &broken);
		if (broken && !s->done) {
			print_fail("the ring of '%s' holds invalid records; its trace stops here",
				   s->name);
			s->done = true;
		}
		if (s->record && (!best || s->record->time_ns < best->record->time_ns))
			best = s;
	}
	return best;
}

static bool record_write(struct trace *t, struct source *s)
{
	char comment[PCAPNG_TEXT_BYTES];
	struct pcapng_packet p;

	tap_packet(s->record, &p, comment);
	p.interface = (uint32_t)(s - t->sources);
	p.dropped = s->record->dropped - s->dropped;
	s->dropped = s->record->dropped;
	s->last_ns = s->record->time_ns;
	s->seen++;
	t->written++;
	bool good = block_write(t, pcapng_packet(t->block, &p));
	tap_release(s->tap);
	s->record = NULL;
	return good;
}

static bool drain(struct trace *t)
{
	struct source *s;

	while (t->written < t->count && !interrupted && (s = oldest(t)) != NULL) {
		if (!record_write(t, s))
			return false;
	}
	return fflush(t->out) == 0;
}

static bool all_done(const struct trace *t)
{
	for (uint32_t i = 0; i < t->source_count; i++) {
		if (!t->sources[i].done)
			return false;
	}
	return true;
}

/* Traces until a limit or a signal stops it. */
static int follow(struct trace *t)
{
	const struct timespec poll = {.tv_nsec = POLL_NS};
	uint64_t begin_ns = clock_now_ns();
	uint64_t end_ns = t->seconds ? begin_ns + t->seconds * S_NS : UINT64_MAX;

	while (!interrupted && t->written < t->count && clock_now_ns() < end_ns && !all_done(t)) {
		bool late = clock_now_ns() - begin_ns > ANSWER_NS;
		for (uint32_t i = 0; i < t->source_count; i++) {
			if (!source_look(&t->sources[i], late))
				return EXIT_FAILED;
		}
		if (!drain(t))
			return write_fail(t);
		nanosleep(&poll, NULL);
	}
	return EXIT_DONE;
}

/* Stops the nodes' writing, so that the rings hold all remaining records. */
static void sources_stop(struct trace *t)
{
	const struct timespec poll = {.tv_nsec = POLL_NS};
	uint64_t end_ns = clock_now_ns() + ANSWER_NS;

	for (uint32_t i = 0; i < t->source_count; i++)
		tap_stop(t->sources[i].tap);
	for (uint32_t i = 0; i < t->source_count; i++) {
		while (tap_answered(t->sources[i].tap) == TAP_REQUESTED && clock_now_ns() < end_ns)
			nanosleep(&poll, NULL);
	}
	interrupted = 0; /* a second signal skips the remaining records */
}

/* Writes the records left in the rings, and the number of missing ones. */
static int finish(struct trace *t)
{
	uint64_t dropped = 0;

	sources_stop(t);
	bool good = drain(t);

	for (uint32_t i = 0; i < t->source_count; i++) {
		struct source *s = &t->sources[i];
		uint64_t lost = tap_dropped(s->tap);
		good = good && block_write(t, pcapng_statistics(t->block, i, s->last_ns,
								s->seen + lost, lost));
		dropped += lost;
	}
	if (!good || fflush(t->out) != 0)
		return write_fail(t);
	fprintf(stderr, "dxp trace: %llu datagrams of %u node%s", (unsigned long long)t->written,
		t->source_count, t->source_count == 1 ? "" : "s");
	if (dropped)
		fprintf(stderr,
			"; %llu more were lost because the ring was full; use a smaller --snap or "
			"a larger --ring",
			(unsigned long long)dropped);
	fputc('\n', stderr);
	return EXIT_DONE;
}

static bool out_open(struct trace *t)
{
	bool standard = strcmp(t->path, "-") == 0;

	if (standard && isatty(STDOUT_FILENO)) {
		print_fail(
			"a capture is binary and standard output is a terminal; name a file with "
			"--output");
		return false;
	}
	if (standard && program_was_closed(STDOUT_FILENO)) {
		print_fail("standard output is closed; name a file with --output");
		return false;
	}
	t->out = standard ? stdout : fopen(t->path, "wbe");
	if (!t->out)
		print_fail("cannot write %s: %s", t->path, strerror(errno));
	return t->out != NULL;
}

static int trace_nodes(struct trace *t, const struct stats_list *nodes)
{
	int status = EXIT_FAILED;

	if (!choice_check(nodes, t->node, t->pid, t->all))
		return EXIT_FAILED;
	/* Handlers are installed before the file exists, so that after any signal the file is
	 * closed properly. */
	program_signals_set(on_signal);
	if (sources_open(t, nodes) && out_open(t)) {
		status = front_write(t) ? follow(t) : write_fail(t);
		if (status == EXIT_DONE)
			status = finish(t);
		if (t->out != stdout && fclose(t->out) != 0 && status == EXIT_DONE)
			status = write_fail(t);
	}
	sources_close(t);
	return status;
}

int command_trace(int argc, char **argv)
{
	struct trace *t = calloc(1, sizeof(*t));
	struct stats_list nodes;

	if (!t)
		return print_fail("out of memory");
	*t = (struct trace){
		.path = "-", .count = UINT64_MAX, .snap = TAP_SNAP_BYTES, .ring = TAP_RING_BYTES};
	const struct option_row rows[] = {
		CHOICE_ROWS(t->node, t->pid),
		{"all", NULL, "all nodes on this machine", OPTION_FLAG, &t->all, 0, 0},
		{"output", "FILE", "file to write (default: standard output)", OPTION_TEXT,
		 &t->path, 0, 0},
		{"seconds", "N", "stop after this time", OPTION_NUMBER, &t->seconds, 1,
		 SECONDS_MAX},
		{"count", "N", "stop after this many datagrams", OPTION_NUMBER, &t->count, 1,
		 UINT64_MAX},
		{"snap", "BYTES", "bytes kept of each datagram (default 256)", OPTION_BYTES,
		 &t->snap, 1, DATAGRAM_BYTES_MAX},
		{"ring", "BYTES",
		 "size of the ring between node and tracer, a power of two (default 16M)",
		 OPTION_BYTES, &t->ring, TAP_RING_BYTES_MIN, TAP_RING_BYTES_MAX},
	};
	const struct usage usage = {"trace", "",
				    "Writes the datagrams that running nodes send and receive to a "
				    "pcapng file for Wireshark, until Ctrl-C,\n"
				    "--seconds or --count. The capture is above UDP, so it has "
				    "datagrams that DXP_FAULT drops; comments give the\n"
				    "reason of each retransmission. To trace a program from its "
				    "first datagram on: DXP_TRACE=FILE PROGRAM.",
				    ACCEPTS(rows, 0, 0)};
	struct arguments args;
	int status;

	if (!options_read(argc, argv, &usage, &args)) {
		status = args.status;
	} else if ((t->ring & (t->ring - 1)) != 0) {
		print_fail("--ring is a power of two, such as 1M or 64M");
		status = EXIT_USAGE;
	} else if (stats_read(&nodes, choice_complain, NULL) != DXP_OK) {
		status = print_fail("out of memory");
	} else {
		status = trace_nodes(t, &nodes);
		stats_list_free(&nodes);
	}
	free(t);
	return status;
}
