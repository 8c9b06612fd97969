/* SPDX-License-Identifier: BSD-3-Clause */
/* The user-space plane's arbiter (N-02), without I/O and clock. COMPUTED: contributions and
 * results; FORWARDED: all other packets, to pass on, answer or reject. While both queues have
 * packets, each class gets its weight's share, so none starves.
 *
 * The kernel forwards packets of other software. */
#ifndef SWITCH_INPUT_H
#define SWITCH_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "switch/limits.h"
#include "wire/inc.h"

enum input_class { INPUT_FORWARDED, INPUT_COMPUTED, INPUT_CLASSES };

/* Numbers of packets, by class. */
struct input_counters {
	uint64_t queued[INPUT_CLASSES];
	/* dequeued while the other class waited */
	uint64_t first[INPUT_CLASSES];
	/* by a full queue; hosts retransmit */
	uint64_t dropped[INPUT_CLASSES];
};

struct input_packet {
	uint32_t from_ip;
	uint16_t from_port, bytes;
	uint8_t data[INPUT_PACKET_BYTES];
};

struct input;

/* Weights of 1 .. INPUT_WEIGHT_MAX. DXP_ENOMEM. */
int input_create(const uint8_t weights[INPUT_CLASSES], struct input **out);
void input_destroy(struct input *a);

/* Returns the class by the header, unchecked. */
enum input_class input_class_of(const uint8_t *data, size_t bytes);

bool input_empty(const struct input *a);

/* Queues a copy of at most INPUT_PACKET_BYTES; drops it if its queue is full. */
void input_put(struct input *a, enum input_class class, const struct roce_path *path,
	       const uint8_t *data, size_t bytes);

/* Valid until the next input_put(). NULL: both queues are empty. */
const struct input_packet *input_next(struct input *a);

const struct input_counters *input_counters(const struct input *a);

#endif
