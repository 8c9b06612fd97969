/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands on an xPU that return at once: what a queue of commands is built on. Each is one
 * message without a round trip; each may wait for events of any node of the fabric, which the nodes
 * tell each other; each ends in an event, like those of dxp_run() and dxp_send().
 *
 *   dxp_write()  dxp_read()           host memory and device memory
 *   dxp_copy()   dxp_fill()           boxes of bytes within one xPU's memory
 *   dxp_mark()                        nothing but an event
 *   dxp_event_create() .._set()       an event that the program ends itself
 *   dxp_event_notify() dxp_completions()   a queue of what has ended
 *   dxp_program_create() .._about()   programs of all kinds, and what is in them
 *   dxp_xpu_about() dxp_xpu_clock()   the device behind an xPU
 *
 * Threads, time and errors as in dxp/mmd.h. */
#ifndef DXP_ASYNC_H
#define DXP_ASYNC_H

#include <dxp/mmd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- events ---- */

/* An event of this program: PENDING until dxp_event_set, which ends it with DXP_OK or a negative
 * status, once (DXP_EINVAL: it has ended). Any command on any xPU may wait for it. */
DXP_API int dxp_event_create(struct dxp_fabric *fabric, dxp_event *out);
DXP_API int dxp_event_set(struct dxp_fabric *fabric, dxp_event event, int status);

/* Has the end of `event` told by dxp_completions, also where it has ended already. For events that
 * nobody waits for by dxp_event_wait. DXP_ENOENT: it is not known; DXP_ENOMEM. */
DXP_API int dxp_event_notify(struct dxp_fabric *fabric, dxp_event event, uint64_t cookie);

struct dxp_completion {
	uint64_t cookie;              /* as given */
	dxp_event event;              /* stays valid for wait lists until dxp_event_forget */
	bool begun;                   /* it has not ended: it is running (dxp_completions_begun) */
	int status;                   /* how the command ended */
	int32_t native;               /* what the device's driver said when it failed, in its own
					 numbers: OpenCL's error codes, which are negative, or
					 CUDA's results, which are positive; 0: nothing */
	struct dxp_event_times times; /* of a command that ran on a node: its clock; of a host's
					 event: this machine's monotonic clock */
};

/* Is it this host that carries the command out? */
static inline bool dxp_event_of_host(dxp_event event)
{
	return (uint16_t)(event >> 48) == (uint16_t)(event >> 32);
}

/* Takes up to `count` ends, oldest first; waits up to timeout_ns for the first. Returns how many: 0
 * when there was none in time, or when dxp_completions_wake was called meanwhile. */
DXP_API int dxp_completions(struct dxp_fabric *fabric, struct dxp_completion *out, uint32_t count,
			    uint64_t timeout_ns);
/* Has dxp_completions also tell, from now on, of commands that run for long (2 ms) that they have
 * begun; their ends follow. Best effort: one that ends meanwhile, or for which there is no memory,
 * is told by its end alone. */
DXP_API void dxp_completions_begun(struct dxp_fabric *fabric, bool tell);
/* Makes a dxp_completions that waits, or the next one to wait, return. Any thread. */
DXP_API void dxp_completions_wake(struct dxp_fabric *fabric);

/* Gives up an event that has ended; it must not be named again. One that has not ended is given up
 * when it does. */
DXP_API void dxp_event_forget(struct dxp_fabric *fabric, dxp_event event);

/* What an asynchronous command waits for; any number, of any nodes and of this host. Entries that
 * are 0 are skipped. */
struct dxp_waits {
	const dxp_event *events;
	uint32_t count;
	bool lazy; /* as dxp_launch.lazy */
	bool late; /* dxp_write: the bytes are not there before the waits have ended, so that none
		      are copied when it is made, however few */
};

/* ---- memory ---- */

#define DXP_INLINE_BYTES 1792 /* a write of no more than this is copied when it is made */

/* Host memory to device memory. `from` stays as it is until the event has ended, unless `bytes` is
 * at most DXP_INLINE_BYTES and waits->late is not set. Nothing is copied on the way: where all
 * waits have ended the host PUTs at once, else the xPU fetches when they have. DXP_ERANGE: outside
 * of device memory. */
DXP_API int dxp_write(struct dxp_xpu *xpu, uint64_t address, const void *from, uint64_t bytes,
		      const struct dxp_waits *waits, dxp_event *event);
/* Device memory to host memory; `to` is the call's until the event has ended. */
DXP_API int dxp_read(struct dxp_xpu *xpu, void *to, uint64_t address, uint64_t bytes,
		     const struct dxp_waits *waits, dxp_event *event);

/* A box of bytes: `slices` of `rows` of `row_bytes`; a pitch is the distance of two rows' or
 * slices' first bytes; 0: next to each other. */
