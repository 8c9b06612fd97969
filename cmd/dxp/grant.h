/* SPDX-License-Identifier: BSD-3-Clause */
/* The JSON of the list of grants. */
#ifndef CMD_DXP_GRANT_H
#define CMD_DXP_GRANT_H

#include <jansson.h>

#include "node/query.h"

/* Returns {"policy": "any" or "explicit", "grants": [...]} of a completed QUERY_GRANTS, or NULL if
 * out of memory. */
json_t *grant_list_json(const struct query *a);

#endif
