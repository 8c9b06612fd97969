/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface of the engines, which run kernels on one xPU. One thread, the owner, makes all calls
 * except engine_open(), engine_describe() and the DMA calls. engine_run() returns when the kernel
 * has completed.
 *
 * Memory has one of two kinds. DIRECT memory belongs to the caller and is in this process's address
 * space. Arguments are pointers, and kernels work in place. BRIDGED memory is on the device. Only
 * DMA moves bytes to and from it (S-01), and arguments are device addresses. DMA calls need BRIDGED
 * memory. One thread makes all DMA calls; it need not be the owner. */
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
	/* Name of the engine: "none"; "ocl" or "ocl:PART OF A DEVICE'S NAME"; "board",
	 * "board:PRESET" or "board:FILE"; "cuda" or "cuda:PART"; "rv32" or "rv32:OPTION=VALUE,...".
	 * "ocl+bridged:PART" uses BRIDGED memory even on a device that could use DIRECT memory. */
	const char *name;
	/* folder in which compiled kernels are kept; NULL: none are kept */
	const char *cache_folder;
	/* Absolute path of the folder for compiler files of this process and its children; NULL:
	 * the engine makes a new folder. */
	const char *work_folder;
	/* DIRECT: device memory, which belongs to the caller and exists longer than the engine.
	 * BRIDGED: not accessed. */
	void *memory;
	uint64_t memory_bytes;
	/* Reports that engine_dma_dequeue() may return a completion. Any thread may call it. */
	void (*interrupt)(void *context);
	void *interrupt_context;
};

struct engine_description {
	enum engine_kind kind;
	const char *name;                 /* name of the engine, as in the node table */
	char device[FABRIC_DEVICE_BYTES]; /* name of the device for users; "": no name */
	uint32_t compute_units;
	uint8_t memory_kind; /* enum dxp_memory_kind: DIRECT or BRIDGED */
	bool streams;        /* the device has a stream core, so ENGINE_DMA_THROUGH works */
	/* Running kernels can access memory of this process, such as a NIC's window. */
	bool reaches_host;
	/* Kernels and their compiler need only files and programs of the system. They need no
	 * device file and no descriptor of a driver. */
	bool plain;
};

/* Address of a BUFFER argument for which the kernel gets a null pointer. */
#define ENGINE_NO_ADDRESS UINT64_MAX

struct engine_argument {
	uint8_t kind;      /* enum command_argument_kind */
	uint32_t bytes;    /* BYTES: length of the value; LOCAL: bytes of local memory */
	const void *value; /* BYTES: the value */
	/* BUFFER, IMAGE in DIRECT memory: pointer to its first byte. NIC: pointer to the window. */
	void *memory;
	uint64_t address; /* BUFFER, IMAGE: device address, or ENGINE_NO_ADDRESS */
	/* Bytes that may be accessed from `memory` or `address` on. For an IMAGE, at least the
	 * bytes from its first to its last pixel. */
	uint64_t memory_bytes;
	/* BUFFER: how many of these bytes the kernel should access; 0: all. */
	uint64_t exact_bytes;
	struct dxp_image image;     /* IMAGE */
	struct dxp_sampler sampler; /* SAMPLER */
};

struct engine_launch {
	struct engine_program *program;
	const char *kernel;
	uint8_t dimensions;
	uint64_t global[3], local[3]; /* local all 0: the engine chooses the local size */
	uint64_t offset[3];           /* added to the global ids */
	uint8_t argument_count;
	struct engine_argument arguments[COMMAND_ARGS_MAX];
};

#define ENGINE_TEXT_BYTES 256

struct engine_file {
	/* Relative path of a header, without "..". The name of files[0] is only for messages and
	 * may be NULL. */
	const char *name;
	const void *data;
	size_t bytes;
};

struct engine_source {
	uint8_t kind; /* enum dxp_program_kind */
	const char *options;
	/* SOURCE, COMPILE: first the program's source, then headers. BINARY: one file, the binary.
	 * LINK: no file. */
	const struct engine_file *files;
	uint32_t file_count;
	struct engine_program *const *inputs; /* LINK: programs to link; not used after the call */
	uint32_t input_count;
};

/* WRITE, COPY, FILL: write a rectangle of device memory. WRITE takes the bytes from the caller,
 * COPY from another rectangle, FILL from a pattern. */
struct engine_edit {
	uint8_t op;      /* COMMAND_WRITE, COMMAND_COPY or COMMAND_FILL */
	uint8_t *memory; /* DIRECT memory: pointer to device address 0 */
	uint64_t memory_bytes;
	uint64_t from, to; /* device addresses; `from` only for COPY */
	const void *data;  /* WRITE: the bytes to write; FILL: the pattern */
	uint32_t data_bytes;
	struct dxp_rect rect; /* COPY, FILL: the rectangle */
};

/* ---- DMA (S-02) ---- */

enum engine_dma_kind {
	ENGINE_DMA_IN,      /* host -> device address `to` */
	ENGINE_DMA_OUT,     /* device address `from` -> host */
	ENGINE_DMA_THROUGH, /* from the host through the stream core to the host */
	ENGINE_DMA_COPY, /* device address `from` -> device address `to`; the ranges may overlap */
};

