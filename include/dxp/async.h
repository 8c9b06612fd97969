/* SPDX-License-Identifier: BSD-3-Clause */
/* Asynchronous commands on an xPU, for building command queues. Each command is one message
 * without a round trip. It can wait for events of any node; the nodes notify each other of
 * completions. Each command completes an event, as dxp_run() and dxp_send() do.
 *
 *   dxp_write()  dxp_read()           between host memory and device memory
 *   dxp_copy()   dxp_fill()           rectangles of bytes within one xPU's memory
 *   dxp_mark()                        an event without other work
 *   dxp_event_create() .._set()       an event that the program completes
 *   dxp_event_notify() dxp_completions()   a queue of completions
 *   dxp_program_create() .._about()   programs of all kinds, and their kernels
 *   dxp_xpu_about() dxp_xpu_clock()   the device behind an xPU
 *
 * Threads, time and errors: see dxp/mmd.h. */
#ifndef DXP_ASYNC_H
#define DXP_ASYNC_H

#include <dxp/mmd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- events ---- */

/* dxp_event_create() creates a pending event of this program; commands on any xPU can wait for it.
 * dxp_event_set() completes the event, once, with DXP_OK or a negative status. With a negative
 * status, commands that wait for the event fail.
 * Errors: DXP_ENOMEM. dxp_event_set(): DXP_EINVAL: the event is complete or belongs to a command,
 *         or the status is not in -128 .. 0; DXP_ENOENT: unknown event. */
DXP_API int dxp_event_create(struct dxp_fabric *fabric, dxp_event *out);
DXP_API int dxp_event_set(struct dxp_fabric *fabric, dxp_event event, int status);

/* Makes dxp_completions() return the completion of `event` with `cookie`, even if the event is
 * already complete. Do not pass such an event to dxp_event_wait().
 * Errors: DXP_ENOENT: unknown event; DXP_EINVAL: already requested for this event; DXP_ENOMEM. */
DXP_API int dxp_event_notify(struct dxp_fabric *fabric, dxp_event event, uint64_t cookie);

struct dxp_completion {
	uint64_t cookie; /* the cookie passed to dxp_event_notify() */
	dxp_event event; /* can be used in wait lists until dxp_event_forget() */
	bool begun;      /* the command has started, and is not complete (dxp_completions_begun) */
	int status;      /* completion status of the command */
	/* error number of the device's driver for a failed command; OpenCL: negative, CUDA:
	 * positive, 0: none */
	int32_t native;
	/* of commands: on the node's clock; of the host's own events: on the monotonic clock of
	 * this machine */
	struct dxp_event_times times;
};

/* Returns true if this host completes the event, false if an xPU does. */
static inline bool dxp_event_of_host(dxp_event event)
{
	return (uint16_t)(event >> 48) == (uint16_t)(event >> 32);
}

/* Dequeues up to `count` completions, oldest first; returns their number. Waits up to timeout_ns
 * (0: polls once) for the first. Returns 0 after the timeout or dxp_completions_wake(). */
DXP_API int dxp_completions(struct dxp_fabric *fabric, struct dxp_completion *out, uint32_t count,
			    uint64_t timeout_ns);
/* Turns reports of started commands on or off. While on, dxp_completions() also returns an entry
 * with `begun` for a command that runs for 2 ms; its completion follows. The entry may be missing
 * if the command completes first or memory is short. */
DXP_API void dxp_completions_begun(struct dxp_fabric *fabric, bool notify);
/* Makes the current or the next waiting dxp_completions() return. Any thread may call this. */
DXP_API void dxp_completions_wake(struct dxp_fabric *fabric);

/* Releases an event, whose name the program must not use again. A pending event is released when it
 * completes. */
DXP_API void dxp_event_forget(struct dxp_fabric *fabric, dxp_event event);

/* Wait list of an asynchronous command: any number of events of any node, also of this host.
 * Entries with 0 are skipped. */
struct dxp_waits {
	const dxp_event *events;
	uint32_t count;
	bool lazy; /* see dxp_launch.lazy */
	/* dxp_write: true if the bytes are not valid before the waits complete, so that the call
	 * must not copy them early. */
	bool late;
};

/* ---- memory ---- */

/* Longest write in bytes that dxp_write() copies into its command. */
#define DXP_INLINE_BYTES 1792

