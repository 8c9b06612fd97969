/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares random programs on the rv32 core with qemu-riscv32: registers, flags and memory of 32
 * lanes. DXP_PROGRAMS=n sets their number; DXP_SEED=n repeats a run.
 *
 * Both images frame the same programs (bodies). The core's frame finds a lane's area by its number,
 * qemu's by a loop. Only frames use x30 and x31. */
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"
#include "test/unit/rv32_rig.h"

#define PROGRAMS_DEFAULT 256u /* about 2 s on 2 cores */
#define BODIES           32   /* programs in an image */
#define BODY_OPS         60   /* instructions in a program */
/* bytes per lane: memory, registers before, registers after */
#define AREA   1024
#define BEFORE 256 /* registers before */
/* registers after: x1 .. x29, f0 .. f31, fcsr */
#define AFTER     512
#define ELF_BYTES 84 /* ELF header and one program header */
#define AREAS     (AREA * RV32_LANES)
#define COUNTER   30
#define BASE      31

struct random_code {
	struct rig g;
	struct rng rng;
	bool flags; /* may access fcsr */
};

static unsigned below(struct random_code *r, unsigned bound)
{
	return (unsigned)rng_below(&r->rng, bound);
}

static unsigned any_x(struct random_code *r)
{
	return below(r, 30);
}

/* Operands may have any value. */
static void emit_arithmetic(struct random_code *r)
{
	const enum rv32_opcode code = RV32_ADDI + below(r, RV32_DXP_BAR - RV32_ADDI);
	const enum rv32_format format = rv32_format_of(code);
	struct rv32_op op = {.code = (uint8_t)code, .rd = (uint8_t)any_x(r)};

	op.rs1 = (uint8_t)any_x(r);
	switch (format) {
	case RV32_FORMAT_R:
	case RV32_FORMAT_F3_NRM:
	case RV32_FORMAT_FCMP: op.rs2 = (uint8_t)any_x(r); break;
	case RV32_FORMAT_I: op.imm = (int32_t)below(r, 4096) - 2048; break;
	case RV32_FORMAT_SHIFT: op.imm = (int32_t)below(r, 32); break;
	case RV32_FORMAT_F4: op.rs3 = (uint8_t)any_x(r); /* fall through */
	case RV32_FORMAT_F3: op.rs2 = (uint8_t)any_x(r); /* fall through */
	case RV32_FORMAT_F2:
	case RV32_FORMAT_FTOX:
	case RV32_FORMAT_XTOF: op.rm = (uint8_t)(below(r, 2) ? RV32_DYN : below(r, 5)); break;
	case RV32_FORMAT_FTOX_N:
	case RV32_FORMAT_XTOF_N: break;
	default: return;
	}
	r->g.words[r->g.count++] = rv32_encode(&op);
}

static void emit_memory(struct random_code *r)
{
	static const enum rv32_opcode codes[] = {RV32_LB, RV32_LH, RV32_LW, RV32_LBU, RV32_LHU,
						 RV32_SB, RV32_SH, RV32_SW, RV32_FLW, RV32_FSW};
	const enum rv32_opcode code = codes[below(r, ARRAY_COUNT(codes))];
	const enum rv32_format format = rv32_format_of(code);
	const bool store = format == RV32_FORMAT_STORE || format == RV32_FORMAT_FSTORE;

	emit(&r->g, code, store ? 0 : any_x(r), BASE, store ? any_x(r) : 0,
	     (int32_t)below(r, BEFORE - 3));
}

static void emit_atomic(struct random_code *r)
{
	const enum rv32_opcode code = RV32_AMOSWAP_W + below(r, RV32_FLW - RV32_AMOSWAP_W);

	emit(&r->g, RV32_ADDI, COUNTER, BASE, 0, (int32_t)(4 * below(r, BEFORE / 4)));
	if (below(r, 4) == 0) {
		emit(&r->g, RV32_LR_W, any_x(r), COUNTER, 0, 0);
		emit(&r->g, RV32_SC_W, any_x(r), COUNTER, any_x(r), 0);
	} else {
		emit(&r->g, code, any_x(r), COUNTER, any_x(r), 0);
	}
}

/* Appends a branch that skips one instruction in some lanes. */
static void emit_branch(struct random_code *r)
{
	emit(&r->g, RV32_BEQ + below(r, 6), 0, any_x(r), any_x(r), 8);
	emit(&r->g, RV32_XORI, any_x(r), any_x(r), 0, (int32_t)below(r, 2048));
}

static void emit_flags(struct random_code *r)
{
	if (below(r, 2))
		emit(&r->g, RV32_CSRRWI, any_x(r), below(r, 5), 0, RV32_CSR_FRM);
	else
		emit(&r->g, RV32_CSRRS + below(r, 2), any_x(r), any_x(r), 0, RV32_CSR_FFLAGS);
}

