/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests dxpd as a process: messages, a stable node id, and waits of others when it is killed.
 * Skipped if it is not built. */
#include "test/unit/dxpd_process.h"

/* ns until a killed node is detected: lease and pings take 8 s on an idle machine */
#define DIES_WITHIN_NS (16 * S_NS)
#define STOPPED_BYTES  (1u << 20) /* bytes that each stopped host allocates */

#define REFUSED(code, words, ...)                                            \
	do {                                                                 \
		struct process refused = start(__VA_ARGS__, NULL);           \
		bool reported = has_text(&refused, words);                   \
		assert_int_equal(end(&refused, 0), code);                    \
		if (!reported)                                               \
			fail_msg("'%s' is not in: %s", words, refused.text); \
	} while (0)

static void dxpd__options(void **state)
{
	REFUSED(0, "--spin-us", "--help");
	REFUSED(0, "dxpd ", "--version");
	REFUSED(2, "--slots needs a number from 1 to 16", "--slots", "0");
	REFUSED(2, "--slots needs a number from 1 to 16", "--slots", "17");
	REFUSED(2, "--memory needs a size from 1M to 1024G", "--memory", "1K");
	REFUSED(2, "--memory needs a size from 1M to 1024G", "--memory", "lots");
	REFUSED(2, "--memory needs a size from 1M to 1024G", "--memory", "99999999999G");
	REFUSED(2, "--buffers needs a number from 1 to 64", "--buffers", "0");
	REFUSED(2, "--buffers needs a number from 1 to 64", "--buffers", "65");
	REFUSED(2, "--sandbox is auto, off or strict", "--sandbox", "on");
	REFUSED(2, "--worker-memory is 256M to 1024G", "--worker-memory", "1M");
	REFUSED(2, "--buffer-bytes is auto, or 4K to 16M", "--buffer-bytes", "2K");
	REFUSED(2, "--buffer-bytes is auto, or 4K to 16M", "--buffer-bytes", "17M");
	REFUSED(2, "--buffer-bytes is auto, or 4K to 16M", "--buffer-bytes", "5000");
	REFUSED(2, "--spin-us needs a number from 0 to 1000000", "--spin-us", "-1");
	REFUSED(2, "--switch needs an IPv4 address such as 10.0.0.1, or a list", "--switch",
		"here");
	REFUSED(2, "--switch needs an IPv4 address such as 10.0.0.1, or a list", "--switch",
		"10.0.0.0/33=10.0.0.1");
	REFUSED(2, "--cc is swift, none, dctcp or reno", "--cc", "cubic");
	REFUSED(2, "--first needs a number from 0 to", "--first", "x");
	REFUSED(2, "--id needs a number from 1 to", "--id", "65535");
	REFUSED(2, "--timeout needs a number from 1 to", "--timeout", "0");
	REFUSED(2, "--keep-hosts needs a number from 0 to 600", "--keep-hosts", "601");
	REFUSED(2, "--manager needs an address", "--manager", "nowhere");
	REFUSED(2, "--bind needs an address", "--bind", "300.1.1.1");
	REFUSED(2, "only options are accepted", "more");
	REFUSED(2, "unknown engine 'steam'", "--engine", "steam");
	REFUSED(2, "is not possible; use A-Z", "--name", "not a name");
	REFUSED(2, "exceed port 65535", "--bind", "127.0.0.1:65535", "--slots", "2");
	REFUSED(4, "does not exist; `dxp up`", "--key", "/nonexistent/key");
	REFUSED(5, "cannot make folder", "--state", "/proc/nothing");
}

/* Buffers are measured or set by options; settings that cannot work are rejected. */
static void dxpd__buffers(void **state)
{
	REFUSED(0, "<- auto", "--engine", "board:fast", "--measure-buffers");
	REFUSED(6, "without buffers", "--measure-buffers");
	REFUSED(2, "use --buffers 2 or more", "--engine", "board:fast", "--buffers", "1",
		"--buffer-bytes", "64K");
	REFUSED(2, "use --buffers 4 or more", "--engine", "board:fast", "--buffers", "3",
		"--buffer-bytes", "4K");
	struct process p = start("--engine", "board:fast", "--buffers", "4", "--buffer-bytes", "4K",
				 "--slots", "2", "-v", NULL);
	assert_true(has_text(&p, "bridge: 4 buffers of 4 KiB each way"));
	assert_true(has_text(&p, "xpu2: node"));
	assert_int_equal(end(&p, SIGTERM), 0);
	p = start("--engine", "board:fast", "--buffer-bytes", "auto", "-v", NULL);
	assert_true(has_text(&p, "each way (measured)"));
	assert_true(has_text(&p, "xpu1: node"));
	assert_int_equal(end(&p, SIGTERM), 0);
}

