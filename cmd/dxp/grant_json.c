/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/grant.h"

json_t *grant_list_json(const struct query *a)
{
	const struct grants_row *rows;
	const size_t count = query_grants(a, &rows);
	json_t *all = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(
			all, json_pack("{s:s, s:s}", "host", rows[i].host, "xpu", rows[i].xpu));
	return json_pack("{s:s, s:o}", "policy", query_explicit(a) ? "explicit" : "any", "grants",
			 all);
}