/* Loads all registers, executes random instructions, stores all. */
static void emit_body(struct random_code *r)
{
	for (unsigned i = 1; i < 30; i++)
		emit(&r->g, RV32_LW, i, BASE, 0, (int32_t)(BEFORE + 4 * i));
	for (unsigned i = 0; i < 32; i++)
		emit(&r->g, RV32_FLW, i, BASE, 0, (int32_t)(BEFORE + 128 + 4 * i));
	for (int i = 0; i < BODY_OPS; i++) {
		const unsigned kind = below(r, 16);

		if (kind < 3)
			emit_memory(r);
		else if (kind == 3)
			emit_atomic(r);
		else if (kind == 4)
			emit_branch(r);
		else if (kind == 5 && r->flags)
			emit_flags(r);
		else
			emit_arithmetic(r);
	}
	for (unsigned i = 1; i < 30; i++)
		emit(&r->g, RV32_SW, 0, BASE, i, (int32_t)(AFTER + 4 * i));
	for (unsigned i = 0; i < 32; i++)
		emit(&r->g, RV32_FSW, 0, BASE, i, (int32_t)(AFTER + 128 + 4 * i));
	if (r->flags) {
		emit_csr(&r->g, 1, RV32_CSR_FCSR);
		emit(&r->g, RV32_SW, 0, BASE, 1, AFTER);
		emit(&r->g, RV32_CSRRW, ZERO, ZERO, 0, RV32_CSR_FCSR);
	}
}

static const uint32_t specials[] = {0,          1,          0x80000000, 0x7fffffff, 0xffffffff,
				    0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0x3f800000,
				    0xbf800000, 0x00800000, 0x007fffff, 0x7f7fffff, 0x4f000000,
				    0xcf000000, 0x33800000, 0x3effffff, 0x40490fdb, 0x5f000000};

static uint32_t any_value(struct random_code *r)
{
	switch (below(r, 4)) {
	case 0: return specials[below(r, ARRAY_COUNT(specials))];
	case 1: return below(r, 64) - 32;
	case 2: /* near 1 */
		return 0x3c000000 + below(r, 0x08000000) + (below(r, 2) ? 0x80000000 : 0);
	default: return (uint32_t)rng_next(&r->rng);
	}
}

static void put32(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

static void put16(uint8_t *at, uint16_t value)
{
	memcpy(at, &value, sizeof(value));
}

/* One segment at RV32_CODE_BASE, code before data. */
static void write_elf(const char *path, const uint32_t *words, size_t count, const uint8_t *data,
		      uint32_t data_bytes)
{
	static const uint8_t ident[16] = {0x7f, 'E', 'L', 'F', 1, 1, 1};
	uint8_t head[ELF_BYTES] = {0};
	const uint32_t bytes = (uint32_t)(ELF_BYTES + 4 * count + data_bytes);
	FILE *f = fopen(path, "w");

	memcpy(head, ident, sizeof(ident));
	put16(head + 16, 2);                          /* executable */
	put16(head + 18, 243);                        /* machine: RISC-V */
	put32(head + 20, 1);                          /* ELF version */
	put32(head + 24, RV32_CODE_BASE + ELF_BYTES); /* entry address */
	put32(head + 28, 52);                         /* program headers */
	put16(head + 40, 52);
	put16(head + 42, 32);
	put16(head + 44, 1);
	put32(head + 52, 1); /* loaded, with all rights */
	put32(head + 60, RV32_CODE_BASE);
	put32(head + 64, RV32_CODE_BASE);
	put32(head + 68, bytes);
	put32(head + 72, bytes);
	put32(head + 76, 7);
	put32(head + 80, 4096);
	assert_non_null(f);
	assert_int_equal(fwrite(head, 1, sizeof(head), f), sizeof(head));
	assert_int_equal(fwrite(words, 4, count, f), count);
	assert_int_equal(fwrite(data, 1, data_bytes, f), data_bytes);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0700), 0);
}

/* One lane after the other; `areas` is input and output. */
static void run_qemu(const struct random_code *r, uint8_t *areas)
{
	static struct rig frame;
	char path[] = "/tmp/dxp-rv32-XXXXXX", command[64];
	const int fd = mkstemp(path);
	FILE *pipe;

	assert_true(fd >= 0);
	close(fd);
	frame.count = 0;
	/* 4 words before the programs, up to 16 behind, then data */
	const size_t end = 4 + r->g.count + 16;
	const uint32_t data = RV32_CODE_BASE + ELF_BYTES + (uint32_t)(4 * end);

	emit_li(&frame, BASE, data);
	emit(&frame, RV32_ADDI, ZERO, ZERO, 0, 0);
	emit(&frame, RV32_ADDI, ZERO, ZERO, 0, 0);
	memcpy(frame.words + frame.count, r->g.words, 4 * r->g.count);
	frame.count += r->g.count;
	emit(&frame, RV32_ADDI, BASE, BASE, 0, AREA);
	emit_li(&frame, COUNTER, data + AREAS);
	emit(&frame, RV32_BEQ, 0, BASE, COUNTER, 8);
	emit(&frame, RV32_JAL, ZERO, 0, 0, -(int32_t)(4 * (r->g.count + 4)));
	emit(&frame, RV32_ADDI, A0, ZERO, 0, 1);
	emit_li(&frame, A1, data);
	emit_li(&frame, A2, AREAS);
	emit(&frame, RV32_ADDI, A7, ZERO, 0, 64); /* write */
	emit(&frame, RV32_ECALL, 0, 0, 0, 0);
	emit(&frame, RV32_ADDI, A0, ZERO, 0, 0);
	emit(&frame, RV32_ADDI, A7, ZERO, 0, 93); /* exit */
	emit(&frame, RV32_ECALL, 0, 0, 0, 0);
	assert_in_range(frame.count, 0, end + 1);
	frame.count = end;
	write_elf(path, frame.words, frame.count, areas, AREAS);
	snprintf(command, sizeof(command), "qemu-riscv32 %s", path);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	const size_t got = fread(areas, 1, AREAS, pipe);
	const int status = pclose(pipe);
	unlink(path);
	if (got != AREAS || status)
		fail_msg("qemu-riscv32 wrote %zu bytes, status %x", got, (unsigned)status);
}

