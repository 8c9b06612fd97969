/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests decoded launches: all fields, shared descriptions of images, and no more memory than host
 * and xPU count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "worker/run.h"
#include "xpu/event_log.h"
#include "xpu/slot_internal.h"

#define ROUNDS 3000

static uint8_t image_values[4][COMMAND_IMAGE_BYTES], sampler_value[COMMAND_SAMPLER_BYTES];
static uint8_t bytes_value[COMMAND_VALUE_BYTES];

static void argument_random(struct rng *r, struct command_argument *a, uint8_t kind)
{
	*a = (struct command_argument){.kind = kind};
	switch (kind) {
	case COMMAND_ARG_BYTES:
		a->bytes = 1 + (uint32_t)rng_below(r, rng_below(r, 50) ? 8 : 300);
		a->value = bytes_value + rng_below(r, 500);
		break;
	case COMMAND_ARG_BUFFER: a->address = rng_next(r); break;
	case COMMAND_ARG_LOCAL: a->bytes = (uint32_t)rng_next(r) | 1; break;
	case COMMAND_ARG_IMAGE:
		a->address = rng_next(r);
		a->bytes = COMMAND_IMAGE_BYTES;
		a->value = image_values[rng_below(r, 4)];
		break;
	case COMMAND_ARG_SAMPLER:
		a->bytes = COMMAND_SAMPLER_BYTES;
		a->value = sampler_value;
		break;
	}
}

/* Draws a command. In half of the commands all arguments are of one kind. */
static void command_random(struct rng *r, struct command *c)
{
	uint8_t only = (uint8_t)rng_below(r, 2 * (COMMAND_ARG_SAMPLER + 1));
	uint32_t name_bytes = 1 + (uint32_t)rng_below(r, rng_below(r, 4) ? 8 : 500);

	*c = (struct command){.op = COMMAND_RUN,
			      .event = rng_next(r),
			      .program = (uint32_t)rng_next(r),
			      .dimensions = (uint8_t)(1 + rng_below(r, 3)),
			      .wait_count = (uint8_t)rng_below(r, COMMAND_WAITS_MAX + 1),
			      .argument_count = (uint8_t)rng_below(
				      r, rng_below(r, 2) ? 12 : COMMAND_ARGS_MAX + 1)};
	memset(c->text, 'k', name_bytes);
	c->text[name_bytes] = '\0';
	for (int i = 0; i < c->wait_count; i++)
		c->waits[i] = 1;
	for (int d = 0; d < c->dimensions; d++) {
		c->global[d] = rng_next(r) | 1;
		c->local[d] = rng_next(r);
		c->offset[d] = rng_next(r);
	}
	for (int i = 0; i < c->argument_count; i++)
		argument_random(r, &c->arguments[i],
				only <= COMMAND_ARG_SAMPLER
					? only
					: (uint8_t)rng_below(r, COMMAND_ARG_SAMPLER + 1));
}

static void value_compare(const struct command_argument *a, const void *value)
{
	struct dxp_image image;
	struct dxp_sampler sampler;

	switch (a->kind) {
	case COMMAND_ARG_BYTES: assert_memory_equal(value, a->value, a->bytes); break;
	case COMMAND_ARG_IMAGE:
		command_image_get(a->value, &image);
		assert_memory_equal(value, &image, sizeof(image));
		break;
	case COMMAND_ARG_SAMPLER:
		command_sampler_get(a->value, &sampler);
		assert_memory_equal(value, &sampler, sizeof(sampler));
		break;
	}
}

static void run_compare(const struct command *c, struct worker_run *run)
{
	assert_true(run->event == c->event && run->program == c->program);
	assert_int_equal(run->dimensions, c->dimensions);
	assert_int_equal(run->argument_count, c->argument_count);
	assert_int_equal(run->need_count, 0);
	assert_string_equal(worker_run_name(run), c->text);
	assert_int_equal(run->arguments - run->needs, 8 * c->wait_count);
	for (int d = 0; d < c->dimensions; d++) {
		assert_true(run->axes[d].global == c->global[d]);
		assert_true(run->axes[d].local == c->local[d]);
		assert_true(run->axes[d].offset == c->offset[d]);
	}
	for (int i = 0; i < c->argument_count; i++) {
		const struct command_argument *a = &c->arguments[i];
		const struct worker_argument *b = &worker_run_arguments(run)[i];
		bool sized = a->kind == COMMAND_ARG_BYTES || a->kind == COMMAND_ARG_LOCAL;
		assert_int_equal(b->kind, a->kind);
		assert_true(b->address == a->address);
		assert_int_equal(b->bytes, sized ? a->bytes : 0);
		value_compare(a, worker_run_at(run, b->value));
	}
}

/* Encodes and decodes a random command. Returns the bytes of the message, or an error. The memory
 * has exactly the needed size, so that a sanitizer detects accesses past its end. */
static int round_do(struct rng *r)
{
	struct command c, decoded;
	uint8_t message[COMMAND_BYTES_MAX];

	command_random(r, &c);
	int bytes = command_encode(&c, message);
	if (bytes < 0)
		return bytes;
	assert_int_equal(command_decode(message, (size_t)bytes, &decoded), DXP_OK);
	uint32_t run_bytes = worker_run_bytes(&decoded);
	struct worker_run *run = malloc(run_bytes);
	assert_non_null(run);
	worker_run_make(&decoded, run);
	memset(message, 0xee, sizeof(message));
	assert_int_equal(run->bytes, run_bytes);
	run_compare(&c, run);
	free(run);
	assert_true(sizeof(struct work) + sizeof(struct event_entry) + sizeof(void *) + run_bytes <=
		    COMMAND_KEPT_BYTES((uint32_t)bytes + COMMAND_KEPT_ARGUMENTS(c.argument_count)));
	return bytes;
}

static void worker_run__has_all_fields(void **state)
{
	struct rng r = {.state = 1};
	uint32_t done = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes_value); i++)
		bytes_value[i] = (uint8_t)rng_next(&r);
	for (int i = 0; i < 4; i++)
		memcpy(image_values[i], bytes_value + 7 * i, COMMAND_IMAGE_BYTES);
	memcpy(sampler_value, bytes_value + 50, COMMAND_SAMPLER_BYTES);
	for (int i = 0; i < ROUNDS; i++)
		done += round_do(&r) > 0;
	assert_true(done > ROUNDS / 2); /* others do not fit into a message */
}

/* Equal images share one description, also when decoded. */
static void worker_run__images_alike(void **state)
{
	struct command c = {.op = COMMAND_RUN, .dimensions = 1, .global = {1}, .text = "k"};

	(void)state;
	const uint32_t none = worker_run_bytes(&c);
	c.argument_count = COMMAND_ARGS_MAX;
	for (int i = 0; i < COMMAND_ARGS_MAX; i++)
		c.arguments[i] = (struct command_argument){.kind = COMMAND_ARG_IMAGE,
							   .bytes = COMMAND_IMAGE_BYTES,
							   .value = image_values[i % 2]};
	assert_int_equal(worker_run_bytes(&c) - none,
			 COMMAND_ARGS_MAX * sizeof(struct worker_argument) +
				 2 * sizeof(struct dxp_image));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worker_run__has_all_fields),
		cmocka_unit_test(worker_run__images_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
