/* SPDX-License-Identifier: BSD-3-Clause */
/* State of a warp, and the steps of decoded code.
 *
 * execute_steps.h has the handlers that work on whole vectors. It is built four times: for all
 * lanes and for masked lanes, each for any processor and for AVX2. lane_*.c have the handlers that
 * work lane by lane. These are built once and serve all builds. */
#ifndef RV32_EXECUTE_H
#define RV32_EXECUTE_H

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rv32/core.h"

/* Rows of the register file: x0 .. x31, f0 .. f31, and one row that takes the results for x0, which
 * are discarded. */
#define ROW_FLOAT 32
#define ROW_SINK  64
#define ROWS      65

/* `imm` of a branch or jump that has no instruction at its target. */
#define NO_TARGET INT32_MIN

/* Backward branches that a group of lanes makes before another group of its warp runs. */
#define FAIR_BRANCHES 64
/* Backward branches that a warp makes before another warp runs and the core reads the stop flag. */
#define WARP_BRANCHES 4096

struct warp;
struct step;

/* Executes one instruction for the lanes that run. Returns the next step. */
typedef struct step *(*step_fn)(struct warp *w, struct step *s);

/* A decoded instruction. d, a, b and c are the rows of rd, rs1, rs2 and rs3. imm is the immediate.
 * For branches and jumps it is instead the distance in steps, and for LUI and AUIPC the result. For
 * lane handlers, see lane.h. */
struct step {
	step_fn fn;
	uint8_t d, a, b, c;
	int32_t imm;
};

/* Reasons why the run of a group of lanes stops. */
enum event {
	EVENT_NONE,   /* the group has reached the pc of the next group of lanes */
	EVENT_SPLIT,  /* the lanes of other_mask continue at `other`, the rest at the next step */
	EVENT_PASSED, /* the group jumped past the pc of the next group, or made a call or return */
	EVENT_COUNTDOWN, /* the group has made `countdown` backward branches */
	EVENT_PAUSE,     /* the group waits, so other warps run */
	EVENT_BARRIER,
	EVENT_LEFT, /* all lanes of the group were moved to other groups, or have ended */
	EVENT_TRAP
};

/* A segment as the vector handlers use it: an access of n bytes at `offset` is permitted if offset
 * + n <= limit. Memory that needs the lane handlers has limits of 0. */
struct span {
	uint8_t *host;
	uint32_t base;
	uint32_t read_limit, write_limit;
};

/* Lanes of a warp that have the same pc and do not run now. */
struct lane_group {
	uint32_t pc; /* index of the step at which the lanes continue */
	uint32_t mask;
	uint32_t sp;    /* stack pointer of the first lane; it is lower in a deeper call */
	uint64_t stamp; /* value of the warp's counter of runs when the group last ran */
};

struct warp {
	alignas(64) uint32_t row[ROWS][RV32_LANES];
	/* all bits 1 in the lanes that run, 0 in the other lanes */
	alignas(64) uint32_t active[RV32_LANES];
	alignas(64) uint32_t address[RV32_LANES]; /* scratch space of loads and stores */
	uint32_t mask;                            /* lanes that run, as bits */
	/* The run stops before this step: the pc of another group. If there is no other group, it
	 * is the second step after the code, which no group reaches. */
	struct step *meet;
	/* the array of steps in use: the one for all lanes, or the one for masked lanes */
	struct step *steps;
	struct step *block; /* first step that is not yet counted in `count` */
	uint64_t count;     /* instructions executed, counted once for the warp */
	uint64_t items;     /* instructions executed, counted for each lane */
	int32_t countdown;  /* backward branches that the group may still make in this run */
	uint32_t event;     /* enum event */
	struct step *other;
	uint32_t other_mask;
	const struct span *spans; /* segments; the page table holds the indices */
	const uint8_t *page;      /* page table of the launch */
	/* private memory, word by word from the lowest address; each word has RV32_LANES values */
	uint8_t *private_rows;
	uint32_t private_base;  /* address of the first word */
	uint32_t private_bytes; /* bytes of private memory per lane */
	uint32_t private_low;   /* lowest offset in private memory to which a lane stored */

	struct rv32_core *core;
	uint32_t index; /* index of the warp in its work-group */
	uint32_t live;  /* lanes that have started and not ended */
	uint32_t waiting;
	uint32_t ended; /* lanes that have started and ended */
	uint32_t group_count, held_count;
	uint64_t stamp;
	struct lane_group groups[RV32_LANES];
	struct lane_group held[RV32_LANES]; /* groups of lanes that wait at a barrier */
	int32_t quota; /* backward branches that the warp may still make before another warp runs */
	bool rotate;   /* the group that has waited longest runs next */

	const uint32_t (*local_id)[RV32_LANES]; /* local ids of the lanes: x, y, z, linear */
	alignas(64) uint32_t group_id[3][RV32_LANES];
	/* work-group of each lane: its index among the work-groups that share the warp */
	uint32_t pack[RV32_LANES];
	uint32_t fcsr[RV32_LANES];
	/* LR: address + 1 of the reserved word, 0: none; and the value that LR read. */
	uint32_t reserved[RV32_LANES], reserved_value[RV32_LANES];
	uint32_t nic[RV32_NIC_REGISTERS][RV32_LANES];
	/* high words of the total, which the last read of RV32_NIC_TOTAL_LOW stored */
	uint32_t nic_high[RV32_LANES];
};

/* A build of the execution loop: its handlers, with one entry per instruction, and its loop. */
struct execute {
	const step_fn *full, *masked; /* NULL entries: the instruction uses a lane handler */
	void (*run)(struct warp *w, struct step *s);
	/* Sets the lanes that run. */
	void (*set_mask)(struct warp *w, uint32_t mask);
};

extern const struct execute rv32_execute_baseline, rv32_execute_avx2;

/* Does what `run` does, and calls the launch's trace hook before each step. */
void rv32_run_traced(struct warp *w, struct step *s);

/* Decoded code. Each array of steps has two steps more than instructions. These two steps trap. */
struct rv32_code {
	uint32_t base;
	uint32_t count;
	const struct execute *execute;
	/* all float instructions run in software, because the code may read the flags */
	bool exact;
	bool posts;    /* the code has instructions of the NIC */
	bool reserves; /* the code has LR or SC */
	uint32_t *words;
	struct step *full, *masked;
	uint8_t row_count; /* number of rows that the code reads */
	uint8_t read_rows[ROWS];
};

/* Ends the run at step `next`, after `done` (0 or 1) executions of step s. */
static inline struct step *leave(struct warp *w, struct step *s, unsigned done, struct step *next,
				 enum event event)
{
	w->count += (uint64_t)(s - w->block) + done;
	w->block = w->meet = next;
	w->event = event;
	return next;
}

static inline uint32_t first_lane(uint32_t mask)
{
	return (uint32_t)__builtin_ctz(mask);
}

#endif