struct engine_dma {
	uint64_t id;  /* number that the completion repeats in engine_dma_end.id */
	uint8_t kind; /* enum engine_dma_kind */
	uint64_t from, to;
	const void *source; /* IN, THROUGH: host memory to read */
	void *sink;         /* OUT, THROUGH: host memory to write */
	uint64_t bytes;     /* 1 or more; any alignment */
	bool first;         /* THROUGH: this DMA starts a stream, and resets the owner's result */
	uint32_t owner;     /* THROUGH: owner whose settings of the stream core apply; any number */
};

struct engine_dma_end {
	uint64_t id;
	/* DXP_OK: all bytes were moved; DXP_EDEVICE: the DMA failed, or a reset aborted it */
	int status;
};

/* Operations of the stream core on a stream of 4-byte words in host byte order. */
enum engine_core { ENGINE_CORE_PASS, ENGINE_CORE_ADD, ENGINE_CORE_CHECKSUM, ENGINE_CORE_KERNEL };

/* Functions of an engine. After DXP_OK of `build` the caller releases *program. The caller always
 * frees *log; NULL: no messages. */
struct engine_ops {
	int (*build)(struct engine *e, const struct engine_source *source,
		     struct engine_program **program, char **log);
	void (*release)(struct engine *e, struct engine_program *program);
	int (*run)(struct engine *e, const struct engine_launch *launch,
		   char text[ENGINE_TEXT_BYTES]);
	/* NULL: the engine has no data to fetch */
	int (*fetch)(struct engine *e, struct engine_program *program, uint8_t what, uint8_t **out,
		     size_t *bytes);
	/* NULL: the engine needs no warm-up */
	void (*warm)(struct engine *e);
	/* NULL: the engine uses no folders */
	void (*folders)(struct engine *e, const char *work, const char *cache);
	/* NULL if memory is DIRECT, because engine_edit() then edits in place */
	int (*edit)(struct engine *e, const struct engine_edit *edit);
	void (*describe)(const struct engine *e, struct engine_description *out);
	void (*close)(struct engine *e);
	/* The following are NULL if memory is DIRECT. */
	int (*pin)(struct engine *e, void *base, uint64_t bytes);
	void (*unpin)(struct engine *e, void *base);
	int (*dma_start)(struct engine *e, const struct engine_dma *dma);
	uint32_t (*dma_dequeue)(struct engine *e, struct engine_dma_end *out, uint32_t count);
	bool (*dma_help)(struct engine *e); /* NULL: the device needs no help of idle threads */
	void (*dma_reset)(struct engine *e);
	/* The following are NULL if the engine has no stream core. */
	int (*core_set)(struct engine *e, uint32_t owner, uint32_t core, uint32_t operand);
	void (*core_get)(struct engine *e, uint32_t owner, uint32_t *core, uint32_t *operand,
			 uint64_t *result);
	void (*core_drop)(struct engine *e, uint32_t owner);
};

struct engine {
	const struct engine_ops *ops;
	/* Error number of the driver in the last build, run or edit (OpenCL: negative, CUDA:
	 * positive); 0: none. Only the owner thread accesses it. */
	int32_t native;
};

/* Opens an engine; the caller closes *out. DXP_EINVAL: no such engine; DXP_EUNSUPPORTED: no such
 * device, or the device cannot use the given memory; DXP_EIO, DXP_ENOMEM. Errors are logged with
 * the next step. */
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

/* Builds a program. DXP_EBUILD: *log has the reason; DXP_EUNSUPPORTED, DXP_ENOMEM, DXP_EDEVICE. */
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

/* Runs a kernel and returns when it has completed. These errors set `text`: DXP_EINVAL: arguments
 * or sizes do not fit the kernel; DXP_EDEVICE: the kernel failed; DXP_ENOENT: no such kernel. */
static inline int engine_run(struct engine *e, const struct engine_launch *launch,
			     char text[ENGINE_TEXT_BYTES])
{
	e->native = 0;
	return e->ops->run(e, launch, text);
}

/* Does slow work that is needed once. Called before worker processes are forked, so that they need
 * not do it. */
static inline void engine_warm(struct engine *e)
{
	if (e->ops->warm)
		e->ops->warm(e);
}

/* Moves an engine to other folders, in a forked process. No program may be in use. The paths are
 * absolute, as in engine_options. The engine forgets programs that it has made before. PoCL
 * continues to use the folder in POCL_CACHE_DIR. */
static inline void engine_folders(struct engine *e, const char *work, const char *cache)
{
	if (e->ops->folders)
		e->ops->folders(e, work, cache);
}

/* Returns *bytes bytes of data in *out, which the caller frees. FETCH_ABOUT: records about a
 * program (dxp/about.h). FETCH_DEVICE: records about the device; no program. FETCH_BINARY: a
 * program's binary, for DXP_PROGRAM_BINARY. A run with a new local size may add code to the binary.
 * DXP_EUNSUPPORTED: this data does not exist; DXP_ENOMEM, DXP_EDEVICE. */