static void dxpd__keeps_its_id(void **state)
{
	char path[128], line[64];
	struct process p = start("--name", "keeper", "--state", folder, NULL);
	struct stat st;
	unsigned id;

	assert_true(has_text(&p, "MiB, none\n"));
	assert_int_equal(sscanf(p.text, "keeper: node %u at 127.0.0.1:", &id), 1);
	assert_non_null(strstr(p.text, "4 MiB"));
	assert_int_equal(end(&p, SIGTERM), 0);
	snprintf(path, sizeof(path), "%s/keeper.id", folder);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	p = start("--name", "keeper", "--state", folder, NULL);
	snprintf(line, sizeof(line), "keeper: node %u at", id);
	assert_true(has_text(&p, line));
	assert_int_equal(end(&p, SIGINT), 0);
	file_put(path, "not an identity");
	REFUSED(5, "is not the identity of an xPU", "--name", "keeper", "--state", folder);
}

static void dxpd__rejected_by_others(void **state)
{
	struct process holder = start("--name", "taken", "--bind", "127.0.0.1:0", NULL);
	char other_key[128], port[32];
	uint8_t key[FABRIC_KEY_BYTES];

	assert_true(has_text(&holder, "taken: node"));
	const char *colon = strstr(strstr(holder.text, " at "), ":");
	snprintf(port, sizeof(port), "127.0.0.1:%.*s", (int)strcspn(colon + 1, ","), colon + 1);
	REFUSED(3, "uses this port", "--name", "another", "--bind", port);
	REFUSED(3, "taken", "--name", "taken");
	snprintf(other_key, sizeof(other_key), "%s/other.key", folder);
	key_put(other_key, key);
	REFUSED(4, "key", "--key", other_key);
	REFUSED(7, "no manager answers", "--manager", "127.0.0.1:9", "--timeout", "1");
	assert_int_equal(end(&holder, SIGTERM), 0);
}

static struct dxp_xpu *xpu_open(struct dxp_fabric *f, const char *name)
{
	struct dxp_xpu *x = NULL;
	int status;

	for (uint64_t until = clock_now_ns() + WAIT_NS;
	     (status = dxp_xpu_open(f, name, &x)) == DXP_ENOENT && clock_now_ns() < until;)
		usleep(1000);
	assert_int_equal(status, DXP_OK);
	return x;
}

/* Kills `victim` during one of many transfers. Returns the status of the first that fails. */
static int send_until_lost(struct dxp_fabric *f, struct dxp_xpu *from, struct dxp_xpu *to,
			   struct process *victim)
{
	const uint64_t bytes = 1 << 20;
	uint64_t source, destination, killed_ns = 0;
	int status = DXP_OK;

	assert_int_equal(dxp_mem_alloc(from, bytes, &source), DXP_OK);
	assert_int_equal(dxp_mem_alloc(to, bytes, &destination), DXP_OK);
	for (int i = 0; status == DXP_OK; i++) {
		const struct dxp_transfer t = {
			.from_address = source, .to_address = destination, .bytes = bytes};
		dxp_event event;
		if (dxp_send(from, to, &t, &event) != DXP_OK)
			return DXP_EPEERLOST; /* death already detected */
		if (i == 20) {
			kill(victim->pid, SIGKILL);
			killed_ns = clock_now_ns();
		}
		status = dxp_event_wait(f, event, WAIT_NS, NULL);
		assert_true(killed_ns == 0 || clock_now_ns() - killed_ns < DIES_WITHIN_NS);
	}
	return status;
}

static void dxpd__killed_in_the_middle(void **state)
{
	struct process a = start("--name", "alpha", NULL), b = start("--name", "beta", NULL);
	struct dxp_fabric *f;
	struct dxp_transfer t = {.bytes = 16};
	uint32_t queued;
	uint64_t address;
	dxp_event event;

	assert_true(has_text(&a, "alpha: node") && has_text(&b, "beta: node"));
	assert_int_equal(
		dxp_fabric_open(&(struct dxp_fabric_options){.directory = folder, .name = "h"}, &f),
		DXP_OK);
	struct dxp_xpu *alpha = xpu_open(f, "alpha"), *beta = xpu_open(f, "beta");
	assert_int_equal(send_until_lost(f, alpha, beta, &b), DXP_EPEERLOST);
	assert_int_equal(end(&b, 0), -1);
	/* The surviving daemon continues. */
	/* fails if this host has detected the death */
	if (dxp_send(alpha, beta, &t, &event) == DXP_OK)
		assert_int_not_equal(dxp_event_wait(f, event, WAIT_NS, NULL), DXP_OK);
	assert_int_equal(dxp_mem_alloc(alpha, 4096, &address), DXP_OK);
	do
		assert_int_equal(dxp_reg_read(alpha, 20, &queued, 1), DXP_OK);
	while (queued != 0);
	dxp_xpu_close(alpha);
	dxp_xpu_close(beta);
	dxp_fabric_close(f);
	assert_int_equal(end(&a, SIGTERM), 0);
}

