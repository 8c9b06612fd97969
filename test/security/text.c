/* SPDX-License-Identifier: BSD-3-Clause */
/* Attacks by text: text of a kernel or host reaches logs and terminals without control characters,
 * and no other host. Skipped without OpenCL, and except on x86-64. */
#include "test/unit/slot_calls_rig.h"

#include <errno.h>
#include <sys/stat.h>

#define ESCAPE "\033]0;owned\007\033[2J\x9b"

/* Receives standard error of this process, its daemon and workers. */
static char record[128];
static int saved_error;

static int recording_open(void **state)
{
	snprintf(record, sizeof(record), "/tmp/dxp-test-errors-%d", (int)getpid());
	int file = open(record, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	saved_error = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (file < 0 || saved_error < 0 || dup2(file, STDERR_FILENO) < 0)
		return -1;
	close(file);
	return world_open(state);
}

/* The caller frees the text. */
static char *record_read(void)
{
	FILE *f = fopen(record, "r");
	struct stat st;

	assert_true(f && fstat(fileno(f), &st) == 0);
	char *text = calloc(1, (size_t)st.st_size + 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, (size_t)st.st_size, f), st.st_size);
	fclose(f);
	return text;
}

/* Prints the record after a failed test. */
static int recording_close(void **state)
{
	guests_close(state);
	int status = world_close(state);
	dup2(saved_error, STDERR_FILENO);
	close(saved_error);
	char *text = record_read();
	for (char *c = text; *c; c++)
		putchar(*c == '\n' || (*c >= ' ' && *c <= '~') ? *c : '?');
	free(text);
	unlink(record);
	return status;
}

static void no_controls(const char *text)
{
	for (const char *c = text; *c; c++)
		if (((uint8_t)*c < 0x20 && *c != '\n') || *c == 0x7f)
			fail_msg("byte %#x at %zu", (uint8_t)*c, (size_t)(c - text));
}

static void write_error(const struct guest *g, const char *text)
{
	struct call c = {.number = SYS_write,
			 .a = {STDERR_FILENO, DATA, (int64_t)strlen(text)},
			 .offsets = 1 << 2};

	snprintf(c.data, sizeof(c.data), "%s", text);
	assert_int_equal(call(g, c), strlen(text));
}

static void recorded_wait(const char *wanted)
{
	for (uint64_t until = clock_now_ns() + SOON_NS;; usleep(10000)) {
		char *text = record_read();
		bool there = strstr(text, wanted) != NULL;
		free(text);
		if (there)
			return;
		assert_true(clock_now_ns() < until);
	}
}

/* dxpd's log has no control characters, though a worker's standard error and compiler messages
 * do. */
static void log__without_control_characters(void **state)
{
	static const char wrong[] = "#error " ESCAPE "\n#warning \"" ESCAPE "\"\n";
	struct guest g = hostile_open("rude");
	struct dxp_program *p = NULL;

	write_error(&g, "first " ESCAPE " last\n");
	recorded_wait("last");
	assert_int_equal(dxp_program_build(g.xpu, wrong, NULL, &p), DXP_EBUILD);
	no_controls(dxp_program_log(p));
	dxp_program_release(p);
	guest_close(&g);
	char *text = record_read();
	no_controls(text);
	assert_non_null(strstr(text, "first ?"));
	free(text);
}

/* Names the pipe of a worker's descriptor `fd`. */
static void pipe_of(pid_t worker, int fd, char out[64])
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", worker, fd);
	ssize_t bytes = readlink(path, out, 63);
	assert_true(bytes > 0);
	out[bytes] = '\0';
	assert_non_null(strstr(out, "pipe:"));
}

/* A kernel can open the read end of its standard error pipe, so no other worker may write into
 * it. */
static void errors__of_others_cannot_be_read(void **state)
{
	struct guest one = hostile_open("one");
	pid_t workers[2] = {0};
	char a[64], b[64];

	assert_true(file_open(&one, "/proc/self/fd/2", O_RDONLY | O_NONBLOCK) >= 0);
	assert_int_equal(children(zygote(), &workers[0]), 1);
	guest_close(&one);
	struct guest two = hostile_open("two"), three = hostile_open("three");
	ok(end(&two, start(&two, "address", &(uint32_t){0}, sizeof(uint32_t), NULL)));
	ok(end(&three, start(&three, "address", &(uint32_t){0}, sizeof(uint32_t), NULL)));
	assert_int_equal(children_list(zygote(), workers, 2), 2);
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		pipe_of(workers[0], fd, a);
		pipe_of(workers[1], fd, b);
		assert_string_not_equal(a, b);
	}
	guest_close(&two);
	guest_close(&three);
}

/* A worker's last text reaches the log, even without a newline. */
static void errors__of_a_worker_that_ends(void **state)
{
	struct guest g = hostile_open("last");

	write_error(&g, "last words");
	guest_close(&g);
	recorded_wait("worker: last words");
}

/* A kernel that floods its standard error and changes the pipe's flags delays no other worker. */
static void errors__of_one_delay_no_other(void **state)
{
	struct guest good = hostile_open("good"), bad = hostile_open("bad");
	char flood[256];

	memset(flood, 'x', sizeof(flood) - 2);
	flood[sizeof(flood) - 2] = '\n';
	flood[sizeof(flood) - 1] = '\0';
	call(&bad, (struct call){.number = SYS_fcntl, .a = {STDERR_FILENO, F_SETFL, O_NONBLOCK}});
	for (int i = 0; i < 1000; i++) {
		struct call c = {.number = SYS_write,
				 .a = {STDERR_FILENO, DATA, sizeof(flood) - 1},
				 .offsets = 1 << 2};
		memcpy(c.data, flood, sizeof(flood));
		call(&bad, c);
	}
	for (int i = 0; i < 20; i++) {
		write_error(&good, "a line\n");
		ok(end(&good, start(&good, "address", &(uint32_t){0}, sizeof(uint32_t), NULL)));
	}
	/* `bad` set O_NONBLOCK on its own pipe, not on that of `good` */
	assert_int_equal(
		call(&good, (struct call){.number = SYS_fcntl, .a = {STDERR_FILENO, F_GETFL}}) &
			O_NONBLOCK,
		0);
	struct guest late = guest_open("late");
	ok(end(&late, add(&late, 1, NULL)));
	guest_close(&late);
	guest_close(&good);
	guest_close(&bad);
}

int main(void)
{
#define RECORDED(name) cmocka_unit_test_setup_teardown(name, recording_open, recording_close)
	const struct CMUnitTest tests[] = {
		RECORDED(log__without_control_characters),
		RECORDED(errors__of_others_cannot_be_read),
		RECORDED(errors__of_a_worker_that_ends),
		RECORDED(errors__of_one_delay_no_other),
	};

	if (calls_skip())
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
