/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares C compiled by `rv32` with clang's for qemu-riscv32, including 64-bit division: all
 * work-items, each with its seed, must agree. Skipped without qemu-riscv32, clang-15 or ld.lld. */
#include "test/unit/engine_rv32_rig.h"

#define ITEMS     64
#define RESULTS   16 /* words per work-item */
#define BYTES     (ITEMS * RESULTS * 4)
#define TEXT(...) #__VA_ARGS__

/* `ulong` has 64 bits. In C, `constant`, `private` and `global` are nothing or static. */
static const char programs[] = TEXT(
	constant uint nibbles[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190,
				     0x6b6b51f4, 0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344,
				     0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278,
				     0xbdbdf21c};

	uint next(private uint * seed) {
		*seed ^= *seed << 13;
		*seed ^= *seed >> 17;
		*seed ^= *seed << 5;
		return *seed;
	}

	uint crc(uint seed) {
		uchar bytes[61];
		uint sum = ~0u;
		for (uint i = 0; i < 61; i++)
			bytes[i] = (uchar)(next(&seed) >> 11);
		for (uint i = 0; i < 61; i++) {
			sum = sum >> 4 ^ nibbles[(sum ^ bytes[i]) & 15];
			sum = sum >> 4 ^ nibbles[(sum ^ bytes[i] >> 4) & 15];
		}
		return ~sum;
	}

	uint sorted(uint seed) {
		int list[53];
		uint sum = 0;
		for (int i = 0; i < 53; i++)
			list[i] = (int)next(&seed) % 1000;
		for (int gap = 23; gap > 0; gap /= 2)
			for (int i = gap; i < 53; i++) {
				int value = list[i];
				int at = i;
				for (; at >= gap && list[at - gap] > value; at -= gap)
					list[at] = list[at - gap];
				list[at] = value;
			}
		for (int i = 0; i < 53; i++)
			sum = sum * 31 + (uint)list[i];
		return sum;
	}

	uint queens(uint size, uint columns, uint left, uint right) {
		uint all = (1u << size) - 1;
		uint count = 0;
		if (columns == all)
			return 1;
		for (uint free = all & ~(columns | left | right); free; free &= free - 1) {
			uint one = free & (0u - free);
			count += queens(size, columns | one, (left | one) << 1, (right | one) >> 1);
		}
		return count;
	}

	ulong wide(uint seed) {
		ulong x = (ulong)seed << 32 | 0x9e3779b9u;
		for (uint i = 0; i < 50; i++) {
			x ^= x >> 27;
			x *= (ulong)0xbf58476d << 32 | 0x1ce4e5b9u;
			x += x << (seed + i) % 64;
			x -= x >> 31 & 0xff;
		}
		return x;
	}

	ulong divided(uint seed) {
		ulong sum = 0;
		for (uint i = 0; i < 20; i++) {
			ulong a = wide(seed + i) >> 3 * i;
			ulong b = wide(seed * 7 + i) >> next(&seed) % 64 | 1;
			sum = sum * 3 + a / b + a % b;
		}
		return sum;
	}

	uint bits(float f) {
		union {
			float f;
			uint u;
		} both;
		both.f = f;
		return both.u;
	}

	uint solved(uint seed) {
		float m[6][7];
		uint sum = 0;
		for (int i = 0; i < 6; i++)
			for (int j = 0; j < 7; j++)
				m[i][j] = (float)(int)(next(&seed) % 2001) / 64.0f - 15.0f +
					  (i == j ? 40.0f : 0.0f);
		for (int k = 0; k < 6; k++)
			for (int i = 0; i < 6; i++) {
				float factor = m[i][k] / m[k][k];
				for (int j = k; i != k && j < 7; j++)
					m[i][j] = m[i][j] - factor * m[k][j];
			}
		for (int i = 0; i < 6; i++)
			sum = sum * 5 + bits(m[i][6] / m[i][i]);
		return sum;
	}

	uint escapes(uint seed) {
		float cr = (float)(seed % 97) / 40.0f - 2.0f;
		float ci = (float)(seed % 89) / 40.0f - 1.0f;
		float r = 0.0f;
		float i = 0.0f;
		uint steps = 0;
		for (; steps < 300 && r * r + i * i < 4.0f; steps++) {
			float t = r * r - i * i + cr;
			i = 2.0f * r * i + ci;
			r = t;
		}
		return steps ^ bits(r) ^ (uint)(int)(i * 100.0f);
	}

	/* Interprets random code, with eight registers. */
	uint machine(uint seed) {
		uint r[8];
		for (uint i = 0; i < 8; i++)
			r[i] = next(&seed);
		for (uint pc = 0; pc < 200; pc++) {
			uint word = next(&seed);
			uint a = r[word >> 4 & 7];
			uint b = r[word >> 8 & 7];
			uint to = word >> 12 & 7;
			switch (word & 15) {
			case 0: r[to] = a + b; break;
			case 1: r[to] = a - b; break;
			case 2: r[to] = a * b; break;
			case 3: r[to] = a / (b | 1); break;
			case 4: r[to] = a % (b | 1); break;
			case 5: r[to] = (uint)((int)a >> (b & 31)); break;
			case 6: r[to] = a << (b & 31); break;
			case 7: r[to] = (int)a < (int)b; break;
			case 8: r[to] = a < b ? a : b; break;
			case 9: r[to] = (uint)(((ulong)a * b) >> 32); break;
			case 10: pc += a & 3; break;
			case 11: r[to] = (uint)(int)(signed char)a; break;
			case 12: r[to] = (uint)(int)(short)b; break;
			case 13: r[to] = (uint)((int)(a >> 1) / ((int)(b >> 20) - 5000)); break;
			case 14: r[to] = bits((float)(int)a); break;
			default: r[to] ^= a & ~b; break;
			}
		}
		return r[0] ^ r[1] ^ r[2] ^ r[3] ^ r[4] ^ r[5] ^ r[6] ^ r[7];
	}

	uint lengths(uint seed) {
		uint steps = 0;
		for (uint n = seed % 1000 + 1; n != 1; steps++)
			n = n & 1 ? 3 * n + 1 : n / 2;
		return steps;
	}

	void run(global uint *out, uint item) {
		uint seed = item * 2654435761u + 12345;
		ulong x = wide(seed);
		ulong y = divided(seed);
		out[0] = crc(seed);
		out[1] = sorted(seed);
		out[2] = queens(4 + item % 4, 0, 0, 0);
		out[3] = (uint)x;
		out[4] = (uint)(x >> 32);
		out[5] = (uint)y;
		out[6] = (uint)(y >> 32);
		out[7] = solved(seed);
		out[8] = escapes(seed);
		out[9] = machine(seed);
		out[10] = lengths(seed);
		for (uint i = 11; i < 16; i++)
			out[i] = machine(seed + i) + sorted(seed - i);
	});

