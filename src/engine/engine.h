/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface of the engines, which run kernels on one xPU. One thread, the owner, makes all calls
 * except engine_open(), engine_describe() and the DMA calls.
 *
 * DIRECT memory belongs to the caller and is in this process's address space: arguments are
 * pointers, and kernels work in place. BRIDGED memory is on the device: arguments are device
 * addresses, and only DMA moves bytes (S-01). One thread, perhaps another one, makes all DMA
 * calls. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dxp/async.h>

#include <dxp/status.h>

#include "wire/command.h"
#include "wire/limits.h"

struct engine;
struct engine_program;

/* Kinds of engines, as in register ENGINE. */
enum engine_kind { ENGINE_NONE, ENGINE_OCL, ENGINE_BOARD, ENGINE_CUDA, ENGINE_RV32 };

struct engine_options {
	/* "none"; "ocl" or "ocl:PART OF A DEVICE'S NAME"; "board", "board:PRESET" or "board:FILE";
	 * "cuda" or "cuda:PART"; "rv32" or "rv32:OPTION=VALUE,...". "ocl+bridged:PART" uses BRIDGED
	 * memory in any case. */
	const char *name;
	/* folder of compiled kernels; NULL: none */
	const char *cache_folder;
	/* Absolute path for compiler files of this process and its children; NULL: a new folder. */
	const char *work_folder;
	/* DIRECT: device memory of the caller, which outlives the engine. BRIDGED: not accessed. */
	void *memory;
	uint64_t memory_bytes;
	/* engine_dma_dequeue() may return a completion. Called by any thread. */
	void (*interrupt)(void *context);
	void *interrupt_context;
};

struct engine_description {
	enum engine_kind kind;
	const char *name;                 /* as in the node table */
	char device[FABRIC_DEVICE_BYTES]; /* name of the device for users; "": none */
	uint32_t compute_units;
	uint8_t memory_kind; /* enum dxp_memory_kind: DIRECT or BRIDGED */
	bool streams;        /* the device has a stream core, for ENGINE_DMA_THROUGH */
	/* Kernels can access memory of this process, such as a NIC's window. */
	bool reaches_host;
	/* Kernels and their compiler need only the system's files and programs: no device file, and
	 * no descriptor of a driver. */
	bool plain;
};

/* Address of a BUFFER for which the kernel gets a null pointer. */
#define ENGINE_NO_ADDRESS UINT64_MAX

struct engine_argument {
	uint8_t kind;      /* enum command_argument_kind */
	uint32_t bytes;    /* BYTES: length of the value; LOCAL: bytes of local memory */
	const void *value; /* BYTES */
	/* BUFFER, IMAGE in DIRECT memory: first byte. NIC: the window. */
	void *memory;
	uint64_t address; /* BUFFER, IMAGE: device address, or ENGINE_NO_ADDRESS */
	/* Bytes that may be accessed from there on; for an IMAGE at least from its first to its
	 * last pixel. */
	uint64_t memory_bytes;
	/* BUFFER: bytes of these that the kernel should access; 0: all. */
	uint64_t exact_bytes;
	struct dxp_image image;     /* IMAGE */
	struct dxp_sampler sampler; /* SAMPLER */
};

struct engine_launch {
	struct engine_program *program;
	const char *kernel;
	uint8_t dimensions;
	uint64_t global[3], local[3]; /* all 0: the engine chooses */
	uint64_t offset[3];           /* added to the global ids */
	uint8_t argument_count;
	struct engine_argument arguments[COMMAND_ARGS_MAX];
};

#define ENGINE_TEXT_BYTES 256

struct engine_file {
	/* Relative path of a header, without "..". That of files[0] is only for messages and may be
	 * NULL. */
	const char *name;
	const void *data;
	size_t bytes;
};

struct engine_source {
	uint8_t kind;
	const char *options;
	/* SOURCE, COMPILE: the source, then headers. BINARY: one file. LINK: none. */
	const struct engine_file *files;
	uint32_t file_count;
	struct engine_program *const *inputs; /* LINK: programs; not used after the call */
	uint32_t input_count;
};

/* Write a rectangle of device memory: WRITE from the caller's bytes, COPY from another rectangle,
 * FILL from a pattern. */
struct engine_edit {
	uint8_t op;      /* COMMAND_WRITE, COMMAND_COPY or COMMAND_FILL */
	uint8_t *memory; /* DIRECT: device address 0 */
	uint64_t memory_bytes;
	uint64_t from, to; /* device addresses; `from` only for COPY */
	const void *data;  /* WRITE: the bytes; FILL: the pattern */
	uint32_t data_bytes;
	struct dxp_rect rect; /* COPY, FILL */
};

/* ---- DMA (S-02) ---- */

enum engine_dma_kind {
	ENGINE_DMA_IN,      /* host -> device address `to` */
	ENGINE_DMA_OUT,     /* device address `from` -> host */
	ENGINE_DMA_THROUGH, /* host -> stream core -> host */
	ENGINE_DMA_COPY,    /* device address `from` -> `to`; may overlap */
};

