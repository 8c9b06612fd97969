/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of the fabric as JSON. */
#ifndef CMD_DXP_EVENTS_H
#define CMD_DXP_EVENTS_H

#include <jansson.h>

#include "wire/events.h"

const char *event_severity_name(enum event_severity severity);

/* Returns {"sequence", "time_ms", "severity", "kind", "subject", "text"}, or NULL if out of
 * memory. */
json_t *event_row_json(const struct event_row *row);

#endif
