/* SPDX-License-Identifier: BSD-3-Clause */
/* A node as it is shown. */
#ifndef CMD_DXP_NODES_H
#define CMD_DXP_NODES_H

#include <stdint.h>

#include <jansson.h>

#include "wire/manage.h"

struct traffic;

/* `traffic` may be NULL. */
json_t *node_json(const struct node_entry *row, const struct traffic *traffic);

/* "256M", "1.5G"; returns out. */
const char *bytes_format(uint64_t bytes, char out[16]);

#endif
