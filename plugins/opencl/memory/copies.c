/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "plugins/opencl/memory/copies.h"

static void uses_free(struct copy *copy, void (*drop)(struct transfer *))
{
	for (uint32_t i = 0; i < copy->use_count; i++) {
		if (!copy->uses[i].part && copy->uses[i].transfer)
			drop(copy->uses[i].transfer);
	}
	free(copy->uses);
	copy->uses = NULL;
	copy->use_count = copy->use_space = 0;
}

void copies_free(struct copies *c, void (*drop)(struct transfer *))
{
	struct copy *next;

	for (struct copy *x = &c->host; x; x = next) {
		next = x->next;
		ranges_free(&x->latest);
		uses_free(x, drop);
		if (x != &c->host)
			free(x);
	}
	ranges_free(&c->lost);
}

struct copy *copies_of(struct copies *c, const struct _cl_device_id *device)
{
	for (struct copy *x = &c->host; x; x = x->next) {
		if (x->device == device)
			return x;
	}
	return NULL;
}

struct copy *copies_add(struct copies *c, struct _cl_device_id *device, uint32_t generation,
			uint64_t address)
{
	struct copy *x = calloc(1, sizeof *x);

	if (!x)
		return NULL;
	x->device = device;
	x->generation = generation;
	x->address = address;
	x->next = c->host.next;
	c->host.next = x;
	return x;
}

bool copies_reserve(struct copies *c, uint32_t changes)
{
	for (struct copy *x = &c->host; x; x = x->next) {
		if (!ranges_reserve(&x->latest, changes))
			return false;
	}
	return ranges_reserve(&c->lost, changes);
}

/* Clears `makes` in each use that overlaps the range, because a newer change determines these
 * bytes. Splits a use that is only partly in the range. */
static void touch(struct copy *copy, uint64_t start, uint64_t end)
{
	for (uint32_t i = 0, count = copy->use_count; i < count; i++) {
		struct use *u = &copy->uses[i];
		if (!u->makes || u->start >= end || u->end <= start)
			continue;
		struct use before = *u, after = *u;
		before.end = start;
		after.start = end;
		before.part = after.part = true;
		u->makes = false;
		/* If memory is short, the part is not recorded, and its bytes count as written.
		 * Commands that use them fail if the transfer fails. */
		if (before.start < before.end)
			copies_use(copy, &before);
		if (after.start < after.end)
			copies_use(copy, &after);
	}
}

void copies_wrote(struct copies *c, struct copy *copy, uint64_t start, uint64_t end)
{
	for (struct copy *x = &c->host; x; x = x->next) {
		touch(x, start, end);
		if (x != copy)
			ranges_remove(&x->latest, start, end);
	}
	ranges_add(&copy->latest, start, end);
	ranges_remove(&c->lost, start, end);
}

void copies_shared(struct copy *copy, uint64_t start, uint64_t end)
{
	ranges_add(&copy->latest, start, end);
}

void copies_undefine(struct copies *c, uint64_t start, uint64_t end)
{
	for (struct copy *x = &c->host; x; x = x->next) {
		touch(x, start, end);
		ranges_remove(&x->latest, start, end);
	}
	ranges_remove(&c->lost, start, end);
}

/* Each copy has latest bytes up to its end. `best` may be NULL. */
static bool better(const struct copy *x, uint64_t x_end, const struct copy *best, uint64_t best_end,
		   const struct copy *near)
{
	if (!best || x == near)
		return true;
	if (best == near)
		return false;
	/* The host's copy is the first in the list, so `x` is a device. Any device is better than
	 * the host. */
	return !best->device || x_end > best_end;
}

/* Returns the source of byte `at`, by the rules of copies_next. Reduces *end to the end of that
 * copy's bytes. NULL: the bytes from `at` to *end are lost. */
static struct copy *holder(const struct copies *c, const struct copy *near, uint64_t at,
			   uint64_t *end)
{
	const struct copy *best = NULL;
	uint64_t best_end = at;
	struct range r;

	for (const struct copy *x = &c->host; x; x = x->next) {
		if (!ranges_next(&x->latest, at, *end, &r) || r.start != at)
			continue;
		if (better(x, r.end, best, best_end, near)) {
			best = x;
			best_end = r.end;
		}
	}
	if (!best && ranges_next(&c->lost, at, *end, &r))
		best_end = r.end;
	*end = best_end;
	return (struct copy *)(uintptr_t)best;
}

/* Returns the first byte from `at` on that is lost or in some copy, or `end`. */
static uint64_t next_known(const struct copies *c, uint64_t at, uint64_t end)
{
	struct range r;
	uint64_t first = end;

	for (const struct copy *x = &c->host; x; x = x->next) {
		if (ranges_next(&x->latest, at, first, &r))
			first = r.start;
	}
	if (ranges_next(&c->lost, at, first, &r))
		first = r.start;
	return first;
}

enum copies_found copies_next(const struct copies *c, const struct copy *to,
			      const struct copy *near, uint64_t start, uint64_t end,
			      struct piece *out)
{
	struct range has;

