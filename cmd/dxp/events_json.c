/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/events.h"

const char *event_severity_name(enum event_severity severity)
{
	static const char *const names[] = {"info", "warning", "critical"};

	return names[severity];
}

json_t *event_row_json(const struct event_row *row)
{
	return json_pack("{s:I, s:I, s:s, s:s, s:s, s:s}", "sequence", (json_int_t)row->sequence,
			 "time_ms", (json_int_t)row->time_ms, "severity",
			 event_severity_name(event_kind_severity(row->kind)), "kind",
			 event_kind_name(row->kind), "subject", row->subject, "text", row->text);
}
