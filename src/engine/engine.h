/* SPDX-License-Identifier: BSD-3-Clause */
/* What runs kernels on one xPU: one interface, several engines. All calls but engine_open,
 * engine_describe and those of DMA are made by the one thread that owns the engine; engine_run
 * returns when the kernel has ended.
 *
 * Memory is one of two kinds. DIRECT: it is the owner's, this process addresses it, arguments point
 * into it and kernels work in place. BRIDGED: it is the device's, bytes go in and out by DMA only
 * (S-01), and arguments are device addresses. The calls of DMA are for engines with BRIDGED memory;
 * one thread makes them, which may be another than the owner. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dxp/async.h>

#include <dxp/status.h>

#include "base/limits.h"
#include "wire/command.h"

struct engine;
struct engine_program;

/* The numbers are those of the register ENGINE. */
enum engine_kind { ENGINE_NONE, ENGINE_OCL, ENGINE_BOARD, ENGINE_CUDA };

struct engine_options {
	/* "none"; "ocl", "ocl:PART OF A DEVICE'S NAME"; "board", "board:PRESET", "board:FILE";
	 * "cuda", "cuda:PART". A `+bridged` behind ocl's ("ocl+bridged:PART") keeps the device's
	 * memory apart though it need not be. */
	const char *name;
	const char *cache_folder; /* for compiled kernels; NULL: they are not kept */
	const char *work_folder;  /* for a compiler's files, of this process and those forked from
				     it; NULL: the engine makes one */
	void *memory; /* device memory for an engine that works in ours, which outlives the engine;
			 with BRIDGED memory nobody touches it */
	uint64_t memory_bytes;
	/* A DMA has ended: engine_dma_take would give something. From any thread; an interrupt. */
	void (*interrupt)(void *context);
	void *interrupt_context;
};

struct engine_description {
	enum engine_kind kind;
	const char *name;                 /* as in the node table */
	char device[FABRIC_DEVICE_BYTES]; /* what the engine calls its device; "" for none */
	uint32_t compute_units;
	uint8_t memory_kind; /* enum dxp_memory_kind: DIRECT or BRIDGED */
	bool streams;        /* has a stream core: DMA_THROUGH works */
	bool reaches_host;   /* kernels load and store this process's memory while they run: a NIC's
				window can be an argument */
};

#define ENGINE_NO_ADDRESS UINT64_MAX /* of a BUFFER: the kernel gets a null pointer */

/* What a kernel gets. */
struct engine_argument {
	uint8_t kind;               /* enum command_argument_kind */
	uint32_t bytes;             /* BYTES, LOCAL */
	const void *value;          /* BYTES */
	void *memory;               /* BUFFER, IMAGE, DIRECT memory: where it is; NIC: the window */
	uint64_t address;           /* BUFFER, IMAGE: in device memory; ENGINE_NO_ADDRESS */
	uint64_t memory_bytes;      /* from there on: at least what an IMAGE's pitches span */
	struct dxp_image image;     /* IMAGE */
	struct dxp_sampler sampler; /* SAMPLER */
};

struct engine_launch {
	struct engine_program *program;
	const char *kernel;
	uint8_t dimensions;
	uint64_t global[3], local[3]; /* local all 0: the engine chooses */
	uint64_t offset[3];           /* of the first global id */
	uint8_t argument_count;
	struct engine_argument arguments[COMMAND_ARGS_MAX];
};

#define ENGINE_TEXT_BYTES 256

struct engine_file {
	const char *name; /* of a header: relative, without ".."; of files[0] only for messages:
			     may be NULL */
	const void *data;
	size_t bytes;
};

struct engine_source {
	uint8_t kind; /* enum dxp_program_kind */
	const char *options;
	const struct engine_file *files; /* SOURCE, COMPILE: the program's text, then headers;
					    BINARY: one; LINK: none */
	uint32_t file_count;
	struct engine_program *const *inputs; /* LINK; not kept */
	uint32_t input_count;
};

/* WRITE, COPY or FILL: a box of bytes written from bytes, from another box or from a pattern. */
struct engine_edit {
	uint8_t op;      /* COMMAND_WRITE, COMMAND_COPY or COMMAND_FILL */
	uint8_t *memory; /* DIRECT memory: where address 0 is */
	uint64_t memory_bytes;
	uint64_t from, to; /* device addresses; `from`: COPY */
	const void *data;  /* WRITE: the bytes; FILL: the pattern */
	uint32_t data_bytes;
	struct dxp_box box; /* COPY, FILL */
};

