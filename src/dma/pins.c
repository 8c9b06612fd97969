/* SPDX-License-Identifier: BSD-3-Clause */
#include "dma/pins.h"

#include <assert.h>

#include <dxp/status.h>

#include "base/util.h"

/* NULL: none. */
static struct pin *overlapping(struct pins *p, const uint8_t *base, uint64_t bytes)
{
	for (size_t i = 0; i < ARRAY_COUNT(p->all); i++) {
		struct pin *pin = &p->all[i];
		if (pin->bytes && base < pin->base + pin->bytes && pin->base < base + bytes)
			return pin;
	}
	return NULL;
}

static int pin_new(struct pins *p, void *base, uint64_t bytes, struct pin **out)
{
	struct pin *pin = p->all, *end = p->all + ARRAY_COUNT(p->all);

	while (pin < end && pin->bytes)
		pin++;
	if (pin == end)
		return DXP_EBUSY;
	int status = engine_pin(p->engine, base, bytes);
	if (status != DXP_OK)
		return status;
	*pin = (struct pin){.base = base, .bytes = bytes};
	*out = pin;
	return DXP_OK;
}

static void pin_end(struct pins *p, struct pin *pin)
{
	assert(pin->users == 0);
	engine_unpin(p->engine, pin->base);
	*pin = (struct pin){0};
}

int pins_keep(struct pins *p, void *base, uint64_t bytes)
{
	struct pin *pin;

	if (overlapping(p, base, bytes))
		return DXP_EEXIST;
	int status = pin_new(p, base, bytes, &pin);
	if (status == DXP_OK)
		pin->kept = true;
	return status;
}

int pins_release(struct pins *p, const void *base)
{
	struct pin *pin = overlapping(p, base, 1);

	if (!pin || !pin->kept || pin->base != base)
		return DXP_ENOENT;
	if (pin->users)
		return DXP_EBUSY;
	pin_end(p, pin);
	return DXP_OK;
}

struct pin *pins_use(struct pins *p, const void *base, uint64_t bytes)
{
	const uint8_t *first = base;
	struct pin *pin = overlapping(p, first, bytes);

	if (pin && (first < pin->base || first + bytes > pin->base + pin->bytes))
		return NULL;
	if (!pin && pin_new(p, (void *)(uintptr_t)base, bytes, &pin) != DXP_OK)
		return NULL;
	pin->users++;
	return pin;
}

void pins_drop(struct pins *p, struct pin *pin)
{
	if (pin && --pin->users == 0 && !pin->kept)
		pin_end(p, pin);
}

void pins_clear(struct pins *p)
{
	for (size_t i = 0; i < ARRAY_COUNT(p->all); i++)
		if (p->all[i].bytes)
			pin_end(p, &p->all[i]);
}
