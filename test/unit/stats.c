/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the statistics file: read while it is written, grown, left by dead processes, and
 * invalid. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "node/stats_read.h"

struct rig {
	char folder[32];
	struct stats_list list;
	char complaint[512]; /* latest of the reader */
	uint32_t complaints;
};

static int rig_open(void **state)
{
	struct rig *r = calloc(1, sizeof(*r));

	strcpy(r->folder, "stats-test-XXXXXX");
	assert_non_null(mkdtemp(r->folder));
	setenv("DXP_STATS", r->folder, 1);
	*state = r;
	return 0;
}

static int rig_close(void **state)
{
	struct rig *r = *state;
	char command[64];

	stats_list_free(&r->list);
	snprintf(command, sizeof(command), "rm -rf '%s'", r->folder);
	int status = system(command);
	unsetenv("DXP_STATS");
	free(r);
	return status;
}

static struct stats *open_one(const char *name)
{
	const struct stats_options options = {.name = name, .xpu = true};
	struct stats *s;

	assert_int_equal(stats_open(&options, &s), DXP_OK);
	return s;
}

static void complain(void *context, const char *text)
{
	struct rig *r = context;

	snprintf(r->complaint, sizeof(r->complaint), "%s", text);
	r->complaints++;
}

static uint32_t read_again(struct rig *r)
{
	stats_list_free(&r->list);
	r->complaints = 0;
	r->complaint[0] = '\0';
	assert_int_equal(stats_read(&r->list, complain, r), DXP_OK);
	return r->list.count;
}

static void publish(struct stats *s, uint32_t rows, uint64_t value)
{
	struct stats_node *n = stats_begin(s);

	n->id = 7;
	n->session_count = rows;
	for (unsigned i = 0; i < STATS_NODE_FIELDS; i++)
		n->values[i] = value;
	for (uint32_t i = 0; i < rows; i++) {
		struct stats_session *row = stats_row(s);
		if (!row)
			break;
		*row = (struct stats_session){.node = (uint16_t)(i + 1)};
		for (unsigned k = 0; k < STATS_SESSION_FIELDS; k++)
			row->values[k] = value;
	}
	stats_commit(s);
}

static void stats_read__finds_what_was_written(void **state)
{
	struct rig *r = *state;

	assert_int_equal(read_again(r), 0);
	struct stats *a = open_one("a"), *b = open_one("b");
	publish(a, 3, 42);
	assert_int_equal(read_again(r), 2);
	const struct stats_view *v = &r->list.views[strcmp(r->list.views[0].node.name, "a") != 0];
	assert_string_equal(v->node.name, "a");
	assert_int_equal(v->pid, getpid());
	assert_int_equal(v->node.id, 7);
	assert_int_equal(v->node.xpu, 1);
	assert_int_equal(v->node.values[STATS_NODE_FIELDS - 1], 42);
	assert_int_equal(v->node.session_rows, 3);
	assert_int_equal(v->sessions[2].node, 3);
	assert_int_equal(v->sessions[2].values[STATS_SESSION_FIELDS - 1], 42);
	assert_int_equal(r->complaints, 0);
	stats_close(a);
	assert_int_equal(read_again(r), 1);
	stats_close(b);
	assert_int_equal(read_again(r), 0);
}

static void stats_row__grows_to_its_bound(void **state)
{
	struct rig *r = *state;
	struct stats *s = open_one("crowd");

	publish(s, STATS_SESSIONS_MIN + 1, 1);
	read_again(r);
	assert_int_equal(r->list.views[0].node.session_rows, STATS_SESSIONS_MIN + 1);
	publish(s, STATS_SESSIONS_MAX + 5, 2);
	read_again(r);
	assert_int_equal(r->list.views[0].node.session_rows, STATS_SESSIONS_MAX);
	assert_int_equal(r->list.views[0].node.session_count, STATS_SESSIONS_MAX + 5);
	assert_int_equal(r->list.views[0].sessions[STATS_SESSIONS_MAX - 1].values[0], 2);
	publish(s, 0, 3);
	read_again(r);
	assert_int_equal(r->list.views[0].node.session_rows, 0);
	stats_close(s);
}

struct writer {
	struct stats *s;
	_Atomic int stop;
};

