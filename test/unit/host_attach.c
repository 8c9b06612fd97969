/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests functions attached to a NIC through its socket; the NIC is in this process or a child, or
 * is imitated. */
#include "test/unit/host_function.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "link/local.h"
#include "test/support/sanitizer.h"
#include "wire/attach.h"

static char folder[] = "host-attach-XXXXXX", run[PATH_MAX];

static int folder_make(void **state)
{
	assert_non_null(mkdtemp(folder));
	assert_non_null(realpath(folder, run));
	setenv("DXP_RUN", run, 1);
	unsetenv("DXP_NIC");
	return 0;
}

static int scratch_folder_remove(void **state)
{
	return rmdir(run); /* fails unless each NIC removed its socket */
}

static struct dxp_nic *nic_serve(const char *name, const char *path)
{
	const struct dxp_nic_options options = {.name = name, .thread = true};
	struct dxp_nic *nic;

	ok(dxp_nic_open(&options, &nic));
	ok(dxp_nic_serve(nic, path));
	return nic;
}

static struct dxp_function *attach(const char *nic, uint32_t function, const char *label)
{
	const struct dxp_function_options options = {
		.nic = nic, .function = function, .label = label};
	struct dxp_function *f;

	ok(dxp_function_attach(&options, &f));
	return f;
}

static int attach_within(const char *path, uint32_t ms)
{
	const struct dxp_function_options options = {.nic = path, .timeout_ms = ms};
	struct dxp_function *f;

	return dxp_function_attach(&options, &f);
}

/* Returns the status. The timeout is long, because a busy machine polls late. */
static int attach_status(const char *nic, uint32_t function, const char *label)
{
	const struct dxp_function_options options = {.nic = nic,
						     .function = function,
						     .label = label,
						     .timeout_ms = PATIENCE_NS / MS_NS};
	struct dxp_function *f;

	return dxp_function_attach(&options, &f);
}

