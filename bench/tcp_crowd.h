/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures how fast kernel TCP opens connections, the reference of `dxp bench peers`. */
#ifndef BENCH_TCP_CROWD_H
#define BENCH_TCP_CROWD_H

#include <stdint.h>

/* Opens `count` loopback connections to one process, which reads 4 bytes from each. Writes
 * connections per second, or 0 if too few files may be open. Returns DXP_EIO, logged, on
 * failure. */
int tcp_crowd_rate(uint32_t count, double *per_s);

#endif
