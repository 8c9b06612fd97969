/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread of a DMA controller: reports due completions, moves slices, or waits.
 *
 * clock_ns is modelled time: when the real board would have moved the last copied byte. The thread
 * copies somewhat ahead of it and then sleeps, so that it wakes seldom. After a late wakeup it
 * catches up at most CREDIT_NS, so that the mean bandwidth is that of the board. */
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/util.h"
#include "engine/board_copy.h"
#include "engine/board_internal.h"

#define AHEAD_NS (250 * US_NS) /* ns that copied bytes may be ahead of modelled time */
/* ns that a late thread may catch up: bounds a burst */
#define CREDIT_NS (200 * US_NS)
/* ns to the next check while another thread moves a slice */
#define HELP_LOOK_NS (50 * US_NS)
/* ns by which sleeps are too long; the thread spins instead */
#define SPIN_NS (15 * US_NS)

enum step_kind { STEP_WAIT, STEP_END, STEP_DROP, STEP_MOVE };

struct step {
	enum step_kind kind;
	/* UINT64_MAX: only after a kick */
	uint64_t until_ns;
	bool exact; /* until_ns is a completion, which must be exact */
};

static bool is_tx(const struct board_controller *c)
{
	return c == &c->board->tx;
}

static bool stale(const struct board_controller *c, const struct board_job *job)
{
	return job->reset != c->board->resets;
}

static bool through(const struct board_job *job)
{
	return job->dma.kind == ENGINE_DMA_THROUGH;
}

static uint64_t job_due(const struct board_controller *c, const struct board_job *job)
{
	return stale(c, job) ? 0 : job->due_ns;
}

static bool end_add(struct board_controller *c, const struct board_job *job)
{
	struct board_dma *d = c->board;

	/* Rx completes a THROUGH, because all data passes it last (S-02). */
	if (is_tx(c) && through(job))
		return false;
	uint32_t count = atomic_load_explicit(&d->end_count, memory_order_relaxed);
	d->ends[(d->end_head + count) % BOARD_ENDS_MAX] = (struct engine_dma_end){
		.id = job->dma.id, .status = stale(c, job) ? DXP_EDEVICE : job->status};
	/* Pairs with the acquire in board_dma_dequeue(). */
	atomic_store_explicit(&d->end_count, count + 1, memory_order_release);
	return true;
}

/* False: no completion is due. */
static bool ends_add(struct board_controller *c, uint64_t now_ns)
{
	bool added = false;

	for (; c->head != c->next && job_due(c, board_job_at(c, c->head)) <= now_ns; c->head++)
		added |= end_add(c, board_job_at(c, c->head));
	return added;
}

static void ends_report(struct board_controller *c, uint64_t now_ns)
{
	const struct board_dma_options *o = &c->board->options;

	if (!ends_add(c, now_ns) || !o->interrupt)
		return;
	pthread_mutex_unlock(&c->board->lock);
	o->interrupt(o->interrupt_context);
	pthread_mutex_lock(&c->board->lock);
}

/* Moves `next` behind the DMAs that Tx has moved for Rx. If the next one is a THROUGH, wakes Tx,
 * which moves it. */
static void rx_advance(struct board_dma *d)
{
	struct board_controller *rx = &d->rx;

	while (rx->next != rx->tail && board_job_at(rx, rx->next)->passed)
		rx->next++;
	if (rx->next != rx->tail && through(board_job_at(rx, rx->next)))
		board_controller_kick(&d->tx);
}

/* All bytes were moved, or the DMA failed. */
static void job_passed(struct board_controller *c, int status)
{
	struct board_dma *d = c->board;
	struct board_job *job = board_job_at(c, c->next);

	job->passed = true;
	job->status = status;
	job->due_ns = c->clock_ns + d->interrupt_ns;
	c->clock_ns += d->control_ns; /* the next DMA starts this much later */
	c->next++;
	if (is_tx(c) && through(job)) {
		struct board_job *twin = board_job_at(&d->rx, job->twin);
		twin->passed = true;
		twin->status = status;
		twin->due_ns = job->due_ns;
		job->due_ns = 0; /* at once, because Rx reports the completion */
		d->rx.clock_ns += d->control_ns;
		board_controller_kick(&d->rx);
	}
	rx_advance(d);
}

static uint64_t passing_ns(uint64_t bytes, uint64_t rate)
{
	return rate ? (bytes * 1000 + rate - 1) / rate : 0;
}

