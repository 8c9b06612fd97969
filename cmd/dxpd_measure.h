/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxpd --measure-buffers`: a table of an engine's DMA rate for each buffer size. */
#ifndef CMD_DXPD_MEASURE_H
#define CMD_DXPD_MEASURE_H

#include <stdint.h>

/* Prints the table to standard output. Returns statuses of engine_open; DXP_EUNSUPPORTED: this
 * engine needs no buffers; DXP_EDEVICE: the DMA failed or is too slow. Logs all of them. */
int dxpd_measure(const char *engine, uint64_t memory_bytes);

#endif
