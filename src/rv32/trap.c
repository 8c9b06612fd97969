/* SPDX-License-Identifier: BSD-3-Clause */
/* Formats a trap's message: kernel, work-item, cause, code address. */
#include "rv32/trap.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include <dxp/status.h>

#include "base/util.h"
#include "rv32/memory.h"

#define SYMBOL_BYTES 64

struct sentence {
	char *text;
	size_t bytes, used;
};

PRINTF_LIKE(2, 3) static void add(struct sentence *s, const char *format, ...)
{
	va_list list;
	int n;

	if (s->used >= s->bytes)
		return;
	va_start(list, format);
	n = vsnprintf(s->text + s->used, s->bytes - s->used, format, list);
	va_end(list);
	s->used += n > 0 ? (size_t)n : 0;
}

static const char *kind_text(unsigned kind)
{
	switch (kind) {
	case RV32_CONSTANT: return "the program's constants";
	case RV32_LOCAL: return "local memory";
	case RV32_PRIVATE: return "private memory";
	case RV32_CODE: return "the program's code";
	case RV32_ARGUMENTS: return "the argument table";
	case RV32_WINDOW: return "the NIC window";
	default: return "global memory";
	}
}

static void add_segment(struct sentence *s, const struct rv32_trap *t)
{
	if (t->argument >= 0 && t->name)
		add(s, "argument %d '%.40s'", t->argument, t->name);
	else if (t->argument >= 0)
		add(s, "argument %d", t->argument);
	else
		add(s, "%s", kind_text(t->segment_kind));
	add(s, " (%" PRIu32 " bytes)", t->segment_bytes);
}

static void add_access(struct sentence *s, const struct rv32_trap *t)
{
	const uint64_t end = (uint64_t)t->segment_base + t->segment_bytes;

	add(s, "%s %" PRIu32 " byte%s at 0x%08" PRIx32 ", ",
	    t->kind == RV32_TRAP_LOAD ? "loads" : "stores", t->bytes, t->bytes == 1 ? "" : "s",
	    t->address);
	if (!t->segment_kind) {
		add(s, "outside all arguments");
	} else if (t->address < t->segment_base) {
		add(s, "below ");
		add_segment(s, t);
		add(s, ": its stack is full, raise private= of --engine rv32");
	} else if ((uint64_t)t->address + t->bytes <= end) {
		add(s, "in ");
		add_segment(s, t);
		add(s, ", which a kernel must not %s",
		    t->kind == RV32_TRAP_LOAD ? "read" : "write");
	} else {
		add(s, "offset %" PRIu64 " of ", (uint64_t)t->address - t->segment_base);
		add_segment(s, t);
	}
}

static void add_what(struct sentence *s, const struct rv32_trap *t)
{
	switch (t->kind) {
	case RV32_TRAP_ILLEGAL:
		add(s, "instruction 0x%08" PRIx32 " is not of rv32imaf nor of dxp/rv32.h", t->word);
		break;
	case RV32_TRAP_CSR: add(s, "no access to CSR 0x%03" PRIx32, t->address); break;
	case RV32_TRAP_JUMP:
		add(s, "jumps to 0x%08" PRIx32 ", which is no instruction of the program",
		    t->address);
		break;
	case RV32_TRAP_LOAD:
	case RV32_TRAP_STORE: add_access(s, t); break;
	case RV32_TRAP_MISALIGNED:
		add(s, "atomic at 0x%08" PRIx32 ", which is not a multiple of 4", t->address);
		break;
	case RV32_TRAP_BREAK: add(s, "executes ebreak"); break;
	case RV32_TRAP_ABORT: add(s, "aborts: %s", dxp_status_text(t->status)); break;
	case RV32_TRAP_BARRIER:
		add(s, "waits at a barrier that %" PRIu32 " work-item%s ended without reaching",
		    t->waited_for, t->waited_for == 1 ? "" : "s");
		break;
	case RV32_TRAP_BUDGET:
		add(s, "still running after %.2g instructions, the limit", (double)t->instructions);
		break;
	case RV32_TRAP_STOPPED:
		add(s, "still running when it was stopped, after %.2g instructions",
		    (double)t->instructions);
		break;
	default: add(s, "no trap"); break;
	}
}

void rv32_trap_format(const struct rv32_trap *trap, const char *kernel, rv32_symbolize_fn symbolize,
		      void *context, char *text, size_t bytes)
{
	struct sentence s = {text, bytes, 0};
	char symbol[SYMBOL_BYTES] = "";

	if (bytes == 0)
		return;
	text[0] = '\0';
	add(&s, "kernel '%.60s', work-item (%" PRIu32 ",%" PRIu32 ",%" PRIu32 "): ", kernel,
	    trap->item[0], trap->item[1], trap->item[2]);
	add_what(&s, trap);
	if (symbolize)
		symbolize(context, trap->pc, symbol, sizeof(symbol));
	if (symbol[0])
		add(&s, "; %s", symbol);
	else
		add(&s, "; at 0x%08" PRIx32, trap->pc);
}
