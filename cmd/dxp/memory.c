/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp put` and `dxp get`: administrative access to device memory at plain addresses.
 * Allocates and frees nothing: written bytes stay until they are overwritten. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/clock.h"
#include "base/program.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/file.h"
#include "cmd/dxp/progress.h"
#include "cmd/dxp/session.h"

#define CHUNK_BYTES (16u << 20) /* bytes: bound of one transfer */
#define CHUNK_LEAST (64u << 10)
#define CHUNK_FIRST (1u << 20)
#define CHUNK_NS    (S_NS / 4) /* ns: target time of one transfer, so that progress is visible */

struct move {
	struct session session;
	uint64_t address, bytes;
	uint8_t *chunk;
	uint64_t chunk_bytes; /* size of the next transfer */
	uint64_t moved, busy_ns;
	struct progress progress;
};

/* Records a transfer and adapts the next size to its duration: memory behind a slow device needs
 * small transfers. */
static void chunk_moved(struct move *m, uint64_t bytes, uint64_t elapsed_ns)
{
	m->busy_ns += elapsed_ns;
	m->moved += bytes;
	progress_step(&m->progress, m->moved);
	if (elapsed_ns > 2 * CHUNK_NS)
		m->chunk_bytes = max_u64(m->chunk_bytes / 4, CHUNK_LEAST);
	else if (elapsed_ns < CHUNK_NS / 4)
		m->chunk_bytes = min_u64(m->chunk_bytes * 4, CHUNK_BYTES);
}

/* Reads until `bytes` have arrived or the file is exhausted. */
static ssize_t chunk_read(int fd, uint8_t *chunk, size_t bytes)
{
	size_t have = 0;

	while (have < bytes) {
		ssize_t got = read(fd, chunk + have, bytes - have);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return got;
		if (got == 0)
			break;
		have += (size_t)got;
	}
	return (ssize_t)have;
}

/* Prints a failed PUT, with the number of bytes already written. */
static int put_fail(struct move *m)
{
	progress_end(&m->progress);
	if (m->moved == 0)
		return session_fail();
	return print_fail("%s; the first %llu bytes were transferred", dxp_fabric_error(NULL),
			  (unsigned long long)m->moved);
}

static int put_file(struct move *m, int fd, const char *name)
{
	ssize_t bytes;

	while ((bytes = chunk_read(fd, m->chunk, m->chunk_bytes)) > 0) {
		uint64_t begin = clock_now_ns();
		if (dxp_mem_write(m->session.xpu, m->address + m->moved, m->chunk,
				  (uint64_t)bytes) != DXP_OK)
			return put_fail(m);
		chunk_moved(m, (uint64_t)bytes, clock_now_ns() - begin);
	}
	progress_end(&m->progress);
	return bytes < 0 ? print_fail("cannot read %s: %s", name, strerror(errno)) : EXIT_DONE;
}

static int get_file(struct move *m, int fd, const char *name)
{
	while (m->moved < m->bytes) {
		uint64_t bytes = min_u64(m->chunk_bytes, m->bytes - m->moved);
		uint64_t begin = clock_now_ns();
		if (dxp_mem_read(m->session.xpu, m->chunk, m->address + m->moved, bytes) !=
		    DXP_OK) {
			progress_end(&m->progress);
			return session_fail();
		}
		uint64_t elapsed_ns = clock_now_ns() - begin;
		if (!descriptor_write(fd, m->chunk, bytes)) {
			progress_end(&m->progress);
			return print_fail("cannot write %s: %s", name, strerror(errno));
		}
		chunk_moved(m, bytes, elapsed_ns);
	}
	progress_end(&m->progress);
	return EXIT_DONE;
}

static int report(const struct move *m, bool json)
{
	double seconds = (double)m->busy_ns / 1e9;
	double rate = m->busy_ns ? (double)m->moved / (double)m->busy_ns : 0;

	if (json)
		return print_json_text(json_pack(
			"{s:s, s:I, s:I, s:f}", "xpu", m->session.caps.name, "address",
			(json_int_t)m->address, "bytes", (json_int_t)m->moved, "seconds", seconds));
	fprintf(stderr, "%llu bytes at %#llx of %s in %.3f ms, %.2f GB/s\n",
		(unsigned long long)m->moved, (unsigned long long)m->address, m->session.caps.name,
		seconds * 1e3, rate);
	return EXIT_DONE;
}

/* Checks before the first transfer that the bytes fit into the xPU's memory. Prints an error if
 * not. */
static bool fits(const struct move *m)
{
	const struct dxp_xpu_caps *caps = &m->session.caps;

	if (m->bytes <= caps->memory_bytes && m->address <= caps->memory_bytes - m->bytes)
		return true;
	print_fail(
		"%llu bytes at %#llx: xPU '%s' has %llu bytes of memory; nothing was transferred",
		(unsigned long long)m->bytes, (unsigned long long)m->address, caps->name,
		(unsigned long long)caps->memory_bytes);
	return false;
}

static int move_run(struct move *m, const struct session_options *options, const char *xpu, int fd,
		    const char *name, int (*work)(struct move *m, int fd, const char *name))
{
	if (!session_open(options, xpu, &m->session))
		return EXIT_FAILED;
	m->chunk = malloc(CHUNK_BYTES);
	m->chunk_bytes = CHUNK_FIRST;
	int status = !m->chunk  ? print_fail("out of memory")
		     : !fits(m) ? EXIT_FAILED
				: work(m, fd, name);
	free(m->chunk);
	session_close(&m->session);
	return status;
}

static bool address_read(const char *text, uint64_t *out)
{
	if (option_bytes_parse(text, out))
		return true;
	print_fail("'%s' is not an address; write a number such as 4096, 0x1000 or 64M", text);
	return false;
}

/* Returns the bytes after the position of a regular file; 0 for other files. */
static uint64_t bytes_left(int fd)
{
	struct stat s;
	off_t at = lseek(fd, 0, SEEK_CUR);

	if (fstat(fd, &s) < 0 || !S_ISREG(s.st_mode) || at < 0 || at > s.st_size)
		return 0;
	return (uint64_t)(s.st_size - at);
}

int command_put(int argc, char **argv)
{
	struct session_options o = {0};
	struct move m = {0};
	const struct option_row rows[] = {SESSION_ROWS(o), JSON_ROW(o.json)};
	const struct usage usage = {
		"put", "XPU ADDRESS FILE|-",
		"Writes a file, or standard input, into the memory of an xPU. ADDRESS is the "
		"offset in that memory.\n"
		"Nothing is allocated: the bytes overwrite whatever a program holds there.",
		ACCEPTS(rows, 3, 3)};
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	const char *name = args.at[2];
	if (!address_read(args.at[1], &m.address))
		return EXIT_USAGE;
	bool standard = strcmp(name, "-") == 0;
	if (standard && program_was_closed(STDIN_FILENO))
		return print_fail("standard input is closed; name a file");
	int fd = standard ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return print_fail("cannot open %s: %s", name, strerror(errno));
	m.bytes = bytes_left(fd);
	progress_begin(&m.progress, "put", m.bytes);
	int status = move_run(&m, &o, args.at[0], fd, standard ? "standard input" : name, put_file);
	if (!standard)
		close(fd);
	return status == EXIT_DONE ? report(&m, o.json) : status;
}

int command_get(int argc, char **argv)
{
	struct session_options o = {0};
	struct move m = {0};
	struct file_out out;
	const struct option_row rows[] = {SESSION_ROWS(o), JSON_ROW(o.json)};
	const struct usage usage = {"get", "XPU ADDRESS BYTES [FILE|-]",
				    "Reads the memory of an xPU into a file, or to standard "
				    "output. The file is created when all bytes have arrived.",
				    ACCEPTS(rows, 3, 4)};
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	const char *name = args.count > 3 ? args.at[3] : "-";
	if (!address_read(args.at[1], &m.address) || !address_read(args.at[2], &m.bytes))
		return EXIT_USAGE;
	if (o.json && strcmp(name, "-") == 0) {
		print_fail("--json and the data cannot both go to standard output; name a file");
		return EXIT_USAGE;
	}
	if (!file_out_open(&out, name))
		return EXIT_FAILED;
	progress_begin(&m.progress, "get", m.bytes);
	int status = move_run(&m, &o, args.at[0], out.fd, out.standard ? "standard output" : name,
			      get_file);
	if (!file_out_close(&out, status == EXIT_DONE))
		return EXIT_FAILED;
	return status == EXIT_DONE ? report(&m, o.json) : status;
}
