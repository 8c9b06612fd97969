/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures how fast kernel TCP opens connections; it is the reference of `dxp bench peers`. */
#ifndef BENCH_TCP_CROWD_H
#define BENCH_TCP_CROWD_H

#include <stdint.h>

/* Opens `count` connections on loopback to one process, sends 4 bytes over each, and waits until
 * this process has read all. Writes connections per second to *per_s, or 0 if the limit on open
 * files is too low. Returns DXP_EIO, logged, on failure. */
int tcp_crowd_rate(uint32_t count, double *per_s);

#endif
