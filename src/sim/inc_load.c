/* SPDX-License-Identifier: BSD-3-Clause */
/* Each member has a ring of operations. An expected result is computed at the first completion, and
 * kept until its entry is reused. */
#include "sim/inc_load.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "base/util.h"
#include "sim/inc_expect.h"

#define RING      (2 * INC_LOAD_OUTSTANDING_MAX)
#define UNTOUCHED 0xa5

/* The members' reports about one operation, and its expected result. */
struct verdict {
	uint32_t number; /* entry: number % RING */
	bool received;   /* a member has reported, so `status` and `done_elements` are set */
	int status;
	size_t done_elements;
	uint32_t reported; /* members that have reported */
	uint8_t *result;   /* NULL: not computed yet */
};

struct task {
	struct inc_operation call;
	struct inc_spec spec;
	uint32_t number;
	uint64_t start_ns;
	uint8_t *send, *receive;
};

struct worker {
	struct task tasks[INC_LOAD_OUTSTANDING_MAX];
	uint32_t started, ended;
	uint32_t reported; /* operations completed and reported */
	uint64_t think_until_ns;
	bool over;
	uint32_t lost_at; /* `over`: number of the first operation that was lost or rejected */
	struct rng rng;
};

struct inc_load {
	struct inc_load_options options;
	struct inc_job *job;
	struct worker *workers;
	struct verdict verdicts[RING];
	struct inc_load_view view;
	uint64_t progress_ns;
	uint32_t received_sum;
	char wrong[240];
};

static void wrong(struct inc_load *l, const char *format, ...) PRINTF_LIKE(2, 3);

static void wrong(struct inc_load *l, const char *format, ...)
{
	va_list arguments;

	if (l->wrong[0])
		return;
	va_start(arguments, format);
	vsnprintf(l->wrong, sizeof(l->wrong), format, arguments);
	va_end(arguments);
}

/* ---- operations ---- */

static struct inc_spec spec_draw(const struct inc_load *l, uint32_t number)
{
	const struct inc_load_options *o = &l->options;
	struct rng r = {o->seed ^ (uint64_t)(number + 1) << 32};
	struct inc_spec s = {.collective = o->collective,
			     .op = o->op,
			     .type = o->type,
			     .elements = o->elements_max,
			     .seed = rng_next(&r)};
	uint32_t kinds = 0;

	if (o->collective == 0) {
		while (inc_expect_kind(kinds, &s.op, &s.type))
			kinds++;
		inc_expect_kind((uint32_t)rng_below(&r, kinds), &s.op, &s.type);
		s.collective = (uint8_t)(INC_ALLREDUCE + rng_below(&r, 4));
		s.elements = 1 + (uint32_t)rng_below(&r, rng_below(&r, 2) ? o->elements_max : 8);
		s.elements = (uint32_t)min_u64(s.elements, o->elements_max);
		s.in_place = rng_below(&r, 2);
	}
	if (s.collective == INC_BROADCAST || s.collective == INC_BARRIER) {
		s.op = DXP_INC_NOOP;
		s.type = DXP_INC_BYTES;
		s.elements = s.collective == INC_BARRIER ? 0 : s.elements;
		s.in_place = s.collective == INC_BROADCAST;
	}
	if (s.collective == INC_REDUCE || s.collective == INC_BROADCAST)
		s.root = (uint32_t)rng_below(&r, l->job->options.count);
	return s;
}

static bool gets_result(const struct inc_spec *s, uint32_t member)
{
	return s->collective != INC_REDUCE || member == s->root;
}

static size_t spec_bytes(const struct inc_spec *s)
{
	return s->elements * dxp_inc_type_bytes(s->type);
}

/* Fills a buffer with its content before the operation. */
static void receive_fill(const struct inc_spec *s, uint32_t member, uint8_t *out)
{
	if (s->in_place && (s->collective != INC_BROADCAST || member == s->root))
		inc_expect_fill(s, member, out);
	else
		memset(out, UNTOUCHED, spec_bytes(s));
}

