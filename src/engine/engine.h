/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface of the engines that run kernels on one xPU. One thread, the owner, makes all calls
 * except engine_open, engine_describe and the DMA calls. engine_run returns when the kernel has
 * completed.
 *
 * Memory has one of two kinds. DIRECT: owned by the caller, in this process's address space;
 * arguments are pointers, kernels work in place. BRIDGED: on the device; bytes move by DMA only
 * (S-01), arguments are device addresses. DMA calls need BRIDGED memory; one thread makes them, not
 * necessarily the owner. */
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

/* The values of register ENGINE. */
enum engine_kind { ENGINE_NONE, ENGINE_OCL, ENGINE_BOARD, ENGINE_CUDA, ENGINE_RV32 };

struct engine_options {
	/* "none"; "ocl", "ocl:PART OF A DEVICE'S NAME"; "board", "board:PRESET", "board:FILE";
	 * "cuda", "cuda:PART"; "rv32", "rv32:OPTION=VALUE,...". "ocl+bridged:PART" uses BRIDGED
	 * memory even where DIRECT would work. */
	const char *name;
	const char *cache_folder; /* folder for compiled kernels; NULL: not cached */
	/* Folder for compiler files of this process and its children, absolute; NULL: a new one. */
	const char *work_folder;
	/* DIRECT: device memory, owned by the caller, outlives the engine. BRIDGED: not
	 * accessed. */
	void *memory;
	uint64_t memory_bytes;
	/* Reports that engine_dma_dequeue may return a completion. Called from any thread. */
	void (*interrupt)(void *context);
	void *interrupt_context;
};

struct engine_description {
	enum engine_kind kind;
	const char *name;                 /* as in the node table */
	char device[FABRIC_DEVICE_BYTES]; /* the device's name for users; "": none */
	uint32_t compute_units;
	uint8_t memory_kind; /* enum dxp_memory_kind: DIRECT or BRIDGED */
	bool streams;        /* has a stream core: DMA_THROUGH works */
	/* Running kernels can access this process's memory, such as a NIC's window. */
	bool reaches_host;
	/* Kernels and their compiler need only files and programs of the system: no device file and
	 * no descriptor of a driver. */
	bool plain;
};

/* address of a BUFFER for which the kernel gets a null pointer */
#define ENGINE_NO_ADDRESS UINT64_MAX

struct engine_argument {
	uint8_t kind;      /* enum command_argument_kind */
	uint32_t bytes;    /* BYTES, LOCAL */
	const void *value; /* BYTES */
	/* BUFFER, IMAGE in DIRECT memory: its address. NIC: the window. */
	void *memory;
	uint64_t address; /* BUFFER, IMAGE: device address; ENGINE_NO_ADDRESS */
	/* Accessible bytes from `memory` or `address` on; at least the span of an IMAGE's
	 * pitches. */
	uint64_t memory_bytes;
	/* BUFFER: the part of these bytes that the kernel should access; 0: all of them. */
	uint64_t exact_bytes;
	struct dxp_image image;     /* IMAGE */
	struct dxp_sampler sampler; /* SAMPLER */
};

struct engine_launch {
	struct engine_program *program;
	const char *kernel;
	uint8_t dimensions;
	uint64_t global[3], local[3]; /* local all 0: the engine chooses */
	uint64_t offset[3];           /* first global id */
	uint8_t argument_count;
	struct engine_argument arguments[COMMAND_ARGS_MAX];
};

#define ENGINE_TEXT_BYTES 256

struct engine_file {
	/* A header's relative path without "..". Of files[0], the name is for messages only and may
	 * be NULL. */
	const char *name;
	const void *data;
	size_t bytes;
};

struct engine_source {
	uint8_t kind; /* enum dxp_program_kind */
	const char *options;
	/* SOURCE, COMPILE: the program's source, then headers. BINARY: the binary. LINK: no
	 * file. */
	const struct engine_file *files;
	uint32_t file_count;
	struct engine_program *const *inputs; /* LINK; not kept */
	uint32_t input_count;
};

/* WRITE, COPY, FILL: writes a rectangle of bytes. WRITE reads data of the caller, COPY another
 * rectangle, FILL a pattern. */
struct engine_edit {
	uint8_t op;      /* COMMAND_WRITE, COMMAND_COPY or COMMAND_FILL */
	uint8_t *memory; /* DIRECT memory: location of address 0 */
	uint64_t memory_bytes;
	uint64_t from, to; /* device addresses; `from`: COPY */
	const void *data;  /* WRITE: the bytes; FILL: the pattern */
	uint32_t data_bytes;
	struct dxp_rect rect; /* COPY, FILL */
};

/* ---- DMA (S-02) ---- */