static void attach__rejects_what_cannot_be(void **state)
{
	char path[PATH_MAX + 16], text[5000];

	memset(text, '/', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	snprintf(path, sizeof(path), "%s/nothing", run);
	fails(attach_status(NULL, 0, NULL), DXP_ENOENT, "no NIC on this machine");
	fails(attach_status("mine", 0, NULL), DXP_ENOENT, "no NIC on this machine");
	fails(attach_status(path, 0, NULL), DXP_ENOENT, "check that its program runs");
	fails(attach_status(run, 0, NULL), DXP_ENOENT, "");
	fails(attach_status(text, 0, NULL), DXP_EINVAL, "too long");
	fails(attach_status(NULL, 8, NULL), DXP_EINVAL, "function 8");
	fails(attach_status(NULL, 0, "no label"), DXP_EINVAL, "'no label'");
}

static void attach__finds_the_nic_that_is_meant(void **state)
{
	struct dxp_nic *one = nic_serve("one", NULL);

	dxp_function_close(attach(NULL, 0, NULL)); /* the only NIC needs no name */
	struct dxp_nic *two = nic_serve("two", NULL);
	fails(attach_status(NULL, 0, NULL), DXP_EINVAL, "to one of: one, two");
	fails(attach_status("three", 0, NULL), DXP_ENOENT,
	      "no NIC named 'three' on this machine; choose one of: one, two");
	setenv("DXP_NIC", "two", 1);
	struct dxp_function *f = attach(NULL, 5, "by-environment");
	assert_int_equal(dxp_function_window(f)->function, 5);
	assert_int_equal(lseek(dxp_function_window_fd(f), 0, SEEK_END), DXP_WINDOW_FILE_BYTES);
	unsetenv("DXP_NIC");
	struct dxp_function *g = attach("two", 0, NULL);
	struct dxp_target t;
	ok(dxp_function_find(g, "by-environment", 2, &t));
	assert_int_equal(t.function, 5);
	assert_true(t.magic == target_of(f, 2).magic);
	dxp_function_close(f);
	dxp_function_close(g);
	fails(dxp_nic_serve(two, NULL), DXP_EBUSY, "");
	dxp_nic_close(one);
	dxp_nic_close(two);
}

static void attach__accepts_a_path(void **state)
{
	char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/socket", run);
	struct dxp_nic *nic = nic_serve("mine", path), *other;
	const struct dxp_nic_options options = {.name = "other"};
	ok(dxp_nic_open(&options, &other));
	fails(dxp_nic_serve(other, path), DXP_EBUSY, "another path");
	fails(dxp_nic_serve(other, "/nowhere/at/all"), DXP_ENOENT, "/nowhere/at/all");
	dxp_nic_close(other);
	dxp_function_close(attach(path, 0, NULL));
	fails(attach_status("mine", 0, NULL), DXP_ENOENT, "no NIC");
	dxp_nic_close(nic);

	nic = nic_serve("mine", NULL);
	snprintf(path, sizeof(path), "%s/mine.nic/vf3", run);
	struct dxp_function *f = attach(path, 0, NULL);
	assert_int_equal(dxp_function_window(f)->function, 3);
	fails(attach_status(path, 0, NULL), DXP_EBUSY, "in use");
	fails(attach_status(path, 4, NULL), DXP_EACCESS, "function 4");
	dxp_function_close(f);
	dxp_nic_close(nic);
}

static void attach__reports_when_all_are_in_use(void **state)
{
	struct dxp_nic *nic = nic_serve("mine", NULL);
	struct dxp_function *all[7], *zero, *own;

	/* this process takes two functions before others can get them */
	ok(dxp_nic_function(nic, NULL, &zero));
	ok(dxp_nic_function(nic, "own", &own)); /* one of the seven other functions */
	for (int i = 0; i < 6; i++)
		all[i] = attach("mine", 0, i ? NULL : "label");
	fails(attach_status("mine", 0, NULL), DXP_EBUSY, "all functions");
	fails(attach_status("mine", 2, NULL), DXP_EBUSY, "function 2");
	dxp_function_close(all[5]);
	fails(attach_status("mine", 0, "label"), DXP_EBUSY, "'label'");
	fails(attach_status("mine", 0, "own"), DXP_EBUSY, "'own'");
	fails(attach_status("mine", 0, "mine"), DXP_EBUSY, "'mine'");
	fails(dxp_nic_function(nic, "label", &all[5]), DXP_EBUSY, "'label'");
	for (int i = 0; i < 5; i++)
		dxp_function_close(all[i]);
	dxp_function_close(own);
	dxp_function_close(zero);
	dxp_nic_close(nic);
}

static void attached__talk(void **state)
{
	struct dxp_nic *nic = nic_serve("mine", NULL);
	struct dxp_function *a = attach("mine", 0, "a"), *b = attach("mine", 0, "b"), *own;
	struct dxp_target t;

	ok(dxp_nic_function(nic, "own", &own));
	talk(a, b);
	talk(b, a);
/* The thread sanitizer cannot know that `a`'s window is mapped twice. */
#if !SANITIZED_THREAD
	talk(a, own);
#endif
	talk(own, b);
	ok(dxp_function_find(own, "b", 1, &t));
	assert_true(t.magic == target_of(b, 1).magic);
	ok(dxp_function_find(b, "own", 1, &t));
	assert_true(t.magic == target_of(own, 1).magic);
	fails(dxp_function_find(b, "nobody", 1, &t), DXP_ENOENT, "'nobody'");
	dxp_function_close(own);
	fails(dxp_function_find(b, "own", 1, &t), DXP_ENOENT, "'own'");
	dxp_function_close(a);
	dxp_function_close(b);
	dxp_nic_close(nic);
}

static void attached__memory(void **state)
{
	struct dxp_nic *nic = nic_serve("mine", NULL);
	struct dxp_function *f = attach("mine", 0, NULL), *g = attach("mine", 0, NULL);
	const struct dxp_target to = target_of(g, 0);
	struct dxp_memory m, n;
	uint32_t key;
	static uint8_t own[64];

	ok(dxp_memory_create(f, 8192, DXP_LOCAL, &m));
	ok(dxp_memory_create(g, 8192, DXP_REMOTE_WRITE, &n));
	fails(dxp_memory_register_at(f, own, 64, 0, &key), DXP_EUNSUPPORTED, "memfd");
	fails(dxp_memory_register(f, m.fd, 4096, 8192, 0, &key), DXP_EINVAL, "long enough");
	fails(dxp_memory_revoke(f, n.key), DXP_ENOENT, "this function has no region");
	fails(dxp_memory_revoke(f, 0), DXP_ENOENT, "this function has no region");
	ok(dxp_memory_register(g, n.fd, 4096, 4096, DXP_REMOTE_WRITE, &key));
	const struct dxp_entry local = {0, 4096, m.key}, remote = {0, 4096, key};
	memset(m.base, 7, 4096);
	posted(f, dxp_post_put(dxp_function_window(f), 0, &to, &local, &remote, 0, 0, 0));
	done(f);
	assert_memory_equal((uint8_t *)n.base + 4096, m.base, 4096);
	ok(dxp_memory_revoke(g, key));
	posted(f, dxp_post_put(dxp_function_window(f), 0, &to, &local, &remote, 0, 0, 0));
	assert_int_equal(completion(f).status, DXP_EACCESS);
	ok(dxp_lookup_add(f, 0x10000, 4096, m.key, 0));
	fails(dxp_lookup_add(f, 0x10fff, 4096, m.key, 0), DXP_EEXIST, "overlaps");
	fails(dxp_lookup_add(f, 0x20000, 4096, n.key, 0), DXP_ENOENT, "is not inside region");
	ok(dxp_function_arm(f));
	ok(dxp_function_disarm(f));
	dxp_memory_destroy(g, &n);
	dxp_function_close(f); /* destroys its memory too */
	dxp_function_close(g);
	dxp_nic_close(nic);
}

/* Waits and later calls of the function return ECLOSED. */
static void attached__learn_that_the_nic_has_ended(void **state)
{
	struct dxp_nic *nic = nic_serve("mine", NULL);
	struct dxp_function *f = attach("mine", 0, NULL);
	const struct dxp_target to = target_of(f, 0);
	struct dxp_target t;
	struct dxp_memory m;

	dxp_nic_close(nic);
	uint64_t begin_ns = clock_now_ns();
	fails(dxp_function_wait(f, PATIENCE_NS), DXP_ECLOSED, "");
	assert_true(clock_now_ns() - begin_ns < PATIENCE_NS / 2);
	assert_int_equal(dxp_post_nap(dxp_function_window(f), 0, &to, "x", 1, 0, 0), DXP_ECLOSED);
	fails(dxp_memory_create(f, 64, 0, &m), DXP_ECLOSED, "");
	fails(dxp_function_find(f, "x", 0, &t), DXP_ECLOSED, "");
	dxp_function_kick(f);
	dxp_function_close(f);
}

/* The NIC reclaims the function of a killed process and unmaps its memory; peers get errors. */
static void attached__may_be_killed(void **state)
{
	struct dxp_nic *nic = nic_serve("mine", NULL);
	struct dxp_function *f = attach("mine", 0, NULL);
	int pipes[2];

	assert_int_equal(pipe(pipes), 0);
	pid_t child = fork();
	if (child == 0) {
		const struct dxp_function_options options = {.nic = "mine", .function = 6};
		struct dxp_function *g;
		struct dxp_target t;
		if (dxp_function_attach(&options, &g) != DXP_OK ||
		    dxp_function_target(g, 0, &t) != DXP_OK ||
		    write(pipes[1], &t, sizeof(t)) != sizeof(t))
			_exit(1);
		for (;;)
			pause();
	}
	struct dxp_target to;
	assert_int_equal(read(pipes[0], &to, sizeof(to)), sizeof(to));
	for (int i = 0; i < 20; i++) /* more than the credit, so that some wait */
		posted(f, dxp_post_nap(dxp_function_window(f), 0, &to, "x", 1, 0, 0));
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	for (int i = 0; i < 20; i++)
		completion(f);
	struct dxp_function *g = NULL;
	const struct dxp_function_options options = {.nic = "mine", .function = 6};
	while (dxp_function_attach(&options, &g) == DXP_EBUSY)
		usleep(1000);
	assert_non_null(g);
	assert_true(target_of(g, 0).magic != to.magic);
	talk(f, g);
	close(pipes[0]);
	close(pipes[1]);
	dxp_function_close(f);
	dxp_function_close(g);
	dxp_nic_close(nic);
}

#define FLOOD_BYTES (64ull << 20)

/* PUTs FLOOD_BYTES again and again, until the process is killed. */
static void flood(const struct dxp_target *to, uint32_t key)
{
	struct dxp_function *f;
	struct dxp_memory m;

	if (dxp_function_attach(NULL, &f) != DXP_OK ||
	    dxp_memory_create(f, FLOOD_BYTES, DXP_LOCAL, &m) != DXP_OK) {
		fprintf(stderr, "the child: %s\n", dxp_function_error());
		_exit(1);
	}
	memset(m.base, 3, FLOOD_BYTES);
	const struct dxp_entry from = {0, FLOOD_BYTES, m.key}, into = {0, FLOOD_BYTES, key};
	for (struct dxp_nic_event event;;) {
		if (dxp_post_put(dxp_function_window(f), 0, to, &from, &into, 0, 0, 0) == DXP_OK)
			dxp_function_kick(f);
		dxp_function_wait(f, PATIENCE_NS);
		while (dxp_sent_dequeue(dxp_function_window(f), &event))
			;
	}
}

/* Mappings that attached processes share with this one. */
static unsigned shared_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[PATH_MAX + 100];
	unsigned count = 0;

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		count += strstr(line, "memfd:dxp-") != NULL;
	fclose(maps);
	return count;
}

