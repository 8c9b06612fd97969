/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include <dxp/status.h>

#include "base/util.h"
#include "cmd/dxp/vf.h"

/* Returns the number of rejected requests of peers plus the function's own bad descriptors. */
static uint64_t refused(const struct dxp_function_counters *c)
{
	return c->refused_magic + c->refused_key + c->refused_rights + c->refused_bounds +
	       c->refused_other + c->descriptors_bad;
}

static const char *amount(uint64_t bytes, char text[16])
{
	static const char units[] = "KMGTPE";
	double value = (double)bytes;
	int unit = -1;

	while (value >= 9999.5 && unit < 5) {
		value /= 1024;
		unit++;
	}
	if (unit < 0)
		snprintf(text, 16, "%llu", (unsigned long long)bytes);
	else
		snprintf(text, 16, "%.0f%c", value, units[unit]);
	return text;
}

void vf_table_head(void)
{
	printf("%-15s %-3s %-7s %-15s %8s %6s %-8s %8s %9s %7s %7s %8s %s\n", "NIC", "VF", "STATE",
	       "LABEL", "PID", "WEIGHT", "PRIORITY", "LIMIT/s", "DOORBELLS", "SENT", "RECV",
	       "REJECTED", "ERROR");
}

static void row_print(const struct vf_nic *nic, const struct attach_row *r)
{
	char name[16], pid[16] = "-", limit[16] = "-", sent[16], received[16];

	if (r->qps == NIC_QPS_PER_FUNCTION)
		snprintf(name, sizeof(name), "%u", r->function);
	else
		snprintf(name, sizeof(name), "%u.%u", r->function, r->qp);
	if (r->pid)
		snprintf(pid, sizeof(pid), "%u", r->pid);
	if (r->limit_bytes_per_s)
		amount(r->limit_bytes_per_s, limit);
	printf("%-15s %-3s %-7s %-15s %8s %6u %-8s %8s %9llu %7s %7s %8llu %s%s\n",
	       nic->offered.name, name, vf_state_name(r), r->label[0] ? r->label : "-", pid,
	       r->weight, vf_priority_name(r), limit, (unsigned long long)r->counters.doorbells,
	       amount(r->counters.sent_bytes, sent), amount(r->counters.received_bytes, received),
	       (unsigned long long)refused(&r->counters),
	       r->error ? dxp_status_name(-(int)r->error) : "-", r->armed ? " (armed)" : "");
}

void vf_table(const struct vf_nic *nic)
{
	for (unsigned i = 0; i < nic->row_count; i++)
		row_print(nic, &nic->rows[i]);
}

/* ---- register mode ---- */

static const char *error_name(uint32_t error)
{
	return error ? dxp_status_name(-(int)(error & 0x7f)) : "none";
}

void vf_registers(const struct attach_answer *a)
{
	const struct dxp_registers *r = &a->registers;

	printf("%-18s %-18s %-18s %s\n", "VADDR", "BYTES", "OFFSET", "KEY");
	for (unsigned i = 0; i < a->area_count; i++)
		printf("0x%016llx 0x%016llx 0x%016llx 0x%08x\n",
		       (unsigned long long)a->areas[i].vaddr, (unsigned long long)a->areas[i].bytes,
		       (unsigned long long)a->areas[i].offset, a->areas[i].key);
	if (a->area_count == 0)
		puts("(empty: dxp_lookup_add() fills it)");
	printf("\nsend  vaddr 0x%llx  bytes %u  node %u  ip %u.%u.%u.%u  port %u  queue %u.%u  qp "
	       "%u\n",
	       (unsigned long long)r->send_vaddr, r->send_bytes, r->node, r->ip >> 24,
	       r->ip >> 16 & 255, r->ip >> 8 & 255, r->ip & 255, r->port, r->queue >> 8,
	       r->queue & 255, r->qp);
	printf("      go %u  done %u%s  error %s\n", r->send_go, r->send_done,
	       r->send_go == r->send_done ? "" : " (outstanding)", error_name(r->send_error));
	printf("recv  vaddr 0x%llx  bytes %u  go %u  done %u  used %u  error %s\n",
	       (unsigned long long)r->recv_vaddr, r->recv_bytes, r->recv_go, r->recv_done,
	       r->recv_used, error_name(r->recv_error));
	printf("total %llu bytes written here by peers\n", (unsigned long long)a->total_bytes);
}

json_t *vf_registers_json(const struct attach_answer *a)
{
	const struct dxp_registers *r = &a->registers;
	json_t *areas = json_array();

	for (unsigned i = 0; i < a->area_count; i++)
		json_array_append_new(areas, json_pack("{s:I, s:I, s:I, s:I}", "vaddr",
						       (json_int_t)a->areas[i].vaddr, "bytes",
						       (json_int_t)a->areas[i].bytes, "offset",
						       (json_int_t)a->areas[i].offset, "key",
						       (json_int_t)a->areas[i].key));
	json_t *send = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s}", "vaddr",
				 (json_int_t)r->send_vaddr, "bytes", (json_int_t)r->send_bytes,
				 "node", (json_int_t)r->node, "ip", (json_int_t)r->ip, "port",
				 (json_int_t)r->port, "queue", (json_int_t)r->queue, "qp",
				 (json_int_t)r->qp, "go", (json_int_t)r->send_go, "done",
				 (json_int_t)r->send_done, "error", error_name(r->send_error));
	json_t *receive =
		json_pack("{s:I, s:I, s:I, s:I, s:I, s:s}", "vaddr", (json_int_t)r->recv_vaddr,
			  "bytes", (json_int_t)r->recv_bytes, "go", (json_int_t)r->recv_go, "done",
			  (json_int_t)r->recv_done, "used", (json_int_t)r->recv_used, "error",
			  error_name(r->recv_error));
	return json_pack("{s:o, s:o, s:o, s:I}", "areas", areas, "send", send, "receive", receive,
			 "total_bytes", (json_int_t)a->total_bytes);
}
