/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests runs on a backend that keeps only its contract: any order that the waits permit, little
 * space, failures. */
#include "classify_support.h"

#include "base/rng.h"
#include "run.h"
#include "tflite.h"

#define COMMANDS_MAX 4096
#define PHOTOS       5
#define NAMES        "lost xpu7; see `dxp nodes`"

enum state { WAITING, DONE, FORGOTTEN };

struct command {
	enum state state;
	int status;
	bool send;
	uint32_t stage;
	struct backend_launch launch;
	struct dxp_argument arguments[STEP_ARGUMENTS_MAX];
	struct backend_transfer transfer;
	dxp_event wait[DXP_WAIT_MAX];
	uint32_t wait_count;
};

struct shuffled {
	struct backend base;
	struct backend *device;
	struct rng rng;
	struct command commands[COMMANDS_MAX];
	uint32_t count;
	uint32_t space;    /* commands that may wait at the same time */
	uint32_t fails_at; /* number of the failing command, from 1; 0: none */
	uint32_t swaps;    /* commands that overtook an older one */
};

static struct shuffled *self(struct backend *b)
{
	return (struct shuffled *)(void *)b;
}

static uint32_t waiting(const struct shuffled *s)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->count; i++)
		n += s->commands[i].state == WAITING;
	return n;
}

static bool ready(const struct shuffled *s, const struct command *c)
{
	for (uint32_t i = 0; i < c->wait_count; i++)
		if (s->commands[c->wait[i] - 1].state == WAITING)
			return false;
	return true;
}

static int perform(struct shuffled *s, struct command *c)
{
	struct fault fault;
	dxp_event event;

	if (s->fails_at == (uint32_t)(c - s->commands) + 1)
		return DXP_EPEERLOST;
	for (uint32_t i = 0; i < c->wait_count; i++)
		if (s->commands[c->wait[i] - 1].status != DXP_OK)
			return DXP_ECANCELED;
	int status =
		c->send ? s->device->ops->send(s->device, &c->transfer, &event, &fault)
			: s->device->ops->launch(s->device, c->stage, &c->launch, &event, &fault);
	return status == DXP_OK ? s->device->ops->wait(s->device, event, UINT64_MAX, NULL, &fault)
				: status;
}

static void run_one(struct shuffled *s)
{
	uint32_t candidates[COMMANDS_MAX], n = 0;

	for (uint32_t i = 0; i < s->count; i++)
		if (s->commands[i].state == WAITING && ready(s, &s->commands[i]))
			candidates[n++] = i;
	assert_true(n > 0); /* if 0, all wait for each other */
	uint32_t pick = candidates[rng_below(&s->rng, n)];
	s->swaps += pick != candidates[0];
	s->commands[pick].status = perform(s, &s->commands[pick]);
	s->commands[pick].state = DONE;
}

static struct command *post(struct shuffled *s, const dxp_event *wait, uint32_t wait_count,
			    dxp_event *event)
{
	if (waiting(s) >= s->space)
		return NULL;
	assert_true(s->count < COMMANDS_MAX && wait_count <= DXP_WAIT_MAX);
	struct command *c = &s->commands[s->count++];
	*c = (struct command){.wait_count = wait_count};
	for (uint32_t i = 0; i < wait_count; i++) {
		/* A command must not wait for an event that the run has already released. */
		assert_true(wait[i] >= 1 && wait[i] < s->count);
		assert_true(s->commands[wait[i] - 1].state != FORGOTTEN);
		c->wait[i] = wait[i];
	}
	*event = s->count;
	return c;
}

static int shuffled_launch(struct backend *b, uint32_t stage, const struct backend_launch *launch,
			   dxp_event *event, struct fault *fault)
{
	struct command *c = post(self(b), launch->wait, launch->wait_count, event);

	if (!c)
		return DXP_EAGAIN;
	c->stage = stage;
	c->launch = *launch;
	memcpy(c->arguments, launch->arguments,
	       launch->argument_count * sizeof(*launch->arguments));
	c->launch.arguments = c->arguments;
	return DXP_OK;
}

static int shuffled_send(struct backend *b, const struct backend_transfer *t, dxp_event *event,
			 struct fault *fault)
{
	struct command *c = post(self(b), t->wait, t->wait_count, event);

	if (!c)
		return DXP_EAGAIN;
	c->send = true;
	c->transfer = *t;
	return DXP_OK;
}

