/* SPDX-License-Identifier: BSD-3-Clause */
/* What `dxp inc` knows of switches, and its two ways to show it. */
#ifndef CMD_DXP_INC_H
#define CMD_DXP_INC_H

#include <jansson.h>

#include "base/util.h"
#include "wire/inc.h"

#define INC_TREE_MAX 64 /* switches shown: those from a host's own upward */
#define IP_BYTES     16

/* "10.0.0.1"; returns out. */
const char *ip_format(uint32_t ip, char out[IP_BYTES]);

/* ---- asking (inc_ask.c) ---- */

struct inc_asker;

/* DXP_EIO: no socket (logged). */
int inc_asker_open(uint32_t own_ip, struct inc_asker **out);
void inc_asker_close(struct inc_asker *a);

/* One answer of a switch; repeats the question. DXP_ETIMEDOUT: it does not answer. */
int inc_asker_ask(struct inc_asker *a, uint32_t switch_ip, const struct inc_inquiry *q,
		  struct inc_answer *out);

/* ---- what was answered ---- */

struct inc_switch_view {
	uint32_t ip;
	unsigned above; /* 0: this host's own; its parents 1 ... */
	bool silent;    /* no answer: only ip and above count */
	struct inc_switch_row row;
	struct inc_group_row *groups; /* allocated; if they were asked for */
	size_t group_count;
	struct inc_refusal_row *refusals;
	size_t refusal_count;
};

struct inc_tree {
	struct inc_switch_view switches[INC_TREE_MAX];
	size_t count;
};

/* Asks a switch, and all above it, for themselves and for `section`. DXP_ENOMEM. */
int inc_tree_read(struct inc_asker *a, uint32_t switch_ip, enum inc_section section,
		  struct inc_tree *out);
void inc_tree_free(struct inc_tree *t);

/* ---- showing (inc_show.c, inc_json.c) ---- */

void inc_switches_show(const struct inc_tree *t);
void inc_groups_show(const struct inc_tree *t);
void inc_refusals_show(const struct inc_tree *t);
json_t *inc_tree_json(const struct inc_tree *t, enum inc_section section);

/* Why, in words. */
const char *inc_refusal_text(unsigned cause);
const char *inc_mode_text(unsigned mode);
/* "user space", "XDP and user space". */
const char *inc_planes_text(unsigned planes);

#endif