/* Copies host memory to device memory without an intermediate copy. If the wait list has pending
 * events of xPUs, the xPU GETs the bytes when these events complete. Otherwise the host PUTs the
 * bytes.
 * Shape:  any alignment; 0 bytes is allowed.
 * Owner:  `from` must not change until the event completes. Exception: the call copies up to
 *         DXP_INLINE_BYTES at once, unless waits->late is set.
 * Errors: DXP_ERANGE: outside device memory; DXP_EINVAL: not host memory; DXP_EAGAIN: no more
 *         memory regions or command space; DXP_ENOENT: unknown event in `waits`; DXP_ENOMEM. */
DXP_API int dxp_write(struct dxp_xpu *xpu, uint64_t address, const void *from, uint64_t bytes,
		      const struct dxp_waits *waits, dxp_event *event);
/* Copies device memory to host memory. `to` belongs to the library until the event completes. Shape
 * and errors: see dxp_write(). */
DXP_API int dxp_read(struct dxp_xpu *xpu, void *to, uint64_t address, uint64_t bytes,
		     const struct dxp_waits *waits, dxp_event *event);

/* A rectangle of bytes: `slices` slices of `rows` rows of `row_bytes` bytes. A pitch is the
 * distance in bytes between two starts of rows or slices; 0: contiguous. */
struct dxp_rect {
	uint64_t row_bytes, rows, slices;
	uint64_t from_row_pitch, from_slice_pitch;
	uint64_t to_row_pitch, to_slice_pitch;
};

/* Copies a rectangle within the memory of one xPU.
 * Shape:  source and destination must not overlap.
 * Errors: DXP_EINVAL: a side is 0, or a pitch is smaller than its row or slice; DXP_ERANGE: outside
 *         device memory. The event fails with DXP_EACCESS if a range is not in an allocation of
 *         this host. */
DXP_API int dxp_copy(struct dxp_xpu *xpu, uint64_t from, uint64_t to, const struct dxp_rect *rect,
		     const struct dxp_waits *waits, dxp_event *event);

#define DXP_PATTERN_MAX 128
/* Fills a rectangle (its to_ side) with a repeated pattern.
 * Shape:  pattern of 1 .. DXP_PATTERN_MAX bytes, copied by the call; row_bytes is a multiple of it.
 * Errors: see dxp_copy(). */
DXP_API int dxp_fill(struct dxp_xpu *xpu, uint64_t address, const void *pattern,
		     uint32_t pattern_bytes, const struct dxp_rect *rect,
		     const struct dxp_waits *waits, dxp_event *event);

/* Completes `event` when all events of the wait list are complete. */
DXP_API int dxp_mark(struct dxp_xpu *xpu, const struct dxp_waits *waits, dxp_event *event);

/* ---- arguments of dxp_run beyond plain ones ---- */

/* `data` of a DXP_ARGUMENT_IMAGE, in OpenCL's numbers (CL_RGBA, CL_UNORM_INT8,
 * CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_ONLY). The pixels start at the argument's address. Pitches are
 * in bytes. */
struct dxp_image {
	uint32_t order, type, object, access;
	uint32_t width, height, depth, layers;
	uint64_t row_pitch, slice_pitch;
};

/* `data` of a DXP_ARGUMENT_SAMPLER, in OpenCL's numbers. */
struct dxp_sampler {
	uint32_t normalized, addressing, filter;
};

/* ---- programs ---- */

enum dxp_program_kind {
	DXP_PROGRAM_SOURCE,  /* files[0] is OpenCL C, the others are headers */
	DXP_PROGRAM_BINARY,  /* files[0] is from dxp_program_binary() of this xPU */
	DXP_PROGRAM_COMPILE, /* compiles as SOURCE does, for a later LINK */
	DXP_PROGRAM_LINK,    /* links `inputs`, which were compiled on the same xPU */
};

struct dxp_file {
	/* Name of a header: the relative path in the #include, such as "a/b.h", without "..". */
	const char *name;
	const void *data;
	size_t bytes;
};

struct dxp_program_source {
	enum dxp_program_kind kind;
	const char *options; /* options for compiler or linker; may be NULL */
	const struct dxp_file *files;
	uint32_t file_count;
	const struct dxp_program *const *inputs;
	uint32_t input_count;
};

