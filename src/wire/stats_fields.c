/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/stats_fields.h"

static const struct {
	const char *name;
	bool counts;
} session_fields[] = {
#define COUNT(name) {#name, true},
#define LEVEL(name) {#name, false},
	STATS_SESSION_LIST(COUNT, LEVEL)
#undef COUNT
#undef LEVEL
};

static const char *const node_fields[] = {
#define NAME(name) #name,
	STATS_LINK_LIST(NAME) STATS_ENDPOINT_LIST(NAME) STATS_NIC_LIST(NAME) STATS_SERVE_LIST(NAME)
#undef NAME
};

bool stats_session_counts(enum stats_session_field field)
{
	return session_fields[field].counts;
}

const char *stats_session_name(enum stats_session_field field)
{
	return session_fields[field].name;
}

const char *stats_node_name(enum stats_node_field field)
{
	return node_fields[field];
}
