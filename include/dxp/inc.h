/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives that switches compute: allreduce, reduce, barrier, broadcast over members that each
 * send one packet for each segment to the switch next to them and get the result back.
 *
 * An endpoint is a process's way to its switch. A group is an ordered set of endpoints (members 0
 * .. n - 1) with a tree of switches above it. All members make the same calls on a group in the
 * same order, as in MPI. What a group returns is bitwise equal at all members, and equal on every
 * run with the same members and the same tree: contributions are combined in the order of members
 * below each switch, then in the order of switches.
 *
 * When a switch dies, forgets the group or stays silent past the deadline, the members agree among
 * themselves (host to host) which elements have results everywhere: each call then ends with
 * DXP_EPEERLOST and the same count of finished elements at every member, the group takes no more
 * calls, and the caller goes on by other means (the MPI doors: with ordinary MPI).
 *
 * Thread-safe: calls on different groups may run in different threads; calls on one group must be
 * ordered by the caller. Source: N-01 .. N-12; docs/inc.md; bytes: docs/wire.md "In-network
 * computing". */
#ifndef DXP_INC_H
#define DXP_INC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dxp/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, value on the wire, text). Values are part of the wire: append, never renumber. */
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

/* X(name, value on the wire, bytes of an element, text). Elements are little-endian. The pairs of
 * MINLOC and MAXLOC: a value and a 32-bit index behind it; those of 16 bytes have four bytes behind
 * the index that are zero on the wire. */
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

/* Bytes of an element; 0: no such type. */
DXP_API size_t dxp_inc_type_bytes(enum dxp_inc_type type);

/* Is the operation defined on the type? SUM, PROD, MIN, MAX: all numbers. LAND, LOR, LXOR, BAND,
 * BOR, BXOR: integers and (the last three) bytes. MINLOC, MAXLOC: the pairs. */
DXP_API bool dxp_inc_defined(enum dxp_inc_op op, enum dxp_inc_type type);

/* ---- the endpoint ---- */

struct dxp_inc;

enum dxp_inc_framing { DXP_INC_UD, DXP_INC_RC };

/* Zero or NULL means the default. */
struct dxp_inc_options {
	/* The switch next to this host: an IPv4 address, or several "NETWORK/BITS=SWITCH" with
	 * commas between them, of which the first whose network has an address of this host counts.
	 * NULL: DXP_INC_SWITCH in the environment, then "switch = ..." in /etc/dxp/inc.conf. */
	const char *switches;
	/* Times below 10 ms count as that. Time in which this process was kept from running is not
	 * counted. */
	uint64_t deadline_ns; /* of a call without progress, then the group is lost; 0: 2 s */
	/* When a group is lost, a member that does not answer the others is waited for so long,
	 * then given up; 0: half of the deadline. Who is alive but does not run (stopped, starved)
	 * and is given up may end with another count of finished elements than the others. */
	uint64_t patience_ns;
	uint64_t create_ns; /* of a group's creation, once its switch answered; 0: 5 s. Where
			     * nothing listens is known soon, where nothing answers after 2 s
			     */
	uint64_t spin_ns;   /* a wait spins so long before it sleeps; 0: never spins */
	enum dxp_inc_framing framing;
	bool no_icrc_check; /* received packets are not checked; sent ones are always right */
	bool user_plane;    /* groups keep to the user-space plane though XDP may be there */
	/* Called while a wait has nothing to do: after its first few ms (a tick of the kernel),
	 * then at least every 100 us; NULL: nobody. For progress of an MPI library. */
	void (*idle)(void *context);
	void *idle_context;
};

/* DXP_ENOENT: no switch is named for this host. DXP_EIO: no socket (logged). DXP_EINVAL: `switches`
 * does not parse (logged). */
DXP_API int dxp_inc_open(const struct dxp_inc_options *options, struct dxp_inc **out);

/* Its groups must have been destroyed. Takes up to 0.1 s after the last call, in which slower
 * members may still need its result; a process may also end without it, and the switches find out
 * after a while. In a child of the process that opened it nothing else may be called: its calls
 * end with DXP_ECLOSED. */
DXP_API void dxp_inc_close(struct dxp_inc *inc);

/* ---- groups ---- */

struct dxp_inc_group;

/* How the members talk before there is a group. All members call in the same order. `allgather`:
 * member i's `bytes` bytes arrive at i * bytes of `all` at every member; 0, or not 0: it failed,
 * which fails at every member or ends the program. */
struct dxp_inc_bootstrap {
	uint32_t member, members; /* 1 .. DXP_INC_MEMBERS_MAX */
	int (*allgather)(void *context, const void *mine, void *all, size_t bytes);
	void *context;
};

#define DXP_INC_MEMBERS_MAX 4096
#define DXP_INC_WHY_BYTES   192

enum dxp_inc_mode { DXP_INC_NODE, DXP_INC_SOCKET, DXP_INC_FLAT }; /* master_num of N-04 */