struct engine_dma {
	uint64_t id;  /* repeated in engine_dma_end.id */
	uint8_t kind; /* enum engine_dma_kind */
	uint64_t from, to;
	const void *source; /* IN, THROUGH: host memory */
	void *sink;         /* OUT, THROUGH: host memory */
	uint64_t bytes;     /* 1 or more; any alignment */
	bool first;         /* THROUGH: starts a stream, and resets the owner's result */
	uint32_t owner;     /* THROUGH: whose settings of the stream core apply; any number */
};

struct engine_dma_end {
	uint64_t id;
	/* DXP_EDEVICE: failed, or aborted by a reset */
	int status;
};

/* Operations of the stream core on a stream of 4-byte words in host byte order. */
enum engine_core { ENGINE_CORE_PASS, ENGINE_CORE_ADD, ENGINE_CORE_CHECKSUM, ENGINE_CORE_KERNEL };

/* The caller releases *program after DXP_OK of `build`, and always frees *log; NULL: no
 * messages. */
struct engine_ops {
	int (*build)(struct engine *e, const struct engine_source *source,
		     struct engine_program **program, char **log);
	void (*release)(struct engine *e, struct engine_program *program);
	int (*run)(struct engine *e, const struct engine_launch *launch,
		   char text[ENGINE_TEXT_BYTES]);
	/* optional */
	int (*fetch)(struct engine *e, struct engine_program *program, uint8_t what, uint8_t **out,
		     size_t *bytes);
	/* optional */
	void (*warm)(struct engine *e);
	/* NULL: no folders */
	void (*folders)(struct engine *e, const char *work, const char *cache);
	/* NULL: DIRECT; engine_edit() edits in place */
	int (*edit)(struct engine *e, const struct engine_edit *edit);
	void (*describe)(const struct engine *e, struct engine_description *out);
	void (*close)(struct engine *e);
	/* NULL if memory is DIRECT: */
	int (*pin)(struct engine *e, void *base, uint64_t bytes);
	void (*unpin)(struct engine *e, void *base);
	int (*dma_start)(struct engine *e, const struct engine_dma *dma);
	uint32_t (*dma_dequeue)(struct engine *e, struct engine_dma_end *out, uint32_t count);
	bool (*dma_help)(struct engine *e); /* optional */
	void (*dma_reset)(struct engine *e);
	/* NULL without a stream core: */
	int (*core_set)(struct engine *e, uint32_t owner, uint32_t core, uint32_t operand);
	void (*core_get)(struct engine *e, uint32_t owner, uint32_t *core, uint32_t *operand,
			 uint64_t *result);
	void (*core_drop)(struct engine *e, uint32_t owner);
};

struct engine {
	const struct engine_ops *ops;
	/* Driver's error in the last build, run or edit (OpenCL: negative, CUDA: positive); 0:
	 * none. Only for the owner thread. */
	int32_t native;
	/* Cycles of the last run by the engine's model of time. All 0: the engine has no such
	 * model, or the run failed. Only for the owner thread. */
	struct dxp_event_cycles cycles;
};

/* DXP_EINVAL: no such engine; DXP_EUNSUPPORTED: no such device, or it cannot use the memory;
 * DXP_EIO, DXP_ENOMEM. Logged with the next step. */
int engine_open(const struct engine_options *options, struct engine **out);

static inline void engine_close(struct engine *e)
{
	if (e)
		e->ops->close(e);
}

static inline void engine_describe(const struct engine *e, struct engine_description *out)
{
	e->ops->describe(e, out);
}

/* DXP_EBUILD: *log has the reason; DXP_EUNSUPPORTED, DXP_ENOMEM, DXP_EDEVICE. */
static inline int engine_build(struct engine *e, const struct engine_source *source,
			       struct engine_program **program, char **log)
{
	e->native = 0;
	return e->ops->build(e, source, program, log);
}

static inline void engine_release(struct engine *e, struct engine_program *program)
{
	e->ops->release(e, program);
}

/* Waits for the kernel. With `text`: DXP_EINVAL: arguments or sizes do not fit the kernel;
 * DXP_EDEVICE: it failed; DXP_ENOENT: no such kernel. */
static inline int engine_run(struct engine *e, const struct engine_launch *launch,
			     char text[ENGINE_TEXT_BYTES])
{
	e->native = 0;
	e->cycles = (struct dxp_event_cycles){0};
	return e->ops->run(e, launch, text);
}

/* Slow work, once, before workers are forked. */
static inline void engine_warm(struct engine *e)
{
	if (e->ops->warm)
		e->ops->warm(e);
}

/* Moves an engine to other folders, in a forked process, while no program is in use. Paths are
 * absolute, as in engine_options. The engine forgets earlier programs. PoCL continues to use the
 * folder in POCL_CACHE_DIR. */
static inline void engine_folders(struct engine *e, const char *work, const char *cache)
{
	if (e->ops->folders)
		e->ops->folders(e, work, cache);
}

