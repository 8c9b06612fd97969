/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes and runs an executable for qemu-riscv32: the engine's code and constants, inputs, an
 * argument table, and start code that writes the result to standard output. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/scratch.h"
#include "base/util.h"
#include "bench/rv32.h"
#include "rv32/decode.h"
#include "rv32/memory.h"

#define START      0x20000000u /* address of the start code */
#define TABLE      0x20010000u /* of the argument table */
#define PAGE       4096u
#define SYS_WRITE  64
#define SYS_EXIT   93
#define PARTS      5
#define PATH_TEXT  128
#define COMMAND    400
#define HEAD_BYTES (sizeof(Elf32_Ehdr) + PARTS * sizeof(Elf32_Phdr))

enum { X_RA = 1, X_T0 = 5, X_A0 = 10, X_A7 = 17 };

struct part {
	uint32_t address;
	const void *data;
	uint32_t bytes;
};

struct start {
	uint32_t words[32];
	uint32_t count;
};

static void emit(struct start *s, enum rv32_opcode code, uint8_t rd, uint8_t rs1, int32_t imm)
{
	const struct rv32_op op = {.code = (uint8_t)code, .rd = rd, .rs1 = rs1, .imm = imm};

	s->words[s->count++] = rv32_encode(&op);
}

static void constant_emit(struct start *s, uint8_t rd, uint32_t value)
{
	const uint32_t low = (value & 0xfff) ^ 0x800;

	emit(s, RV32_LUI, rd, 0, (int32_t)((value + 0x800) & 0xfffff000));
	emit(s, RV32_ADDI, rd, rd, (int32_t)low - 0x800);
}

static void start_make(struct start *s, uint32_t entry, uint32_t out, uint32_t out_bytes)
{
	constant_emit(s, X_A0, TABLE);
	constant_emit(s, X_T0, entry);
	emit(s, RV32_JALR, X_RA, X_T0, 0);
	constant_emit(s, X_A0, STDOUT_FILENO);
	constant_emit(s, X_A0 + 1, out);
	constant_emit(s, X_A0 + 2, out_bytes);
	constant_emit(s, X_A7, SYS_WRITE);
	emit(s, RV32_ECALL, 0, 0, 0);
	constant_emit(s, X_A0, 0);
	constant_emit(s, X_A7, SYS_EXIT);
	emit(s, RV32_ECALL, 0, 0, 0);
}

static bool padded_write(FILE *f, const void *data, uint32_t bytes)
{
	static const uint8_t zeros[PAGE];
	const uint32_t rest = (PAGE - bytes % PAGE) % PAGE;

	return fwrite(data, 1, bytes, f) == bytes && fwrite(zeros, 1, rest, f) == rest;
}

static bool elf_write(const char *path, const struct part parts[PARTS])
{
	uint8_t head[HEAD_BYTES] = {0};
	const Elf32_Ehdr e = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, 1},
			      .e_type = ET_EXEC,
			      .e_machine = EM_RISCV,
			      .e_version = 1,
			      .e_entry = START,
			      .e_phoff = sizeof(e),
			      .e_ehsize = sizeof(e),
			      .e_phentsize = sizeof(Elf32_Phdr),
			      .e_phnum = PARTS};
	FILE *f = fopen(path, "we");
	uint32_t offset = PAGE;

	if (!f)
		return false;
	memcpy(head, &e, sizeof(e));
	for (int i = 0; i < PARTS; i++) {
		const Elf32_Phdr p = {.p_type = PT_LOAD,
				      .p_offset = offset,
				      .p_vaddr = parts[i].address,
				      .p_filesz = parts[i].bytes,
				      .p_memsz = parts[i].bytes,
				      .p_flags = PF_R | PF_W | PF_X,
				      .p_align = PAGE};
		memcpy(head + sizeof(e) + (size_t)i * sizeof(p), &p, sizeof(p));
		offset += (parts[i].bytes + PAGE - 1) / PAGE * PAGE;
	}
	bool good = padded_write(f, head, sizeof(head));
	for (int i = 0; i < PARTS; i++)
		good = good && padded_write(f, parts[i].data, parts[i].bytes);
	good = fclose(f) == 0 && good;
	return good && chmod(path, 0700) == 0;
}

static bool program_write(const struct rv32_bench_end *e, const char *kernel, const char *path,
			  uint32_t out_bytes)
{
	static const uint32_t none;
	const struct rv32_image *image = e->program->image;
	const struct rv32_kernel *k = rv32_image_kernel(image, kernel);
	const uint32_t base = RV32_BUFFER_BASE;
	struct start s = {.count = 0};
	/* pointers to the values after them */
	const uint32_t table[] = {TABLE + 16,
				  TABLE + 20,
				  TABLE + 24,
				  TABLE + 28,
				  base,
				  base + RV32_BENCH_BYTES * 3 / 8,
				  base + RV32_BENCH_OUT,
				  RV32_BENCH_N};

	if (!k)
		return false;
	start_make(&s, k->entry, base + RV32_BENCH_OUT, out_bytes);
	const struct part parts[PARTS] = {
		{RV32_CODE_BASE, image->code, (uint32_t)image->code_words * 4},
		{image->constant_base, image->constant_bytes ? image->constants : (void *)&none,
		 max_u32(image->constant_bytes, 4)},
		{base, e->memory, RV32_BENCH_BYTES},
		{START, s.words, s.count * 4},
		{TABLE, table, sizeof(table)}};
	return elf_write(path, parts);
}

static bool result_read(const char *path, uint8_t *out, size_t bytes)
{
	FILE *f = fopen(path, "re");
	bool good = f && fread(out, 1, bytes, f) == bytes;

	if (f)
		fclose(f);
	return good;
}

double rv32_qemu_run(const struct rv32_bench_end *e, const char *kernel, uint8_t *out,
		     size_t out_bytes)
{
	char folder[] = "/tmp/dxp-bench-rv32-XXXXXX", path[PATH_TEXT], command[COMMAND];
	double ns = 0;

	if (!mkdtemp(folder))
		return 0;
	snprintf(path, sizeof(path), "%s/program", folder);
	snprintf(command, sizeof(command), "exec qemu-riscv32 %s >%s.out 2>/dev/null", path, path);
	if (program_write(e, kernel, path, (uint32_t)out_bytes)) {
		const double begin = rv32_bench_cpu_ns(true);
		if (system(command) == 0)
			ns = rv32_bench_cpu_ns(true) - begin;
	}
	snprintf(path, sizeof(path), "%s/program.out", folder);
	if (ns > 0 && !result_read(path, out, out_bytes))
		ns = 0;
	scratch_folder_remove(folder);
	return ns;
}
