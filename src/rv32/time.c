/* SPDX-License-Identifier: BSD-3-Clause */
/* Models the time of a launch on another device. A warp's 32 lanes stand for several modelled
 * warps, on one or more cores: the group. It executes the whole launch; the time is divided by the
 * device's cores per group. */
#include "rv32/time.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "rv32/decode.h"

#define REGISTERS 64 /* x0 .. x31, f0 .. f31 */
#define FLOATS    32

/* A line of a modelled data cache. */
struct line {
	uint32_t tag;  /* address / line + 1; 0: empty */
	uint64_t used; /* last access */
};

/* A core of the group, under one assumption about memory. */
struct unit {
	uint64_t issue;  /* next issue */
	uint64_t port;   /* data cache's port is free */
	uint64_t memory; /* memory can send a line */
	uint64_t missed;
	struct line *lines;
};

struct thread_group {
	uint64_t next; /* of its next instruction at the earliest */
	uint64_t ready[REGISTERS];
};

/* Under one assumption about memory. */
struct assumed {
	uint32_t memory, line_cycles;
	struct unit units[RV32_LANES];
	struct thread_group warps[RV32_LANES];
};

struct rv32_time {
	struct rv32_time_parameters p;
	uint32_t base, count;
	struct rv32_op *ops;
	uint32_t warp_count, unit_count; /* of the group */
	uint32_t line_count;             /* of one cache */
	uint64_t issued, accessed;
	struct assumed assumed[RV32_TIME_CASES];
	struct line *lines;
};

#define VORTEX(n, c, w, t)                                                                  \
	{                                                                                   \
		.name = (n), .cores = (c), .warps = (w), .threads = (t), .clock_mhz = 200,  \
		.integer = 1, .multiply = 3, .divide = 15, .fused = 4, .convert = 5,        \
		.float_divide = 15, .square_root = 10, .load = 5, .branch = 3,              \
		.cache_bytes = 16384, .line_bytes = 4 * (t), .memory = 50, .line_cycles = 2 \
	}

/* Vortex paper of 2021, Arria 10. It does not state load, branch, memory and line_cycles; these are
 * assumed. */
static const struct rv32_time_parameters presets[] = {
	VORTEX("vortex-0.2.3", 1, 4, 4), /* default of release 0.2.3 */
	VORTEX("vortex-4x4", 32, 4, 4),  VORTEX("vortex-2x4", 32, 2, 4),
	VORTEX("vortex-8x4", 32, 8, 4),  VORTEX("vortex-4x8", 32, 4, 8),
};

const struct rv32_time_parameters *rv32_time_preset_at(size_t index)
{
	return index < ARRAY_COUNT(presets) ? &presets[index] : NULL;
}

const struct rv32_time_parameters *rv32_time_preset(const char *name)
{
	for (size_t i = 0; i < ARRAY_COUNT(presets); i++)
		if (strcmp(presets[i].name, name) == 0)
			return &presets[i];
	return NULL;
}

static bool is_power(uint32_t v)
{
	return v && (v & (v - 1)) == 0;
}

static bool valid(const struct rv32_time_parameters *p)
{
	return p->cores >= 1 && p->warps >= 1 && is_power(p->threads) && p->threads <= RV32_LANES &&
	       (uint64_t)p->warps * p->threads <= RV32_LANES && p->clock_mhz >= 1 &&
	       is_power(p->line_bytes) && is_power(p->cache_bytes) && p->line_bytes >= 4 &&
	       p->cache_bytes <= 1u << 26 && p->cache_bytes / p->line_bytes >= RV32_TIME_WAYS;
}

static void assume(struct rv32_time *m, enum rv32_time_case which, uint32_t memory,
		   uint32_t line_cycles)
{
	struct assumed *a = &m->assumed[which];

	a->memory = memory;
	a->line_cycles = line_cycles;
	for (uint32_t i = 0; i < m->unit_count; i++)
		a->units[i].lines = m->lines + ((size_t)which * m->unit_count + i) * m->line_count;
}