/* Builds a program of any kind. Input that any host built before is not built again.
 * Owner:  `source` is only read during the call. Release *out with dxp_program_release().
 * Errors: DXP_EBUILD: *out is set and its log has the reason, also for a BINARY that the xPU
 *         rejects; DXP_EINVAL: dxp_fabric_error() names the field; DXP_ENOMEM; others: see
 *         dxp_program_build(). */
DXP_API int dxp_program_create(struct dxp_xpu *xpu, const struct dxp_program_source *source,
			       struct dxp_program **out);

/* Returns the driver's error number of a failed build; see dxp_completion.native. */
DXP_API int32_t dxp_program_native(const struct dxp_program *program);
/* Returns records about the kernels of a built program (dxp/about.h). They are valid until the
 * program is released. */
DXP_API const void *dxp_program_about(const struct dxp_program *program, size_t *bytes);
/* Returns the device's binary in new memory, which the caller frees. The binary is sealed: only the
 * daemon that made it accepts it, and only if it is unchanged. With `dxpd --state`, the daemon
 * accepts it after a restart too. A build of any other binary fails with CL_INVALID_BINARY.
 * DXP_EUNSUPPORTED: the engine has no binaries. */
DXP_API int dxp_program_binary(const struct dxp_program *program, void **out, size_t *bytes);

/* Returns the profile of a program's launches as records of dxp/about.h, in new memory that the
 * caller frees. The first call starts the counting, so it returns no lines. Later calls return all
 * counts since the first call. A counted launch runs slower. Only for an xPU that has
 * DXP_ABOUT_PROFILES in its records (dxp_xpu_about()). DXP_EUNSUPPORTED: the engine does not count
 * instructions. DXP_EINVAL: the program is not linked. */
DXP_API int dxp_program_profile(const struct dxp_program *program, void **out, size_t *bytes);

/* Returns records about the device (dxp/about.h) in new memory, which the caller frees.
 * DXP_EUNSUPPORTED: not an OpenCL device. */
DXP_API int dxp_xpu_about(struct dxp_xpu *xpu, void **out, size_t *bytes);

/* Clocks of host and node at the same instant, in ns. The error of node_ns is at most error_ns.
 * dxp_xpu_clock() needs one round trip. */
struct dxp_clock {
	uint64_t host_ns, node_ns, error_ns;
};
DXP_API int dxp_xpu_clock(struct dxp_xpu *xpu, struct dxp_clock *out);

#define DXP_FAILURE_BYTES 256 /* bytes of the text, with the final zero byte */

/* Writes the xPU's sentence about a failed command, such as "kernel 'k', work-item (5,0,0): stores
 * 4 bytes at ...; k+0x20, line 2". Returns the sentence's length in bytes; 0: there is none. The
 * last 64 sentences of each xPU are kept, even if the event was waited for or forgotten. */
DXP_API int dxp_event_failure(struct dxp_fabric *fabric, dxp_event event,
			      char text[DXP_FAILURE_BYTES]);

/* Cycles of a launch on the processor that the model of time of the xPU's engine describes. */
struct dxp_event_cycles {
	uint64_t cycles;
	uint64_t cycles_least, cycles_most; /* over what the model assumes about the memory */
	uint64_t instructions;              /* issued, each for one warp of that processor */
	uint64_t lines, lines_missed;       /* of the data caches: accessed, missed */
	uint32_t cores, clock_mhz;
};
/* Returns DXP_ENOENT for other commands, and without a model of time (`dxpd --engine rv32:time=`).
 * The cycles are kept until the event was waited for or forgotten, and those of the last 64
 * launches of each xPU after that too. */
DXP_API int dxp_event_cycles(struct dxp_fabric *fabric, dxp_event event,
			     struct dxp_event_cycles *out);

/* Sets the function that receives the output of kernels; NULL: standard output. Output of an xPU
 * arrives in the order of its kernels, and before each kernel's completion. The library calls
 * `print` while it holds the fabric's lock, so `print` must not call this library. */
typedef void (*dxp_print_fn)(void *context, uint16_t node, const char *text, size_t bytes);
DXP_API void dxp_fabric_print(struct dxp_fabric *fabric, dxp_print_fn print, void *context);

#ifdef __cplusplus
}
#endif
#endif
