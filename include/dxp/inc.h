/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives that switches compute: allreduce, reduce, broadcast and barrier. Each member sends
 * one packet per segment to its switch and receives the result.
 *
 * An endpoint connects a process to its switch. A group is an ordered set of endpoints (members 0
 * .. n - 1) under a tree of switches. All members call the same operations on a group in the same
 * order, as in MPI. Results are bitwise equal at all members, and in every run with the same
 * members and tree: each switch combines contributions in the order of its members, then of its
 * child switches.
 *
 * A group is lost if a switch fails, forgets the group or is silent past the deadline. Then the
 * members agree, by host-to-host packets, on the elements for which all members have results. Each
 * operation completes with DXP_EPEERLOST and the same count of finished elements at every member.
 * The group accepts no more operations. The caller continues by other means; the MPI plugins use
 * ordinary MPI.
 * Threads: different threads may use different groups; the caller serializes calls on one group.
 * Source: N-01 .. N-12; docs/reference/inc.md; bytes: docs/reference/wire.md "In-network
 *         computing". */
#ifndef DXP_INC_H
#define DXP_INC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dxp/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, value on the wire, text). Append only, because the values are part of the protocol. */
#define DXP_INC_OP_LIST(X)              \
	X(DXP_INC_NOOP, 0, "none")      \
	X(DXP_INC_SUM, 1, "sum")        \
	X(DXP_INC_PROD, 2, "prod")      \
	X(DXP_INC_MIN, 3, "min")        \
	X(DXP_INC_MAX, 4, "max")        \
	X(DXP_INC_LAND, 5, "land")      \
	X(DXP_INC_LOR, 6, "lor")        \
	X(DXP_INC_LXOR, 7, "lxor")      \
	X(DXP_INC_BAND, 8, "band")      \
	X(DXP_INC_BOR, 9, "bor")        \
	X(DXP_INC_BXOR, 10, "bxor")     \
	X(DXP_INC_MINLOC, 11, "minloc") \
	X(DXP_INC_MAXLOC, 12, "maxloc")

/* X(name, value on the wire, bytes of an element, text). Elements are little-endian. An element of
 * MINLOC and MAXLOC is a pair: a value and a 32-bit index. Pairs of 16 bytes end with four more
 * bytes, zero on the wire. */
#define DXP_INC_TYPE_LIST(X)                      \
	X(DXP_INC_BYTES, 0, 1, "bytes")           \
	X(DXP_INC_INT8, 1, 1, "int8")             \
	X(DXP_INC_INT16, 2, 2, "int16")           \
	X(DXP_INC_INT32, 3, 4, "int32")           \
	X(DXP_INC_INT64, 4, 8, "int64")           \
	X(DXP_INC_UINT8, 5, 1, "uint8")           \
	X(DXP_INC_UINT16, 6, 2, "uint16")         \
	X(DXP_INC_UINT32, 7, 4, "uint32")         \
	X(DXP_INC_UINT64, 8, 8, "uint64")         \
	X(DXP_INC_FP16, 9, 2, "fp16")             \
	X(DXP_INC_BF16, 10, 2, "bf16")            \
	X(DXP_INC_FLOAT, 11, 4, "float")          \
	X(DXP_INC_DOUBLE, 12, 8, "double")        \
	X(DXP_INC_INT32_INT, 13, 8, "int32+int")  \
	X(DXP_INC_INT64_INT, 14, 16, "int64+int") \
	X(DXP_INC_FLOAT_INT, 15, 8, "float+int")  \
	X(DXP_INC_DOUBLE_INT, 16, 16, "double+int")

#define DXP_INC_OP_ENUM(name, value, text)          name = value,
#define DXP_INC_TYPE_ENUM(name, value, bytes, text) name = value,
enum dxp_inc_op { DXP_INC_OP_LIST(DXP_INC_OP_ENUM) DXP_INC_OPS };
enum dxp_inc_type { DXP_INC_TYPE_LIST(DXP_INC_TYPE_ENUM) DXP_INC_TYPES };
#undef DXP_INC_OP_ENUM
#undef DXP_INC_TYPE_ENUM

/* Returns the bytes of an element; 0: no such type. */
DXP_API size_t dxp_inc_type_bytes(enum dxp_inc_type type);

/* Returns true if the operator is defined on the type. SUM, PROD, MIN, MAX: all numbers. LAND, LOR,
 * LXOR: integers. BAND, BOR, BXOR: integers and bytes. MINLOC, MAXLOC: pairs. */
DXP_API bool dxp_inc_defined(enum dxp_inc_op op, enum dxp_inc_type type);

/* ---- the endpoint ---- */

struct dxp_inc;

