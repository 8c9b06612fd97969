/* SPDX-License-Identifier: BSD-3-Clause */
/* Clock of all code outside the simulator. Folders without I/O receive the time as an argument. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

uint64_t clock_now_ns(void);

/* Also counts while the machine is suspended. Not comparable with clock_now_ns. */
uint64_t clock_boot_ns(void);

#endif