	while (start < end) {
		uint64_t stop = end;
		if (to && ranges_next(&to->latest, start, end, &has)) {
			if (has.start == start) {
				start = has.end;
				continue;
			}
			stop = has.start;
		}
		uint64_t known = next_known(c, start, stop);
		if (known != start) {
			start = known;
			continue;
		}
		out->start = start;
		out->end = stop;
		out->from = holder(c, near, start, &out->end);
		return out->from ? COPIES_PIECE : COPIES_LOST;
	}
	return COPIES_NONE;
}

/* A byte of [start, end) becomes lost if no other copy has it. */
static void lose(struct copies *c, struct copy *copy, uint64_t start, uint64_t end)
{
	struct range r;

	ranges_remove(&copy->latest, start, end);
	while (start < end) {
		uint64_t gap = end;
		bool held = false;
		for (const struct copy *x = &c->host; x && !held; x = x->next) {
			if (!ranges_next(&x->latest, start, gap, &r))
				continue;
			held = r.start == start;
			gap = held ? r.end : r.start;
		}
		/* If memory is short, the bytes count as never written. Then a read gets undefined
		 * bytes instead of an error. */
		if (!held)
			ranges_add(&c->lost, start, gap);
		start = gap;
	}
}

void copies_forget(struct copies *c, struct copy *copy, void (*drop)(struct transfer *))
{
	struct copy **link = &c->host.next;

	while (copy->latest.count) {
		struct range last = copy->latest.at[copy->latest.count - 1];
		lose(c, copy, last.start, last.end);
	}
	uses_free(copy, drop);
	while (*link != copy)
		link = &(*link)->next;
	*link = copy->next;
	ranges_free(&copy->latest);
	free(copy);
}

bool copies_use(struct copy *copy, const struct use *use)
{
	if (copy->use_count == copy->use_space) {
		uint32_t space = copy->use_space ? 2 * copy->use_space : 4;
		struct use *more = realloc(copy->uses, space * sizeof *more);
		if (!more)
			return false;
		copy->uses = more;
		copy->use_space = space;
	}
	copy->uses[copy->use_count++] = *use;
	return true;
}

/* If other parts of this use remain, one of them gets the reference to the transfer. */
static void use_remove(struct copy *copy, uint32_t index, void (*drop)(struct transfer *))
{
	struct use gone = copy->uses[index];

	copy->use_count--;
	for (uint32_t i = index; i < copy->use_count; i++)
		copy->uses[i] = copy->uses[i + 1];
	if (gone.part || !gone.transfer)
		return;
	for (uint32_t i = 0; i < copy->use_count; i++) {
		struct use *u = &copy->uses[i];
		if (u->transfer == gone.transfer && u->part) {
			u->part = false;
			return;
		}
	}
	drop(gone.transfer);
}

static bool listed(uint64_t event, const uint64_t *list, uint32_t count)
{
	uint32_t i = 0;

	while (i < count && list[i] != event)
		i++;
	return i < count;
}

/* Removes the range of `by` from `u`, unless this would leave two pieces. Returns true if nothing
 * of `u` remains. */
static bool use_cut(struct use *u, const struct use *by)
{
	if (by->start <= u->start && u->end <= by->end)
		return true;
	if (by->start <= u->start)
		u->start = by->end;
	else if (u->end <= by->end)
		u->end = by->start;
	return false;
}

void copies_follow(struct copy *copy, const struct use *by, const uint64_t *waited, uint32_t count,
		   void (*drop)(struct transfer *))
{
	for (uint32_t i = copy->use_count; i-- > 0;) {
		struct use *u = &copy->uses[i];
		/* A use with `makes` stays, so that its failure is detected. */
		if (u->queue || u->makes || (u->into && !by->into) || u->end <= by->start ||
		    by->end <= u->start || !listed(u->event, waited, count))
			continue;
		if (use_cut(u, by))
			use_remove(copy, i, drop);
	}
}

/* Writers of the program recorded per copy. They only protect programs that do not order all their
 * commands, so a few are enough. */
#define WRITERS_MAX 16

bool copies_writer(struct copy *copy, const struct use *use, bool in_order)
{
	struct use *oldest = NULL;
	uint32_t count = 0;

	for (uint32_t i = 0; i < copy->use_count; i++) {
		struct use *u = &copy->uses[i];
		if (!u->queue)
			continue;
		if (in_order && u->queue == use->queue && use->start <= u->start &&
		    u->end <= use->end) {
			*u = *use;
			return true;
		}
		if (!count++)
			oldest = u;
	}
	if (count < WRITERS_MAX)
		return copies_use(copy, use);
	*oldest = *use;
	return true;
}

void copies_settle(struct copies *c, int (*ended)(const struct use *),
		   void (*drop)(struct transfer *))
{
	for (struct copy *x = &c->host; x; x = x->next) {
		uint32_t kept = 0;
		for (uint32_t i = 0; i < x->use_count; i++) {
			struct use *u = &x->uses[i];
			int status = ended(u);
			u->ended = status != 0;
			if (status < 0 && u->makes && ranges_reserve(&x->latest, 1))
				lose(c, x, u->start, u->end);
		}
		/* Removes completed uses in a second pass, because the parts of one use have the
		 * same event and must all be checked first. */
		for (uint32_t i = 0; i < x->use_count; i++) {
			if (!x->uses[i].ended)
				x->uses[kept++] = x->uses[i];
			else if (!x->uses[i].part && x->uses[i].transfer)
				drop(x->uses[i].transfer);
		}
		x->use_count = kept;
	}
}
