/* SPDX-License-Identifier: BSD-3-Clause */
/* The arithmetic stream cores; board_kernel.c has the kernel. Bytes before the first and after the
 * last word boundary are processed singly, so that calls may cut the stream anywhere. */
#include "engine/board_core.h"

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/util.h"
#include "engine/board_kernel.h"
#include "engine/limits.h"

#define WORD_BYTES 4

struct board_core {
	struct board_kernel *kernel; /* NULL: not configured */
	struct board_core_task running;
	uint32_t owner; /* owner of the running stream */
	uint64_t at;    /* bytes of the stream processed */
	uint32_t carry; /* ADD: into the next byte of the word */
	uint64_t sum;   /* CHECKSUM */
	struct board_owners owners;
};

int board_core_create(const struct board_config *config, const char *cache_folder,
		      engine_opener opener, struct board_core **out)
{
	struct board_core *c = calloc(1, sizeof(*c));

	if (!c)
		return DXP_ENOMEM;
	int status = DXP_OK;
	if (config->core == ENGINE_CORE_KERNEL)
		status = board_kernel_create(config, cache_folder, opener, &c->kernel);
	if (status != DXP_OK) {
		free(c);
		return status;
	}
	c->running = (struct board_core_task){config->core, config->operand};
	board_owners_open(&c->owners, &c->running);
	*out = c;
	return DXP_OK;
}

void board_core_destroy(struct board_core *c)
{
	if (!c)
		return;
	board_kernel_destroy(c->kernel);
	board_owners_close(&c->owners);
	free(c);
}

int board_core_set(struct board_core *c, uint32_t owner, const struct board_core_task *set)
{
	if (set->core > ENGINE_CORE_KERNEL || (set->core != ENGINE_CORE_ADD && set->operand != 0))
		return DXP_EINVAL;
	if (set->core == ENGINE_CORE_KERNEL && !c->kernel)
		return DXP_EUNSUPPORTED;
	return board_owners_set(&c->owners, owner, set);
}

void board_core_get(struct board_core *c, uint32_t owner, struct board_core_task *set,
		    uint64_t *result)
{
	board_owners_get(&c->owners, owner, set, result);
}

void board_core_drop(struct board_core *c, uint32_t owner)
{
	board_owners_drop(&c->owners, owner);
}

void board_core_begin(struct board_core *c, uint32_t owner, const struct board_core_task *task)
{
	c->running = *task;
	c->owner = owner;
	c->at = 0;
	c->sum = 0;
	board_owners_result(&c->owners, owner, 0);
}

bool board_core_has_kernel(const struct board_core *c)
{
	return c->kernel != NULL;
}

uint64_t board_core_step_bytes(const struct board_core *c, uint64_t bytes)
{
	return min_u64(bytes, c->running.core == ENGINE_CORE_KERNEL ? BOARD_CHUNK_BYTES
								    : BOARD_SLICE_BYTES);
}

static void add_byte(struct board_core *c, uint8_t *out, uint8_t in, uint64_t at)
{
	unsigned byte_index = at % WORD_BYTES;
	uint32_t sum =
		in + (c->running.operand >> (8 * byte_index) & 0xff) + (byte_index ? c->carry : 0);

	*out = (uint8_t)sum;
	c->carry = sum >> 8;
}

static void add_words(uint32_t operand, uint8_t *out, const uint8_t *in, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i += WORD_BYTES) {
		uint32_t word;
		memcpy(&word, in + i, sizeof(word));
		word += operand;
		memcpy(out + i, &word, sizeof(word));
	}
}

static uint64_t sum_byte(uint8_t in, uint64_t at)
{
	return (uint64_t)in << (8 * (at % WORD_BYTES));
}

static uint64_t sum_words(const uint8_t *in, uint64_t bytes)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < bytes; i += WORD_BYTES) {
		uint32_t word;
		memcpy(&word, in + i, sizeof(word));
		sum += word;
	}
	return sum;
}

/* Returns how many of the next bytes belong to a word that an earlier call began. */
static uint64_t head_bytes(const struct board_core *c, uint64_t bytes)
{
	return min_u64(bytes, (WORD_BYTES - c->at % WORD_BYTES) % WORD_BYTES);
}

static void add(struct board_core *c, uint8_t *out, const uint8_t *in, uint64_t bytes)
{
	uint64_t i = 0, head = head_bytes(c, bytes);
	uint64_t words = (bytes - head) / WORD_BYTES * WORD_BYTES;

	for (; i < head; i++)
		add_byte(c, out + i, in[i], c->at + i);
	add_words(c->running.operand, out + i, in + i, words);
	for (i += words; i < bytes; i++)
		add_byte(c, out + i, in[i], c->at + i);
}

static void sum(struct board_core *c, const uint8_t *in, uint64_t bytes)
{
	uint64_t i = 0, head = head_bytes(c, bytes);
	uint64_t words = (bytes - head) / WORD_BYTES * WORD_BYTES;

	for (; i < head; i++)
		c->sum += sum_byte(in[i], c->at + i);
	c->sum += sum_words(in + i, words);
	for (i += words; i < bytes; i++)
		c->sum += sum_byte(in[i], c->at + i);
}

int board_core_step(struct board_core *c, uint8_t *out, const uint8_t *in, uint64_t bytes)
{
	int status = DXP_OK;

	switch (c->running.core) {
	case ENGINE_CORE_ADD: add(c, out, in, bytes); break;
	case ENGINE_CORE_KERNEL: status = board_kernel_run(c->kernel, out, in, bytes, c->at); break;
	case ENGINE_CORE_CHECKSUM:
		sum(c, in, bytes);
		board_owners_result(&c->owners, c->owner, c->sum);
		memmove(out, in, bytes);
		break;
	default: memmove(out, in, bytes);
	}
	c->at += bytes;
	return status;
}