/* The caller frees *out. FETCH_ABOUT: records about a program (dxp/about.h). FETCH_DEVICE: about
 * the device; no program. FETCH_BINARY: for DXP_PROGRAM_BINARY; a run with a new local size may add
 * code. DXP_EUNSUPPORTED: does not exist; DXP_ENOMEM, DXP_EDEVICE. */
static inline int engine_fetch(struct engine *e, struct engine_program *program, uint8_t what,
			       uint8_t **out, size_t *bytes)
{
	return e->ops->fetch ? e->ops->fetch(e, program, what, out, bytes) : DXP_EUNSUPPORTED;
}

/* edit.c. Waits for the edit. DXP_EINVAL: the rectangle or pattern is empty, a pitch is smaller
 * than its row or slice, or the row is no multiple of the pattern; DXP_ERANGE: outside device
 * memory; DXP_EUNSUPPORTED; DXP_EDEVICE. Only after DXP_EDEVICE memory may have changed. */
int engine_edit(struct engine *e, const struct engine_edit *edit);

/* Locks host memory for DMA, or registers it with the device; once per range, at the start. DMA
 * with other memory is slower. DXP_EINVAL: no bytes, or pinned already; DXP_ENOMEM, DXP_EIO,
 * DXP_EUNSUPPORTED. */
static inline int engine_pin(struct engine *e, void *base, uint64_t bytes)
{
	return e->ops->pin(e, base, bytes);
}

static inline void engine_unpin(struct engine *e, void *base)
{
	e->ops->unpin(e, base);
}

/* Starts a DMA; each direction works in order. Host memory must stay valid until the completion is
 * dequeued. It may complete at once, without an interrupt. DXP_EAGAIN: the queue is full; dequeue
 * first; DXP_ERANGE: outside device memory; DXP_EUNSUPPORTED: THROUGH without a stream core. */
static inline int engine_dma_start(struct engine *e, const struct engine_dma *dma)
{
	return e->ops->dma_start(e, dma);
}

static inline uint32_t engine_dma_dequeue(struct engine *e, struct engine_dma_end *out,
					  uint32_t count)
{
	return e->ops->dma_dequeue(e, out, count);
}

/* An idle thread works some microseconds for a device in software. True: it did, and there may be
 * completions without an interrupt. */
static inline bool engine_dma_help(struct engine *e)
{
	return e->ops->dma_help && e->ops->dma_help(e);
}

/* Aborts all DMAs. Each completes soon, with DXP_EDEVICE or its earlier status, and then no longer
 * accesses host memory. Device memory keeps its bytes. */
static inline void engine_dma_reset(struct engine *e)
{
	e->ops->dma_reset(e);
}

/* Applies to later streams of an owner. ADD adds `operand` to each word; KERNEL runs the board's
 * kernel. DXP_EINVAL, DXP_EUNSUPPORTED, DXP_ENOMEM. */
int engine_core_set(struct engine *e, uint32_t owner, uint32_t core, uint32_t operand);
/* `result`: of CHECKSUM, the sum of all words of the owner's last stream, modulo 2^64. All 0
 * without a stream core. */
void engine_core_get(struct engine *e, uint32_t owner, uint32_t *core, uint32_t *operand,
		     uint64_t *result);
/* The owner must have no running stream. */
void engine_core_drop(struct engine *e, uint32_t owner);

/* Number of work-items; the local size must divide the global size. DXP_EINVAL: with `text`. */
int engine_sizes_check(const struct engine_launch *launch, char text[ENGINE_TEXT_BYTES]);

/* Writes and copies device memory, for engine_edit_by(). */
struct engine_mover {
	int (*put)(void *context, uint64_t to, const void *data, uint64_t bytes);
	int (*move)(void *context, uint64_t to, uint64_t from, uint64_t bytes);
	void *context;
};
/* Checks an edit and performs it with a mover. Statuses of engine_edit() and of the mover. */
int engine_edit_by(const struct engine_edit *edit, const struct engine_mover *mover);
/* The same in DIRECT memory, at edit->memory. */
int engine_edit_in_place(const struct engine_edit *edit);

/* ocl.c. `bridged`: BRIDGED memory in any case. */
int engine_ocl_open(const struct engine_options *options, const char *device, bool bridged,
		    struct engine **out);
/* Opens one of the engines in a board's memory; statuses of engine_open(). */
typedef int (*engine_opener)(const struct engine_options *options, struct engine **out);

/* board.c. `name`: a preset or a file; NULL: the default. */
int engine_board_open(const struct engine_options *options, const char *name, engine_opener opener,
		      struct engine **out);
/* cuda.c */
int engine_cuda_open(const struct engine_options *options, const char *device, struct engine **out);
/* rv32.c. `settings`: such as "cores=2,limit=10"; NULL: defaults. */
int engine_rv32_open(const struct engine_options *options, const char *settings,
		     struct engine **out);

#endif
