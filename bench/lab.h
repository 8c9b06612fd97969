/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a benchmark runs: loopback, or two network namespaces of its own joined by a veth pair. */
#ifndef BENCH_LAB_H
#define BENCH_LAB_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/raw_udp.h"

struct lab {
	const char *name;      /* "loopback", "veth-1500", "veth-9000" */
	unsigned mtu;          /* 0: loopback */
	size_t datagram_bytes; /* UDP payload of one full datagram there */
};

extern const struct lab lab_list[];
extern const size_t lab_count;

/* Runs `body` in a process of its own inside the lab, which is made before and removed after.
 * Returns its exit status, or 77 with a note when this machine does not let us (no root, no `ip`).
 */
int lab_run(const struct lab *lab,
	    int (*body)(const struct lab *lab, const struct raw_ends *ends, void *context),
	    void *context);

#endif