static void run_here(struct random_code *r, enum rv32_build build, uint8_t *areas)
{
	static struct rig frame;
	const struct rv32_segment segment = {.host = areas,
					     .base = RIG_BUFFER,
					     .bytes = AREAS,
					     .kind = RV32_GLOBAL,
					     .access = RV32_READ | RV32_WRITE};

	frame.count = 0;
	emit_csr(&frame, BASE, RV32_CSR_LANE);
	emit_li(&frame, COUNTER, AREA);
	emit(&frame, RV32_MUL, BASE, BASE, COUNTER, 0);
	emit_li(&frame, COUNTER, RIG_BUFFER);
	emit(&frame, RV32_ADD, BASE, BASE, COUNTER, 0);
	memcpy(frame.words + frame.count, r->g.words, 4 * r->g.count);
	frame.count += r->g.count;
	emit_li(&frame, COUNTER, RV32_RETURN);
	emit(&frame, RV32_JALR, ZERO, COUNTER, 0, 0);
	frame.build = build;
	frame.core = r->g.core;
	frame.launch = r->g.launch;
	frame.launch.segments = &segment;
	frame.launch.segment_count = 1;
	rig_run_ok(&frame);
}

static void compare(struct random_code *r, const uint8_t *want, const uint8_t *got, uint64_t seed,
		    enum rv32_build build)
{
	for (size_t i = 0; i < AREAS; i += 4) {
		if (memcmp(want + i, got + i, 4) == 0)
			continue;
		uint32_t q, here;

		memcpy(&q, want + i, 4);
		memcpy(&here, got + i, 4);
		fail_msg("lane %zu, offset %zu: qemu %08x, here %08x, build %d, flags %d; "
			 "repeat by DXP_SEED=%llu",
			 i / AREA, i % AREA, q, here, (int)build, r->flags,
			 (unsigned long long)seed);
	}
}

static void run_image(struct random_code *r, uint64_t seed, unsigned bodies)
{
	static uint8_t before[AREAS], want[AREAS];
	alignas(64) static uint8_t got[AREAS];

	r->rng.state = seed;
	r->flags = below(r, 2);
	r->g.count = 0;
	for (unsigned i = 0; i < bodies; i++)
		emit_body(r);
	for (size_t i = 0; i < AREAS; i += 4)
		put32(before + i, any_value(r));
	memcpy(want, before, AREAS);
	run_qemu(r, want);
	assert_memory_not_equal(want, before, AREAS);
	for (enum rv32_build b = RV32_BUILD_BASELINE; b <= RV32_BUILD_AVX2; b++) {
		if (!rv32_build_runs(b))
			continue;
		memcpy(got, before, AREAS);
		run_here(r, b, got);
		compare(r, want, got, seed, b);
	}
}

static void rv32_qemu__random_programs(void **state)
{
	const char *wanted = getenv("DXP_PROGRAMS"), *given = getenv("DXP_SEED");
	const unsigned programs = wanted ? (unsigned)atoi(wanted) : PROGRAMS_DEFAULT;
	const uint64_t seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) << 20;
	struct rig *g = rig_create();
	struct random_code *r = aligned_alloc(64, (sizeof(*r) + 63) / 64 * 64);

	assert_non_null(r);
	memset(r, 0, sizeof(*r));
	r->g.core = g->core;
	r->g.launch = g->launch;
	printf("rv32_qemu: seed %llu, %u programs\n", (unsigned long long)seed, programs);
	/* own seeds; the first has one program, to be easy to read */
	for (unsigned i = 0; i * BODIES < programs; i++)
		run_image(r, seed + i, i == 0 ? 1 : BODIES);
	free(r);
	rig_destroy(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rv32_qemu__random_programs),
	};

	if (system("qemu-riscv32 --version >/dev/null 2>&1") != 0) {
		printf("skipped: qemu-riscv32 is missing; install qemu-user\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
