/* SPDX-License-Identifier: BSD-3-Clause */
/* Formats nodes for output. */
#ifndef CMD_DXP_NODES_H
#define CMD_DXP_NODES_H

#include <stdint.h>

#include <jansson.h>

#include "wire/manage.h"

struct traffic;

/* Converts a node to JSON. `traffic` may be NULL. */
json_t *node_json(const struct node_entry *row, const struct traffic *traffic);

/* Formats bytes as "256M" or "1.5G"; returns out. */
const char *nodes_bytes_format(uint64_t bytes, char out[16]);

#endif
