/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the counters of nodes for Prometheus: as OpenMetrics or in the older text format. Each
 * node has the same number of series: sessions and queue pairs are only in the totals, so that the
 * number of series grows with the nodes and not with their square. */
#ifndef CMD_DXP_METRICS_TEXT_H
#define CMD_DXP_METRICS_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "node/stats_read.h"

/* Writes all families. `open`: as OpenMetrics, without its last line "# EOF". */
void metrics_text_write(FILE *out, const struct stats_list *nodes, bool open);

/* Writes HELP and TYPE of a family. `name` has no suffix "_total". */
void metrics_text_family(FILE *out, const char *name, bool counter, const char *help, bool open);

/* Writes a family of one gauge without labels. */
void metrics_text_gauge(FILE *out, const char *name, double value, const char *help);

#endif
