/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives between xPUs: sums and copies of device memory among the members of a group. The host
 * posts commands; the xPUs exchange the data and notify each other of completions. No data passes
 * through the host.
 *
 *   dxp_group_create()  an ordered list of xPUs, members 0 .. n - 1
 *   dxp_allreduce()     dxp_reduce()     dxp_reduce_scatter()   combine
 *   dxp_broadcast()     dxp_all_gather() dxp_all_to_all()       copy
 *   dxp_barrier()       only order
 *   dxp_fusion_begin()  dxp_fusion_end() fuse the allreduces between them
 *   dxp_group_wait()    waits for all operations and names a failure
 *   dxp_group_kernels() lets kernels start allreduces
 *
 * One call starts an operation on all members and returns without a round trip. The first operation
 * with a type and reduction builds a kernel on each xPU, which can take a second.
 *
 * Order:   operations of a group start at each member in the order of the calls. Any number may be
 *          outstanding.
 * Results: bitwise equal at all members, and in every run with the same members, lengths, options
 *          and switches. These determine the order in which contributions are combined, unless
 *          switches are lost or return.
 * Errors:  a call that fails starts nothing, unless the group is lost afterwards
 *          (dxp_group_status()). After a failure of an outstanding operation the group is lost:
 *          later calls return the same status. Destroy it and create another.
 * Threads: any thread may call; calls on one group are serialized. Close the xPUs after the group.
 * How it works: docs/design/collectives.md. */
#ifndef DXP_COLLECTIVE_H
#define DXP_COLLECTIVE_H

#include <dxp/mmd.h>
#include <dxp/reduction.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the bytes of an element; 0: no such type. */
DXP_API size_t dxp_type_bytes(enum dxp_type type);
/* Return the name of the type or reduction in the lists above; never NULL. The text is in static
 * storage. */
DXP_API const char *dxp_type_text(enum dxp_type type);
DXP_API const char *dxp_reduction_text(enum dxp_reduction reduction);

/* ---- groups ---- */

#define DXP_GROUP_MEMBERS_MAX 64

struct dxp_group;

/* How the members exchange the data.
 * SWITCH: switches compute allreduces (dxp-switch; `dxpd --switch`). An operation that they cannot
 *         compute uses RING or TREE, see dxp_group_ways(). If the switches are lost during an
 *         operation, it continues by RING or TREE, with the same result for integers. The group
 *         tries again after 1 to 60 s, while operations use RING or TREE.
 * AUTO:   SWITCH for short allreduces if all members have a switch, except MIN and MAX of numbers
 *         that may be NaN. Otherwise RING for long operations, TREE for short ones. */
enum dxp_way { DXP_WAY_AUTO, DXP_WAY_RING, DXP_WAY_TREE, DXP_WAY_SWITCH, DXP_WAYS };

/* Options of a group. All zero: the defaults. */
struct dxp_group_options {
	enum dxp_way way;
	/* Most bytes of device memory that the group allocates at each member for operations, and
	 * again for fused ones that are copied; 0: 8 MiB; at least 64 KiB. With less memory, long
	 * operations exchange less data at a time, and short ones use trees with fewer branches. */
	uint64_t scratch_bytes;
};

/* Creates a group of open xPUs of one fabric. `options` may be NULL.
 * Shape:  1 .. DXP_GROUP_MEMBERS_MAX members. An xPU may be several members.
 * Owner:  the list is only read. The xPUs must stay open until dxp_group_destroy().
 * Errors: DXP_EINVAL: dxp_fabric_error() names the field; DXP_EPEERLOST, DXP_EPEERRESET: it names
 *         the member; DXP_ENOMEM. */
DXP_API int dxp_group_create(struct dxp_fabric *fabric, struct dxp_xpu *const *members,
			     uint32_t count, const struct dxp_group_options *options,
			     struct dxp_group **out);

/* Waits for all operations, then frees the group and its device memory. Does not wait after
 * dxp_group_abort(). A lost xPU ends the wait within 5 s. Operations that wait for pending events
 * of the program are given up after the same time. Accepts NULL. */
DXP_API void dxp_group_destroy(struct dxp_group *group);

/* Makes the group lost with DXP_ECLOSED, unless it is already lost. Commands that were posted
 * complete or fail by themselves. Allreduces of kernels end with DXP_ECANCELED; then waits for the
 * members' answers. */
DXP_API void dxp_group_abort(struct dxp_group *group);

/* Waits until all operations started so far are complete. Returns the group's status, see
 * dxp_group_status(). DXP_ETIMEDOUT: not complete within timeout_ns; nothing has changed. */
