/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxpd --measure-buffers`: a table of an engine's DMA rate for each buffer size. */
#ifndef CMD_DXPD_MEASURE_H
#define CMD_DXPD_MEASURE_H

#include <stdint.h>

/* Prints the table to standard output. Returns a status of engine_open(); DXP_EUNSUPPORTED if this
 * engine needs no buffers; or DXP_EDEVICE if the DMA failed or is too slow. Logs every error. */
int dxpd_measure(const char *engine, uint64_t memory_bytes);

#endif
