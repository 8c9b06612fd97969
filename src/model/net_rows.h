/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of LogGP, topologies, tags and allreduce. */
#ifndef MODEL_NET_ROWS_H
#define MODEL_NET_ROWS_H

#include "model/allreduce.h"
#include "model/loggp.h"
#include "model/row.h"
#include "model/topology.h"

/* Returns the terms of equation (1) that follow from these parameters. */
struct model_loggp model_loggp_of(const struct model_parameters *p);

/* Emits T of equation (1) for direct networks of 16 .. 4096 nodes, with the mean distances of the
 * source (C-07; row.h explains sources). */
int model_loggp_rows(const struct model_parameters *p, const struct model_sink *sink);

/* Emits distances, diameter, number of links, and T of a topology with p->nodes nodes. */
int model_topology_rows(const struct model_parameters *p, enum model_topology kind,
			const struct model_sink *sink);

/* Emits equation (2), and the rate for each number of tags, in closed form and simulated (C-35). */
int model_tags_rows(const struct model_parameters *p, const struct model_sink *sink);

/* Emits the time of an allreduce, with its interval over all settings. */
int model_allreduce_row(const struct model_parameters *p, const struct model_allreduce *of,
			const struct model_sink *sink);

/* Emits all cases of the source's figure (N-11), and the source's statements about them as
 * shapes. */
int model_allreduce_rows(const struct model_parameters *p, const struct model_sink *sink);

#endif