/* w-alpha waits for a transfer of the killed w-beta and completes with EPEERLOST. */
static void dxpd__killed_while_awaited(void **state)
{
	struct process p[] = {start("--name", "w-alpha", NULL), start("--name", "w-beta", NULL)};
	const struct dxp_fabric_options options = {.directory = folder, .name = "waiter"};
	struct dxp_fabric *f;
	dxp_event never, after;

	assert_true(has_text(&p[0], "w-alpha: node") && has_text(&p[1], "w-beta: node"));
	assert_int_equal(dxp_fabric_open(&options, &f), DXP_OK);
	struct dxp_xpu *alpha = xpu_open(f, "w-alpha"), *beta = xpu_open(f, "w-beta");
	struct dxp_transfer t = {.bytes = 4096};
	assert_int_equal(dxp_mem_alloc(alpha, 4096, &t.from_address), DXP_OK);
	assert_int_equal(dxp_mem_alloc(beta, 4096, &t.to_address), DXP_OK);
	kill(p[1].pid, SIGSTOP);
	const struct dxp_transfer back = {t.to_address, t.from_address, 4096, NULL, 0};
	assert_int_equal(dxp_send(beta, alpha, &back, &never), DXP_OK);
	t.wait = &never;
	t.wait_count = 1;
	assert_int_equal(dxp_send(alpha, beta, &t, &after), DXP_OK);
	kill(p[1].pid, SIGKILL);
	uint64_t killed_ns = clock_now_ns();
	assert_int_equal(dxp_event_wait(f, after, WAIT_NS, NULL), DXP_EPEERLOST);
	assert_true(clock_now_ns() - killed_ns < DIES_WITHIN_NS);
	dxp_xpu_close(alpha);
	dxp_xpu_close(beta);
	dxp_fabric_close(f);
	assert_int_equal(end(&p[1], 0), -1);
	assert_int_equal(end(&p[0], SIGTERM), 0);
}

/* dxpd runs with --keep-hosts 0, and a host is killed. After the host's lease has expired, its
 * memory on the xPU is free again. */
static void dxpd__host_killed(void **state)
{
#if SANITIZED_THREAD
	print_message("skipped: the thread sanitizer ends a forked process that starts threads\n");
	skip();
#endif
	struct process a = start("--name", "gamma", "--keep-hosts", "0", NULL);
	struct dxp_fabric *f;
	uint64_t address;
	uint32_t before, now;

	assert_true(has_text(&a, "gamma: node"));
	assert_int_equal(
		dxp_fabric_open(&(struct dxp_fabric_options){.directory = folder, .name = "h1"},
				&f),
		DXP_OK);
	struct dxp_xpu *x = xpu_open(f, "gamma");
	assert_int_equal(dxp_reg_read(x, 14, &before, 1), DXP_OK);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct dxp_fabric *own;
		if (dxp_fabric_open(&(struct dxp_fabric_options){.directory = folder, .name = "h2"},
				    &own) == DXP_OK &&
		    dxp_mem_alloc(xpu_open(own, "gamma"), 1 << 20, &address) == DXP_OK)
			raise(SIGKILL);
		_exit(1);
	}
	int status;
	waitpid(child, &status, 0);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(dxp_reg_read(x, 14, &now, 1), DXP_OK);
	assert_int_equal(now, before - (1 << 20));
	for (uint64_t until = clock_now_ns() + WAIT_NS; now != before && clock_now_ns() < until;
	     usleep(10000))
		assert_int_equal(dxp_reg_read(x, 14, &now, 1), DXP_OK);
	assert_int_equal(now, before);
	dxp_xpu_close(x);
	dxp_fabric_close(f);
	assert_int_equal(end(&a, SIGTERM), 0);
}

enum { KEPT = 0, OTHER = 1, NOTIFIED = 10 };

/* The process writes to the xPU and stops itself. Later its exit status reports whether its memory
 * was kept. */