/* ---- DMA (S-02) ---- */

enum engine_dma_kind {
	ENGINE_DMA_IN,      /* host -> device address `to` */
	ENGINE_DMA_OUT,     /* device address `from` -> host */
	ENGINE_DMA_THROUGH, /* host, stream core, host */
	ENGINE_DMA_COPY,    /* device address `from` -> device address `to`; they may overlap */
};

struct engine_dma {
	uint64_t id;  /* comes back */
	uint8_t kind; /* enum engine_dma_kind */
	uint64_t from, to;
	const void *source; /* host memory: IN, THROUGH */
	void *sink;         /* host memory: OUT, THROUGH */
	uint64_t bytes;     /* 1 or more; any alignment */
	bool first; /* THROUGH: the stream begins: what the core has summed up starts afresh */
};

struct engine_dma_end {
	uint64_t id;
	int status; /* DXP_OK: all bytes have passed; DXP_EDEVICE: it failed or was reset */
};

/* What the stream core does with what passes; 4-byte words of the host's order. */
enum engine_core { ENGINE_CORE_PASS, ENGINE_CORE_ADD, ENGINE_CORE_CHECKSUM, ENGINE_CORE_KERNEL };

/* On DXP_OK *program must be released; *log is for the caller to free, or NULL when there is
 * nothing to say. */
struct engine_ops {
	int (*build)(struct engine *e, const struct engine_source *source,
		     struct engine_program **program, char **log);
	void (*release)(struct engine *e, struct engine_program *program);
	int (*run)(struct engine *e, const struct engine_launch *launch,
		   char text[ENGINE_TEXT_BYTES]);
	/* NULL: it has nothing to fetch */
	int (*fetch)(struct engine *e, struct engine_program *program, uint8_t what, uint8_t **out,
		     size_t *bytes);
	/* NULL: it has no need of that */
	void (*warm)(struct engine *e);
	/* NULL with DIRECT memory: done in place */
	int (*edit)(struct engine *e, const struct engine_edit *edit);
	void (*describe)(const struct engine *e, struct engine_description *out);
	void (*close)(struct engine *e);
	/* NULL in engines with DIRECT memory: */
	int (*pin)(struct engine *e, void *base, uint64_t bytes);
	void (*unpin)(struct engine *e, void *base);
	int (*dma_start)(struct engine *e, const struct engine_dma *dma);
	uint32_t (*dma_take)(struct engine *e, struct engine_dma_end *out, uint32_t count);
	bool (*dma_help)(struct engine *e); /* NULL: the device does it all by itself */
	void (*dma_reset)(struct engine *e);
	/* NULL where there is no stream core: */
	int (*core_set)(struct engine *e, uint32_t core, uint32_t operand);
	void (*core_get)(struct engine *e, uint32_t *core, uint32_t *operand, uint64_t *result);
};

struct engine {
	const struct engine_ops *ops;
	/* What the device's driver said when the last build, run or edit failed, in its own
	 * numbers (OpenCL's are negative, CUDA's positive); 0: nothing. The owner's thread. */
	int32_t native;
};

/* On success *out must be closed. DXP_EINVAL: no engine has that name; DXP_EUNSUPPORTED: there is
 * no such device, or its memory is not ours; DXP_EIO, DXP_ENOMEM. All logged with the next step. */
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

/* DXP_EBUILD: it does not build, and the log says why; DXP_EUNSUPPORTED, DXP_ENOMEM, DXP_EDEVICE.
 */
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

/* DXP_EINVAL: kernel, arguments or sizes are not what the program wants; DXP_EDEVICE: it failed
 * while running; DXP_ENOENT: no such kernel. `text` then says what and why. */
static inline int engine_run(struct engine *e, const struct engine_launch *launch,
			     char text[ENGINE_TEXT_BYTES])
{
	e->native = 0;
	return e->ops->run(e, launch, text);
}

/* Before processes are forked that will build and run programs: does for once what is slow for the
 * first time. */
static inline void engine_warm(struct engine *e)
{
	if (e->ops->warm)
		e->ops->warm(e);
}

/* `what`: FETCH_ABOUT or FETCH_BINARY of a program; FETCH_DEVICE without one. Both as records of
 * dxp/about.h, but the binary, which is as DXP_PROGRAM_BINARY takes it. *out, of *bytes, is for the
 * caller to free. A binary is worth fetching anew after it
 * has run in a new local size. DXP_EUNSUPPORTED: this engine has no such thing; DXP_ENOMEM,
 * DXP_EDEVICE. */