struct dxp_box {
	uint64_t row_bytes, rows, slices;
	uint64_t from_row_pitch, from_slice_pitch;
	uint64_t to_row_pitch, to_slice_pitch;
};

/* Within the memory of one xPU; the two boxes do not overlap. DXP_EINVAL: a side is 0, or a pitch
 * is smaller than what it holds; DXP_ERANGE. The event fails with DXP_EACCESS where the range is in
 * no allocation of this host. */
DXP_API int dxp_copy(struct dxp_xpu *xpu, uint64_t from, uint64_t to, const struct dxp_box *box,
		     const struct dxp_waits *waits, dxp_event *event);

#define DXP_PATTERN_MAX 128
/* Repeats a pattern of 1 .. DXP_PATTERN_MAX bytes over a box (its to_ side); row_bytes is a
 * multiple of it. */
DXP_API int dxp_fill(struct dxp_xpu *xpu, uint64_t address, const void *pattern,
		     uint32_t pattern_bytes, const struct dxp_box *box,
		     const struct dxp_waits *waits, dxp_event *event);

/* Ends when everything in its wait list has. */
DXP_API int dxp_mark(struct dxp_xpu *xpu, const struct dxp_waits *waits, dxp_event *event);

/* ---- arguments of dxp_run beyond plain ones ---- */

/* A DXP_ARGUMENT_IMAGE's `data`; the numbers are OpenCL's (CL_RGBA, CL_UNORM_INT8,
 * CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_ONLY). The pixels lie at the argument's address, rows and
 * slices at these pitches. */
struct dxp_image {
	uint32_t order, type, object, access;
	uint32_t width, height, depth, layers;
	uint64_t row_pitch, slice_pitch;
};

/* A DXP_ARGUMENT_SAMPLER's `data`, in OpenCL's numbers. */
struct dxp_sampler {
	uint32_t normalized, addressing, filter;
};

/* ---- programs ---- */

enum dxp_program_kind {
	DXP_PROGRAM_SOURCE, /* files[0] is OpenCL C; the others are headers; built to run */
	DXP_PROGRAM_BINARY, /* files[0] is what dxp_program_binary gave, on a device of this kind */
	DXP_PROGRAM_COMPILE, /* as SOURCE, to be linked */
	DXP_PROGRAM_LINK,    /* `inputs`, compiled before on the same xPU */
};

struct dxp_file {
	const char
		*name; /* of a header: as the sources include it, "a/b.h"; relative, without ".." */
	const void *data;
	size_t bytes;
};

struct dxp_program_source {
	enum dxp_program_kind kind;
	const char *options; /* of the compiler or the linker; NULL: none */
	const struct dxp_file *files;
	uint32_t file_count;
	const struct dxp_program *const *inputs;
	uint32_t input_count;
};

/* As dxp_program_build, for every kind. What was built before from the same bytes, by whomever, is
 * not built again. DXP_EBUILD: *out is set, its log says why. DXP_EINVAL: the sentence says which
 * field; a BINARY that this device does not take ends as DXP_EBUILD. */
DXP_API int dxp_program_create(struct dxp_xpu *xpu, const struct dxp_program_source *source,
			       struct dxp_program **out);

/* What the device's driver said of a program that does not build, as struct dxp_completion's
 * `native`. */
DXP_API int32_t dxp_program_native(const struct dxp_program *program);
/* Records about the kernels of a built program (dxp/about.h); valid until it is released. */
DXP_API const void *dxp_program_about(const struct dxp_program *program, size_t *bytes);
/* The device's binary, for the caller to free. DXP_EUNSUPPORTED: the engine has none. */
DXP_API int dxp_program_binary(const struct dxp_program *program, void **out, size_t *bytes);

/* Records about the device (dxp/about.h), for the caller to free. DXP_EUNSUPPORTED: its engine is
 * no OpenCL device. */
DXP_API int dxp_xpu_about(struct dxp_xpu *xpu, void **out, size_t *bytes);

/* Both clocks at one moment; the node's is within error_ns of what is told. One round trip. */
struct dxp_clock {
	uint64_t host_ns, node_ns, error_ns;
};
DXP_API int dxp_xpu_clock(struct dxp_xpu *xpu, struct dxp_clock *out);

/* Who gets what kernels print, in the order of the kernels on each xPU, before their events are
 * told; NULL: standard output. Called with the fabric's lock held: it must call nothing here. */
typedef void (*dxp_print_fn)(void *context, uint16_t node, const char *text, size_t bytes);
DXP_API void dxp_fabric_print(struct dxp_fabric *fabric, dxp_print_fn print, void *context);

#ifdef __cplusplus
}
#endif
#endif
