/* SPDX-License-Identifier: BSD-3-Clause */
#include "bridge/choice.h"

#include "base/util.h"

#define MIB (1ull << 20)
/* tries of each way at first: one may be disturbed */
#define TRIES 3
/* above 3/2 of the best time, only probes try a way */
#define HOPELESS 3
/* a way must be faster than the sequential one by 1/16 */
#define MARGIN 16
/* one of this many takes the fastest way in spite of this margin */
#define NEAR_PERIOD 8
/* one of this many tries another way, because loads change */
#define PROBE_PERIOD 64
/* A slower time raises the estimate by 1/16 of the difference, at most by 1/32: the transfer may
 * have been disturbed. */
#define FOLLOW_SHIFT 4

static uint32_t class_of(uint64_t bytes)
{
	uint32_t class = 0;

	while (bytes >> 1 >= CHOICE_BYTES_MIN && class < CHOICE_CLASSES) {
		bytes >>= 1;
		class ++;
	}
	return class;
}

bool choice_covers(uint64_t bytes)
{
	return bytes >= CHOICE_BYTES_MIN && class_of(bytes) < CHOICE_CLASSES;
}

static enum choice_way best_of(const struct choice_class *k, uint32_t ways)
{
	enum choice_way best = CHOICE_RAMP;

	for (int w = 0; w < CHOICE_WAYS; w++)
		if (ways >> w & 1 && k->tries[w] > 0 &&
		    (k->tries[best] == 0 || k->ns[w] < k->ns[best]))
			best = (enum choice_way)w;
	return best;
}

/* The last way moves the bytes as mode SEQUENTIAL does. */
static enum choice_way sequential_of(uint32_t ways)
{
	int way = CHOICE_WAYS - 1;

	while (way > CHOICE_RAMP && !(ways >> way & 1))
		way--;
	return (enum choice_way)way;
}

/* Returns the fastest way, or the sequential one if none is faster by the margin. The fastest is
 * still used now and then, so that its time is followed. */
static enum choice_way preferred(const struct choice_class *k, uint32_t ways)
{
	enum choice_way best = best_of(k, ways), sequential = sequential_of(ways);
	bool faster = k->ns[best] < k->ns[sequential] - k->ns[sequential] / MARGIN;

	if (faster || k->tries[sequential] == 0 || k->count % NEAR_PERIOD == NEAR_PERIOD - 1)
		return best;
	return sequential;
}

static bool hopeless(const struct choice_class *k, int way, enum choice_way best)
{
	return k->tries[way] > 0 && k->ns[way] > HOPELESS * k->ns[best] / 2;
}

enum choice_way choice_next(const struct choice *c, uint8_t path, uint64_t bytes, uint32_t ways)
{
	const struct choice_class *k = &c->classes[path][class_of(bytes)];
	enum choice_way best = preferred(k, ways), least = best;
	uint32_t probe = k->count / PROBE_PERIOD % CHOICE_WAYS;

	if (k->count % PROBE_PERIOD == PROBE_PERIOD - 1 && ways >> probe & 1)
		return (enum choice_way)probe;
	for (int w = 0; w < CHOICE_WAYS; w++)
		if (ways >> w & 1 && k->tries[w] < TRIES && !hopeless(k, w, best) &&
		    k->tries[w] < k->tries[least])
			least = (enum choice_way)w;
	return least;
}

void choice_note(struct choice *c, uint8_t path, uint64_t bytes, enum choice_way way, uint64_t ns)
{
	struct choice_class *k = &c->classes[path][class_of(bytes)];
	uint64_t *estimate = &k->ns[way];
	uint64_t each = (uint64_t)((double)ns * MIB / (double)bytes);

	k->count++;
	if (k->tries[way]++ == 0 || each < *estimate)
		*estimate = each;
	else
		*estimate += min_u64(each - *estimate, *estimate / 2) >> FOLLOW_SHIFT;
}
