/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a launch stopped early, and the message. */
#ifndef RV32_TRAP_H
#define RV32_TRAP_H

#include <stddef.h>
#include <stdint.h>

#define RV32_TRAP_TEXT_BYTES 256

enum rv32_trap_kind {
	RV32_TRAP_NONE,
	RV32_TRAP_ILLEGAL, /* `word` is no instruction of this device */
	RV32_TRAP_CSR,     /* `address` is no CSR, or a read-only one */
	RV32_TRAP_JUMP,    /* to `address`, outside the code or no multiple of 4 */
	/* `bytes` at `address`: outside the segments, or not readable */
	RV32_TRAP_LOAD,
	/* `bytes` at `address`: outside the segments, or not writable */
	RV32_TRAP_STORE,
	RV32_TRAP_MISALIGNED, /* atomic at no multiple of 4 */
	RV32_TRAP_BREAK,      /* ebreak */
	RV32_TRAP_ABORT,      /* the ecall callback failed */
	/* `waited_for` work-items ended without reaching a barrier */
	RV32_TRAP_BARRIER,
	RV32_TRAP_BUDGET, /* limit of instructions */
	RV32_TRAP_STOPPED /* the stop flag of the launch was set */
};

/* Valid after the launch, except `name`. */
struct rv32_trap {
	enum rv32_trap_kind kind;
	uint32_t pc;      /* of the instruction */
	uint32_t word;    /* instruction */
	uint32_t address; /* memory address, jump target or CSR */
	uint32_t bytes;   /* of the access */
	uint32_t item[3]; /* global id */
	uint32_t group[3];
	/* RV32_TRAP_BARRIER: ended without reaching it */
	uint32_t waited_for;
	uint64_t instructions; /* lane instructions of this core so far */
	/* The segment on the page of the address, or else on the page before it. segment_kind 0:
	 * none. */
	uint8_t segment_kind;
	int16_t argument; /* of the segment; -1: none */
	uint32_t segment_base, segment_bytes;
	const char *name; /* of the argument, or NULL */
	int status;       /* RV32_TRAP_ABORT: of the callback */
};

/* Writes a text such as "symbol+0x5c". Returns the length, as snprintf(). */
typedef int (*rv32_symbolize_fn)(void *context, uint32_t pc, char *text, size_t bytes);

/* Writes at most RV32_TRAP_TEXT_BYTES with the final zero. Without symbolize, code addresses are
 * numbers. */
void rv32_trap_format(const struct rv32_trap *trap, const char *kernel, rv32_symbolize_fn symbolize,
		      void *context, char *text, size_t bytes);

#endif
