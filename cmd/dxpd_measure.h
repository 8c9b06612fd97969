/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxpd --measure-buffers`: what an engine's DMA moves in buffers of each size, as a table. */
#ifndef CMD_DXPD_MEASURE_H
#define CMD_DXPD_MEASURE_H

#include <stdint.h>

/* Prints the table to standard output. Statuses of engine_open, logged; DXP_EUNSUPPORTED, logged:
 * this engine needs no buffers; DXP_EDEVICE, logged. */
int dxpd_measure(const char *engine, uint64_t memory_bytes);

#endif
