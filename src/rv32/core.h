/* SPDX-License-Identifier: BSD-3-Clause */
/* A core of an rv32 xPU: runs work-groups, 32 lanes in lock step, without system calls or clocks.
 * Only create functions allocate; each core has one thread.
 *
 * A work-item starts at the entry address with a0 = argument table, sp = RV32_PRIVATE_END, ra =
 * RV32_RETURN, where a jump ends it, and other registers 0.
 *
 * Registers and private memory belong to one work-item. Where order matters, lanes of a warp run in
 * order; of stores to one address, the highest lane's stays. A launch on one core is a function of
 * its inputs, races included. */
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
#define RV32_WARPS_MAX       32 /* of a work-group */
#define RV32_GROUP_ITEMS_MAX 1024
/* without code there */
#define RV32_RETURN          0x0000fff0u
#define RV32_CODE_BYTES_MAX  (4u << 20)
#define RV32_LOCAL_BYTES_MAX 65536u     /* of a work-group */
#define RV32_PRIVATE_MAX     (1u << 20) /* of a work-item */
#define RV32_PRIVATE_BYTES   8192u      /* of a work-item, by default */

/* ---- decoded code: one core uses it at a time, because load steps learn their pattern ---- */

struct rv32_code;

/* Builds of the execution loop for different processors. All compute the same bits. */
enum rv32_build { RV32_BUILD_BEST, RV32_BUILD_BASELINE, RV32_BUILD_AVX2 };

/* Returns true if this processor can run it. */
bool rv32_build_runs(enum rv32_build build);

/* Copies `count` words for address `base` (a multiple of RV32_PAGE_BYTES). NULL: no memory, an
 * empty code or above RV32_CODE_BYTES_MAX, a wrong `base`, or the build does not run here.
 *
 * If code accesses fflags, frm or fcsr, all its float instructions run in software with exact
 * flags; other code runs at full speed. */
struct rv32_code *rv32_code_create(const uint32_t *words, size_t count, uint32_t base,
				   enum rv32_build build);
void rv32_code_destroy(struct rv32_code *code);

/* ---- a work-item, as callbacks access it ---- */

struct rv32_item;

/* Read and write x register 0 .. 31; x0 reads as 0. */
uint32_t rv32_item_get(const struct rv32_item *item, unsigned number);
void rv32_item_set(struct rv32_item *item, unsigned number, uint32_t value);
/* Returns f register 0 .. 31, as bits. */
uint32_t rv32_item_get_float(const struct rv32_item *item, unsigned number);
/* Copies memory as the work-item's loads read it. Returns false if a part is not readable; `to`
 * then has the bytes before it. */
bool rv32_item_read(const struct rv32_item *item, uint32_t address, void *to, uint32_t bytes);
/* Writes the global ids of the work-item, and the ids of its work-group. */
void rv32_item_ids(const struct rv32_item *item, uint32_t global[3], uint32_t group[3]);

/* ---- a launch ---- */

/* Executes one work-item's ecall, with arguments in its registers. The work-item continues after
 * DXP_OK; else the launch stops with RV32_TRAP_ABORT. */
typedef int (*rv32_ecall_fn)(void *context, struct rv32_item *item);

/* Trace hook before each instruction of a warp. mask: executing lanes; registers: x0 .. x31, then
 * f0 .. f31, RV32_LANES values each. */
typedef void (*rv32_trace_fn)(void *context, uint32_t warp, uint32_t pc, uint32_t mask,
			      const uint32_t (*registers)[RV32_LANES]);

struct rv32_launch {
	struct rv32_code *code;
	const struct rv32_segment *segments; /* arguments, constants, argument table, window */
	uint32_t segment_count;
	uint32_t entry;     /* of the entry function */
	uint32_t arguments; /* of the argument table, in a0 */
	uint32_t dimensions;
	uint32_t groups[3]; /* 1 in unused dimensions */
	uint32_t local[3];  /* work-items; the product is 1 .. 1024 */
	uint32_t offset[3]; /* added to the global ids */
	/* of a work-group, beginning with the program's .bss; may be 0 */
	uint32_t local_bytes;
	uint32_t private_bytes;    /* stack of a work-item; multiple of 16 */
	uint64_t instructions_max; /* lane instructions of this core; 0: no limit */
	/* not 0: the launch stops soon; NULL: no flag */
	const atomic_uint *stop;
	/* Next work-group, shared by the launch's cores, 0 at the start. NULL: this core runs
	 * all. */
	_Atomic uint64_t *next_group;
	rv32_ecall_fn ecall; /* NULL: an ecall traps */
	void *ecall_context;
	const struct rv32_nic *nic; /* NULL: the NIC instructions return DXP_EUNSUPPORTED */
	rv32_trace_fn trace;        /* NULL: no trace, and no cost */
	void *trace_context;
};

struct rv32_counters {
	uint64_t instructions;      /* executed, for each lane */
	uint64_t warp_instructions; /* executed, once per warp */
	uint64_t groups;            /* completed */
};

struct rv32_core;

struct rv32_core_options {
	uint32_t index; /* read in RV32_CSR_CORE */
	/* Private memory per work-item of a launch at most; 0: RV32_PRIVATE_BYTES. The core
	 * allocates RV32_LANES * warps times as much. */
	uint32_t private_bytes;
	/* of the largest work-group, 1 .. RV32_WARPS_MAX; 0: RV32_WARPS_MAX */
	uint32_t warps;
};

/* Returns NULL without memory, or if an option is out of range. */
struct rv32_core *rv32_core_create(const struct rv32_core_options *options);
void rv32_core_destroy(struct rv32_core *core);

/* Runs until no work-group is left. Sets *counters also after a trap. Errors: DXP_EINVAL: a value
 * out of range, or segments overlap; nothing ran. DXP_EDEVICE: trapped; see *trap. */
int rv32_core_run(struct rv32_core *core, const struct rv32_launch *launch,
		  struct rv32_counters *counters, struct rv32_trap *trap);

#endif
