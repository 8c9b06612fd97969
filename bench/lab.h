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

/* A measurement inside a lab; returns an exit status. */
typedef int (*lab_body)(const struct lab *lab, const struct raw_ends *ends, void *context);

/* Runs `body` in each lab, or in the one named `only`, each time in a process of its own. A lab is
 * made before and removed after, also when we are ended by SIGINT or SIGTERM; one that this machine
 * does not let us make is left out with a note. Returns the first exit status that is not 0. */
int lab_each(const char *only, lab_body body, void *context);

#endif
