/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a benchmark runs: loopback, or two network namespaces of its own joined by a veth pair. */
#ifndef BENCH_LAB_H
#define BENCH_LAB_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/raw_udp.h"

struct lab {
	const char *name;      /* "loopback", "veth-1500", "veth-9000", "wire-1500" */
	unsigned mtu;          /* 0: loopback */
	size_t datagram_bytes; /* UDP payload of one full datagram there */
	bool cut; /* trains are cut into packets before they leave, as for a NIC that cannot do
		   * it: real work for each packet, and each can be lost alone */
};

extern const struct lab lab_list[];
extern const size_t lab_count;

const struct lab *lab_find(const char *name); /* NULL: no such lab */

/* A measurement inside a lab; returns an exit status. */
typedef int (*lab_body)(const struct lab *lab, const struct raw_ends *ends, void *context);

/* Runs `body` in the lab, in a process of its own. The lab is made before and removed after, also
 * when we are ended by SIGINT, SIGTERM or SIGHUP; one that this machine does not let us make is
 * left out with a note, and 0. */
int lab_run(const struct lab *lab, lab_body body, void *context);

/* Each lab in turn, or the one named `only`. Returns the largest exit status;
 * a signal ends the rest. */
int lab_each(const char *only, lab_body body, void *context);

/* From inside a lab with `cut`: from now on either side drops `per_10000` of 10,000 packets that
 * come in, each alone, whatever they carry. False, with a note: this machine's nft cannot. */
bool lab_loss(const struct raw_ends *ends, unsigned per_10000);

/* Runs a shell script that makes something which `remove` removes, then `body` in a process of its
 * own, then `remove`: what lab_run does, for labs of another shape. Both scripts know $LAB, a name
 * of this process's own to begin all names with. */
struct lab_scripts {
	const char *name, *make, *remove;
	bool anyone; /* `make` needs no root */
};
int lab_scripts_run(const struct lab_scripts *scripts, int (*body)(void *context), void *context);

/* "dxpb-PID": $LAB of the lab being run. */
const char *lab_prefix(void);

#endif