/* After a kill in the middle of a PUT, a new process can use the NIC. */
static void attached__may_be_killed_in_a_put(void **state)
{
	struct dxp_nic *nic = nic_serve("mine", NULL);
	struct dxp_function *f = attach("mine", 0, NULL);
	const struct dxp_target to = target_of(f, 1);
	struct dxp_memory m;

	ok(dxp_memory_create(f, FLOOD_BYTES, DXP_REMOTE_WRITE, &m));
	unsigned mapped = shared_mappings();
	for (int i = 0; i < 3; i++) {
		uint64_t total = dxp_load_acquire64(&dxp_function_window(f)->total_bytes);
		pid_t child = fork();
		if (child == 0)
			flood(&to, m.key);
		while (dxp_load_acquire64(&dxp_function_window(f)->total_bytes) <
		       total + FLOOD_BYTES + FLOOD_BYTES / 4) {
			assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
			usleep(100);
		}
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, NULL, 0), child);
		uint64_t begin_ns = clock_now_ns();
		while (shared_mappings() != mapped && clock_now_ns() - begin_ns < PATIENCE_NS)
			usleep(1000);
		assert_int_equal(shared_mappings(), mapped);
		struct dxp_function *g = attach("mine", 2, NULL);
		talk(f, g);
		talk(g, f);
		dxp_function_close(g);
	}
	dxp_function_close(f);
	dxp_nic_close(nic);
}