static void *write_on(void *context)
{
	struct writer *w = context;

	for (uint64_t value = 1; !w->stop; value++) {
		publish(w->s, (uint32_t)(value % 200), value);
		usleep(20); /* far shorter than a real node's pause */
	}
	return NULL;
}

static void assert_one_value(const struct stats_view *v)
{
	uint64_t value = v->node.values[0];

	for (unsigned i = 0; i < STATS_NODE_FIELDS; i++)
		assert_int_equal(v->node.values[i], value);
	assert_int_equal(v->node.session_rows, value % 200);
	for (uint32_t i = 0; i < v->node.session_rows; i++) {
		for (unsigned k = 0; k < STATS_SESSION_FIELDS; k++)
			assert_int_equal(v->sessions[i].values[k], value);
	}
}

static void stats_read__is_consistent_while_it_is_written(void **state)
{
	struct rig *r = *state;
	struct writer w = {.s = open_one("busy")};
	pthread_t thread;
	uint32_t read = 0;

	publish(w.s, 0, 0);
	assert_int_equal(pthread_create(&thread, NULL, write_on, &w), 0);
	for (int i = 0; i < 500; i++) {
		read_again(r);
		/* without a consistent copy, the file is skipped and reported */
		if (r->list.count == 1) {
			assert_one_value(&r->list.views[0]);
			read++;
		} else {
			assert_non_null(strstr(r->complaint, "in the middle of writing"));
		}
	}
	w.stop = 1;
	pthread_join(thread, NULL);
	assert_true(read > 0);
	stats_close(w.s);
}

static void stats_read__removes_what_the_dead_left(void **state)
{
	struct rig *r = *state;
	char path[STATS_PATH_BYTES];
	int ready[2];

	assert_int_equal(pipe(ready), 0);
	pid_t child = fork();
	if (child == 0) {
		publish(open_one("mortal"), 1, 1);
		(void)!write(ready[1], "", 1);
		pause();
		_exit(0);
	}
	char byte;
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(read_again(r), 1);
	assert_int_equal(r->list.views[0].pid, child);
	snprintf(path, sizeof(path), "%s", r->list.views[0].path);
	assert_int_equal(access(path, F_OK), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(read_again(r), 0);
	assert_int_equal(r->complaints, 0);
	assert_int_not_equal(access(path, F_OK), 0);
	close(ready[0]);
	close(ready[1]);
}

static void file_put(const struct rig *r, const char *name, const void *bytes, size_t count)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", r->folder, name);
	FILE *out = fopen(path, "w");
	assert_non_null(out);
	assert_int_equal(fwrite(bytes, 1, count, out), count);
	fclose(out);
}

static void refuses(struct rig *r, const char *why)
{
	assert_int_equal(read_again(r), 0);
	assert_int_equal(r->complaints, 1);
	if (!strstr(r->complaint, why))
		fail_msg("'%s' is not in '%s'", why, r->complaint);
}

static void file_remove(const struct rig *r, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", r->folder, name);
	assert_int_equal(unlink(path), 0);
}

