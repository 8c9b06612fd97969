/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields of control payload and rows in wire order, for codec and the test against
 * docs/reference/wire.md. X(bits, field). */
#ifndef WIRE_INC_FIELDS_H
#define WIRE_INC_FIELDS_H

/* Two zero bytes and path_count hops follow. */
#define INC_CONTROL_FIELDS(X) \
	X(8, master_num)      \
	X(8, hop)             \
	X(8, sup_comm_type)   \
	X(8, fail_cause)      \
	X(32, sup_op)         \
	X(32, sup_type)       \
	X(16, segment_bytes)  \
	X(16, window)         \
	X(8, planes)          \
	X(8, path_count)      \
	X(16, member_port)    \
	X(32, members)        \
	X(32, true_comm_id)   \
	X(32, qkey)           \
	X(32, free_groups)    \
	X(32, lease_ms)       \
	X(64, job_id)         \
	X(32, c_id)           \
	X(32, world_rank)     \
	X(32, member_ip)      \
	X(32, first_ip)       \
	X(32, cause_ip)       \
	X(16, first_port)

#define INC_HOP_FIELDS(X) \
	X(32, ip)         \
	X(16, children)   \
	X(16, index)

/* INC_NAME_BYTES of name, padded with zeros, precede. */
#define INC_SWITCH_ROW_FIELDS(X)    \
	X(32, ip)                   \
	X(32, parents[0])           \
	X(32, parents[1])           \
	X(32, parents[2])           \
	X(32, parents[3])           \
	X(32, groups)               \
	X(32, groups_max)           \
	X(64, uptime_ms)            \
	X(64, memory_bytes)         \
	X(64, memory_max)           \
	X(64, received)             \
	X(64, sent)                 \
	X(64, contributions)        \
	X(64, results)              \
	X(64, repeats)              \
	X(64, duplicates)           \
	X(64, stale)                \
	X(64, foreign)              \
	X(64, malformed)            \
	X(64, icrc_wrong)           \
	X(64, refused)              \
	X(64, kernel_contributions) \
	X(64, kernel_results)       \
	X(64, kernel_passed)        \
	X(64, limited)              \
	X(64, expired)              \
	X(64, forwarded_queued)     \
	X(64, computed_queued)      \
	X(64, forwarded_first)      \
	X(64, computed_first)       \
	X(64, forwarded_dropped)    \
	X(64, computed_dropped)     \
	X(8, planes)                \
	X(8, parent_count)

#define INC_GROUP_ROW_FIELDS(X) \
	X(32, id)               \
	X(32, members)          \
	X(32, children)         \
	X(32, children_here)    \
	X(32, parent_ip)        \
	X(16, epoch)            \
	X(8, planes)            \
	X(8, master_num)        \
	X(64, job_id)           \
	X(64, age_ms)           \
	X(64, idle_ms)          \
	X(64, lease_ms)         \
	X(32, world_rank)       \
	X(32, slots)            \
	X(32, slots_busy)       \
	X(64, contributions)    \
	X(64, results)          \
	X(64, repeats)          \
	X(64, mismatches)

#define INC_REFUSAL_ROW_FIELDS(X) \
	X(32, last_ip)            \
	X(32, last_group)         \
	X(64, count)              \
	X(64, last_ms_ago)        \
	X(8, cause)

#endif
