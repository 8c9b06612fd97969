/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares functions of `dxp inc` that query switches, and its two output formats. */
#ifndef CMD_DXP_INC_H
#define CMD_DXP_INC_H

#include <jansson.h>

#include "base/util.h"
#include "wire/inc.h"

#define INC_TREE_MAX 64 /* switches shown: this host's and those above it */
#define IP_BYTES     16

/* Formats "10.0.0.1"; returns out. */
const char *inc_ip_format(uint32_t ip, char out[IP_BYTES]);

/* ---- queries (inc_client.c) ---- */

struct inc_client;

/* Opens a socket for queries. Returns DXP_EIO, logged, if there is none. */
int inc_client_open(uint32_t own_ip, struct inc_client **out);
void inc_client_close(struct inc_client *a);

/* Sends a query, with retries, and writes the switch's answer to *out. Returns DXP_ETIMEDOUT if
 * there is none. */
int inc_client_query(struct inc_client *a, uint32_t switch_ip, const struct inc_inquiry *q,
		     struct inc_answer *out);

/* ---- answers ---- */

struct inc_switch_view {
	uint32_t ip;
	unsigned above; /* levels above this host's switch */
	bool silent;    /* no answer: only ip and above are valid */
	struct inc_switch_row row;
	struct inc_group_row *groups; /* allocated if requested */
	size_t group_count;
	struct inc_refusal_row *refusals;
	size_t refusal_count;
};

struct inc_tree {
	struct inc_switch_view switches[INC_TREE_MAX];
	size_t count;
};

/* Reads the state of a switch and of all switches above it, with `section` of each. Returns DXP_OK
 * or DXP_ENOMEM. */
int inc_tree_read(struct inc_client *a, uint32_t switch_ip, enum inc_section section,
		  struct inc_tree *out);
void inc_client_tree_free(struct inc_tree *t);

/* ---- output (inc_show.c, inc_json.c, inc_names.c) ---- */

void inc_switches_show(const struct inc_tree *t);
void inc_groups_show(const struct inc_tree *t);
void inc_refusals_show(const struct inc_tree *t);
json_t *inc_tree_json(const struct inc_tree *t, enum inc_section section);

/* Return a text for a cause of rejection or a mode. */
const char *inc_refusal_text(unsigned cause);
const char *inc_mode_text(unsigned mode);
/* Returns "user space" or "XDP and user space". */
const char *inc_planes_text(unsigned planes);

#endif