static bool task_make(struct task *t, uint32_t member)
{
	const struct inc_spec *s = &t->spec;
	size_t bytes = spec_bytes(s);

	t->receive = malloc(bytes + 1);
	t->send = malloc(bytes + 1);
	if (!t->receive || !t->send)
		return false;
	receive_fill(s, member, t->receive);
	inc_expect_fill(s, member, t->send);
	t->call = (struct inc_operation){.collective = s->collective,
					 .op = s->op,
					 .type = s->type,
					 .root = s->root,
					 .send = s->in_place ? t->receive : t->send,
					 .receive = t->receive,
					 .elements = s->elements};
	if (!gets_result(s, member))
		t->call.receive = NULL;
	return true;
}

static void task_free(struct task *t)
{
	free(t->send);
	free(t->receive);
	t->send = t->receive = NULL;
}

/* ---- checks ---- */

static struct verdict *verdict_of(struct inc_load *l, uint32_t number)
{
	struct verdict *v = &l->verdicts[number % RING];

	if (v->number != number) {
		free(v->result);
		*v = (struct verdict){.number = number};
	}
	return v;
}

static const uint8_t *verdict_result(struct inc_load *l, struct verdict *v,
				     const struct inc_spec *s)
{
	if (!v->result) {
		v->result = malloc(spec_bytes(s) + 1);
		if (v->result && inc_expect_result(l->job, s, v->result) != DXP_OK) {
			free(v->result);
			v->result = NULL;
		}
		if (!v->result)
			wrong(l, "operation %u: the check has no memory", v->number);
	}
	return v->result;
}

/* Elements after the first `done` must be unchanged. */
static void data_judge(struct inc_load *l, const struct inc_seat *seat, const struct task *t,
		       struct verdict *v, size_t done)
{
	const struct inc_spec *s = &t->spec;
	size_t bytes = spec_bytes(s), result = done * dxp_inc_type_bytes(s->type);
	uint8_t *was;

	if (!gets_result(s, seat->member) && !(s->collective == INC_BROADCAST))
		result = 0;
	if (result > 0 && verdict_result(l, v, s) && memcmp(t->receive, v->result, result) != 0) {
		size_t at = 0;
		while (t->receive[at] == v->result[at])
			at++;
		wrong(l, "operation %u: member %u has a wrong result at byte %zu of %zu", t->number,
		      seat->member, at, result);
	}
	if (result == bytes)
		return;
	was = malloc(bytes);
	if (was) {
		receive_fill(s, seat->member, was);
		if (memcmp(t->receive + result, was + result, bytes - result) != 0)
			wrong(l, "operation %u: member %u wrote beyond the completed elements",
			      t->number, seat->member);
	}
	free(was);
}

/* Reports of dead members do not count. */
static bool living_reported(const struct inc_load *l, uint32_t number)
{
	for (uint32_t i = 0; i < l->job->options.count; i++)
		if (!l->job->seats[i].dead && l->workers[i].reported > number)
			return true;
	return false;
}

static void status_judge(struct inc_load *l, const struct inc_seat *seat, uint32_t number,
			 int status, size_t done, size_t elements)
{
	struct verdict *v = verdict_of(l, number);
	bool all = done == elements;

	if (done > elements || (status == DXP_OK && !all))
		wrong(l, "operation %u: member %u reports %s and %zu of %zu elements", number,
		      seat->member, dxp_status_text(status), done, elements);
	bool differs = v->status != status || v->done_elements != done;
	if (!v->received || (differs && !living_reported(l, number))) {
		v->received = true;
		v->status = status;
		v->done_elements = done;
	}
	/* Statuses may differ if elements are missing: one member may complete before the group is
	 * lost. */
	bool same = v->status == status || (all && elements > 0);
	if (!same || v->done_elements != done)
		wrong(l,
		      "operation %u: member %u reports \"%s\", %zu elements; another \"%s\", %zu",
		      number, seat->member, dxp_status_text(status), done,
		      dxp_status_text(v->status), v->done_elements);
	v->reported++;
	l->workers[seat->member].reported = number + 1;
	if (v->reported == l->job->options.count && status == DXP_OK)
		l->view.calls_done++;
}