struct dxp_inc_group_options {
	enum dxp_inc_mode mode; /* for those who look at the switch; changes nothing */
	uint64_t job_id;        /* the same: who owns the group */
	uint32_t c_id, world_rank;
};

/* Query, notify (N-06), then all members have the group or none has: the outcome is the same
 * everywhere. On failure `why` has a sentence for the user, the same at all members up to who
 * was refused. DXP_ENOENT: some member's switch does not answer. DXP_EBUSY: a switch has no group
 * or memory left. DXP_EUNSUPPORTED: the switches do not share a tree. */
DXP_API int dxp_inc_group_create(struct dxp_inc *inc, const struct dxp_inc_bootstrap *bootstrap,
				 const struct dxp_inc_group_options *options,
				 struct dxp_inc_group **out, char why[DXP_INC_WHY_BYTES]);

/* Kill (N-07): member 0 tells the switches; the others only let go. Any member may call it at any
 * time that it has no call in flight; what slower members still need of the last call stays with
 * the endpoint for a while. */
DXP_API void dxp_inc_group_destroy(struct dxp_inc_group *group);

struct dxp_inc_group_view {
	uint32_t id, member, members, depth; /* depth: switches above a member */
	uint16_t epoch;
	bool kernel;            /* short calls go through XDP */
	bool lost;              /* takes no more calls */
	int lost_status;        /* why: DXP_ETIMEDOUT, DXP_ENOENT (switch forgot it), ... */
	uint32_t segment_bytes; /* payload of a packet */
	uint32_t window;        /* segments in flight */
	uint64_t calls, segments_sent, segments_repeated, results, duplicates, refused;
};
DXP_API void dxp_inc_group_view(const struct dxp_inc_group *group, struct dxp_inc_group_view *out);

/* Will a call be taken, by what the switches of this group can? The same at all members. */
DXP_API bool dxp_inc_takes(const struct dxp_inc_group *group, enum dxp_inc_op op,
			   enum dxp_inc_type type, size_t count);

/* ---- calls ---- */

struct dxp_inc_call;

/* Starts a call; it makes progress inside dxp_inc_test, dxp_inc_wait and any other call on the same
 * endpoint. `send` may equal `receive`, or be NULL: the data is in `receive` (MPI_IN_PLACE). Both
 * belong to the call until it is done; `send` is not changed unless it is `receive`. *out must be
 * given to dxp_inc_test or dxp_inc_wait until one of them ends it.
 * DXP_EPEERLOST: the group is lost, nothing was started. DXP_EUNSUPPORTED: not taken
 * (dxp_inc_takes). DXP_EINVAL; DXP_ENOMEM.
 * count 0 is a call without a packet, done at once. */
DXP_API int dxp_inc_allreduce_start(struct dxp_inc_group *group, const void *send, void *receive,
				    size_t count, enum dxp_inc_type type, enum dxp_inc_op op,
				    struct dxp_inc_call **out);

/* The result only at member `root`; `receive` of the others is not written and may be NULL. */
DXP_API int dxp_inc_reduce_start(struct dxp_inc_group *group, const void *send, void *receive,
				 size_t count, enum dxp_inc_type type, enum dxp_inc_op op,
				 uint32_t root, struct dxp_inc_call **out);

/* `data` of `root` to all others. */
DXP_API int dxp_inc_broadcast_start(struct dxp_inc_group *group, void *data, size_t bytes,
				    uint32_t root, struct dxp_inc_call **out);

DXP_API int dxp_inc_barrier_start(struct dxp_inc_group *group, struct dxp_inc_call **out);

/* Not done yet: DXP_EAGAIN. Otherwise the call is freed and this is its status; *done_elements
 * (may be NULL) of it have their result at every member, counted from the first.
 * DXP_OK: all. DXP_EPEERLOST: the group was lost; elements from *done_elements on are untouched.
 * DXP_EINVAL: members disagree on size, type, operation or root: the same at all members, and the
 * group is lost. */
DXP_API int dxp_inc_test(struct dxp_inc_call *call, size_t *done_elements);

/* Waits until it is done. Never longer than the deadline after the last progress of any member. */
DXP_API int dxp_inc_wait(struct dxp_inc_call *call, size_t *done_elements);

/* Start and wait. */
DXP_API int dxp_inc_allreduce(struct dxp_inc_group *group, const void *send, void *receive,
			      size_t count, enum dxp_inc_type type, enum dxp_inc_op op,
			      size_t *done_elements);
DXP_API int dxp_inc_barrier(struct dxp_inc_group *group);

/* ---- looking ---- */

/* Asks the switch for one line about this host: 0 and, for instance, "offload works: switch
 * 10.77.0.241 (kernel plane), 1 switch above it, 8 B in 5.2 us"; or not 0 and why not. Needs no
 * other host: a group of one. */
DXP_API int dxp_inc_selftest(struct dxp_inc *inc, char line[DXP_INC_WHY_BYTES]);

#ifdef __cplusplus
}
#endif
#endif