struct rv32_time *rv32_time_create(const struct rv32_time_parameters *parameters,
				   const uint32_t *words, size_t count, uint32_t base)
{
	struct rv32_time *m;

	if (!valid(parameters) || count == 0 || count > RV32_CODE_BYTES_MAX / 4)
		return NULL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	m->p = *parameters;
	m->base = base;
	m->count = (uint32_t)count;
	m->warp_count = RV32_LANES / m->p.threads;
	m->unit_count = (m->warp_count + m->p.warps - 1) / m->p.warps;
	m->line_count = m->p.cache_bytes / m->p.line_bytes;
	m->ops = malloc(count * sizeof(*m->ops));
	m->lines =
		calloc((size_t)RV32_TIME_CASES * m->unit_count * m->line_count, sizeof(*m->lines));
	if (!m->ops || !m->lines) {
		rv32_time_destroy(m);
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		m->ops[i] = rv32_decode(words[i]);
	assume(m, RV32_TIME_FAST, m->p.memory / 2, (m->p.line_cycles + 1) / 2);
	assume(m, RV32_TIME_NOMINAL, m->p.memory, m->p.line_cycles);
	assume(m, RV32_TIME_SLOW, m->p.memory * 2, m->p.line_cycles * 4);
	return m;
}

void rv32_time_destroy(struct rv32_time *time)
{
	if (!time)
		return;
	free(time->ops);
	free(time->lines);
	free(time);
}

/* ---- instructions ---- */

static uint32_t latency_of(const struct rv32_time_parameters *p, enum rv32_opcode code)
{
	if (code >= RV32_MUL && code <= RV32_MULHU)
		return p->multiply;
	if (code >= RV32_DIV && code <= RV32_REMU)
		return p->divide;
	if (code == RV32_FDIV_S)
		return p->float_divide;
	if (code == RV32_FSQRT_S)
		return p->square_root;
	if (code >= RV32_FMADD_S && code <= RV32_FMUL_S)
		return p->fused;
	if (code == RV32_FCVT_W_S || code == RV32_FCVT_WU_S || code == RV32_FCVT_S_W ||
	    code == RV32_FCVT_S_WU)
		return p->convert;
	return p->integer;
}

/* Lists three sources, then the destination; 0: none. */
static void registers_of(const struct rv32_op *op, uint32_t numbers[4])
{
	const enum rv32_format f = rv32_format_of((enum rv32_opcode)op->code);
	const bool floats = f >= RV32_FORMAT_F4 && f <= RV32_FORMAT_F2;
	const bool reads_floats =
		floats || f == RV32_FORMAT_FCMP || f == RV32_FORMAT_FTOX || f == RV32_FORMAT_FTOX_N;
	const bool writes_float = floats || f == RV32_FORMAT_FLOAD || f == RV32_FORMAT_XTOF ||
				  f == RV32_FORMAT_XTOF_N;

	numbers[0] = op->rs1 + (reads_floats ? FLOATS : 0);
	numbers[1] = op->rs2 + (reads_floats || f == RV32_FORMAT_FSTORE ? FLOATS : 0);
	numbers[2] = f == RV32_FORMAT_F4 ? op->rs3 + FLOATS : 0;
	numbers[3] = op->rd + (writes_float ? FLOATS : 0);
}

static bool is_memory(const struct rv32_op *op)
{
	return (op->code >= RV32_LB && op->code <= RV32_SW) ||
	       (op->code >= RV32_LR_W && op->code <= RV32_FSW);
}

static bool is_jump(const struct rv32_op *op)
{
	return op->code >= RV32_JAL && op->code <= RV32_BGEU;
}

/* Returns true on a hit; a miss replaces the oldest line. */
static bool cached(const struct rv32_time *m, struct unit *u, uint32_t line, uint64_t now)
{
	const uint32_t sets = m->line_count / RV32_TIME_WAYS;
	struct line *set = u->lines + (size_t)(line & (sets - 1)) * RV32_TIME_WAYS;
	struct line *oldest = set;

	for (int i = 0; i < RV32_TIME_WAYS; i++) {
		if (set[i].tag == line + 1) {
			set[i].used = now;
			return true;
		}
		if (set[i].used < oldest->used)
			oldest = &set[i];
	}
	*oldest = (struct line){line + 1, now};
	return false;
}

/* Returns the number of different lines. LOCAL memory, private memory and the NIC's window are not
 * cached. */
static uint32_t lines_of(const struct rv32_time *m, const struct rv32_op *op, uint32_t mask,
			 const uint32_t *addresses, uint32_t lines[RV32_LANES])
{
	uint32_t count = 0;

	for (; mask; mask &= mask - 1) {
		const uint32_t address = addresses[__builtin_ctz(mask)] + (uint32_t)op->imm;
		const uint32_t line = address / m->p.line_bytes;
		uint32_t i = 0;

		if (address >= RV32_LOCAL_BASE &&
		    !(address >= RV32_ARGUMENT_BASE && address < RV32_WINDOW_BASE))
			continue;
		while (i < count && lines[i] != line)
			i++;
		if (i == count)
			lines[count++] = line;
	}
	return count;
}

/* Accesses lines from `now` on; returns when the last has arrived. */
static uint64_t access_lines(const struct rv32_time *m, const struct assumed *a, struct unit *u,
			     const uint32_t *lines, uint32_t count, uint64_t now)
{
	uint64_t done = now + m->p.load;

	u->port = max_u64(u->port, now);
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t at = u->port++;

		if (cached(m, u, lines[i], at)) {
			done = max_u64(done, at + m->p.load);
			continue;
		}
		u->missed++;
		u->memory = max_u64(u->memory, at) + a->line_cycles;
		done = max_u64(done, u->memory + a->memory + m->p.load);
	}
	return done;
}