static void task_judge(struct inc_load *l, struct inc_seat *seat, struct task *t, uint64_t now_ns)
{
	const struct inc_operation *c = &t->call;

	status_judge(l, seat, t->number, c->status, c->done_elements, c->elements);
	data_judge(l, seat, t, verdict_of(l, t->number), c->done_elements);
	if (c->status == DXP_OK)
		l->view.longest_ns = max_u64(l->view.longest_ns, now_ns - t->start_ns);
	l->view.last_ns = now_ns;
}

static void time_judge(struct inc_load *l, const struct inc_seat *seat, const struct worker *w,
		       uint64_t now_ns)
{
	if (w->ended < w->started && now_ns > l->progress_ns + l->options.grace_ns)
		wrong(l, "operation %u: member %u still waits, %.3f s after the last progress",
		      w->tasks[w->ended % INC_LOAD_OUTSTANDING_MAX].number, seat->member,
		      (double)(now_ns - l->progress_ns) / 1e9);
}

/* ---- members at work ---- */

static void worker_lost(struct inc_load *l, struct worker *w, uint32_t number, int status,
			size_t done, size_t elements)
{
	w->lost_at = w->over && w->lost_at < number ? w->lost_at : number;
	w->over = true;
	if (l->view.lost && number >= l->view.lost_at)
		return;
	l->view.lost = true;
	l->view.lost_status = status;
	l->view.lost_at = number;
	l->view.lost_elements = done;
	l->view.lost_of = elements;
}

static void tasks_end(struct inc_load *l, struct inc_seat *seat, struct worker *w, uint64_t now_ns)
{
	while (w->ended < w->started) {
		struct task *t = &w->tasks[w->ended % INC_LOAD_OUTSTANDING_MAX];
		if (!t->call.done)
			return;
		task_judge(l, seat, t, now_ns);
		if (t->call.status != DXP_OK)
			worker_lost(l, w, t->number, t->call.status, t->call.done_elements,
				    t->call.elements);
		else if (w->over && t->number > w->lost_at && t->spec.elements > 0)
			wrong(l, "operation %u: member %u completes it after a lost one", t->number,
			      seat->member);
		task_free(t);
		w->ended++;
		l->progress_ns = max_u64(l->progress_ns, now_ns);
		if (l->options.think_ns > 0) {
			w->think_until_ns = now_ns + rng_below(&w->rng, l->options.think_ns);
			l->progress_ns = max_u64(l->progress_ns, w->think_until_ns);
		}
	}
}

static void task_start(struct inc_load *l, struct inc_seat *seat, struct worker *w, uint64_t now_ns)
{
	struct task *t = &w->tasks[w->started % INC_LOAD_OUTSTANDING_MAX];

	*t = (struct task){
		.number = w->started, .spec = spec_draw(l, w->started), .start_ns = now_ns};
	bool rogue = l->options.rogue_call > 0 && w->started >= l->options.rogue_call &&
		     seat->member == l->options.rogue_member;
	if (rogue)
		t->spec.elements++;
	if (!task_make(t, seat->member)) {
		wrong(l, "no memory");
		return;
	}
	int status = inc_group_start(seat->group, &t->call, now_ns);
	if (status == DXP_EPEERLOST) {
		status_judge(l, seat, t->number, status, 0, t->spec.elements);
		worker_lost(l, w, t->number, status, 0, t->spec.elements);
		task_free(t);
		return;
	}
	if (status != DXP_OK)
		wrong(l, "operation %u: member %u cannot start it: %s", t->number, seat->member,
		      dxp_status_text(status));
	if (status == DXP_OK && w->over)
		wrong(l, "operation %u: member %u can start it after a lost one", t->number,
		      seat->member);
	w->started++;
	seat->wake_ns = now_ns; /* the next poll sends its packets */
	l->progress_ns = max_u64(l->progress_ns, now_ns);
	if (l->view.first_ns == 0)
		l->view.first_ns = now_ns;
}