/* Format of packets. UD: RoCEv2 datagrams. RC: as UD, but data uses reliable connections between
 * members and switches, in user space only, with the widened header. COMPAT: datagrams with the
 * header of the source paper (docs/reference/wire.md "Compatible format"), for allreduces of at
 * most 256 bytes, in user space only; other operations return DXP_EUNSUPPORTED. */
enum dxp_inc_framing { DXP_INC_UD, DXP_INC_RC, DXP_INC_COMPAT };

/* Options of an endpoint. Zero or NULL selects the default. */
struct dxp_inc_options {
	/* This host's switch: an IPv4 address, or a list "NETWORK/BITS=SWITCH,...". The first entry
	 * of the list that has a network with an address of this host is used. NULL:
	 * $DXP_INC_SWITCH, then "switch = ..." in /etc/dxp/inc.conf. */
	const char *switches;
	/* The following times are in ns. A deadline_ns or create_ns below 10 ms becomes 10 ms. Time
	 * in which this process could not run does not count. */
	/* If an operation makes no progress for this time, the group is lost. A member that is late
	 * but still answers is waited for. 0: 2 s. */
	uint64_t deadline_ns;
	/* After a group is lost: time to wait for a silent member before it is treated as dead; 0:
	 * half of the deadline. If this member was only stopped or starved, it continues alone. Its
	 * number of finished elements may then differ from the number at other members. */
	uint64_t patience_ns;
	/* Longest time to create a group after its switch has answered; 0: 5 s. A closed port at
	 * the switch is detected at once, a silent switch after 2 s. */
	uint64_t create_ns;
	uint64_t spin_ns; /* time that a wait spins before it sleeps; 0: does not spin */
	enum dxp_inc_framing framing;
	/* do not check the ICRC of received packets; sent packets carry it anyway */
	bool no_icrc_check;
	bool user_plane; /* use the user-space plane even if XDP is available */
	/* Called during waits without work, for the progress of an MPI library. The first call
	 * comes after a few ms (one kernel tick), further calls at least every 100 us. Runs without
	 * the endpoint's lock. May be NULL. */
	void (*idle)(void *context);
	void *idle_context;
};

/* Opens an endpoint; close *out with dxp_inc_close(). `options` may be NULL.
 * Errors: DXP_ENOENT: no switch is configured for this host; DXP_EIO: no socket (logged);
 *         DXP_EINVAL: `switches` does not parse (logged); DXP_ENOMEM. */
DXP_API int dxp_inc_open(const struct dxp_inc_options *options, struct dxp_inc **out);

/* Closes an endpoint. Destroy its groups before this call. The call may last 0.1 s after the last
 * operation, because slower members may need its result. A process may exit without this call; the
 * switches then release its groups later. In a forked child, only this call is allowed; other calls
 * return DXP_ECLOSED. */
DXP_API void dxp_inc_close(struct dxp_inc *inc);

/* ---- groups ---- */

struct dxp_inc_group;

/* Functions by which the members communicate before the group exists. All members call them in the
 * same order. `allgather` collects `bytes` bytes from each member: at every member, the bytes of
 * member i are stored at i * bytes of `all`. It returns 0, or another value for a failure. A
 * failure must occur at every member, or exit the program. */
struct dxp_inc_bootstrap {
	uint32_t member, members; /* 1 .. DXP_INC_MEMBERS_MAX */
	int (*allgather)(void *context, const void *own, void *all, size_t bytes);
	void *context;
};

#define DXP_INC_MEMBERS_MAX 4096
#define DXP_INC_WHY_BYTES   192

/* Selects the processes that are members: one of each host, one of each CPU socket, or all
 * (master_num of N-04). */
enum dxp_inc_mode { DXP_INC_NODE, DXP_INC_SOCKET, DXP_INC_FLAT };

struct dxp_inc_group_options {
	/* `dxp inc` shows the mode. Only switches that use the compatible format act on it. */
	enum dxp_inc_mode mode;
	/* job that owns the group, as `dxp inc` shows it; it has no other effect */
	uint64_t job_id;
	uint32_t c_id, world_rank;
};

/* Creates a group by query and notify (N-06). All members must call it, and get the same outcome.
 * After a failure, `why` has a sentence for the user, the same at all members.
 * Errors: DXP_ENOENT: a member's switch does not answer; DXP_EBUSY: a switch has no free group or
 *         memory; DXP_EUNSUPPORTED: the switches share no tree; DXP_EINVAL; DXP_EIO; DXP_ENOMEM;
 *         DXP_ECLOSED. */
DXP_API int dxp_inc_group_create(struct dxp_inc *inc, const struct dxp_inc_bootstrap *bootstrap,
				 const struct dxp_inc_group_options *options,
				 struct dxp_inc_group **out, char why[DXP_INC_WHY_BYTES]);

