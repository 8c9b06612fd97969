/* SPDX-License-Identifier: BSD-3-Clause */
/* The near process starts the far one; each is killed when its parent exits. */
#include "bench/measure.h"

#include <dlfcn.h>
#include <errno.h>
#include <libgen.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"
#include "bench/child.h"

/* ns to start and connect; exceeds a provider's retransmission timeout */
#define OPEN_NS  (10 * S_NS)
#define GRACE_NS (2 * S_NS) /* ns after the budget for a blocking operation to return */
#define LOOK_MS  100
/* polls per clock read while one operation is outstanding */
#define LOOKS        4096
#define SERVE_ROUNDS 4096 /* polls per check that the near end is alive */

struct job {
	const struct contender *contender;
	const struct peer_ops *ops;
	const struct raw_ends *ends;
	const struct work *work;
	size_t datagram_bytes;
	struct tally *tally;
};

/* Returns NULL if the module was not built for lack of libraries. */
static const struct peer_ops *module_open(const char *name)
{
	char program[1024], path[1200];
	ssize_t bytes = readlink("/proc/self/exe", program, sizeof(program) - 1);

	program[bytes > 0 ? bytes : 0] = '\0';
	snprintf(path, sizeof(path), "%s/../lib/%s", dirname(program), name);
	if (access(path, R_OK) != 0)
		return NULL;
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct peer_ops *ops = library ? dlsym(library, "peer_ops_exported") : NULL;
	if (!ops)
		log_error("cannot load %s: %s", path, dlerror());
	return ops;
}

static void far_main(int control, void *context)
{
	const struct job *j = context;
	struct peer_end e = {.ends = j->ends,
			     .work = j->work,
			     .variant = j->contender->variant,
			     .far = true,
			     .control = control,
			     .tally = j->tally};
	char byte;

	if (child_netns_enter(j->ends->far_netns) != DXP_OK || j->ops->open(&e) != DXP_OK)
		return;
	do {
		for (int i = 0; i < SERVE_ROUNDS; i++)
			j->ops->serve(&e);
		sched_yield(); /* the near end may need this core */
	} while (recv(control, &byte, 1, MSG_DONTWAIT) != 0);
}

static int counted_await(struct peer_end *e, const struct peer_ops *ops, uint64_t count,
			 uint64_t end_ns)
{
	while (e->tally->counted < count) {
		int n = ops->poll(e);
		if (n < 0)
			return n;
		if (clock_now_ns() > end_ns)
			return DXP_ETIMEDOUT;
	}
	return DXP_OK;
}

struct drive {
	struct peer_end *end;
	const struct peer_ops *ops;
	uint64_t posted, done, count;
	bool measured;
	uint64_t started_ns[WORK_DEPTH_MAX];
};

static int drive_post(struct drive *d)
{
	const struct work *w = d->end->work;

	while (d->posted < d->count && d->posted - d->done < w->depth) {
		uint64_t now_ns = w->op == WORK_MESSAGE ? 0 : clock_now_ns();
		int status = d->ops->post(d->end);
		if (status == DXP_EAGAIN)
			return DXP_OK;
		if (status != DXP_OK)
			return status;
		d->started_ns[d->posted++ % WORK_DEPTH_MAX] = now_ns;
	}
	return DXP_OK;
}

static void drive_note(struct drive *d, int ended, uint64_t now_ns)
{
	struct tally *t = d->end->tally;

	for (; ended > 0; ended--, d->done++) {
		uint64_t began_ns = d->started_ns[d->done % WORK_DEPTH_MAX];
		if (d->measured && began_ns && t->sample_count < TALLY_SAMPLES)
			t->samples[t->sample_count++] = now_ns - began_ns;
	}
	if (d->measured)
		t->done = d->done;
}

/* Returns DXP_ETIMEDOUT if the budget ran out. */
static int drive(struct peer_end *e, const struct peer_ops *ops, uint64_t count, bool measured)
{
	struct drive d = {.end = e, .ops = ops, .count = count, .measured = measured};
	uint64_t end_ns = clock_now_ns() + e->work->budget_ns, before = e->tally->counted;
	int status = DXP_OK;

	while (status == DXP_OK && d.done < count) {
		status = drive_post(&d);
		if (status != DXP_OK)
			return status;
		int ended = ops->poll(e);
		if (ended < 0)
			return ended;
		uint64_t now_ns = clock_now_ns();
		drive_note(&d, ended, now_ns);
		if (now_ns > end_ns && d.done < count)
			status = DXP_ETIMEDOUT;
	}
	if (status == DXP_OK && e->work->op == WORK_MESSAGE)
		status = counted_await(e, ops, before + count, end_ns);
	return status;
}

/* Returns DXP_ETIMEDOUT if not complete before `end_ns`. */
static int operation_run(struct peer_end *e, const struct peer_ops *ops, uint64_t end_ns)
{
	int status, ended = 0;

	while ((status = ops->post(e)) == DXP_EAGAIN && ended == 0)
		ended = ops->poll(e);
	for (uint32_t looks = 1; status == DXP_OK && ended == 0; looks++) {
		ended = ops->poll(e);
		if (looks % LOOKS != 0)
			continue;
		if (clock_now_ns() > end_ns)
			return DXP_ETIMEDOUT;
		sched_yield(); /* the far end may need this core */
	}
	return status == DXP_OK && ended < 0 ? ended : status;
}

/* Reads the clock once per batch; a sample is a batch's mean. A completion counts at the next read,
 * never too early. A timeout cuts the last batch short. */