/* Issues an instruction of a modelled warp; computes when its result is ready. */
static void issue(const struct rv32_time *m, struct assumed *a, uint32_t warp,
		  const struct rv32_op *op, const uint32_t *lines, uint32_t line_count)
{
	struct thread_group *w = &a->warps[warp];
	struct unit *u = &a->units[warp / m->p.warps];
	uint64_t now = max_u64(w->next, u->issue), done;
	uint32_t numbers[4];

	registers_of(op, numbers);
	for (int i = 0; i < 3; i++)
		now = max_u64(now, w->ready[numbers[i]]);
	u->issue = now + 1;
	w->next = now + (is_jump(op) ? max_u64(m->p.branch, 1) : 1);
	done = is_memory(op) ? access_lines(m, a, u, lines, line_count, now)
			     : now + latency_of(&m->p, (enum rv32_opcode)op->code);
	if (numbers[3])
		w->ready[numbers[3]] = done;
}

/* Lets all warps leave a barrier in one cycle. */
static void meet(const struct rv32_time *m, struct assumed *a)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < m->warp_count; i++)
		last = max_u64(last, a->warps[i].next);
	for (uint32_t i = 0; i < m->warp_count; i++)
		a->warps[i].next = last;
}

void rv32_time_trace(void *context, uint32_t warp, uint32_t pc, uint32_t mask,
		     const uint32_t (*registers)[RV32_LANES])
{
	struct rv32_time *m = context;
	const uint32_t index = (pc - m->base) / 4, threads = m->p.threads;
	const uint32_t part = threads == RV32_LANES ? UINT32_MAX : (1u << threads) - 1;
	uint32_t lines[RV32_LANES], count = 0;

	if (index >= m->count)
		return;
	const struct rv32_op *op = &m->ops[index];
	for (uint32_t i = 0; i < m->warp_count; i++) {
		const uint32_t here = mask & part << i * threads;

		if (!here)
			continue;
		if (is_memory(op))
			count = lines_of(m, op, here, registers[op->rs1], lines);
		m->issued++;
		m->accessed += count;
		for (int k = 0; k < RV32_TIME_CASES; k++)
			issue(m, &m->assumed[k], i, op, lines, count);
	}
	for (int k = 0; op->code == RV32_DXP_BAR && k < RV32_TIME_CASES; k++)
		meet(m, &m->assumed[k]);
}

void rv32_time_read(const struct rv32_time *time, struct rv32_time_result *result)
{
	*result = (struct rv32_time_result){.warp_instructions = time->issued,
					    .lines = time->accessed};
	for (int k = 0; k < RV32_TIME_CASES; k++) {
		const struct assumed *a = &time->assumed[k];
		uint64_t last = 0;

		for (uint32_t i = 0; i < time->warp_count; i++)
			last = max_u64(last, a->warps[i].next);
		/* All cores of the device share the group's work evenly. */
		last = (last * time->unit_count + time->p.cores - 1) / time->p.cores;
		result->cycles[k] = last;
		if (last)
			result->ipc_thousandths[k] =
				(uint32_t)(time->issued * 1000 / (last * time->p.cores));
		for (uint32_t i = 0; k == RV32_TIME_NOMINAL && i < time->unit_count; i++)
			result->lines_missed += a->units[i].missed;
	}
}