static const char opencl_front[] = "#pragma OPENCL FP_CONTRACT OFF\n";
static const char opencl_end[] = "\nkernel void programs(global uint *out) {\n"
				 "	run(out + 16 * get_global_id(0), get_global_id(0)); }\n";

static const char c_front[] =
	"typedef unsigned char uchar; typedef unsigned uint;\n"
	"#define ulong unsigned long long\n"
	"#define constant static const\n"
	"#define private\n"
	"#define global\n"
	"void *memset(void *to, int c, uint n) {\n"
	"	for (uint i = 0; i < n; i++) ((volatile uchar *)to)[i] = (uchar)c;\n"
	"	return to; }\n"
	"void *memcpy(void *to, const void *from, uint n) {\n"
	"	for (uint i = 0; i < n; i++) ((volatile uchar *)to)[i] = ((const uchar "
	"*)from)[i];\n"
	"	return to; }\n"
	"static ulong divide(ulong a, ulong b, ulong *rest) {\n"
	"	ulong q = 0, r = 0;\n"
	"	for (int i = 63; i >= 0; i--) {\n"
	"		r = r << 1 | (a >> i & 1);\n"
	"		if (r >= b) { r -= b; q |= 1ull << i; }\n"
	"	}\n"
	"	*rest = r; return q; }\n"
	"ulong __udivdi3(ulong a, ulong b) { ulong r; return divide(a, b, &r); }\n"
	"ulong __umoddi3(ulong a, ulong b) { ulong r; divide(a, b, &r); return r; }\n";
