/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects a benchmark's network: loopback, or two network namespaces joined by a veth pair. */
#ifndef BENCH_LAB_H
#define BENCH_LAB_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/raw_udp.h"

struct lab {
	const char *name;      /* "loopback", "veth-1500", "veth-9000", "wire-1500" */
	unsigned mtu;          /* 0: loopback */
	size_t datagram_bytes; /* UDP payload of a full datagram */
	/* Batches are cut into packets before they leave, as without segmentation offload: the work
	 * per packet is real, and each packet can be lost alone. */
	bool cut;
};

extern const struct lab lab_list[];
extern const size_t lab_count;

const struct lab *lab_find(const char *name); /* NULL if unknown */

typedef int (*lab_body)(const struct lab *lab, const struct raw_ends *ends, void *context);

/* Makes the lab, runs `body` in its own process, and removes the lab, even on SIGINT, SIGTERM or
 * SIGHUP. Without permission, prints a note and returns 0. */
int lab_run(const struct lab *lab, lab_body body, void *context);

/* Runs each lab, or only lab `only`. Returns the largest exit status. A signal skips the remaining
 * labs. */
int lab_each(const char *only, lab_body body, void *context);

/* Makes both sides drop `per_10000` of 10,000 incoming packets, independently of content. Only for
 * labs with `cut`. Returns false, with a note, if nft cannot do this. */
bool lab_loss(const struct raw_ends *ends, unsigned per_10000);

struct lab_scripts {
	const char *name, *make, *remove;
	bool anyone; /* `make` runs without root too */
};
/* Runs the shell script `make`, then `body` in its own process, then the script `remove`. It is
 * lab_run for labs with another topology. Both scripts may use $LAB, a prefix for names that is
 * unique to this process. */
int lab_scripts_run(const struct lab_scripts *scripts, int (*body)(void *context), void *context);

/* Returns "dxpb-PID", the scripts' $LAB. */
const char *lab_prefix(void);

#endif
