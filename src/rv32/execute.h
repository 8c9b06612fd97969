/* SPDX-License-Identifier: BSD-3-Clause */
/* State of a warp, and the steps of decoded code. execute_steps.h has the handlers of
 * instructions that work on whole vectors; it is built twice for lanes (all active, or masked) and
 * twice for processors (baseline, AVX2). lane_*.c have the handlers that work lane by lane; they
 * serve all builds. */
#ifndef RV32_EXECUTE_H
#define RV32_EXECUTE_H

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rv32/core.h"

/* Rows of the register file: x0 .. x31, f0 .. f31, and a row for results that x0 discards. */
#define ROW_FLOAT 32
#define ROW_SINK  64
#define ROWS      65

/* Offset of a branch or jump whose target is not an instruction. */
#define NO_TARGET INT32_MIN

/* Backward branches of a group of lanes before another group of its warp runs. */
#define FAIR_BRANCHES 64
/* Backward branches of a warp before another warp runs and the stop flag is read. */
#define WARP_BRANCHES 4096

struct warp;
struct step;

/* Executes one instruction for the running lanes; returns the next step. */
typedef struct step *(*step_fn)(struct warp *w, struct step *s);

/* A decoded instruction. d, a, b and c are the rows of rd, rs1, rs2 and rs3. imm is the immediate;
 * for branches and jumps, the distance in steps; for LUI and AUIPC, the result; for lane handlers,
 * see lane.h. */
struct step {
	step_fn fn;
	uint8_t d, a, b, c;
	int32_t imm;
};

enum event {
	EVENT_NONE,      /* reached the next group of lanes */
	EVENT_SPLIT,     /* other_mask continues at `other` */
	EVENT_PASSED,    /* jumped past the next group's pc, or called or returned */
	EVENT_COUNTDOWN, /* `countdown` backward branches were taken */
	EVENT_PAUSE,
	EVENT_BARRIER,
	EVENT_LEFT, /* all running lanes were moved to groups, or returned */
	EVENT_TRAP
};

/* A segment, for the vector handlers: an access of n bytes at `offset` is permitted if offset
 * + n <= limit. Memory that needs the lane handlers has limits of 0. */
struct span {
	uint8_t *host;
	uint32_t base;
	uint32_t read_limit, write_limit;
};

/* Lanes of a warp that have the same pc and do not run. */
struct lane_group {
	uint32_t pc; /* index of the step */
	uint32_t mask;
	uint32_t sp;    /* stack pointer of the first lane; a deeper call has a lower one */
	uint64_t stamp; /* when it last ran */
};

struct warp {
	alignas(64) uint32_t row[ROWS][RV32_LANES];
	alignas(64) uint32_t active[RV32_LANES];  /* all ones in lanes that run, 0 in the others */
	alignas(64) uint32_t address[RV32_LANES]; /* scratch of loads and stores */
	uint32_t mask;                            /* lanes that run */
	/* The run stops before this step: the pc of another group, or the second step behind the
	 * code if there is no other group. */
	struct step *meet;
	/* array of steps that is running: the one for all lanes, or the one for masked lanes */
	struct step *steps;
	struct step *block; /* first step of the block that is not counted yet */
	uint64_t count;     /* instructions of this warp */
	uint64_t items;     /* instructions of all lanes together */
	int32_t countdown;  /* backward branches */
	uint32_t event;     /* enum event */
	struct step *other;
	uint32_t other_mask;
	const struct span *spans; /* indexed by the page table */
	const uint8_t *page;      /* page table of the launch */
	/* private memory word by word, from the lowest address: RV32_LANES values each */
	uint8_t *private_rows;
	uint32_t private_base;  /* address of the first word */
	uint32_t private_bytes; /* bytes of private memory per lane */
	uint32_t private_low;   /* lowest offset to which a store was made */

	struct rv32_core *core;
	uint32_t index; /* index of the warp in its work-group */
	uint32_t live;  /* lanes that have not ended */
	uint32_t waiting;
	uint32_t ended; /* lanes that started and have ended */
	uint32_t group_count, held_count;
	uint64_t stamp;
	struct lane_group groups[RV32_LANES];
	struct lane_group held[RV32_LANES]; /* lanes that wait at a barrier */
	int32_t quota;                      /* backward branches until other warps run */
	bool rotate;                        /* the group that waited longest runs next */

	const uint32_t (*local_id)[RV32_LANES]; /* x, y, z, linear */
	alignas(64) uint32_t group_id[3][RV32_LANES];
	/* work-group of each lane: index among those that share the warp */
	uint32_t pack[RV32_LANES];
	uint32_t fcsr[RV32_LANES];
	/* LR: address + 1 of the reservation, 0: none; the value it read. */
	uint32_t reserved[RV32_LANES], reserved_value[RV32_LANES];
	uint32_t nic[RV32_NIC_REGISTERS][RV32_LANES];
	/* high words that the last read of RV32_NIC_TOTAL_LOW latched */
	uint32_t nic_high[RV32_LANES];
};

/* One build: its handlers, by instruction, and its loop. */
struct execute {
	const step_fn *full, *masked; /* NULL entries: lane handlers */
	void (*run)(struct warp *w, struct step *s);
	/* Sets the lanes that run. */
	void (*set_mask)(struct warp *w, uint32_t mask);
};

extern const struct execute rv32_execute_baseline, rv32_execute_avx2;

/* Runs like `run`, and calls the launch's trace hook before each step. */
void rv32_run_traced(struct warp *w, struct step *s);

/* Decoded code. Both arrays of steps have two steps more than instructions; these two trap. */
struct rv32_code {
	uint32_t base;
	uint32_t count;
	const struct execute *execute;
	bool exact;    /* all float instructions run in software */
	bool posts;    /* has instructions of the NIC */
	bool reserves; /* has LR or SC */
	uint32_t *words;
	struct step *full, *masked;
	uint8_t row_count; /* rows that the code reads */
	uint8_t read_rows[ROWS];
};

/* Leaves the run at step `next` after executing `done` (0 or 1) of step s. */
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
