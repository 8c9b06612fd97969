/* SPDX-License-Identifier: BSD-3-Clause */
/* A core of an rv32 xPU: runs the work-groups of a launch, 32 lanes in lock step. Makes no system
 * call and reads no clock. Only the create functions allocate memory. Each core has one thread.
 *
 * Every work-item starts at the entry address with a0 = argument table, sp = RV32_PRIVATE_END, ra =
 * RV32_RETURN. It has ended when it jumps to RV32_RETURN. All other registers start as 0.
 *
 * Registers and private memory belong to one work-item. Where order matters, work-items of a warp
 * run in lane order. If two lanes store to one address, the value of the higher lane stays. The
 * result of a launch on one core is a function of its inputs, races included. */
#ifndef RV32_CORE_H
#define RV32_CORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rv32/isa.h"
#include "rv32/memory.h"
#include "rv32/nic.h"
#include "rv32/trap.h"

#define RV32_LANES           32
#define RV32_WARPS_MAX       32 /* warps of a work-group at most */
#define RV32_GROUP_ITEMS_MAX 1024
/* return address of a work-item: no code is at this address */
#define RV32_RETURN          0x0000fff0u
#define RV32_CODE_BYTES_MAX  (4u << 20)
#define RV32_LOCAL_BYTES_MAX 65536u     /* bytes of LOCAL memory of one work-group at most */
#define RV32_PRIVATE_MAX     (1u << 20) /* bytes of private memory of one work-item at most */
#define RV32_PRIVATE_BYTES   8192u      /* bytes of private memory of one work-item by default */

/* ---- decoded code: one core uses it at a time, because load steps learn their pattern ---- */

struct rv32_code;

/* Builds of the execution loop for different processors. All compute the same bits. */
enum rv32_build { RV32_BUILD_BEST, RV32_BUILD_BASELINE, RV32_BUILD_AVX2 };

/* Returns true if this processor can run the build. */
bool rv32_build_runs(enum rv32_build build);

/* Decodes `count` words that lie at address `base` (a multiple of RV32_PAGE_BYTES), and copies
 * them. Returns NULL if memory is short, the code is empty or longer than RV32_CODE_BYTES_MAX,
 * `base` is invalid, or the build does not run here.
 *
 * Code that reads or writes fflags, frm or fcsr runs all float instructions in software with exact
 * flags. Other code cannot observe the flags and runs at full speed. */
struct rv32_code *rv32_code_create(const uint32_t *words, size_t count, uint32_t base,
				   enum rv32_build build);
void rv32_code_destroy(struct rv32_code *code);

/* ---- a work-item, as callbacks access it ---- */

struct rv32_item;

/* Read and write x register 0 .. 31; x0 reads as 0. */
uint32_t rv32_item_get(const struct rv32_item *item, unsigned number);
void rv32_item_set(struct rv32_item *item, unsigned number, uint32_t value);
/* Reads f register 0 .. 31, as bits. */
uint32_t rv32_item_get_float(const struct rv32_item *item, unsigned number);
/* Copies memory as the work-item's loads would read it. Returns false if a part is not readable;
 * `to` then has only the bytes before that part. */
bool rv32_item_read(const struct rv32_item *item, uint32_t address, void *to, uint32_t bytes);
/* Writes the global ids of the work-item, and the ids of its work-group. */
void rv32_item_ids(const struct rv32_item *item, uint32_t global[3], uint32_t group[3]);

/* ---- a launch ---- */

/* Executes an ecall of one work-item; the arguments are in its registers. If it returns DXP_OK, the
 * work-item continues after the ecall. Otherwise the launch stops with RV32_TRAP_ABORT. */
typedef int (*rv32_ecall_fn)(void *context, struct rv32_item *item);

/* Trace hook: called before each instruction of a warp. mask: lanes that execute the instruction.
 * registers: x0 .. x31, then f0 .. f31, with RV32_LANES values each. */
typedef void (*rv32_trace_fn)(void *context, uint32_t warp, uint32_t pc, uint32_t mask,
			      const uint32_t (*registers)[RV32_LANES]);

struct rv32_launch {
	struct rv32_code *code;
	const struct rv32_segment *segments; /* arguments, constants, argument table, window */
	uint32_t segment_count;
	uint32_t entry;     /* address of the entry function */
	uint32_t arguments; /* address of the argument table, which work-items find in a0 */
	uint32_t dimensions;
	uint32_t groups[3]; /* number of work-groups; 1 in unused dimensions */
	uint32_t local[3];  /* work-items of a work-group; the product is 1 .. 1024 */
	uint32_t offset[3]; /* offset that is added to the global ids, in work-items */
	/* LOCAL memory of a work-group, which begins with .bss of the program; may be 0 */
	uint32_t local_bytes;
	uint32_t private_bytes;    /* stack of each work-item; multiple of 16 */
	uint64_t instructions_max; /* limit of lane instructions of this core; 0: no limit */
	/* if the value is not 0, the launch stops soon; NULL: no stop flag */
	const atomic_uint *stop;
	/* Index of the next work-group. The cores of a launch share it; it is 0 at the start. NULL:
	 * this core runs all work-groups. */
	_Atomic uint64_t *next_group;
	rv32_ecall_fn ecall; /* handler of ecall; NULL: an ecall traps */
	void *ecall_context;
	const struct rv32_nic *nic; /* NULL: the NIC instructions return DXP_EUNSUPPORTED */
	rv32_trace_fn trace;        /* NULL: no trace, and no cost */
	void *trace_context;
};

struct rv32_counters {
	uint64_t instructions;      /* instructions executed, counted for each lane */
	uint64_t warp_instructions; /* instructions executed, counted once for each warp */
	uint64_t groups;            /* work-groups completed */
};

struct rv32_core;

struct rv32_core_options {
	uint32_t index; /* index of the core, which programs read in RV32_CSR_CORE */
	/* Bytes of private memory per work-item that a launch may use; 0: RV32_PRIVATE_BYTES. The
	 * core allocates RV32_LANES * warps times as much. */
	uint32_t private_bytes;
	/* warps of the largest work-group that a launch may have, 1 .. RV32_WARPS_MAX; 0:
	 * RV32_WARPS_MAX */
	uint32_t warps;
};

/* Returns NULL if memory is short or an option is out of range. */
struct rv32_core *rv32_core_create(const struct rv32_core_options *options);
void rv32_core_destroy(struct rv32_core *core);

/* Runs work-groups until none is left. Sets *counters also after a trap.
 * Errors: DXP_EINVAL: a value of the launch is out of range or segments overlap; nothing ran.
 * DXP_EDEVICE: the launch trapped; *trap has the details. */
int rv32_core_run(struct rv32_core *core, const struct rv32_launch *launch,
		  struct rv32_counters *counters, struct rv32_trap *trap);

#endif
