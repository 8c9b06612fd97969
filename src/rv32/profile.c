/* SPDX-License-Identifier: BSD-3-Clause */
#include "rv32/profile.h"

#include <stdlib.h>

#include <dxp/status.h>

struct sample {
	const struct rv32_symbol *symbol; /* NULL: none */
	uint32_t line;
	struct rv32_count count;
};

static struct rv32_count sum_at(struct rv32_count *const *counts, uint32_t cores, size_t index)
{
	struct rv32_count sum = {0};

	for (uint32_t i = 0; i < cores; i++) {
		if (!counts[i])
			continue;
		sum.warp_instructions += counts[i][index].warp_instructions;
		sum.instructions += counts[i][index].instructions;
	}
	return sum;
}

/* Orders by function, then line; symbols are in one array, so by address. */
static int compare(const void *left, const void *right)
{
	const struct sample *a = left, *b = right;

	if (a->symbol != b->symbol)
		return a->symbol < b->symbol ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static size_t samples_find(const struct rv32_image *image, struct rv32_count *const *counts,
			   uint32_t cores, struct sample *out)
{
	size_t count = 0;

	for (size_t i = 0; i < image->code_words; i++) {
		const uint32_t address = RV32_CODE_BASE + 4 * (uint32_t)i;
		const struct rv32_count sum = sum_at(counts, cores, i);

		if (sum.warp_instructions)
			out[count++] = (struct sample){rv32_image_symbol(image, address),
						       rv32_image_line(image, address), sum};
	}
	return count;
}

/* Joins sorted samples; `rows` has as much space. Returns the number of rows. */
static size_t rows_join(const struct sample *samples, size_t count, struct rv32_profile_row *rows)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		const struct sample *s = &samples[i];

		if (i == 0 || compare(&samples[i - 1], s) != 0)
			rows[used++] = (struct rv32_profile_row){
				.function = s->symbol ? s->symbol->name : "", .line = s->line};
		rows[used - 1].count.warp_instructions += s->count.warp_instructions;
		rows[used - 1].count.instructions += s->count.instructions;
	}
	return used;
}

int rv32_profile_rows(const struct rv32_image *image, struct rv32_count *const *counts,
		      uint32_t cores, struct rv32_profile_row **out, size_t *row_count)
{
	struct sample *samples = calloc(image->code_words + 1, sizeof(*samples));
	struct rv32_profile_row *rows = NULL;
	size_t count = samples ? samples_find(image, counts, cores, samples) : 0;

	if (samples)
		rows = calloc(count + 1, sizeof(*rows));
	if (!rows) {
		free(samples);
		return DXP_ENOMEM;
	}
	qsort(samples, count, sizeof(*samples), compare);
	*row_count = rows_join(samples, count, rows);
	*out = rows;
	free(samples);
	return DXP_OK;
}