/* Results of long operations arrive segment by segment. */
static void progress_note(struct inc_load *l, const struct worker *w, uint64_t now_ns)
{
	uint32_t sum = 0;

	for (uint32_t i = w->ended; i < w->started; i++)
		sum += w->tasks[i % INC_LOAD_OUTSTANDING_MAX].call.received;
	if (sum != l->received_sum)
		l->progress_ns = max_u64(l->progress_ns, now_ns);
	l->received_sum = sum;
}

static void seat_polled(void *context, struct inc_seat *seat, uint64_t now_ns)
{
	struct inc_load *l = context;
	struct worker *w = &l->workers[seat->member];

	if (!seat->group || l->wrong[0])
		return;
	do {
		tasks_end(l, seat, w, now_ns);
		while (!w->over && w->started - w->ended < l->options.outstanding &&
		       w->started < l->options.calls && now_ns >= w->think_until_ns)
			task_start(l, seat, w, now_ns);
	} while (w->ended < w->started && w->tasks[w->ended % INC_LOAD_OUTSTANDING_MAX].call.done &&
		 !l->wrong[0]);
	progress_note(l, w, now_ns);
	time_judge(l, seat, w, now_ns);
	if (!w->over && w->started < l->options.calls && w->think_until_ns > now_ns)
		seat->wake_ns = min_u64(seat->wake_ns, w->think_until_ns);
}

/* ---- creation and state ---- */

int inc_load_create(struct inc_job *job, const struct inc_load_options *options,
		    struct inc_load **out)
{
	struct inc_load *l = calloc(1, sizeof(*l));
	struct worker *workers = calloc(job->options.count, sizeof(*workers));

	if (!l || !workers) {
		free(workers);
		free(l);
		return DXP_ENOMEM;
	}
	*l = (struct inc_load){.options = *options, .job = job, .workers = workers};
	if (l->options.outstanding == 0)
		l->options.outstanding = 1;
	if (l->options.grace_ns == 0)
		l->options.grace_ns = 6 * S_NS;
	for (uint32_t i = 0; i < RING; i++)
		l->verdicts[i].number = UINT32_MAX;
	for (uint32_t i = 0; i < job->options.count; i++)
		workers[i].rng.state = options->seed * 31 + i;
	job->context = l;
	job->polled = seat_polled;
	*out = l;
	return DXP_OK;
}

void inc_load_destroy(struct inc_load *l)
{
	for (uint32_t i = 0; i < l->job->options.count; i++)
		for (uint32_t k = 0; k < INC_LOAD_OUTSTANDING_MAX; k++)
			task_free(&l->workers[i].tasks[k]);
	for (uint32_t i = 0; i < RING; i++)
		free(l->verdicts[i].result);
	l->job->polled = NULL;
	free(l->workers);
	free(l);
}

bool inc_load_ended(const struct inc_load *l)
{
	if (l->wrong[0] || l->job->state == INC_JOB_REJECTED || l->job->state == INC_JOB_CLOSED)
		return true;
	for (uint32_t i = 0; i < l->job->options.count; i++) {
		const struct worker *w = &l->workers[i];
		if (!l->job->seats[i].dead &&
		    (w->ended < w->started || (!w->over && w->started < l->options.calls)))
			return false;
	}
	return l->job->state != INC_JOB_CREATING;
}

const char *inc_load_wrong(const struct inc_load *l)
{
	return l->wrong[0] ? l->wrong : NULL;
}

void inc_load_view(const struct inc_load *l, struct inc_load_view *out)
{
	*out = l->view;
}
