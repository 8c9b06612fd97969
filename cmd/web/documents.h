/* SPDX-License-Identifier: BSD-3-Clause */
/* The documents of the API that are built from a snapshot. */
#ifndef CMD_WEB_DOCUMENTS_H
#define CMD_WEB_DOCUMENTS_H

#include "cmd/web/snapshot.h"
#include "cmd/web/state.h"

/* Return the text of a document, or NULL if out of memory. */
struct web_text *web_document_overview(struct web_state *w);
struct web_text *web_document_nodes(const struct web_snapshot *s);
/* `services`: WEB_SERVICE_METRICS, or NULL. */
struct web_text *web_document_metrics(const struct web_snapshot *s,
				      const struct web_text *services);

/* Returns the document of one node, or NULL if out of memory. `detail` is the node's JSON as `dxp
 * top` prints it, or NULL. */
struct web_text *web_document_node(const struct web_node *n, const struct web_text *detail);

#endif
