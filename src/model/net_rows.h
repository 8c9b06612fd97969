/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of LogGP, topologies, tags and allreduce. */
#ifndef MODEL_NET_ROWS_H
#define MODEL_NET_ROWS_H

#include "model/allreduce.h"
#include "model/loggp.h"
#include "model/row.h"
#include "model/topology.h"

/* Returns the terms of equation (1) for these parameters. */
struct model_loggp model_loggp_of(const struct model_parameters *p);

/* Emits T(P) of direct networks with the source's mean distances, P = 16 .. 4096 (C-07). */
int model_loggp_rows(const struct model_parameters *p, const struct model_sink *sink);

/* Emits distances, diameter, links and T of a topology of p->nodes nodes. */
int model_topology_rows(const struct model_parameters *p, enum model_topology kind,
			const struct model_sink *sink);

/* Emits equation (2), and the rate against the number of tags, closed and simulated (C-35). */
int model_tags_rows(const struct model_parameters *p, const struct model_sink *sink);

/* Emits the time of a call, with the interval over all settings. */
int model_allreduce_row(const struct model_parameters *p, const struct model_allreduce *of,
			const struct model_sink *sink);

/* Emits all cases of the source's figure (N-11), and its statements as shapes. */
int model_allreduce_rows(const struct model_parameters *p, const struct model_sink *sink);

#endif
