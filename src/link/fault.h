/* SPDX-License-Identifier: BSD-3-Clause */
/* Fault injector for outgoing datagrams: drops, duplicates or delays them, or flips one bit. Each
 * fault has its own probability, from a seeded generator. It makes no system call and reads no
 * clock. It acts before GSO batches are formed, so each datagram has its own faults, as in a
 * network.
 *
 * A datagram is dropped, or one bit is flipped, or it is unchanged. If it is not dropped, it may be
 * duplicated at once. One copy may be delayed until 1 .. LINK_FAULT_DISTANCE later datagrams have
 * passed, or until LINK_FAULT_HOLD_NS have elapsed. */
#ifndef LINK_FAULT_H
#define LINK_FAULT_H

#include <stdbool.h>

#include "link/limits.h"
#include "link/udp.h"

struct fault_options {
	uint32_t loss_ppm; /* probabilities of the four faults, each 0 .. 1,000,000 */
	uint32_t dup_ppm;
	uint32_t corrupt_ppm;
	uint32_t reorder_ppm;
	uint64_t seed; /* any value, also 0 */
};

/* maximum number of datagrams that leave at once: all delayed ones, and the new one twice */
#define FAULT_OUT_MAX (LINK_FAULT_HELD + 2)

struct fault;

/* Parses text such as "loss=1%,dup=0.1%,corrupt=0.01%,reorder=1%,seed=7". Each item may be absent,
 * which means 0; the order is free. The resolution is 0.0001 %. DXP_EINVAL, logged: other text. */
int fault_parse(const char *text, struct fault_options *out);

int fault_open(const struct fault_options *options, struct fault **out);
void fault_close(struct fault *f);

/* Passes one datagram through the injector. Writes the datagrams that leave now to `out`, at most
 * FAULT_OUT_MAX, and returns their number. They point to `in` or to copies. The copies are valid
 * until fault_settle. */
size_t fault_pass(struct fault *f, const struct datagram *in, uint64_t now_ns,
		  const struct datagram **out);

/* Writes the delayed datagrams that are due to `out`, at most LINK_FAULT_HELD; returns their
 * number. They are valid until fault_settle. */
size_t fault_release(struct fault *f, uint64_t now_ns, const struct datagram **out);

/* Frees the copies that were returned since the last fault_settle. The kernel had no space for the
 * `count` datagrams in `unsent`, so copies of them leave first next time. */
void fault_settle(struct fault *f, const struct datagram *const *unsent, size_t count);

/* Returns true if the injector keeps copies because the kernel had no space for them. Send no new
 * datagram until fault_release has returned these copies. */
bool fault_backlog(const struct fault *f);

/* Returns the time at which the next delayed datagram is due; UINT64_MAX: none is delayed. */
uint64_t fault_deadline(const struct fault *f);

/* Returns the faults of the last fault_pass: bits of enum link_fate. */
unsigned fault_fate(const struct fault *f);

/* Returns how many datagrams had a fault. */
uint64_t fault_count(const struct fault *f);

#endif