enum engine_dma_kind {
	ENGINE_DMA_IN,      /* host -> device address `to` */
	ENGINE_DMA_OUT,     /* device address `from` -> host */
	ENGINE_DMA_THROUGH, /* host, stream core, host */
	ENGINE_DMA_COPY,    /* device address `from` -> device address `to`; may overlap */
};

struct engine_dma {
	uint64_t id;  /* returned in engine_dma_end */
	uint8_t kind; /* enum engine_dma_kind */
	uint64_t from, to;
	const void *source; /* host memory: IN, THROUGH */
	void *sink;         /* host memory: OUT, THROUGH */
	uint64_t bytes;     /* 1 or more; any alignment */
	bool first;         /* THROUGH: starts a stream; resets the result of its owner */
	uint32_t owner;     /* THROUGH: the owner whose core settings apply; any number */
};

struct engine_dma_end {
	uint64_t id;
	int status; /* DXP_OK: all bytes moved; DXP_EDEVICE: failed or reset */
};

/* Operation of the stream core on a stream of 4-byte words in host order. */
enum engine_core { ENGINE_CORE_PASS, ENGINE_CORE_ADD, ENGINE_CORE_CHECKSUM, ENGINE_CORE_KERNEL };

/* On DXP_OK the caller releases *program. The caller frees *log; NULL: no messages. */
struct engine_ops {
	int (*build)(struct engine *e, const struct engine_source *source,
		     struct engine_program **program, char **log);
	void (*release)(struct engine *e, struct engine_program *program);
	int (*run)(struct engine *e, const struct engine_launch *launch,
		   char text[ENGINE_TEXT_BYTES]);
	/* NULL: nothing to fetch */
	int (*fetch)(struct engine *e, struct engine_program *program, uint8_t what, uint8_t **out,
		     size_t *bytes);
	/* NULL: not needed */
	void (*warm)(struct engine *e);
	/* NULL: the engine uses no folders */
	void (*folders)(struct engine *e, const char *work, const char *cache);
	/* NULL with DIRECT memory, because engine_edit() then edits in place */
	int (*edit)(struct engine *e, const struct engine_edit *edit);
	void (*describe)(const struct engine *e, struct engine_description *out);
	void (*close)(struct engine *e);
	/* NULL in engines with DIRECT memory: */
	int (*pin)(struct engine *e, void *base, uint64_t bytes);
	void (*unpin)(struct engine *e, void *base);
	int (*dma_start)(struct engine *e, const struct engine_dma *dma);
	uint32_t (*dma_dequeue)(struct engine *e, struct engine_dma_end *out, uint32_t count);
	bool (*dma_help)(struct engine *e); /* NULL: the device needs no help */
	void (*dma_reset)(struct engine *e);
	/* NULL without a stream core: */
	int (*core_set)(struct engine *e, uint32_t owner, uint32_t core, uint32_t operand);
	void (*core_get)(struct engine *e, uint32_t owner, uint32_t *core, uint32_t *operand,
			 uint64_t *result);
	void (*core_drop)(struct engine *e, uint32_t owner);
};

struct engine {
	const struct engine_ops *ops;
	/* Driver's error number of the last build, run or edit (OpenCL: negative, CUDA: positive);
	 * 0: none. Owner thread. */
	int32_t native;
};

/* Opens an engine; the caller closes *out. DXP_EINVAL: no such engine; DXP_EUNSUPPORTED: no such
 * device, or it cannot use the given memory; DXP_EIO, DXP_ENOMEM. Logged with the next step. */
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

/* Builds a program. DXP_EBUILD: with *log; DXP_EUNSUPPORTED, DXP_ENOMEM, DXP_EDEVICE. */
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

/* Runs a kernel to completion. With `text`: DXP_EINVAL: arguments or sizes do not fit the kernel;
 * DXP_EDEVICE: it failed; DXP_ENOENT: no such kernel. */
static inline int engine_run(struct engine *e, const struct engine_launch *launch,
			     char text[ENGINE_TEXT_BYTES])
{
	e->native = 0;
	return e->ops->run(e, launch, text);
}

/* Does slow one-time work before worker processes fork. */
static inline void engine_warm(struct engine *e)
{
	if (e->ops->warm)
		e->ops->warm(e);
}

/* Moves an engine without programs in use to other folders, in a forked process: absolute paths as
 * engine_options. The engine forgets programs that it has made before. PoCL continues to use the
 * folder of POCL_CACHE_DIR. */
static inline void engine_folders(struct engine *e, const char *work, const char *cache)
{
	if (e->ops->folders)
		e->ops->folders(e, work, cache);
}

/* Returns data in *out, which has *bytes and which the caller frees. FETCH_ABOUT: records of
 * dxp/about.h on a program. FETCH_DEVICE: such records on the device, without a program.
 * FETCH_BINARY: a program's binary for DXP_PROGRAM_BINARY. A run with a new local size may extend
 * the binary. DXP_EUNSUPPORTED: not available; DXP_ENOMEM, DXP_EDEVICE. */