static uint64_t slice_bytes(const struct board_controller *c, const struct board_job *job)
{
	uint64_t left = job->last - job->moved;

	return through(job) ? board_core_step_bytes(c->board->options.core, left)
			    : min_u64(left, BOARD_SLICE_BYTES);
}

/* A COPY to a higher address begins at the end, so as not to read its own output. */
static uint64_t slice_at(const struct board_job *job, uint64_t bytes)
{
	bool backwards = job->dma.kind == ENGINE_DMA_COPY && job->dma.to > job->dma.from;

	return backwards ? job->last - job->moved - bytes : job->moved;
}

static void memory_copy(uint8_t *to, const uint8_t *from, uint64_t bytes)
{
	uintptr_t a = (uintptr_t)to, b = (uintptr_t)from;

	if ((a > b ? a - b : b - a) >= bytes)
		board_copy_in(to, from, bytes);
	else
		memmove(to, from, bytes);
}

/* Moves a slice without holding the lock: the thread that set `moving` owns the job. */
static int slice_move(const struct board_dma *d, const struct board_job *job, uint64_t bytes)
{
	const struct engine_dma *dma = &job->dma;
	uint64_t at = slice_at(job, bytes);
	uint8_t *memory = d->options.memory, *sink = dma->sink;
	const uint8_t *source = dma->source;

	switch (dma->kind) {
	case ENGINE_DMA_IN: board_copy_in(memory + dma->to + at, source + at, bytes); break;
	case ENGINE_DMA_OUT: board_copy_out(sink + at, memory + dma->from + at, bytes); break;
	case ENGINE_DMA_COPY:
		memory_copy(memory + dma->to + at, memory + dma->from + at, bytes);
		break;
	default: return board_core_step(d->options.core, sink + at, source + at, bytes);
	}
	return DXP_OK;
}

/* Unused bandwidth is not accumulated. */
static void clock_hold(struct board_controller *c, const struct board_job *job, uint64_t now_ns)
{
	if (job->moved == 0)
		c->clock_ns = max_u64(c->clock_ns, job->begins_ns);
	if (c->clock_ns + CREDIT_NS < now_ns)
		c->clock_ns = now_ns - CREDIT_NS;
}

static void clocks_advance(struct board_controller *c, const struct board_job *job, uint64_t bytes)
{
	struct board_dma *d = c->board;
	uint64_t begin_ns = c->clock_ns;

	if (job->dma.kind != ENGINE_DMA_COPY)
		c->clock_ns += passing_ns(bytes, c->rate);
	if (through(job)) { /* the slower controller limits a THROUGH */
		begin_ns = max_u64(begin_ns, d->rx.clock_ns);
		uint64_t passing =
			max_u64(passing_ns(bytes, d->rx.rate), passing_ns(bytes, d->through_rate));
		c->clock_ns = max_u64(c->clock_ns, begin_ns + passing);
		d->rx.clock_ns = c->clock_ns;
		return;
	}
	d->memory_clock_ns =
		max_u64(d->memory_clock_ns, begin_ns) + passing_ns(bytes, d->memory_rate);
	c->clock_ns = max_u64(c->clock_ns, d->memory_clock_ns);
}

static void job_move(struct board_controller *c, uint64_t now_ns)
{
	struct board_dma *d = c->board;
	struct board_job *job = board_job_at(c, c->next);

	if (job->moved == 0 && through(job) && job->dma.first)
		board_core_begin(d->options.core, job->dma.owner, &job->task);
	clock_hold(c, job, now_ns);
	uint64_t bytes = slice_bytes(c, job);
	c->moving = true;
	pthread_mutex_unlock(&d->lock);
	int status = slice_move(d, job, bytes);
	pthread_mutex_lock(&d->lock);
	c->moving = false;
	job->moved += bytes;
	clocks_advance(c, job, bytes);
	if (status != DXP_OK)
		job_passed(c, status);
	else if (job->moved == job->last && !job->stalls)
		job_passed(c, job->fails ? DXP_EDEVICE : DXP_OK);
}