/* Destroys a group by KILL (N-07). Member 0 notifies the switches; other members only release the
 * group. A member may call it when it has no outstanding operation. The endpoint keeps the last
 * result for slower members for about 0.1 s. */
DXP_API void dxp_inc_group_destroy(struct dxp_inc_group *group);

struct dxp_inc_group_view {
	uint32_t id, member, members, depth; /* depth: switches from this member to the root */
	uint16_t epoch;
	bool kernel; /* short operations use XDP */
	bool lost;   /* the group accepts no more operations */
	/* reason of the loss: DXP_ETIMEDOUT, DXP_ENOENT (the switch forgot the group), ... */
	int lost_status;
	uint32_t segment_bytes; /* payload bytes per packet */
	uint32_t window;        /* largest number of segments in flight */
	uint64_t calls, segments_sent, segments_repeated, results, duplicates, refused;
};
DXP_API void dxp_inc_group_view(const struct dxp_inc_group *group, struct dxp_inc_group_view *out);

/* Returns true if the group's switches support operations with this operator, type and number of
 * elements. All members get the same answer. */
DXP_API bool dxp_inc_accepts(const struct dxp_inc_group *group, enum dxp_inc_op op,
			     enum dxp_inc_type type, size_t count);

/* ---- operations ---- */

struct dxp_inc_operation;

/* Starts an allreduce. It progresses inside dxp_inc_test(), dxp_inc_wait() and other calls on the
 * endpoint. An operation with 0 elements completes at once, without a packet.
 * Shape:  `send` may equal `receive`; NULL: the data is in `receive` (MPI_IN_PLACE).
 * Owner:  `send` and `receive` belong to the operation until it completes; `send` is only read.
 *         Pass *out to dxp_inc_test() or dxp_inc_wait() until the status is not DXP_EAGAIN.
 * Errors: nothing is started. DXP_EPEERLOST: the group is lost; DXP_EUNSUPPORTED: see
 *         dxp_inc_accepts(); DXP_EINVAL; DXP_ENOMEM; DXP_ECLOSED. */
DXP_API int dxp_inc_allreduce_start(struct dxp_inc_group *group, const void *send, void *receive,
				    size_t count, enum dxp_inc_type type, enum dxp_inc_op op,
				    struct dxp_inc_operation **out);

/* Starts a reduce. It differs from dxp_inc_allreduce_start() in that only member `root` gets the
 * result. At other members `receive` is not written and may be NULL. */
DXP_API int dxp_inc_reduce_start(struct dxp_inc_group *group, const void *send, void *receive,
				 size_t count, enum dxp_inc_type type, enum dxp_inc_op op,
				 uint32_t root, struct dxp_inc_operation **out);

/* Starts a broadcast: copies `data` of member `root` to `data` of all other members. */
DXP_API int dxp_inc_broadcast_start(struct dxp_inc_group *group, void *data, size_t bytes,
				    uint32_t root, struct dxp_inc_operation **out);

DXP_API int dxp_inc_barrier_start(struct dxp_inc_group *group, struct dxp_inc_operation **out);

/* Makes progress. Returns DXP_EAGAIN until the operation is complete, then frees it and returns its
 * status. The first *done_elements elements have their result at every member; done_elements may be
 * NULL.
 * Errors: DXP_EPEERLOST: the group was lost; elements from *done_elements on are unchanged.
 *         DXP_EINVAL: members disagree on operation, operator, type, size or root; all members
 *         get this status, and the group is lost. */
DXP_API int dxp_inc_test(struct dxp_inc_operation *operation, size_t *done_elements);

/* Waits until the operation completes or the group is lost; `deadline_ns` of struct dxp_inc_options
 * limits the wait. Returns the statuses of dxp_inc_test() except DXP_EAGAIN. */
DXP_API int dxp_inc_wait(struct dxp_inc_operation *operation, size_t *done_elements);

/* Each starts an operation and waits for it. */
DXP_API int dxp_inc_allreduce(struct dxp_inc_group *group, const void *send, void *receive,
			      size_t count, enum dxp_inc_type type, enum dxp_inc_op op,
			      size_t *done_elements);
DXP_API int dxp_inc_barrier(struct dxp_inc_group *group);

/* ---- self-test ---- */

/* Tests the switch with a group of this host only. Returns 0 and a line such as "offload works:
 * switch 10.77.0.241 (kernel plane), 1 switch above it, 8 B in 5.2 us". If that fails, returns a
 * negative status, and the line is the reason. */
DXP_API int dxp_inc_selftest(struct dxp_inc *inc, char line[DXP_INC_WHY_BYTES]);

#ifdef __cplusplus
}
#endif
#endif
