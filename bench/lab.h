/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects the network of a benchmark: loopback, or two network namespaces that a veth pair
 * joins. */
#ifndef BENCH_LAB_H
#define BENCH_LAB_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/raw_udp.h"

struct lab {
	const char *name;      /* "loopback", "veth-1500", "veth-9000", "wire-1500" */
	unsigned mtu;          /* 0: loopback */
	size_t datagram_bytes; /* UDP payload of one full datagram in this lab */
	/* Batches are cut into packets before they leave, as for a NIC without segmentation
	 * offload. So the work per packet is real, and each packet can be lost alone. */
	bool cut;
};

extern const struct lab lab_list[];
extern const size_t lab_count;

const struct lab *lab_find(const char *name); /* returns NULL if there is no such lab */

/* Body of a measurement that runs inside a lab. Returns an exit status. */
typedef int (*lab_body)(const struct lab *lab, const struct raw_ends *ends, void *context);

/* Makes the lab, runs `body` in its own process, and removes the lab, even on SIGINT, SIGTERM or
 * SIGHUP. If this machine does not permit the lab, prints a note and returns 0. */
int lab_run(const struct lab *lab, lab_body body, void *context);

/* Runs each lab, or only the lab with the name `only`. Returns the largest exit status. After a
 * signal, skips the remaining labs. */
int lab_each(const char *only, lab_body body, void *context);

/* Makes both sides drop `per_10000` of 10,000 incoming packets. Each packet is dropped
 * independently of its content. Only for the body of a lab with `cut`. Returns false, with a note,
 * if this machine's nft cannot do this. */
bool lab_loss(const struct raw_ends *ends, unsigned per_10000);

/* Runs the shell script `make`, then `body` in its own process, then the script `remove`. It is
 * lab_run for labs with another topology. Both scripts may use $LAB, a prefix for names that is
 * unique to this process. */
struct lab_scripts {
	const char *name, *make, *remove;
	bool anyone; /* `make` runs without root too */
};
int lab_scripts_run(const struct lab_scripts *scripts, int (*body)(void *context), void *context);

/* Returns "dxpb-PID", the value of $LAB in scripts of the current lab. */
const char *lab_prefix(void);

#endif
