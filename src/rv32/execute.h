/* SPDX-License-Identifier: BSD-3-Clause */
/* State of a warp, and steps of decoded code.
 *
 * execute_steps.h, with handlers on whole vectors, is built four times: all or masked lanes, any
 * processor or AVX2. lane_*.c, with handlers by lane, serve all builds. */
#ifndef RV32_EXECUTE_H
#define RV32_EXECUTE_H

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rv32/core.h"

/* x0 .. x31, f0 .. f31, and a row for discarded results of x0. */
#define ROW_FLOAT 32
#define ROW_SINK  64
#define ROWS      65

/* `imm` of a jump without an instruction at its target. */
#define NO_TARGET INT32_MIN

/* Backward branches of a group of lanes until another one of the warp runs. */
#define FAIR_BRANCHES 64
/* Backward branches and groups of a warp until another warp runs and the stop flag is read. */
#define WARP_BRANCHES 4096
/* A backward branch counts once more for each BRANCH_STEPS steps of its distance, so that the time
 * between two reads of the stop flag does not depend on the length of loops. */
#define BRANCH_STEPS 256

struct warp;
struct step;

/* Executes an instruction for the running lanes, and maybe those behind it up to w->stop. Returns
 * the next step. */
typedef struct step *(*step_fn)(struct warp *w, struct step *s);

/* d, a, b, c: rows of rd, rs1, rs2, rs3. imm: immediate; of jumps the distance in steps, of LUI and
 * AUIPC the result; see lane.h for lane handlers. */
struct step {
	step_fn fn;
	uint8_t d, a, b, c;
	int32_t imm;
};

/* Why the run of a group of lanes stops. */
enum event {
	EVENT_NONE,      /* at the pc of the next group */
	EVENT_SPLIT,     /* other_mask continues at `other`, the rest at the next step */
	EVENT_PASSED,    /* jumped past the next group, or made a call or return */
	EVENT_COUNTDOWN, /* `countdown` backward branches */
	EVENT_PAUSE,     /* it waits, so other warps run */
	EVENT_BARRIER,
	EVENT_LEFT, /* all lanes moved to other groups, or have ended */
	EVENT_TRAP
};

/* An access of n bytes at `offset` is permitted if offset + n <= limit. Memory for lane handlers
 * has limits of 0. */
struct span {
	uint8_t *host;
	uint32_t base;
	uint32_t read_limit, write_limit;
};

/* Lanes of a warp that have the same pc and do not run now. */
struct lane_group {
	uint32_t pc; /* step at which they continue */
	uint32_t mask;
	uint32_t sp;    /* of the first lane; lower in a deeper call */
	uint64_t stamp; /* warp's counter of runs when it last ran */
};

struct warp {
	alignas(64) uint32_t row[ROWS][RV32_LANES];
	/* all bits 1 in running lanes, else 0 */
	alignas(64) uint32_t active[RV32_LANES];
	alignas(64) uint32_t address[RV32_LANES]; /* of loads and stores */
	uint32_t mask;                            /* running lanes */
	/* The run stops before this step, another group's pc; without one, the second step behind
	 * the code. */
	struct step *meet;
	/* Handlers stop before this step too: `meet` of the run, or the next step in a trace. */
	struct step *stop;
	/* in use: for all lanes, or for masked ones */
	struct step *steps;
	struct step *block; /* first step not in `count` yet */
	uint64_t count;     /* executed, once for the warp */
	uint64_t items;     /* executed, for each lane */
	int32_t countdown;  /* backward branches left in this run */
	uint32_t event;     /* enum event */
	struct step *other;
	uint32_t other_mask;
	const struct span *spans; /* the page table holds the indices */
	const uint8_t *page;      /* of the launch */
	/* word by word from the lowest address, RV32_LANES values each */
	uint8_t *private_rows;
	uint32_t private_base;  /* of the first word */
	uint32_t private_bytes; /* per lane */
	uint32_t private_low;   /* lowest offset stored to */

	struct rv32_core *core;
	uint32_t index; /* in its work-group */
	uint32_t live;  /* started and not ended */
	uint32_t waiting;
	uint32_t ended; /* started and ended */
	uint32_t group_count, held_count;
	uint64_t stamp;
	struct lane_group groups[RV32_LANES];
	struct lane_group held[RV32_LANES]; /* waiting at a barrier */
	int32_t quota;                      /* backward branches left until another warp runs */
	bool rotate;                        /* the longest waiting group is next */

	const uint32_t (*local_id)[RV32_LANES]; /* x, y, z, linear */
	alignas(64) uint32_t group_id[3][RV32_LANES];
	/* by lane, index of its work-group among those in the warp */
	uint32_t pack[RV32_LANES];
	uint32_t fcsr[RV32_LANES];
	/* LR: reserved address + 1, 0: none; and the value read. */
	uint32_t reserved[RV32_LANES], reserved_value[RV32_LANES];
	uint32_t nic[RV32_NIC_REGISTERS][RV32_LANES];
	/* high words of the total, stored by reads of RV32_NIC_TOTAL_LOW */
	uint32_t nic_high[RV32_LANES];
};

/* A build of the execution loop: handlers by instruction, and loop. */
struct execute {
	const step_fn *full, *masked; /* NULL: a lane handler */
	void (*run)(struct warp *w, struct step *s);
	/* Sets the lanes that run. */
	void (*set_mask)(struct warp *w, uint32_t mask);
};

extern const struct execute rv32_execute_baseline, rv32_execute_avx2;

/* Calls the trace hook before each step. */
void rv32_run_traced(struct warp *w, struct step *s);

/* Each array of steps has two more, which trap. */
struct rv32_code {
	uint32_t base;
	uint32_t count;
	const struct execute *execute;
	/* floats in software, because the code may read the flags */
	bool exact;
	bool posts;    /* NIC instructions */
	bool reserves; /* LR or SC */
	uint32_t *words;
	struct step *full, *masked;
	uint8_t row_count; /* rows that the code reads */
	uint8_t read_rows[ROWS];
};

/* Ends the run at step `next`, after `done` (0 or 1) executions of s. */
static inline struct step *leave(struct warp *w, struct step *s, unsigned done, struct step *next,
				 enum event event)
{
	w->count += (uint64_t)(s - w->block) + done;
	w->block = w->meet = next;
	w->event = event;
	return next;
}

/* Counts a backward branch over `distance` steps. */
static inline void count_branch(struct warp *w, uint32_t distance)
{
	w->countdown -= 1 + (int32_t)(distance / BRANCH_STEPS);
}

static inline uint32_t first_lane(uint32_t mask)
{
	return (uint32_t)__builtin_ctz(mask);
}

#endif
