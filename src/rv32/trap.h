/* SPDX-License-Identifier: BSD-3-Clause */
/* Traps: the reason why a launch stopped early, and the message for the user. */
#ifndef RV32_TRAP_H
#define RV32_TRAP_H

#include <stddef.h>
#include <stdint.h>

#define RV32_TRAP_TEXT_BYTES 256

enum rv32_trap_kind {
	RV32_TRAP_NONE,
	RV32_TRAP_ILLEGAL, /* `word` is not an instruction of this device */
	RV32_TRAP_CSR,     /* `address` is not the number of a CSR, or the CSR is read-only */
	RV32_TRAP_JUMP,    /* jump to `address`, which is outside the code or not a multiple of 4 */
	/* load of `bytes` at `address`, which is outside the segments or not readable */
	RV32_TRAP_LOAD,
	/* store of `bytes` at `address`, which is outside the segments or not writable */
	RV32_TRAP_STORE,
	RV32_TRAP_MISALIGNED, /* atomic instruction at an address that is not a multiple of 4 */
	RV32_TRAP_BREAK,      /* the program executed ebreak */
	RV32_TRAP_ABORT,      /* the ecall callback returned an error */
	/* a work-item waits at a barrier, but `waited_for` work-items ended without reaching it */
	RV32_TRAP_BARRIER,
	RV32_TRAP_BUDGET, /* the core reached the limit of instructions */
	RV32_TRAP_STOPPED /* the stop flag of the launch was set */
};

/* Details of a trap. They stay valid after the launch, except `name`. */
struct rv32_trap {
	enum rv32_trap_kind kind;
	uint32_t pc;      /* address of the instruction */
	uint32_t word;    /* word of the instruction */
	uint32_t address; /* memory address, jump target or number of a CSR */
	uint32_t bytes;   /* bytes of the access */
	uint32_t item[3]; /* global id of the work-item */
	uint32_t group[3];
	/* RV32_TRAP_BARRIER: work-items that ended without reaching the barrier */
	uint32_t waited_for;
	uint64_t instructions; /* lane instructions of this core so far */
	/* The segment on the page of the address, or else on the page before it. segment_kind 0:
	 * none. */
	uint8_t segment_kind;
	int16_t argument; /* number of the argument to which the segment belongs; -1: none */
	uint32_t segment_base, segment_bytes;
	const char *name; /* name of the argument, or NULL */
	int status;       /* RV32_TRAP_ABORT: status that the callback returned */
};

/* Writes a text such as "symbol+0x5c" for a code address. Returns the length, as snprintf(). */
typedef int (*rv32_symbolize_fn)(void *context, uint32_t pc, char *text, size_t bytes);

/* Formats the message for the user, at most RV32_TRAP_TEXT_BYTES with the final zero. If symbolize
 * is NULL, writes code addresses as numbers. */
void rv32_trap_format(const struct rv32_trap *trap, const char *kernel, rv32_symbolize_fn symbolize,
		      void *context, char *text, size_t bytes);

#endif