/* The NIC has no thread, so a wait, spinning or sleeping, also serves the other functions. */
static void nic__serves_while_its_program_waits(void **state)
{
	for (uint32_t spin_us = 0; spin_us != 1; spin_us = spin_us ? 1 : NEVER_SPIN) {
		const struct dxp_nic_options options = {.name = "mine", .spin_us = spin_us};
		struct dxp_nic *nic;
		struct dxp_function *own;
		ok(dxp_nic_open(&options, &nic));
		ok(dxp_nic_serve(nic, NULL));
		ok(dxp_nic_function(nic, "own", &own));
		pid_t child = fork();
		if (child == 0) {
			struct dxp_function *f;
			struct dxp_target t;
			_exit(dxp_function_attach(NULL, &f) != DXP_OK ||
			      dxp_function_find(f, "own", 2, &t) != DXP_OK ||
			      dxp_post_nap(dxp_function_window(f), 0, &t, "x", 1, 5, 0) ||
			      (dxp_function_kick(f), dxp_function_wait(f, PATIENCE_NS)) != DXP_OK);
		}
		assert_int_equal(received(own)->imm, 5);
		int status = -1;
		while (waitpid(child, &status, WNOHANG) == 0)
			dxp_nic_poll(nic);
		assert_int_equal(status, 0);
		dxp_received_release(dxp_function_window(own));
		dxp_function_close(own);
		dxp_nic_close(nic);
	}
}

/* ---- programs that imitate a NIC ---- */

struct impostor {
	int status;     /* of the answer; DXP_EAGAIN: none */
	uint8_t type;   /* of the answer; 0: the request's */
	size_t cut;     /* cut from the answer */
	unsigned fds;   /* file descriptors passed with it */
	uint64_t bytes; /* behind the first descriptor */
	uint32_t version;
};