static int shuffled_wait(struct backend *b, dxp_event event, uint64_t timeout_ns,
			 struct dxp_event_times *times, struct fault *fault)
{
	struct shuffled *s = self(b);
	struct command *c = &s->commands[event - 1];

	assert_true(event >= 1 && event <= s->count && c->state != FORGOTTEN);
	while (c->state == WAITING)
		run_one(s);
	c->state = FORGOTTEN;
	*times = (struct dxp_event_times){0};
	if (c->status == DXP_EPEERLOST)
		return fault_set(fault, c->status, NAMES);
	return c->status ? fault_set(fault, c->status, "canceled") : DXP_OK;
}

static int shuffled_alloc(struct backend *b, uint32_t stage, uint64_t bytes, uint64_t *address,
			  struct fault *fault)
{
	return self(b)->device->ops->alloc(self(b)->device, stage, bytes, address, fault);
}

static int shuffled_write(struct backend *b, uint32_t stage, uint64_t address, const void *from,
			  uint64_t bytes, struct fault *fault)
{
	return self(b)->device->ops->write(self(b)->device, stage, address, from, bytes, fault);
}

static int shuffled_read(struct backend *b, uint32_t stage, void *to, uint64_t address,
			 uint64_t bytes, struct fault *fault)
{
	return self(b)->device->ops->read(self(b)->device, stage, to, address, bytes, fault);
}

static int shuffled_build(struct backend *b, uint32_t stage, const char *source,
			  struct fault *fault)
{
	return self(b)->device->ops->build(self(b)->device, stage, source, fault);
}

static const struct backend_ops shuffled_ops = {
	.alloc = shuffled_alloc,
	.write = shuffled_write,
	.read = shuffled_read,
	.build = shuffled_build,
	.launch = shuffled_launch,
	.send = shuffled_send,
	.wait = shuffled_wait,
};

static struct model tiny;
static float inputs[PHOTOS][16 * 16 * 3], expected[PHOTOS][10];
static struct shuffled shuffled;

static void shuffled_open(const struct plan *plan, uint64_t seed, uint32_t space)
{
	struct fault fault;

	memset(&shuffled, 0, sizeof(shuffled));
	shuffled.base.ops = &shuffled_ops;
	shuffled.base.stage_count = plan->stage_count;
	shuffled.rng.state = seed;
	shuffled.space = space;
	assert_int_equal(backend_local_open(plan->stage_count, &shuffled.device, &fault), DXP_OK);
}

static struct run *open_run(const struct plan *plan, uint64_t seed, uint32_t space, uint32_t depth)
{
	struct run *r;
	struct fault fault;

	shuffled_open(plan, seed, space);
	assert_int_equal(run_open(&tiny, plan, &shuffled.base,
				  &(struct run_options){.depth = depth, .floats = true}, &r,
				  &fault),
			 DXP_OK);
	return r;
}

static void close_run(struct run *r)
{
	run_close(r);
	shuffled.device->ops->close(shuffled.device);
}

/* Submits all photos. As many are in progress at the same time as the depth of the run allows.
 * Fills `answers` with the results. */
static int drive(struct run *r, float answers[][10], struct fault *fault)
{
	struct run_result result;
	int status = DXP_OK;

	for (uint32_t i = 0; status == DXP_OK && (i < PHOTOS || run_pending(r) > 0);) {
		if (i < PHOTOS && run_pending(r) < run_depth(r)) {
			status = run_submit(r, inputs[i], i, fault);
			i++;
			continue;
		}
		status = run_collect(r, &result, fault);
		if (status == DXP_OK)
			memcpy(answers[result.tag], result.answer, sizeof(answers[0]));
	}
	return status;
}

static void expect_answers(float answers[][10], uint64_t seed)
{
	for (size_t i = 0; i < PHOTOS; i++)
		for (size_t k = 0; k < 10; k++)
			if (fabsf(answers[i][k] - expected[i][k]) > 1e-6f)
				fail_msg("seed %llu: photo %zu got another's answer",
					 (unsigned long long)seed, i);
}

