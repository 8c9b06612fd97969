/* SPDX-License-Identifier: BSD-3-Clause */
/* DXP_TRACE=FILE: a node writes what it sends and receives itself, from its first datagram to its
 * last. "%p" in FILE becomes the process id; the second node of a process, and those after it,
 * write FILE.2, FILE.3 ... DXP_TRACE_SNAP=BYTES keeps so much of each datagram (default
 * TAP_SNAP_BYTES). */
#ifndef NODE_TAP_FILE_H
#define NODE_TAP_FILE_H

#include "node/tap.h"

struct tap_file;

/* *out is NULL when the environment does not ask, or asks in vain (logged); else *snap_bytes is set
 * too. */
void tap_file_open(const char *name, uint32_t number, uint32_t *snap_bytes, struct tap_file **out);
void tap_file_close(struct tap_file *f);

/* Room for one record of any size. */
struct tap_record *tap_file_record(struct tap_file *f);
void tap_file_flush(struct tap_file *f);
void tap_file_write(struct tap_file *f, const struct tap_record *r);

#endif