static void impostor_serve(int listener, const struct impostor *i)
{
	uint8_t bytes[ATTACH_BYTES_MAX];
	struct local_peer peer;
	struct local_memory window = {.fd = -1};
	unsigned none = 0;
	int fd, no_fds[1];

	while (local_accept(listener, &fd, &peer) == DXP_EAGAIN)
		usleep(1000);
	while (local_receive(fd, bytes, sizeof(bytes), no_fds, &none) == DXP_EAGAIN)
		usleep(1000);
	if (i->status != DXP_EAGAIN) {
		const struct attach_answer a = {.type = i->type ? i->type : ATTACH_OPEN,
						.status = i->status};
		local_memory_create("window", i->bytes, &window);
		struct dxp_window *w = window.base;
		w->magic = DXP_WINDOW_MAGIC;
		w->version = i->version;
		w->bytes = sizeof(*w);
		int fds[] = {window.fd, 1, 1};
		size_t length = attach_answer_encode(&a, bytes) - i->cut;
		local_send(fd, bytes, length, fds, i->fds);
	}
	local_receive(fd, bytes, sizeof(bytes), no_fds, &none);
	sleep(60); /* seconds, but the test kills the child earlier */
	_exit(0);
}

static void attach__is_not_fooled(void **state)
{
	static const struct {
		struct impostor impostor;
		int status;
		const char *part;
	} cases[] = {
		{{.status = DXP_EAGAIN}, DXP_ETIMEDOUT, "within 200 ms"},
		{{.cut = 3}, DXP_EIO, "same version"},
		{{.type = ATTACH_ARM, .fds = 3, .bytes = 4096},
		 DXP_EIO,
		 "answered another request"},
		{{.fds = 0}, DXP_EIO, "same version"},
		{{.fds = 2, .bytes = sizeof(struct dxp_window)}, DXP_EIO, "same version"},
		{{.fds = 3, .bytes = 8192}, DXP_EIO, "same version"},
		{{.fds = 3, .bytes = sizeof(struct dxp_window), .version = 99},
		 DXP_EIO,
		 "same version"},
		{{.status = DXP_ENOMEM}, DXP_ENOMEM, "cannot open a function"},
	};
	char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/impostor", run);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct impostor impostor = cases[i].impostor;
		int listener;
		impostor.bytes = impostor.bytes ? impostor.bytes : 8192;
		assert_int_equal(local_listen(path, &listener), DXP_OK);
		pid_t child = fork();
		if (child == 0)
			impostor_serve(listener, &impostor);
		bool silent = cases[i].status == DXP_ETIMEDOUT;
		fails(attach_within(path, silent ? 200 : PATIENCE_NS / MS_NS), cases[i].status,
		      cases[i].part);
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, NULL, 0), child);
		local_unlisten(path, listener);
	}
}

/* The peer neither accepts nor reads. */
static void attach__does_not_wait_for_ever(void **state)
{
	char path[PATH_MAX + 16];
	int listener;

	snprintf(path, sizeof(path), "%s/stopped", run);
	assert_int_equal(local_listen(path, &listener), DXP_OK);
	uint64_t begin_ns = clock_now_ns();
	fails(attach_within(path, 200), DXP_ETIMEDOUT, "check that it is not stopped");
	assert_true(clock_now_ns() - begin_ns < PATIENCE_NS);
	local_unlisten(path, listener);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attach__rejects_what_cannot_be),
		cmocka_unit_test(attach__finds_the_nic_that_is_meant),
		cmocka_unit_test(attach__accepts_a_path),
		cmocka_unit_test(attach__reports_when_all_are_in_use),
		cmocka_unit_test(attached__talk),
		cmocka_unit_test(attached__memory),
		cmocka_unit_test(attached__learn_that_the_nic_has_ended),
		cmocka_unit_test(attached__may_be_killed),
		cmocka_unit_test(attached__may_be_killed_in_a_put),
		cmocka_unit_test(nic__serves_while_its_program_waits),
		cmocka_unit_test(attach__is_not_fooled),
		cmocka_unit_test(attach__does_not_wait_for_ever),
	};

	return cmocka_run_group_tests(tests, folder_make, scratch_folder_remove);
}