static void stats_read__rejects_what_is_none(void **state)
{
	static const char zeros[2 * STATS_HEADER_BYTES];
	struct rig *r = *state;
	char path[64];

	file_put(r, "1-1.stats", "short", 5);
	refuses(r, "too short");
	file_put(r, "1-1.stats", zeros, sizeof(zeros));
	refuses(r, "not a file of counters");
	/* the reader leaves the invalid file */
	file_remove(r, "1-1.stats");
	snprintf(path, sizeof(path), "%s/1-1.stats", r->folder);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	refuses(r, "symbolic link");
	file_remove(r, "1-1.stats");
	assert_int_equal(mkdir(path, 0700), 0);
	refuses(r, "not a regular file");
	rmdir(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	refuses(r, "not a regular file");
	file_remove(r, "1-1.stats");
	file_put(r, "not.counted", zeros, sizeof(zeros));
	assert_int_equal(read_again(r), 0);
	assert_int_equal(r->complaints, 0);
}

/* The file of a live writer; the reader rejects it with `why`. */
static void damaged(struct rig *r, size_t offset, uint32_t value, const char *why)
{
	struct stats *s = open_one("x");
	uint32_t had;

	publish(s, 2, 1);
	uint8_t *at = (uint8_t *)stats_map(s) + offset;
	memcpy(&had, at, sizeof(had));
	memcpy(at, &value, sizeof(value));
	refuses(r, why);
	memcpy(at, &had, sizeof(had));
	assert_int_equal(read_again(r), 1);
	stats_close(s);
}

static void stats_read__rejects_other_versions_and_nonsense(void **state)
{
	static const char version[] = "another version of Direct xPU";

	damaged(*state, offsetof(struct stats_file, magic), 1, "not a file of counters");
	damaged(*state, offsetof(struct stats_file, version), STATS_VERSION + 1, version);
	damaged(*state, offsetof(struct stats_file, header_bytes), 4096, version);
	damaged(*state, offsetof(struct stats_file, session_bytes), 8, version);
	damaged(*state, offsetof(struct stats_file, session_fields), 1000, version);
	damaged(*state, offsetof(struct stats_file, node_fields), 0, version);
	damaged(*state, offsetof(struct stats_file, qps), 1, version);
	damaged(*state, offsetof(struct stats_file, node.session_rows), 1000, "shorter than its");
	damaged(*state, offsetof(struct stats_file, node.session_rows), UINT32_MAX, "shorter than");
	damaged(*state, offsetof(struct stats_file, sequence), 1, "in the middle of writing");
}

static void stats_read__believes_no_text(void **state)
{
	struct rig *r = *state;
	struct stats *s = open_one("evil");
	struct stats_node *n = stats_begin(s);

	memset(n->name, 'n', sizeof(n->name));
	strcpy(n->address, "\033[2J\n\x80");
	struct stats_session *row = stats_row(s);
	memset(row->peer, 0x1b, sizeof(row->peer));
	stats_commit(s);
	read_again(r);
	assert_int_equal(strlen(r->list.views[0].node.name), sizeof(n->name) - 1);
	assert_string_equal(r->list.views[0].node.address, "?[2J??");
	assert_int_equal(r->list.views[0].sessions[0].peer[0], '?');
	stats_close(s);
}

static void stats_open__rejects_a_folder_that_others_enter(void **state)
{
	const struct stats_options options = {.name = "x"};
	struct rig *r = *state;
	struct stats *s;

	chmod(r->folder, 0755);
	assert_int_equal(stats_open(&options, &s), DXP_EIO);
	refuses(r, "chmod 700");
	chmod(r->folder, 0700);
	if (geteuid() == 0) {
		assert_int_equal(chown(r->folder, 1, 1), 0);
		assert_int_equal(stats_open(&options, &s), DXP_EIO);
		refuses(r, "another user");
		assert_int_equal(chown(r->folder, 0, 0), 0);
		struct stats *own = open_one("mine");
		read_again(r);
		assert_int_equal(chown(r->list.views[0].path, 1, 1), 0);
		refuses(r, "not the owner of its folder");
		stats_close(own);
	}
	setenv("DXP_STATS", "", 1);
	assert_int_equal(stats_open(&options, &s), DXP_EUNSUPPORTED);
	setenv("DXP_STATS", "/proc/nowhere", 1);
	assert_int_equal(stats_open(&options, &s), DXP_EIO);
}

static void stats_names__are_complete_and_unique(void **state)
{
	for (unsigned i = 0; i < STATS_SESSION_FIELDS; i++) {
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(stats_session_name(i), stats_session_name(k));
	}
	for (unsigned i = 0; i < STATS_NODE_FIELDS; i++) {
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(stats_node_name(i), stats_node_name(k));
	}
	assert_string_equal(stats_session_name(STATS_SESSION_srtt_ns), "srtt_ns");
	assert_false(stats_session_counts(STATS_SESSION_srtt_ns));
	assert_true(stats_session_counts(STATS_SESSION_spurious));
	assert_string_equal(stats_node_name(STATS_NIC_cfg_received), "cfg_received");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_open, rig_close)
	const struct CMUnitTest tests[] = {
		TEST(stats_read__finds_what_was_written),
		TEST(stats_row__grows_to_its_bound),
		TEST(stats_read__is_consistent_while_it_is_written),
		TEST(stats_read__removes_what_the_dead_left),
		TEST(stats_read__rejects_what_is_none),
		TEST(stats_read__rejects_other_versions_and_nonsense),
		TEST(stats_read__believes_no_text),
		TEST(stats_open__rejects_a_folder_that_others_enter),
		TEST(stats_names__are_complete_and_unique),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
