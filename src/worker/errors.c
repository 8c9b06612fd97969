/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker/errors.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/text.h"
#include "base/util.h"

#define PREFIX     "worker: "
#define PARTS_LEFT 16 /* reads of 4 KiB that empty a pipe of 64 KiB */

int worker_errors_open(struct worker_errors *e, int *write_fd)
{
	int fds[2];

	if (descriptor_raise_pair(pipe2(fds, O_CLOEXEC), fds) != 0)
		return DXP_EIO;
	/* O_NONBLOCK belongs to one end of a pipe, so a worker cannot make the zygote's end
	 * blocking. */
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	*e = (struct worker_errors){.read_fd = fds[0]};
	*write_fd = fds[1];
	return DXP_OK;
}

static void line_write(const char *text, size_t bytes)
{
	char line[sizeof(PREFIX) + WORKER_ERROR_BYTES];
	int used = snprintf(line, sizeof(line), PREFIX "%.*s", (int)bytes, text);

	text_clean(line, (size_t)used, TEXT_LINE, NULL);
	line[used++] = '\n';
	if (write(STDERR_FILENO, line, (size_t)used) < 0)
		return; /* no other output is left for this line */
}

/* Drops the line if the worker wrote too many in this second. */
static void line_complete(struct worker_errors *e)
{
	static const char more[] = "further lines of this second are not shown";
	uint64_t now_ns = clock_now_ns();

	if (now_ns - e->since_ns > S_NS) {
		e->since_ns = now_ns;
		e->lines = 0;
	}
	if (e->lines < WORKER_ERROR_LINES)
		line_write(e->line, e->bytes);
	else if (e->lines == WORKER_ERROR_LINES)
		line_write(more, sizeof(more) - 1);
	e->lines += e->lines <= WORKER_ERROR_LINES;
	e->bytes = 0;
}

/* Writes the complete lines. Returns the result of read(). */
static ssize_t part_copy(struct worker_errors *e)
{
	char part[4096];
	ssize_t got = read(e->read_fd, part, sizeof(part));

	for (ssize_t i = 0; i < got; i++) {
		if (part[i] != '\n' && part[i] != '\0')
			e->line[e->bytes++] = part[i];
		if (part[i] == '\n' || e->bytes == sizeof(e->line))
			line_complete(e);
	}
	return got;
}

static void end(struct worker_errors *e)
{
	if (e->bytes > 0)
		line_complete(e);
	close(e->read_fd);
	e->read_fd = -1;
}

void worker_errors_copy(struct worker_errors *e)
{
	if (part_copy(e) == 0)
		end(e);
}

void worker_errors_close(struct worker_errors *e)
{
	if (e->read_fd < 0)
		return;
	for (int i = 0; i < PARTS_LEFT && part_copy(e) > 0; i++)
		;
	end(e);
}
