/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for events: spins, announces sleep, executes a fence, checks again, sleeps. The engine's
 * side is in src/nic/wake.c. Each side stores its value (the announcement or the event), executes a
 * fence, then reads the other side's value. So at least one side sees the value of the other, and
 * no wakeup is lost. */
#include <poll.h>
#include <sched.h>
#include <time.h>

#include "base/clock.h"
#include "base/util.h"
#include "host/wakeup.h"
#include "host/function.h"
#include "host/internal.h"

/* checks per read of the clock, because reading it costs as much as several checks */
#define LOOKS_PER_CLOCK 16
/* checks without an event before this thread yields the CPU, because the engine may need this
 * CPU */
#define LOOKS_ALONE 1000

static int cpus_allowed(void)
{
	cpu_set_t set;

	/* The call fails if the machine has more CPUs than a cpu_set_t has bits; then it has at
	 * least 2 CPUs. */
	return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 2;
}

uint32_t function_spin_ns(uint32_t spin_us)
{
	if (spin_us == UINT32_MAX || cpus_allowed() < 2)
		return 0;
	return spin_us ? (uint32_t)(min_u64(spin_us, S_NS / US_NS) * US_NS) : WAIT_SPIN_NS;
}

bool function_ready(const struct dxp_window *w)
{
	uint32_t sent = __atomic_load_n(&w->sent_consumer, __ATOMIC_RELAXED);
	uint32_t received = __atomic_load_n(&w->received_consumer, __ATOMIC_RELAXED);

	return dxp_load_acquire(&w->sent[sent % DXP_EVENTS].lap) == dxp_lap(sent, DXP_EVENTS) ||
	       dxp_load_acquire(&w->received[received % DXP_EVENTS].lap) ==
		       dxp_lap(received, DXP_EVENTS);
}

/* Announces sleep in the window. Returns false if there already is an event or an error. */
static bool sleep_announce(struct dxp_function *f)
{
	/* skips 0, which means that the user does not sleep */
	f->sleeps += f->sleeps == UINT32_MAX ? 2 : 1;
	dxp_store_release(&f->window->user_waits, f->sleeps);
	/* Pairs with the fence that the engine executes after it stores an event and before it
	 * reads `user_waits`. */
	dxp_fence();
	return !function_ready(f->window) && dxp_load_acquire(&f->window->error) == 0;
}

bool function_sleep(struct dxp_function *f, int wakeup, int other, uint64_t deadline_ns)
{
	struct pollfd files[] = {{.fd = wakeup, .events = POLLIN}, {.fd = other}};
	uint64_t now_ns = clock_now_ns();

	if (sleep_announce(f) && deadline_ns > now_ns) {
		uint64_t left_ns = deadline_ns - now_ns;
		struct timespec left = {(time_t)(left_ns / S_NS), (long)(left_ns % S_NS)};
		ppoll(files, ARRAY_COUNT(files), deadline_ns == UINT64_MAX ? NULL : &left, NULL);
	}
	dxp_store_release(&f->window->user_waits, 0);
	if (files[0].revents)
		wakeup_clear(wakeup);
	return files[1].revents != 0;
}

/* Returns DXP_OK if there is an event, DXP_EAGAIN if there is none, otherwise the function's
 * error. */
static int look(const struct dxp_function *f)
{
	if (function_ready(f->window))
		return DXP_OK;
	int error = dxp_error(f->window);
	return error == DXP_OK ? DXP_EAGAIN : error;
}

static int spin(struct dxp_function *f, uint64_t until_ns)
{
	for (uint32_t looks = 1;; looks++) {
		int status = look(f);

		if (status != DXP_EAGAIN)
			return status;
		if (looks % LOOKS_PER_CLOCK == 0 && clock_now_ns() >= until_ns)
			return DXP_EAGAIN;
		if (looks < LOOKS_ALONE)
			dxp_relax();
		else
			sched_yield();
	}
}

/* Polls the NIC until an event arrives, or until there was no work for the spin time. */
static int spin_polling(struct dxp_function *f, uint64_t deadline_ns)
{
	uint64_t busy_ns = clock_now_ns();

	for (uint32_t looks = 1;; looks++) {
		uint32_t work = f->ops->poll(f);
		int status = look(f);

		if (status != DXP_EAGAIN)
			return status;
		uint64_t now_ns = clock_now_ns();
		if (work)
			busy_ns = now_ns, looks = 0;
		if (now_ns >= deadline_ns || now_ns - busy_ns >= f->spin.budget_ns)
			return DXP_EAGAIN;
		/* a poll costs as much as LOOKS_PER_CLOCK checks */
		if (looks >= LOOKS_ALONE / LOOKS_PER_CLOCK)
			sched_yield();
	}
}

static int wait_until(struct dxp_function *f, uint64_t begin_ns, uint64_t deadline_ns)
{
	int status = look(f);

	while (status == DXP_EAGAIN) {
		uint64_t spin_end_ns = min_u64(begin_ns + f->spin.budget_ns, deadline_ns);
		if (f->ops->poll)
			status = spin_polling(f, deadline_ns);
		else if (f->spin.full_ns)
			status = spin(f, spin_end_ns);
		if (status != DXP_EAGAIN)
			break;
		if (clock_now_ns() >= deadline_ns)
			return DXP_ETIMEDOUT;
		f->ops->sleep(f, deadline_ns);
		status = look(f);
	}
	return status;
}

int dxp_function_wait(struct dxp_function *f, uint64_t timeout_ns)
{
	uint64_t begin_ns = clock_now_ns();
	uint64_t deadline_ns =
		timeout_ns > UINT64_MAX - begin_ns ? UINT64_MAX : begin_ns + timeout_ns;
	int status = wait_until(f, begin_ns, deadline_ns);

	if (status == DXP_OK && f->spin.full_ns)
		spin_note(&f->spin, clock_now_ns() - begin_ns);
	if (status == DXP_ETIMEDOUT)
		return error_set(status, "no event arrived before the timeout");
	if (status == DXP_ECLOSED)
		return error_set(status, "the function was reset, or the NIC's program has exited; "
					 "close the function and attach again");
	if (status != DXP_OK)
		return error_set(status, "the function has failed (%s); close it",
				 dxp_status_text(status));
	return DXP_OK;
}
