/* SPDX-License-Identifier: BSD-3-Clause */
/* Two rings, by weighted round robin. */
#include "switch/input.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "switch/limits.h"
#include "wire/inc_compat.h"
#include "wire/limits.h"

/* Invariant: 0 <= tail - head <= INPUT_QUEUE_PACKETS, wrapping. */
struct queue {
	uint32_t head, tail;
	struct input_packet packets[INPUT_QUEUE_PACKETS];
};

struct input {
	uint8_t weights[INPUT_CLASSES];
	enum input_class served; /* next class */
	/* packets of `served` until the other class */
	unsigned left;
	struct input_counters counters;
	struct queue queues[INPUT_CLASSES];
};

_Static_assert((INPUT_QUEUE_PACKETS & (INPUT_QUEUE_PACKETS - 1)) == 0, "a power of two");

int input_create(const uint8_t weights[INPUT_CLASSES], struct input **out)
{
	struct input *a = calloc(1, sizeof(*a)); /* untouched pages take no memory */

	if (!a)
		return DXP_ENOMEM;
	for (unsigned i = 0; i < INPUT_CLASSES; i++) {
		assert(weights[i] >= 1 && weights[i] <= INPUT_WEIGHT_MAX);
		a->weights[i] = weights[i];
	}
	a->left = a->weights[a->served];
	*out = a;
	return DXP_OK;
}

void input_destroy(struct input *a)
{
	free(a);
}

enum input_class input_class_of(const uint8_t *data, size_t bytes)
{
	size_t at = ROCE_BTH_BYTES;

	if (bytes > 0 && data[0] == ROCE_UD_SEND_ONLY)
		at += ROCE_DETH_BYTES;
	if (bytes >= at + INC_COMPAT_HEADER_BYTES && get_be32(data + at) == INC_COMPAT_TAG)
		return get_be16(data + at + INC_COMPAT_OFF_COMM) == INC_COMPAT_COMM
			       ? INPUT_FORWARDED
			       : INPUT_COMPUTED;
	if (bytes < at + INC_HEADER_BYTES || get_be32(data + at + INC_OFF_TAG) != INC_TAG)
		return INPUT_FORWARDED;
	return data[at + INC_OFF_KIND] == INC_DATA ? INPUT_COMPUTED : INPUT_FORWARDED;
}

static bool queue_empty(const struct queue *q)
{
	return q->head == q->tail;
}

bool input_empty(const struct input *a)
{
	return queue_empty(&a->queues[INPUT_FORWARDED]) && queue_empty(&a->queues[INPUT_COMPUTED]);
}

void input_put(struct input *a, enum input_class class, const struct roce_path *path,
	       const uint8_t *data, size_t bytes)
{
	struct queue *q = &a->queues[class];
	struct input_packet *p = &q->packets[q->tail % INPUT_QUEUE_PACKETS];

	assert(bytes <= sizeof(p->data));
	if (q->tail - q->head == INPUT_QUEUE_PACKETS) {
		a->counters.dropped[class]++;
		return;
	}
	a->counters.queued[class]++;
	p->from_ip = path->from_ip;
	p->from_port = path->from_port;
	p->bytes = (uint16_t)bytes;
	memcpy(p->data, data, bytes);
	q->tail++;
}

static void served_change(struct input *a)
{
	a->served = INPUT_CLASSES - 1 - a->served;
	a->left = a->weights[a->served];
}

const struct input_packet *input_next(struct input *a)
{
	struct queue *q;

	if (input_empty(a))
		return NULL;
	if (a->left == 0 || queue_empty(&a->queues[a->served]))
		served_change(a);
	/* A class alone is served again. */
	if (queue_empty(&a->queues[a->served]))
		served_change(a);
	a->left--;
	q = &a->queues[a->served];
	if (!queue_empty(&a->queues[INPUT_CLASSES - 1 - a->served]))
		a->counters.first[a->served]++;
	return &q->packets[q->head++ % INPUT_QUEUE_PACKETS];
}

const struct input_counters *input_counters(const struct input *a)
{
	return &a->counters;
}