static inline int engine_fetch(struct engine *e, struct engine_program *program, uint8_t what,
			       uint8_t **out, size_t *bytes)
{
	return e->ops->fetch ? e->ops->fetch(e, program, what, out, bytes) : DXP_EUNSUPPORTED;
}

/* edit.c. Runs it to its end. DXP_EINVAL: the box or the pattern has no bytes, pitches
 * smaller than what they hold, or a row that is no multiple of the pattern; DXP_ERANGE: outside of
 * device memory; DXP_EDEVICE; DXP_EUNSUPPORTED: this engine has no way. Nothing has changed then,
 * but for DXP_EDEVICE. */
int engine_edit(struct engine *e, const struct engine_edit *edit);

/* Host memory that DMA will use, once, at start: page-locked or known to the device by it. Memory
 * that was not pinned works too, slower. DXP_EINVAL: no bytes, or pinned already; DXP_ENOMEM,
 * DXP_EIO, DXP_EUNSUPPORTED. */
static inline int engine_pin(struct engine *e, void *base, uint64_t bytes)
{
	return e->ops->pin(e, base, bytes);
}

static inline void engine_unpin(struct engine *e, void *base)
{
	e->ops->unpin(e, base);
}

/* Begins a DMA; each direction has a controller of its own that does its own in order. Host memory
 * stays until the end is taken, which may be there at once: then there is no interrupt. DXP_EAGAIN:
 * the controller's queue is full, take ends first; DXP_ERANGE: outside device memory;
 * DXP_EUNSUPPORTED: THROUGH without a core. */
static inline int engine_dma_start(struct engine *e, const struct engine_dma *dma)
{
	return e->ops->dma_start(e, dma);
}

/* Those that have ended, each told once. */
static inline uint32_t engine_dma_take(struct engine *e, struct engine_dma_end *out, uint32_t count)
{
	return e->ops->dma_take(e, out, count);
}

/* Asked by who has nothing else to do while DMAs are under way: a device that is software may use
 * the time for some microseconds of their work, where its own threads do not get any. True: it did,
 * and ends may have come for which there is no interrupt. */
static inline bool engine_dma_help(struct engine *e)
{
	return e->ops->dma_help && e->ops->dma_help(e);
}

/* Every DMA under way ends soon, with DXP_EDEVICE unless it had ended well already, and touches
 * host memory no more then; device memory keeps its bytes. */
static inline void engine_dma_reset(struct engine *e)
{
	e->ops->dma_reset(e);
}

/* The stream core; ADD adds `operand` to each word, KERNEL is the one that the board was set up
 * with. Takes effect for streams that begin later. DXP_EINVAL, DXP_EUNSUPPORTED. */
int engine_core_set(struct engine *e, uint32_t core, uint32_t operand);
/* `result`: of CHECKSUM the sum of all words of the last stream, modulo 2^64. All 0 without a core.
 */
void engine_core_get(struct engine *e, uint32_t *core, uint32_t *operand, uint64_t *result);

/* For engines: are there work items, not too many, in groups that divide them? DXP_EINVAL: with
 * `text`. */
int engine_sizes_check(const struct engine_launch *launch, char text[ENGINE_TEXT_BYTES]);

/* For engines: how bytes get into device memory and from place to place in it. */
struct engine_mover {
	int (*put)(void *context, uint64_t to, const void *data, uint64_t bytes);
	int (*move)(void *context, uint64_t to, uint64_t from, uint64_t bytes);
	void *context;
};
/* An edit, checked, by a mover. Statuses as engine_edit and the mover's. */
int engine_edit_by(const struct engine_edit *edit, const struct engine_mover *mover);
/* The same at edit->memory. */
int engine_edit_in_place(const struct engine_edit *edit);

/* ocl.c; `bridged`: with BRIDGED memory also where the device could work in ours */
int engine_ocl_open(const struct engine_options *options, const char *device, bool bridged,
		    struct engine **out);
/* board.c; `name`: a preset's or a file's; NULL: the default preset */
int engine_board_open(const struct engine_options *options, const char *name, struct engine **out);
/* cuda.c */
int engine_cuda_open(const struct engine_options *options, const char *device, struct engine **out);

#endif