static int drive_batches(struct peer_end *e, const struct peer_ops *ops, uint64_t count,
			 bool measured)
{
	uint64_t end_ns = clock_now_ns() + e->work->budget_ns, done = 0;
	struct tally *t = e->tally;
	int status = DXP_OK;

	while (status == DXP_OK && done < count) {
		uint64_t began_ns = clock_now_ns();
		uint32_t completed = 0;
		while (completed < e->work->batch &&
		       (status = operation_run(e, ops, end_ns)) == DXP_OK)
			completed++;
		uint64_t now_ns = clock_now_ns();
		done += completed;
		if (measured && completed > 0 && t->sample_count < TALLY_SAMPLES)
			t->samples[t->sample_count++] = (now_ns - began_ns) / completed;
		if (measured)
			t->done = done;
		if (status == DXP_OK && now_ns > end_ns && done < count)
			status = DXP_ETIMEDOUT;
	}
	return status;
}

static int work_drive(struct peer_end *e, const struct peer_ops *ops, uint64_t count, bool measured)
{
	return e->work->batch > 1 ? drive_batches(e, ops, count, measured)
				  : drive(e, ops, count, measured);
}

static void near_run(const struct job *j, struct peer_end *e, pid_t far)
{
	struct tally *t = j->tally;

	t->status = j->ops->open(e);
	if (t->status == DXP_OK && e->work->warmup > 0)
		t->status = work_drive(e, j->ops, e->work->warmup, false);
	if (t->status != DXP_OK && t->status != DXP_ETIMEDOUT)
		return; /* a cut warm-up is no error */
	uint64_t near_cpu_ns = child_cpu_ns(0), far_cpu_ns = child_cpu_ns(far);
	t->begin_ns = clock_now_ns();
	int status = work_drive(e, j->ops, e->work->count, true);
	t->near_cpu_ns = child_cpu_ns(0) - near_cpu_ns;
	t->far_cpu_ns = child_cpu_ns(far) - far_cpu_ns;
	t->end_ns = clock_now_ns();
	t->status = status;
}

static void near_main(int control, void *context)
{
	struct job *j = context;
	const struct contender *c = j->contender;
	struct child far;

	(void)control;
	if (c->alone) {
		j->tally->status = c->alone(j->ends, j->work, j->datagram_bytes, j->tally);
		return;
	}
	j->ops = c->ops ? c->ops : module_open(c->module);
	j->tally->status = j->ops ? DXP_EIO : DXP_EUNSUPPORTED;
	if (!j->ops || child_spawn(far_main, j, &far) != DXP_OK)
		return;
	struct peer_end e = {.ends = j->ends,
			     .work = j->work,
			     .variant = c->variant,
			     .control = far.control,
			     .tally = j->tally};
	near_run(j, &e, far.pid);
	child_end(&far);
}

/* Waits until the near process exits or its time limit expires. Contenders with `alone` have their
 * own, shorter limits. */
static void near_await(const struct child *near, const struct work *work, const struct tally *t)
{
	uint64_t start_ns = clock_now_ns();
	struct pollfd p = {.fd = near->control, .events = POLLIN};

	for (;;) {
		uint64_t limit_ns = t->begin_ns ? t->begin_ns + work->budget_ns + GRACE_NS
						: start_ns + OPEN_NS + 2 * work->budget_ns;
		int ready = poll(&p, 1, LOOK_MS);
		if (ready > 0 || (ready < 0 && errno != EINTR) || clock_now_ns() > limit_ns)
			return;
	}
}

static void outcome_read(struct tally *t, struct outcome *out)
{
	uint64_t count = t->sample_count, sum_ns = 0;
	/* a killed process has set no end time */
	uint64_t end_ns = t->end_ns ? t->end_ns : clock_now_ns();

	*out = (struct outcome){.status = t->status, .done = t->done};
	if (t->begin_ns && (t->status == DXP_ETIMEDOUT || !t->end_ns))
		out->status = DXP_OK; /* counts completed operations */
	if (!t->begin_ns && t->status == DXP_OK)
		/* killed before the measurement began */
		out->status = DXP_ETIMEDOUT;
	if (t->begin_ns)
		out->seconds = (double)(end_ns - t->begin_ns) / 1e9;
	out->near_cpu_ns = (double)t->near_cpu_ns;
	out->far_cpu_ns = (double)t->far_cpu_ns;
	for (uint64_t i = 0; i < count; i++)
		sum_ns += t->samples[i];
	if (count > 0) {
		out->mean_us = (double)sum_ns / (double)count / 1000;
		out->p50_us = (double)raw_percentile(t->samples, count, 50) / 1000;
		out->p99_us = (double)raw_percentile(t->samples, count, 99) / 1000;
	}
}

void measure_into(struct tally *tally, const struct contender *c, const struct raw_ends *ends,
		  const struct work *work, size_t datagram_bytes, struct outcome *out)
{
	struct job job = {.contender = c,
			  .ends = ends,
			  .work = work,
			  .datagram_bytes = datagram_bytes,
			  .tally = tally};
	struct child near;

	tally->status = DXP_ETIMEDOUT; /* until the near process sets another */
	*out = (struct outcome){.status = child_spawn(near_main, &job, &near)};
	if (out->status != DXP_OK)
		return;
	near_await(&near, work, tally);
	child_end(&near);
	outcome_read(tally, out);
}

void measure_run(const struct contender *c, const struct raw_ends *ends, const struct work *work,
		 size_t datagram_bytes, struct outcome *out)
{
	struct tally *tally = measure_tally_map(1);

	*out = (struct outcome){.status = DXP_ENOMEM};
	if (tally)
		measure_into(tally, c, ends, work, datagram_bytes, out);
	measure_tally_unmap(tally, 1);
}

struct tally *measure_tally_map(size_t count)
{
	void *p = mmap(NULL, count * sizeof(struct tally), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void measure_tally_unmap(struct tally *tallies, size_t count)
{
	if (tallies)
		munmap(tallies, count * sizeof(*tallies));
}