static const char c_end[] =
	"\nstatic uint results[64 * 16];\n"
	"static int call(int number, int a, const void *b, int c) {\n"
	"	register int a7 __asm__(\"a7\") = number; register int a0 __asm__(\"a0\") = a;\n"
	"	register const void *a1 __asm__(\"a1\") = b; register int a2 __asm__(\"a2\") = c;\n"
	"	__asm__ volatile(\"ecall\" : \"+r\"(a0) : \"r\"(a7), \"r\"(a1), \"r\"(a2) : "
	"\"memory\");\n"
	"	return a0; }\n"
	"void _start(void) {\n"
	"	for (uint i = 0; i < 64; i++) run(results + 16 * i, i);\n"
	"	call(64, 1, results, sizeof(results)); call(93, 0, 0, 0); for (;;) ; }\n";

static void shell(const char *format, const char *folder)
{
	char line[512];

	snprintf(line, sizeof(line), format, folder, folder);
	if (system(line) != 0)
		fail_msg("failed: %s", line);
}

/* Compiles the text as C at optimization `level`, and runs it under qemu-riscv32. Writes the
 * results of all work-items. */
static void run_qemu(const char *level, uint8_t results[BYTES])
{
	char folder[] = "/tmp/dxp-rv32-c-XXXXXX", path[64], compile[256];

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/p.c", folder);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%s%s%s", c_front, programs, c_end);
	assert_int_equal(fclose(f), 0);
	snprintf(compile, sizeof(compile),
		 "clang-15 --target=riscv32 -march=rv32imaf -mabi=ilp32 %s -ffreestanding "
		 "-fno-builtin -ffp-contract=off -mno-relax -w -c %%s/p.c -o %%s/p.o",
		 level);
	shell(compile, folder);
	shell("ld.lld -o %s/p %s/p.o", folder);
	snprintf(path, sizeof(path), "qemu-riscv32 %s/p", folder);
	FILE *pipe = popen(path, "r");
	assert_non_null(pipe);
	const size_t got = fread(results, 1, BYTES, pipe);
	assert_int_equal(pclose(pipe), 0);
	assert_int_equal(got, BYTES);
	assert_memory_not_equal(results, results + 4 * RESULTS, 4 * RESULTS);
	scratch_folder_remove(folder);
}

static void compare(const uint8_t wanted[BYTES], const char *what)
{
	for (uint32_t i = 0; i < BYTES / 4; i++) {
		uint32_t there;

		memcpy(&there, wanted + 4 * i, 4);
		if (there != rig_word(i))
			fail_msg("%s: work-item %u, result %u: qemu %08x, here %08x", what,
				 i / RESULTS, i % RESULTS, there, rig_word(i));
	}
}

static void rv32_compiled__as_under_qemu(void **state)
{
	static const char *const levels[] = {"-O0", "-O2", "-Os"};
	static char source[sizeof(opencl_front) + sizeof(programs) + sizeof(opencl_end)];
	static uint8_t wanted[BYTES];

	snprintf(source, sizeof(source), "%s%s%s", opencl_front, programs, opencl_end);
	struct engine_program *p = rig_program(source);
	struct engine_launch l = rig_launch(p, "programs", ITEMS, ITEMS);
	l.arguments[0] = rig_buffer(0, BYTES);
	rig_good(&l);
	for (size_t i = 0; i < ARRAY_COUNT(levels); i++) {
		run_qemu(levels[i], wanted);
		compare(wanted, levels[i]);
	}
	engine_release(engine, p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rv32_compiled__as_under_qemu),
	};

	if (system("command -v qemu-riscv32 clang-15 ld.lld >/dev/null") != 0) {
		printf("skipped: qemu-riscv32, clang-15 or ld.lld is missing; apt install "
		       "qemu-user clang-15 lld\n");
		return 77;
	}
	int status = rig_begin("rv32");
	if (status != 0)
		return status;
	status = cmocka_run_group_tests(tests, NULL, NULL);
	rig_end();
	return status;
}
