/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/board_pins.h"

#include <assert.h>

#include <dxp/status.h>

static uint32_t pin_find(const struct board_pins *p, const void *base)
{
	uint32_t i = 0;

	while (i < p->count && p->list[i].base != base)
		i++;
	return i;
}

int board_pins_add(struct board_pins *p, void *base, uint64_t bytes)
{
	if (bytes == 0 || pin_find(p, base) < p->count)
		return DXP_EINVAL;
	if (p->count == BOARD_PINS_MAX)
		return DXP_ENOMEM;
	p->list[p->count++] = (struct board_pin){base, bytes};
	p->ever++;
	return DXP_OK;
}

void board_pins_remove(struct board_pins *p, void *base)
{
	uint32_t i = pin_find(p, base);

	assert(i < p->count);
	p->list[i] = p->list[--p->count];
}

void board_pins_clear(struct board_pins *p)
{
	while (p->count > 0)
		board_pins_remove(p, p->list[0].base);
}