DXP_API int dxp_group_wait(struct dxp_group *group, uint64_t timeout_ns);

/* Returns, without waiting, DXP_OK or the reason why the group is lost. In the second case,
 * dxp_fabric_error() names the operation and the member. The library notices a loss in this
 * function, in dxp_group_wait() and in the next operation. */
DXP_API int dxp_group_status(struct dxp_group *group);

/* How the operations of a group were carried out. */
struct dxp_group_ways {
	uint64_t operations[DXP_WAYS]; /* operations started, by the way that was chosen first */
	uint64_t continued; /* allreduces that lost their switches and continued by RING or TREE */
	/* The reason why the last allreduce that could use switches did not, with the next step;
	 * "": it used them, or there was none. If it failed, the text of the failure. */
	char why[256];
	uint64_t fused; /* allreduces that ran as a part of another one, see dxp_fusion_begin() */
};
/* Fills *out. `out_bytes` is the size of the caller's struct. */
DXP_API void dxp_group_ways_sized(struct dxp_group *group, struct dxp_group_ways *out,
				  size_t out_bytes);
#define dxp_group_ways(group, out) \
	dxp_group_ways_sized((group), (out), sizeof(struct dxp_group_ways))

/* Gives the switches of a group to kernels, which then start allreduces by themselves: each kernel
 * posts a descriptor with *number, see dxp_post_allreduce() in dxp/device.h. Makes the members join
 * the switches, unless they have. Further calls return the same number.
 * Order:  wait for the group's operations before this call. Afterwards, operations of this host in
 *         the group use RING or TREE, also after the switches were lost.
 * Errors: DXP_EINVAL: fewer than two members, or way RING or TREE; DXP_EUNSUPPORTED: the group
 *         cannot use switches, dxp_fabric_error() has the reason. */
DXP_API int dxp_group_kernels(struct dxp_group *group, uint32_t *number);

/* ---- operations ---- */

/* Memory of one member. Addresses are in the memory of the member's xPU, and multiples of the
 * element's size. The lengths are the bytes that the operation may use; more than needed is
 * allowed. */
struct dxp_part {
	/* input of this member; the operation only reads it, unless it is also the output */
	uint64_t from, from_bytes;
	uint64_t to, to_bytes; /* output */
	/* The operation neither reads `from` nor writes `to` before these events are complete. Any
	 * events of the fabric are allowed. Entries with 0 are skipped. */
	const dxp_event *wait;
	uint32_t wait_count;
};

struct dxp_collective {
	const struct dxp_part *parts; /* one for each member */
	uint64_t count;               /* elements; each operation explains it. 0: moves no data */
	enum dxp_type type;
	enum dxp_reduction reduction; /* only for operations that combine */
	uint32_t root;                /* dxp_reduce(), dxp_broadcast(): number of the root */
	/* If not NULL: receives one event for each member. It completes when the member's memory
	 * may be used again. When all of them are complete, the operation is complete. The caller
	 * owns these events (dxp_event_wait(), dxp_event_forget()). */
	dxp_event *events;
	enum dxp_way way; /* of this operation; AUTO: that of the group's options */
	/* If not NULL: receives the way by which the operation starts, never AUTO. */
	enum dxp_way *started;
};

/* In the comments of the operations, n is the number of members, and indices count elements.
 *
 * Errors: DXP_EINVAL, DXP_ERANGE: an argument; dxp_fabric_error() names member and field.
 *         DXP_EUNSUPPORTED: an xPU has no kernels, or not this type. DXP_EBUILD; DXP_ENOMEM: no
 *         device memory. DXP_EPEERLOST, DXP_EPEERRESET: a member is lost; DXP_ENOENT: a wait list
 *         has an unknown event. After one of the last three the group is lost. */

/* At each member: to[0 .. count) = reduction of all members' from[0 .. count). In place: to ==
 * from. */
DXP_API int dxp_allreduce(struct dxp_group *group, const struct dxp_collective *collective);
/* At the root: to[0 .. count) = reduction of all members' from[0 .. count). Other members' `to` is
 * not used. */
DXP_API int dxp_reduce(struct dxp_group *group, const struct dxp_collective *collective);
/* At member i: to[0 .. count) = reduction of all members' from[i * count .. (i + 1) * count), so
 * `from` has n * count elements. In place: `to` is this part of the member's `from`. */
DXP_API int dxp_reduce_scatter(struct dxp_group *group, const struct dxp_collective *collective);
/* At each member: to[i * count .. (i + 1) * count) = member i's from[0 .. count), so `to` has n *
 * count elements. In place: `from` is the member's own part of `to`. */
