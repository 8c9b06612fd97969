/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts what a program did on each node, for the summary of `dxp run`: one line for each node,
 * with named numbers. While the program runs, the file is mapped, so it is complete even if the
 * program is killed. A normal exit writes the lines again without leading zeros. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "plugins/opencl/object/report.h"

#define LINE_BYTES 320 /* bytes of a line: a name, and all numbers with all their digits */
#define DIGITS     20  /* decimal digits of UINT64_MAX */

/* IN, OUT: bytes that the node received from the host, and sent to it. FROM, TO: the same for other
 * nodes. *_NS: busy time; time in which several commands ran counts once. */
#define NUMBERS(X)                \
	X(COMMANDS, "commands")   \
	X(KERNELS, "kernels")     \
	X(FAILED, "failed")       \
	X(IN, "in")               \
	X(OUT, "out")             \
	X(FROM, "from")           \
	X(TO, "to")               \
	X(DEVICE_NS, "device_ns") \
	X(NETWORK_NS, "network_ns")

enum number {
#define NUMBER(name, text) name,
	NUMBERS(NUMBER)
#undef NUMBER
		NUMBER_COUNT
};

static const char *const texts[NUMBER_COUNT] = {
#define NUMBER(name, text) text,
	NUMBERS(NUMBER)
#undef NUMBER
};

struct tally {
	cl_device_id device; /* NULL: the program has not used the device yet */
	uint64_t numbers[NUMBER_COUNT];
	uint64_t device_until, network_until;
	/* position of each number in the mapped file; NULL: the file has no space for it */
	char *digits[NUMBER_COUNT];
};

static struct tally tallies[OPENCL_DEVICES_MAX];

static struct {
	bool opened;
	int fd;
	char *lines; /* the mapped file; NULL: none */
	uint32_t count;
} live;

static bool wanted(void)
{
	const char *path = settings_get()->summary;

	return path && *path;
}

void summary_open(void)
{
	char path[REPORT_PATH_BYTES];

	if (live.opened || !wanted())
		return;
	live.opened = true;
	if (!report_path(settings_get()->summary, path))
		return;
	live.fd = descriptor_raise(open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
	if (live.fd < 0)
		/* no message here: `dxp run` reads this file, and reports that it is missing */
		return;
	void *map = mmap(NULL, (size_t)OPENCL_DEVICES_MAX * LINE_BYTES, PROT_READ | PROT_WRITE,
			 MAP_SHARED, live.fd, 0);
	if (map == MAP_FAILED)
		close(live.fd);
	else
		live.lines = map;
}

static void digits_put(char *at, uint64_t number)
{
	for (int i = DIGITS - 1; i >= 0; i--) {
		at[i] = (char)('0' + number % 10);
		number /= 10;
	}
}

static char *text_put(char *at, const char *text)
{
	size_t bytes = strlen(text);

	memcpy(at, text, bytes);
	return at + bytes;
}

/* Lines are in the order in which devices are first used, so empty lines are only at the end of the
 * file. */
static void line_begin(struct tally *t)
{
	/* If the file system is full, this fails; otherwise a later store would raise a signal. */
	if (!live.lines || posix_fallocate(live.fd, (off_t)live.count * LINE_BYTES, LINE_BYTES))
		return;
	char *line = live.lines + (size_t)live.count++ * LINE_BYTES;
	memset(line, ' ', LINE_BYTES - 1);
	line[LINE_BYTES - 1] = '\n';
	char *at = text_put(text_put(line, "node="), t->device->node);
	for (int i = 0; i < NUMBER_COUNT; i++) {
		at = text_put(text_put(text_put(at, " "), texts[i]), "=");
		t->digits[i] = at;
		digits_put(at, 0);
		at += DIGITS;
	}
}

static struct tally *tally_of(cl_device_id d)
{
	struct tally *t = &tallies[d->index];

	if (!t->device) {
		t->device = d;
		summary_open();
		line_begin(t);
	}
	return t;
}

static void add(struct tally *t, enum number which, uint64_t more)
{
	if (more == 0)
		return;
	t->numbers[which] += more;
	if (t->digits[which])
		digits_put(t->digits[which], t->numbers[which]);
}

/* Completions arrive nearly in the order of time, so an overlap with earlier commands is before the
 * latest end so far. */
static void busy_add(struct tally *t, enum number which, uint64_t *until, cl_event e)
{
	uint64_t from = e->started_ns > *until ? e->started_ns : *until;

	if (e->ended_ns <= from)
		return;
	add(t, which, e->ended_ns - from);
	*until = e->ended_ns;
}

void summary_used(cl_device_id d)
{
	if (d && d->index < OPENCL_DEVICES_MAX && wanted())
		tally_of(d);
}

void summary_event(cl_event e)
{
	if (!e->device || e->device->index >= OPENCL_DEVICES_MAX || !wanted())
		return;
	struct tally *t = tally_of(e->device);
	add(t, COMMANDS, 1);
	add(t, FAILED, e->status < 0);
	add(t, KERNELS, e->type == CL_COMMAND_NDRANGE_KERNEL || e->type == CL_COMMAND_TASK);
	if (report_is_transfer(e->type))
		busy_add(t, NETWORK_NS, &t->network_until, e);
	else
		busy_add(t, DEVICE_NS, &t->device_until, e);
}

void summary_moved(cl_device_id from, cl_device_id to, uint64_t bytes)
{
	if (!wanted())
		return;
	if (to && to->index < OPENCL_DEVICES_MAX)
		add(tally_of(to), from ? FROM : IN, bytes);
	if (from && from->index < OPENCL_DEVICES_MAX)
		add(tally_of(from), to ? TO : OUT, bytes);
}

static void tally_put(FILE *file, const struct tally *t)
{
	fprintf(file, "node=%s", t->device->node);
	for (int i = 0; i < NUMBER_COUNT; i++)
		fprintf(file, " %s=%" PRIu64, texts[i], t->numbers[i]);
	fputc('\n', file);
}

static void live_close(void)
{
	if (!live.lines)
		return;
	for (uint32_t i = 0; i < OPENCL_DEVICES_MAX; i++)
		memset(tallies[i].digits, 0, sizeof(tallies[i].digits));
	munmap(live.lines, (size_t)OPENCL_DEVICES_MAX * LINE_BYTES);
	close(live.fd);
	live.lines = NULL;
}

void summary_close(void)
{
	char path[REPORT_PATH_BYTES];

	live_close();
	if (!report_path(settings_get()->summary, path))
		return;
	FILE *file = descriptor_fopen(path, "we");
	if (!file)
		/* no message here: `dxp run` reads this file, and reports that it is missing */
		return;
	for (uint32_t i = 0; i < OPENCL_DEVICES_MAX; i++)
		if (tallies[i].device)
			tally_put(file, &tallies[i]);
	fclose(file);
}