static void run__any_order(void **state)
{
	static const char *const splits[] = {"concat", "0,expand1x1,concat", "0,1,2,3,4,5,6,7"};
	uint32_t swaps = 0;

	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct plan plan;
		struct fault fault;
		float answers[PHOTOS][10] = {{0}};
		assert_int_equal(plan_layers(&tiny, splits[seed % 3], &plan, &fault), DXP_OK);
		struct run *r = open_run(&plan, seed, COMMANDS_MAX, 1 + seed % 5);
		assert_int_equal(drive(r, answers, &fault), DXP_OK);
		expect_answers(answers, seed);
		swaps += shuffled.swaps;
		close_run(r);
	}
	assert_true(swaps > 50); /* in other orders than submitted */
}

/* If the backend is full, the run waits for older commands. */
static void run__little_space(void **state)
{
	for (uint32_t space = 1; space <= 16; space *= 2) {
		struct plan plan;
		struct fault fault;
		float answers[PHOTOS][10] = {{0}};
		assert_int_equal(plan_layers(&tiny, "0,expand1x1,concat", &plan, &fault), DXP_OK);
		struct run *r = open_run(&plan, space, space, 4);
		assert_int_equal(drive(r, answers, &fault), DXP_OK);
		expect_answers(answers, space);
		close_run(r);
	}
}

/* The n-th command fails, n = 1, 2, ... until the run passes. The message is of that command, not
 * of one cancelled because of it. */
static void run__each_command_fails_once(void **state)
{
	for (uint32_t n = 1;; n++) {
		struct plan plan;
		struct fault fault = {""};
		float answers[PHOTOS][10];
		assert_int_equal(plan_layers(&tiny, "0,concat", &plan, &fault), DXP_OK);
		struct run *r = open_run(&plan, n, n % 3 ? COMMANDS_MAX : 7, 3);
		uint32_t fails_at = shuffled.fails_at = shuffled.count + n;
		int status = drive(r, answers, &fault);
		uint32_t count = shuffled.count;
		close_run(r);
		if (status == DXP_OK) {
			assert_true(fails_at > count && n > PHOTOS * 9);
			return;
		}
		assert_int_equal(status, DXP_EPEERLOST);
		assert_string_equal(fault.text, NAMES);
	}
}

/* The message is that of the failed launch. */
static void run_open__a_launch_fails(void **state)
{
	struct plan plan;
	struct run *r;
	struct fault fault = {""};

	assert_int_equal(plan_layers(&tiny, "0,concat", &plan, &fault), DXP_OK);
	for (uint32_t n = 1; n <= plan.stage_count; n++) {
		shuffled_open(&plan, n, COMMANDS_MAX);
		shuffled.fails_at = n;
		assert_int_equal(run_open(&tiny, &plan, &shuffled.base,
					  &(struct run_options){.depth = 1, .floats = true}, &r,
					  &fault),
				 DXP_EPEERLOST);
		assert_string_equal(fault.text, NAMES);
		shuffled.device->ops->close(shuffled.device);
	}
}

/* Runs each photo alone. */
static void find_expected(void)
{
	struct plan plan;
	struct fault fault;
	struct run_result result;

	assert_int_equal(plan_auto(&tiny, 1, &plan, &fault), DXP_OK);
	struct run *r = open_run(&plan, 1, COMMANDS_MAX, 1);
	for (size_t i = 0; i < PHOTOS; i++) {
		assert_int_equal(run_submit(r, inputs[i], i, &fault), DXP_OK);
		assert_int_equal(run_collect(r, &result, &fault), DXP_OK);
		memcpy(expected[i], result.answer, sizeof(expected[i]));
	}
	close_run(r);
}

static int set_up(void **state)
{
	size_t bytes;
	uint8_t *input = load(MODELS "tiny-cnn.input.bin", &bytes);
	struct fault fault;

	assert_int_equal(bytes, sizeof(inputs[0]));
	assert_int_equal(tflite_read(MODELS "tiny-cnn.tflite", &tiny, &fault), DXP_OK);
	for (size_t i = 0; i < PHOTOS; i++) {
		memcpy(inputs[i], input, bytes);
		for (size_t k = 0; k < ARRAY_COUNT(inputs[i]); k++)
			inputs[i][k] *= 1 + (float)i;
	}
	free(input);
	find_expected();
	return 0;
}

static int tear_down(void **state)
{
	model_release(&tiny);
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(run__any_order),
		cmocka_unit_test(run__little_space),
		cmocka_unit_test(run__each_command_fails_once),
		cmocka_unit_test(run_open__a_launch_fails),
	};

	skip_without_models();
	skip_without_opencl();
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
