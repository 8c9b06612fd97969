/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of LogGP, topologies, tags and allreduce. */
#ifndef MODEL_NET_ROWS_H
#define MODEL_NET_ROWS_H

#include "model/allreduce.h"
#include "model/loggp.h"
#include "model/row.h"
#include "model/topology.h"

/* Terms of equation (1) by these parameters. */
struct model_loggp model_loggp_of(const struct model_parameters *p);

/* Emits T of equation (1) for direct networks of 16 .. 4096 nodes, with the source's mean distances
 * (C-07). */
int model_loggp_rows(const struct model_parameters *p, const struct model_sink *sink);

/* Distances, diameter, links, and T with p->nodes nodes. */
int model_topology_rows(const struct model_parameters *p, enum model_topology kind,
			const struct model_sink *sink);

/* Emits equation (2), and the rate by tags, in closed form and simulated (C-35). */
int model_tags_rows(const struct model_parameters *p, const struct model_sink *sink);

/* Emits the time with its interval over all settings. */
int model_allreduce_row(const struct model_parameters *p, const struct model_allreduce *of,
			const struct model_sink *sink);

/* Emits all cases of N-11, with the source's statements as shapes. */
int model_allreduce_rows(const struct model_parameters *p, const struct model_sink *sink);

#endif