static pid_t stopped_host(const char *name)
{
	static uint8_t data[STOPPED_BYTES], back[STOPPED_BYTES];
	struct dxp_fabric *f;
	uint64_t address;
	int status;

	pid_t child = fork();
	assert_true(child >= 0);
	if (child > 0) {
		assert_int_equal(waitpid(child, &status, WUNTRACED), child);
		assert_true(WIFSTOPPED(status));
		return child;
	}
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 17 + (i >> 9));
	const struct dxp_fabric_options options = {.directory = folder, .name = name};
	if (dxp_fabric_open(&options, &f) != DXP_OK)
		_exit(OTHER);
	struct dxp_xpu *x = xpu_open(f, "delta");
	if (dxp_mem_alloc(x, sizeof(data), &address) != DXP_OK ||
	    dxp_mem_write(x, address, data, sizeof(data)) != DXP_OK)
		_exit(OTHER);
	raise(SIGSTOP);
	status = dxp_mem_read(x, back, address, sizeof(back));
	if (status == DXP_EPEERRESET)
		_exit(strstr(dxp_fabric_error(f), "open the xPU again") ? NOTIFIED : OTHER);
	dxp_xpu_close(x);
	dxp_fabric_close(f);
	_exit(status == DXP_OK && memcmp(data, back, sizeof(data)) == 0 ? KEPT : OTHER);
}

static int goes_on(pid_t child)
{
	int status;

	assert_int_equal(kill(child, SIGCONT), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* A host that is stopped for longer than its lease loses its memory only if another host needs it.
 * A killed host is removed when its name is used again. */
static void dxpd__host_stopped(void **state)
{
#if SANITIZED_THREAD
	print_message("skipped: the thread sanitizer ends a forked process that starts threads\n");
	skip();
#endif
	struct process p = start("--name", "delta", "--verbose", NULL);
	const struct dxp_fabric_options options = {.directory = folder, .name = "h4"};
	struct dxp_fabric *f, *g;
	uint64_t address;
	uint32_t before, now;

	assert_true(has_text(&p, "delta: node"));
	pid_t one = stopped_host("stopped-one"), two = stopped_host("stopped-two");
	pid_t three = stopped_host("killed");
	assert_int_equal(kill(three, SIGKILL), 0);
	assert_int_equal(waitpid(three, NULL, 0), three);
	assert_int_equal(dxp_fabric_open(&options, &f), DXP_OK);
	struct dxp_xpu *x = xpu_open(f, "delta");
	assert_int_equal(dxp_reg_read(x, 14, &before, 1), DXP_OK);
	assert_true(has_text(&p, "host stopped-one"));
	assert_true(has_text(&p, "host stopped-two"));
	assert_true(has_text(&p, "host killed"));
	assert_int_equal(dxp_reg_read(x, 14, &now, 1), DXP_OK);
	assert_int_equal(now, before);
	assert_int_equal(goes_on(one), KEPT);

	const struct dxp_fabric_options again = {.directory = folder, .name = "killed"};
	uint64_t until = clock_now_ns() + WAIT_NS;
	assert_int_equal(dxp_fabric_open(&again, &g), DXP_OK);
	while (now != before + 2 * STOPPED_BYTES && clock_now_ns() < until)
		assert_int_equal(dxp_reg_read(x, 14, &now, 1), DXP_OK);
	/* of the first stopped and of the killed host */
	assert_int_equal(now, before + 2 * STOPPED_BYTES);
	dxp_fabric_close(g);

	/* This needs the memory of the second stopped host, so it fails until dxpd has evicted that
	 * host. */
	while (dxp_mem_alloc(x, (4u << 20) - STOPPED_BYTES / 2, &address) != DXP_OK)
		assert_true(clock_now_ns() < until);
	assert_int_equal(goes_on(two), NOTIFIED);
	dxp_xpu_close(x);
	dxp_fabric_close(f);
	assert_int_equal(end(&p, SIGTERM), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dxpd__options),
		cmocka_unit_test(dxpd__buffers),
		cmocka_unit_test(dxpd__keeps_its_id),
		cmocka_unit_test(dxpd__rejected_by_others),
		cmocka_unit_test(dxpd__killed_in_the_middle),
		cmocka_unit_test(dxpd__killed_while_awaited),
		cmocka_unit_test(dxpd__host_killed),
		cmocka_unit_test(dxpd__host_stopped),
	};

	if (access(PROGRAM, X_OK) != 0) {
		printf("skipped: %s is not built\n", PROGRAM);
		return 77;
	}
	/* Only leaks of dxpd; PoCL's are suppressed (test/support/pocl/leaks.c). */
	setenv("LSAN_OPTIONS",
	       "print_suppressions=0:suppressions=" DXP_SOURCE_DIR "/test/support/pocl/leaks.supp",
	       0);
	return cmocka_run_group_tests(tests, world_open, world_close);
}