static inline int engine_fetch(struct engine *e, struct engine_program *program, uint8_t what,
			       uint8_t **out, size_t *bytes)
{
	return e->ops->fetch ? e->ops->fetch(e, program, what, out, bytes) : DXP_EUNSUPPORTED;
}

/* edit.c
 * Performs an edit, and returns when it has completed. DXP_EINVAL: the rectangle or pattern is
 * empty, a pitch is smaller than its row or slice, or the row is no multiple of the pattern;
 * DXP_ERANGE: outside device memory; DXP_EUNSUPPORTED; DXP_EDEVICE. After an error, memory is
 * unchanged, except after DXP_EDEVICE. */
int engine_edit(struct engine *e, const struct engine_edit *edit);

/* Pins host memory for DMA: locks its pages or registers them with the device. Call it once for
 * each range, at the start. DMA with memory that is not pinned is slower. DXP_EINVAL: the range has
 * no bytes or is pinned already; DXP_ENOMEM, DXP_EIO, DXP_EUNSUPPORTED. */
static inline int engine_pin(struct engine *e, void *base, uint64_t bytes)
{
	return e->ops->pin(e, base, bytes);
}

static inline void engine_unpin(struct engine *e, void *base)
{
	e->ops->unpin(e, base);
}

/* Starts a DMA. Each direction has a controller that works in order. The host memory must stay
 * valid until the completion is dequeued. A DMA may complete at once, without an interrupt.
 * DXP_EAGAIN: the queue is full, so dequeue first; DXP_ERANGE: outside device memory;
 * DXP_EUNSUPPORTED: THROUGH without a stream core. */
static inline int engine_dma_start(struct engine *e, const struct engine_dma *dma)
{
	return e->ops->dma_start(e, dma);
}

/* Dequeues up to `count` DMA completions. Returns their number. */
static inline uint32_t engine_dma_dequeue(struct engine *e, struct engine_dma_end *out,
					  uint32_t count)
{
	return e->ops->dma_dequeue(e, out, count);
}

/* Lets an idle thread work for some microseconds for a device that is software. Returns true if it
 * did work. There may then be completions for which no interrupt comes. */
static inline bool engine_dma_help(struct engine *e)
{
	return e->ops->dma_help && e->ops->dma_help(e);
}

/* Aborts all DMAs. Each completes soon: with DXP_EDEVICE, or with its status if it was already
 * complete. After its completion a DMA no longer accesses host memory. Device memory keeps its
 * bytes. */
static inline void engine_dma_reset(struct engine *e)
{
	e->ops->dma_reset(e);
}

/* Sets the stream core for later streams of an owner. ADD adds `operand` to each word; KERNEL runs
 * the board's kernel. DXP_EINVAL, DXP_EUNSUPPORTED, DXP_ENOMEM. */
int engine_core_set(struct engine *e, uint32_t owner, uint32_t core, uint32_t operand);
/* Returns an owner's settings. `result`: for CHECKSUM, the sum of all words of the owner's last
 * stream, modulo 2^64. All values are 0 if the engine has no stream core. */
void engine_core_get(struct engine *e, uint32_t owner, uint32_t *core, uint32_t *operand,
		     uint64_t *result);
/* Frees what is stored for an owner, which must have no running stream. */
void engine_core_drop(struct engine *e, uint32_t owner);

/* For engines. Checks the number of work-items, and that the local size divides the global size.
 * DXP_EINVAL: with `text`. */
int engine_sizes_check(const struct engine_launch *launch, char text[ENGINE_TEXT_BYTES]);

/* Functions of an engine that write and copy device memory, for engine_edit_by(). */
struct engine_mover {
	int (*put)(void *context, uint64_t to, const void *data, uint64_t bytes);
	int (*move)(void *context, uint64_t to, uint64_t from, uint64_t bytes);
	void *context;
};
/* Checks an edit and performs it with a mover. Statuses of engine_edit() and those of the mover. */
int engine_edit_by(const struct engine_edit *edit, const struct engine_mover *mover);
/* Checks an edit and performs it in DIRECT memory, at edit->memory. */
int engine_edit_in_place(const struct engine_edit *edit);

/* ocl.c
 * `bridged`: use BRIDGED memory even on a device that could use DIRECT memory. */
int engine_ocl_open(const struct engine_options *options, const char *device, bool bridged,
		    struct engine **out);
/* Opens an engine, with the statuses of engine_open(). The engine `board` needs it for the engines
 * in its memory. */
typedef int (*engine_opener)(const struct engine_options *options, struct engine **out);

/* board.c
 * `name`: a preset or a file; NULL: the default preset. */
int engine_board_open(const struct engine_options *options, const char *name, engine_opener opener,
		      struct engine **out);
/* cuda.c */
int engine_cuda_open(const struct engine_options *options, const char *device, struct engine **out);
/* rv32.c
 * `settings`: such as "cores=2,limit=10"; NULL: defaults. */
int engine_rv32_open(const struct engine_options *options, const char *settings,
		     struct engine **out);

#endif
