/* SPDX-License-Identifier: BSD-3-Clause */
/* A fault injector for outgoing datagrams: drops, repeats, delays them or flips one bit, each with
 * its own probability, by a seeded generator. Pure: no system call, no clock; datagrams go in,
 * datagrams come out. It stands before trains are formed, so every datagram of a train meets its
 * own fate, as on a wire.
 *
 * Order of fates: lost; else one bit flipped; else as it is. What is left may be repeated at once,
 * and one of the copies may be kept back until 1 .. LINK_FAULT_DISTANCE later datagrams have passed
 * or LINK_FAULT_HOLD_NS are over. */
#ifndef LINK_FAULT_H
#define LINK_FAULT_H

#include <stdbool.h>

#include "base/limits.h"
#include "link/udp.h"

struct fault_options {
	uint32_t loss_ppm; /* each 0 .. 1,000,000 */
	uint32_t dup_ppm;
	uint32_t corrupt_ppm;
	uint32_t reorder_ppm;
	uint64_t seed; /* 0 is a seed like any other */
};

#define FAULT_OUT_MAX (LINK_FAULT_HELD + 2) /* all that were held, and one datagram twice */

struct fault;

/* "loss=1%,dup=0.1%,corrupt=0.01%,reorder=1%,seed=7": any of them, in any order; what is not named
 * is 0. Rates go in steps of 0.0001%. DXP_EINVAL, logged, if the text is anything else. */
int fault_parse(const char *text, struct fault_options *out);

/* DXP_ENOMEM. */
int fault_open(const struct fault_options *options, struct fault **out);
void fault_close(struct fault *f);

/* One datagram goes in; those that leave now are written to `out`, at most FAULT_OUT_MAX. They
 * point at `in` or at copies that live until fault_settle. Returns how many. */
size_t fault_pass(struct fault *f, const struct link_datagram *in, uint64_t now_ns,
		  const struct link_datagram **out);

/* The same without a new datagram: what was held for long enough leaves. */
size_t fault_release(struct fault *f, uint64_t now_ns, const struct link_datagram **out);

/* Ends the loan of all that came out since the last settle. The `count` in `unsent` found no room
 * in the kernel: copies of them leave first next time. */
void fault_settle(struct fault *f, const struct link_datagram *const *unsent, size_t count);

/* Datagrams that found no room are waiting: send nothing new before fault_release has let them out.
 */
bool fault_backlog(const struct fault *f);

/* When fault_release has something to do; UINT64_MAX when nothing is held. */
uint64_t fault_deadline(const struct fault *f);

/* What the last fault_pass did: bits of enum link_fate. */
unsigned fault_fate(const struct fault *f);

/* Datagrams dropped, repeated, delayed or changed so far. */
uint64_t fault_count(const struct fault *f);

#endif
