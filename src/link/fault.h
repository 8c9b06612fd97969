/* SPDX-License-Identifier: BSD-3-Clause */
/* Fault injector for outgoing datagrams, from a seed; no system call, no clock. It acts before GSO
 * batches are formed, so faults are per datagram, as in a network.
 *
 * A datagram is dropped, has one bit flipped, or is unchanged. If not dropped, it may be duplicated
 * at once. One copy may be delayed until 1 .. LINK_FAULT_DISTANCE later datagrams have passed, or
 * for LINK_FAULT_HOLD_NS. */
#ifndef LINK_FAULT_H
#define LINK_FAULT_H

#include <stdbool.h>

#include "link/limits.h"
#include "link/udp.h"

struct fault_options {
	uint32_t loss_ppm; /* each 0 .. 1,000,000 */
	uint32_t dup_ppm;
	uint32_t corrupt_ppm;
	uint32_t reorder_ppm;
	uint64_t seed; /* any value, also 0 */
};

/* datagrams at once: all delayed ones, and the new one twice */
#define FAULT_OUT_MAX (LINK_FAULT_HELD + 2)

struct fault;

/* Parses "loss=1%,dup=0.1%,corrupt=0.01%,reorder=1%,seed=7": any order, absent is 0, resolution
 * 0.0001 %. DXP_EINVAL, logged: other text. */
int fault_parse(const char *text, struct fault_options *out);

int fault_open(const struct fault_options *options, struct fault **out);
void fault_close(struct fault *f);

/* Writes what leaves now to `out`, at most FAULT_OUT_MAX, and returns the number. Copies are valid
 * until fault_settle. */
size_t fault_pass(struct fault *f, const struct datagram *in, uint64_t now_ns,
		  const struct datagram **out);

/* Writes what is due to `out`, at most LINK_FAULT_HELD, and returns the number; valid until
 * fault_settle. */
size_t fault_release(struct fault *f, uint64_t now_ns, const struct datagram **out);

/* Frees the copies returned since the last call. The kernel had no space for `unsent`; their copies
 * leave first next time. */
void fault_settle(struct fault *f, const struct datagram *const *unsent, size_t count);

/* True: copies wait for space in the kernel. Then send no new datagram until fault_release has
 * returned them. */
bool fault_backlog(const struct fault *f);

/* UINT64_MAX: none is delayed. */
uint64_t fault_deadline(const struct fault *f);

/* Bits of enum link_fate for the last fault_pass. */
unsigned fault_fate(const struct fault *f);

uint64_t fault_count(const struct fault *f);

#endif