/* False: *until_ns is the time of the next check. */
static bool movable(const struct board_controller *c, const struct board_job *job, uint64_t now_ns,
		    uint64_t *until_ns)
{
	const struct board_dma *d = c->board;
	uint64_t clock_ns = job->moved == 0 ? max_u64(c->clock_ns, job->begins_ns) : c->clock_ns;

	*until_ns = UINT64_MAX;
	if (job->stalls && job->moved == job->last)
		return false;
	if (through(job) && (!is_tx(c) || job->twin != d->rx.next))
		return false;
	if (clock_ns <= now_ns + AHEAD_NS)
		return true;
	*until_ns = clock_ns - AHEAD_NS / 2;
	return false;
}

static struct step step_next(struct board_controller *c, uint64_t now_ns)
{
	struct step s = {.kind = STEP_WAIT, .until_ns = UINT64_MAX};

	if (c->head != c->next) {
		s.until_ns = job_due(c, board_job_at(c, c->head));
		s.exact = true;
		if (s.until_ns <= now_ns)
			return (struct step){.kind = STEP_END};
	}
	if (c->next == c->tail)
		return s;
	/* another thread moves bytes, and does not signal when it stops */
	if (c->moving) {
		s.until_ns = min_u64(s.until_ns, now_ns + HELP_LOOK_NS);
		s.exact = false;
		return s;
	}
	const struct board_job *job = board_job_at(c, c->next);
	/* Tx drops a stale THROUGH for both, because it may still be moving its bytes. */
	if (stale(c, job) && (is_tx(c) || !through(job)))
		return (struct step){.kind = STEP_DROP};
	uint64_t until_ns;
	if (movable(c, job, now_ns, &until_ns))
		return (struct step){.kind = STEP_MOVE};
	if (until_ns < s.until_ns)
		s = (struct step){.kind = STEP_WAIT, .until_ns = until_ns};
	return s;
}

static inline void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static void spin_until(struct board_controller *c, uint64_t until_ns)
{
	uint32_t kicks = atomic_load_explicit(&c->kicks, memory_order_relaxed);

	pthread_mutex_unlock(&c->board->lock);
	while (clock_now_ns() < until_ns &&
	       atomic_load_explicit(&c->kicks, memory_order_acquire) == kicks)
		relax();
	pthread_mutex_lock(&c->board->lock);
}

static void sleep_until(struct board_controller *c, uint64_t until_ns)
{
	struct timespec until = {.tv_sec = (time_t)(until_ns / S_NS),
				 .tv_nsec = (long)(until_ns % S_NS)};

	pthread_cond_timedwait(&c->wake, &c->board->lock, &until);
}

/* True: microseconds. A THROUGH with a user's kernel may take any time. */
static bool moves_soon(struct board_controller *c)
{
	return !through(board_job_at(c, c->next)) || !board_core_has_kernel(c->board->options.core);
}

bool board_controller_help(struct board_controller *c)
{
	uint64_t now_ns = clock_now_ns();

	if (!c->sleeping)
		return false;
	struct step s = step_next(c, now_ns);
	if (s.kind == STEP_MOVE && !moves_soon(c))
		return false;
	if (s.kind == STEP_MOVE) {
		job_move(c, now_ns);
		ends_add(c, clock_now_ns());
		return true;
	}
	return s.kind == STEP_END && ends_add(c, now_ns);
}

static void step_wait(struct board_controller *c, const struct step *s, uint64_t now_ns)
{
	c->sleeping = true;
	if (s->until_ns == UINT64_MAX)
		pthread_cond_wait(&c->wake, &c->board->lock);
	else if (!s->exact)
		sleep_until(c, s->until_ns);
	else if (s->until_ns - now_ns <= SPIN_NS)
		spin_until(c, s->until_ns);
	else
		sleep_until(c, s->until_ns - SPIN_NS);
	c->sleeping = false;
}

void *board_controller_main(void *argument)
{
	struct board_controller *c = argument;
	struct board_dma *d = c->board;

	/* the default slack of 50 us makes sleeps too long */
	prctl(PR_SET_TIMERSLACK, 1);
	pthread_mutex_lock(&d->lock);
	while (!d->stop) {
		uint64_t now_ns = clock_now_ns();
		struct step s = step_next(c, now_ns);
		switch (s.kind) {
		case STEP_END: ends_report(c, now_ns); break;
		case STEP_DROP: job_passed(c, DXP_EDEVICE); break;
		case STEP_MOVE: job_move(c, now_ns); break;
		case STEP_WAIT: step_wait(c, &s, now_ns); break;
		}
	}
	pthread_mutex_unlock(&d->lock);
	return NULL;
}
