/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts the counters of managers and switches to a table, JSON or metrics. */
#ifndef CMD_DXP_SERVICES_H
#define CMD_DXP_SERVICES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "cmd/dxp/fabric_stats.h"

/* Writes a heading and one line for each service, of at most `columns` characters; 0: no limit. */
void services_table(FILE *out, const struct fabric_services *s, unsigned columns);

/* Returns an array, or NULL if out of memory. */
json_t *services_json(const struct fabric_services *s);

/* Writes the metrics dxp_service_up and dxp_service_uptime_seconds, and one named dxp_manager_...
 * or dxp_switch_... for each value. `open`: in the format OpenMetrics. */
void services_metrics(FILE *out, const struct fabric_services *s, bool open);

#endif