DXP_API int dxp_all_gather(struct dxp_group *group, const struct dxp_collective *collective);
/* At each member: to[0 .. count) = the root's from[0 .. count). Other members' `from` is not used.
 * In place at the root: to == from. */
DXP_API int dxp_broadcast(struct dxp_group *group, const struct dxp_collective *collective);
/* At member i: to[j * count .. (j + 1) * count) = member j's from[i * count .. (i + 1) * count). It
 * cannot be done in place. */
DXP_API int dxp_all_to_all(struct dxp_group *group, const struct dxp_collective *collective);
/* Completes at each member when the wait lists of all members are complete. Uses only `events` and
 * `parts`, which may be NULL if there are no waits. */
DXP_API int dxp_barrier(struct dxp_group *group, const struct dxp_collective *collective);

/* ---- fusion ---- */

/* Collects the group's allreduces from here to dxp_fusion_end(), which starts them: neighbours of
 * the same type, reduction and way as one allreduce. This saves the time of many short ones.
 * Without a copy:   each member's inputs and outputs follow each other without gaps, in the order
 *                   of the calls, and from_bytes and to_bytes of the first call reach to the end
 *                   of the last one.
 * With copies:      otherwise, up to 64 KiB together, from 8 members on 128 KiB for each member,
 *                   and at most scratch_bytes. Each xPU copies them to memory of the group and
 * back. Not fused:        an allreduce that uses an output, or overwrites an input, of an earlier
 * one. Order:   as without fusion. Another operation of the group starts the collected ones first.
 *          dxp_group_wait() does not. dxp_group_destroy() drops them.
 * Owner:   wait lists are copied. `events` and `started` must stay valid until dxp_fusion_end(),
 *          which sets them.
 * Errors:  DXP_EINVAL: a fusion of this group has begun already; DXP_ENOMEM; the group is lost. An
 *          allreduce with bad arguments fails in its own call and is not collected. */
DXP_API int dxp_fusion_begin(struct dxp_group *group);
/* Starts the collected allreduces, without a round trip.
 * Errors: those of allreduces, also of those that another operation has started. Allreduces after
 *         the failed one are dropped, and their events are not set. DXP_EINVAL: no fusion has
 *         begun. */
DXP_API int dxp_fusion_end(struct dxp_group *group);

/* Do what the operations of the same names do, for a struct of `bytes` bytes, which may be of an
 * older or newer version. Fields that it lacks count as 0. The macros pass the size that the caller
 * was compiled with. Pointers to the functions without `_sized` are for linked programs only: these
 * functions read the fields up to `events`. */
DXP_API int dxp_allreduce_sized(struct dxp_group *group, const struct dxp_collective *collective,
				size_t bytes);
DXP_API int dxp_reduce_sized(struct dxp_group *group, const struct dxp_collective *collective,
			     size_t bytes);
DXP_API int dxp_reduce_scatter_sized(struct dxp_group *group,
				     const struct dxp_collective *collective, size_t bytes);
DXP_API int dxp_all_gather_sized(struct dxp_group *group, const struct dxp_collective *collective,
				 size_t bytes);
DXP_API int dxp_broadcast_sized(struct dxp_group *group, const struct dxp_collective *collective,
				size_t bytes);
DXP_API int dxp_all_to_all_sized(struct dxp_group *group, const struct dxp_collective *collective,
				 size_t bytes);
DXP_API int dxp_barrier_sized(struct dxp_group *group, const struct dxp_collective *collective,
			      size_t bytes);
#define dxp_allreduce(group, ...) \
	dxp_allreduce_sized((group), (__VA_ARGS__), sizeof(struct dxp_collective))
#define dxp_reduce(group, ...) \
	dxp_reduce_sized((group), (__VA_ARGS__), sizeof(struct dxp_collective))
#define dxp_reduce_scatter(group, ...) \
	dxp_reduce_scatter_sized((group), (__VA_ARGS__), sizeof(struct dxp_collective))
#define dxp_all_gather(group, ...) \
	dxp_all_gather_sized((group), (__VA_ARGS__), sizeof(struct dxp_collective))
#define dxp_broadcast(group, ...) \
	dxp_broadcast_sized((group), (__VA_ARGS__), sizeof(struct dxp_collective))
#define dxp_all_to_all(group, ...) \
	dxp_all_to_all_sized((group), (__VA_ARGS__), sizeof(struct dxp_collective))
#define dxp_barrier(group, ...) \
	dxp_barrier_sized((group), (__VA_ARGS__), sizeof(struct dxp_collective))

#ifdef __cplusplus
}
#endif
#endif
