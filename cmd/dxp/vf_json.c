/* SPDX-License-Identifier: BSD-3-Clause */
#include <dxp/status.h>

#include "base/util.h"
#include "cmd/dxp/vf.h"

const char *vf_state_name(const struct attach_row *r)
{
	static const char *const states[] = {[0] = "free",
					     [DXP_FUNCTION_OPEN] = "open",
					     [DXP_FUNCTION_STOPPED] = "stopped",
					     [DXP_FUNCTION_CLOSED] = "closing"};

	return states[r->state];
}

const char *vf_priority_name(const struct attach_row *r)
{
	return r->priority ? "high" : "normal";
}

static json_t *counters_json(const struct dxp_function_counters *c)
{
	json_t *out = json_object();

#define COUNTER_JSON(name) json_object_set_new(out, #name, json_integer((json_int_t)c->name));
	DXP_COUNTER_LIST(COUNTER_JSON)
#undef COUNTER_JSON
	return out;
}

static json_t *row_json(const struct attach_row *r)
{
	return json_pack("{s:i, s:i, s:i, s:s, s:s, s:i, s:i, s:s, s:I, s:b, s:s, s:i, s:I, s:o}",
			 "function", r->function, "qp", r->qp, "qps", r->qps, "state",
			 vf_state_name(r), "label", r->label, "pid", (int)r->pid, "weight",
			 r->weight, "priority", vf_priority_name(r), "limit_bytes_per_s",
			 (json_int_t)r->limit_bytes_per_s, "armed", r->armed, "error",
			 r->error ? dxp_status_name(-(int)r->error) : "", "regions",
			 (int)r->regions, "mapped_bytes", (json_int_t)r->mapped_bytes, "counters",
			 counters_json(&r->counters));
}

json_t *vf_json(const struct vf_nic *nic)
{
	json_t *rows = json_array();

	for (unsigned i = 0; i < nic->row_count; i++)
		json_array_append_new(rows, row_json(&nic->rows[i]));
	return json_pack("{s:s, s:s, s:I, s:o}", "name", nic->offered.name, "folder",
			 nic->offered.folder, "malformed", (json_int_t)nic->malformed, "functions",
			 rows);
}