static inline int engine_fetch(struct engine *e, struct engine_program *program, uint8_t what,
			       uint8_t **out, size_t *bytes)
{
	return e->ops->fetch ? e->ops->fetch(e, program, what, out, bytes) : DXP_EUNSUPPORTED;
}

/* edit.c: performs an edit, and returns when it has completed. DXP_EINVAL: an empty rectangle or
 * pattern, pitches smaller than their content, or a row that is no multiple of the pattern;
 * DXP_ERANGE: outside device memory; DXP_EUNSUPPORTED; DXP_EDEVICE. Only after DXP_EDEVICE may
 * memory have changed. */
int engine_edit(struct engine *e, const struct engine_edit *edit);

/* Pins host memory for DMA: page-locks it or registers it with the device. Called once at start.
 * DMA with unpinned memory is slower. DXP_EINVAL: no bytes, or pinned already; DXP_ENOMEM, DXP_EIO,
 * DXP_EUNSUPPORTED. */
static inline int engine_pin(struct engine *e, void *base, uint64_t bytes)
{
	return e->ops->pin(e, base, bytes);
}

static inline void engine_unpin(struct engine *e, void *base)
{
	e->ops->unpin(e, base);
}

/* Starts a DMA; each direction has a controller that works in order. Host memory must stay until
 * the completion is dequeued. A DMA may complete at once, without interrupt. DXP_EAGAIN: the queue
 * is full, dequeue first; DXP_ERANGE: outside device memory; DXP_EUNSUPPORTED: THROUGH without a
 * core. */
static inline int engine_dma_start(struct engine *e, const struct engine_dma *dma)
{
	return e->ops->dma_start(e, dma);
}

/* Dequeues up to `count` DMA completions; returns how many. */
static inline uint32_t engine_dma_dequeue(struct engine *e, struct engine_dma_end *out,
					  uint32_t count)
{
	return e->ops->dma_dequeue(e, out, count);
}

/* Lends some microseconds of an idle thread to a device that is software. True: the device did
 * work, and there may be completions without an interrupt. */
static inline bool engine_dma_help(struct engine *e)
{
	return e->ops->dma_help && e->ops->dma_help(e);
}

/* Aborts all DMAs: each completes soon, with DXP_EDEVICE unless it had completed. After its
 * completion it no longer accesses host memory. Device memory keeps its bytes. */
static inline void engine_dma_reset(struct engine *e)
{
	e->ops->dma_reset(e);
}

/* Sets the stream core of an owner's later streams. ADD adds `operand` to each word; KERNEL runs
 * the board's kernel. DXP_EINVAL, DXP_EUNSUPPORTED, DXP_ENOMEM. */
int engine_core_set(struct engine *e, uint32_t owner, uint32_t core, uint32_t operand);
/* Returns an owner's settings. `result`: CHECKSUM's sum of all words of its last stream, modulo
 * 2^64. All 0 without a core. */
void engine_core_get(struct engine *e, uint32_t owner, uint32_t *core, uint32_t *operand,
		     uint64_t *result);
/* Forgets an owner without streams. */
void engine_core_drop(struct engine *e, uint32_t owner);

/* For engines: checks the number of work items, and that the local size divides the global size.
 * DXP_EINVAL: with `text`. */
int engine_sizes_check(const struct engine_launch *launch, char text[ENGINE_TEXT_BYTES]);

/* For engines: writes and copies in device memory. */
struct engine_mover {
	int (*put)(void *context, uint64_t to, const void *data, uint64_t bytes);
	int (*move)(void *context, uint64_t to, uint64_t from, uint64_t bytes);
	void *context;
};
/* Checks an edit and performs it with a mover. Statuses of engine_edit() and of the mover. */
int engine_edit_by(const struct engine_edit *edit, const struct engine_mover *mover);
/* The same at edit->memory. */
int engine_edit_in_place(const struct engine_edit *edit);

/* ocl.c; `bridged`: BRIDGED memory even where DIRECT would work */
int engine_ocl_open(const struct engine_options *options, const char *device, bool bridged,
		    struct engine **out);
/* Opens an engine, with the statuses of engine_open(). The board uses it for the engines in its
 * memory. */
typedef int (*engine_opener)(const struct engine_options *options, struct engine **out);

/* board.c; `name`: a preset or a file; NULL: the default preset */
int engine_board_open(const struct engine_options *options, const char *name, engine_opener opener,
		      struct engine **out);
/* cuda.c */
int engine_cuda_open(const struct engine_options *options, const char *device, struct engine **out);
/* rv32.c; `settings`: "cores=2,limit=10"; NULL: defaults */
int engine_rv32_open(const struct engine_options *options, const char *settings,
		     struct engine **out);

#endif
