/* SPDX-License-Identifier: BSD-3-Clause */
/* DXP_TRACE=FILE: a node writes all its datagrams to a file. "%p" in FILE becomes the process id;
 * further nodes of a process write FILE.2, FILE.3 ... DXP_TRACE_SNAP=BYTES bounds the bytes kept of
 * each (default TAP_SNAP_BYTES). */
#ifndef NODE_TAP_FILE_H
#define NODE_TAP_FILE_H

#include "node/tap.h"

struct tap_file;

/* Opens the file if the environment requests one, and sets *snap_bytes. Else, or on failure
 * (logged), *out is NULL. */
void tap_file_open(const char *name, uint32_t number, uint32_t *snap_bytes, struct tap_file **out);
void tap_file_close(struct tap_file *f);

/* Returns a buffer for one record of any size. */
struct tap_record *tap_file_record(struct tap_file *f);
void tap_file_flush(struct tap_file *f);
void tap_file_write(struct tap_file *f, const struct tap_record *r);

#endif
