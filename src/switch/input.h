/* SPDX-License-Identifier: BSD-3-Clause */
/* The arbiter of the user-space plane (N-02). It has two queues of arrived packets, and weights
 * that decide from which queue the next packet comes. Class COMPUTED holds contributions and
 * results, from which the switch computes. Class FORWARDED holds all other packets: control packets
 * that the switch passes on or answers, and packets that it rejects. While both queues have
 * packets, each class gets the share of its weight, so none of them starves. The arbiter has no I/O
 * and no clock.
 *
 * Packets of other software do not reach the arbiter, because the kernel forwards them. */
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
	/* packets dequeued while a packet of the other class waited */
	uint64_t first[INPUT_CLASSES];
	/* packets dropped because the queue was full; hosts retransmit */
	uint64_t dropped[INPUT_CLASSES];
};

struct input_packet {
	uint32_t from_ip;
	uint16_t from_port, bytes;
	uint8_t data[INPUT_PACKET_BYTES];
};

struct input;

/* Creates an arbiter. Each weight is 1 .. INPUT_WEIGHT_MAX. DXP_ENOMEM. */
int input_create(const uint8_t weights[INPUT_CLASSES], struct input **out);
void input_destroy(struct input *a);

/* Returns the class of a packet, as its header suggests. Does not check the header. */
enum input_class input_class_of(const uint8_t *data, size_t bytes);

bool input_empty(const struct input *a);

/* Queues a copy of a packet of at most INPUT_PACKET_BYTES. Drops the packet if the queue of its
 * class is full. */
void input_put(struct input *a, enum input_class class, const struct roce_path *path,
	       const uint8_t *data, size_t bytes);

/* Dequeues the next packet; it stays valid until the next input_put(). NULL: both queues are
 * empty. */
const struct input_packet *input_next(struct input *a);

const struct input_counters *input_counters(const struct input *a);

#endif
