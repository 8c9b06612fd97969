/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that a wrong kernel on `rv32` fails with a sentence that names kernel, work-item and
 * position, and the next launch succeeds. */
#include "test/unit/engine_rv32_rig.h"

#include <CL/cl.h>

#include "rv32/memory.h"

static const char wrongs[] =
	"kernel void good(global uint *p) { p[get_global_id(0)] = 42; }\n"
	"kernel void store(global uint *p) { if (get_global_id(0) == 5) p[1024] = 1; }\n"
	"kernel void load(global uint *p) { p[0] = p[-1]; }\n"
	"kernel void wild(global uint *p) { *(global uint *)(uint)0xd0000000 = 1; }\n"
	"kernel void code(global uint *p) { *(global uint *)(uint)0x10000 = 1; }\n"
	"constant uint fixed[4] = {1, 2, 3, 4};\n"
	"kernel void constants(global uint *p) { uint at = (uint)fixed;\n"
	"	__asm__(\"\" : \"+r\"(at)); *(global uint *)at = 1; }\n"
	"kernel void illegal(global uint *p) { __asm__ volatile(\".word 0xffffffff\"); }\n"
	"kernel void vortex(global uint *p) { __asm__ volatile(\".word 0x0000000b\"); }\n"
	"kernel void jump(global uint *p) { __asm__ volatile(\"li a5, 0x1234560\\n jr a5\"); }\n"
	"kernel void call(global uint *p) { __asm__ volatile(\"li t0, 93\\n ecall\"); }\n"
	"kernel void stop(global uint *p) { __asm__ volatile(\"ebreak\"); }\n"
	"kernel void forever(global uint *p) { while (*(volatile global uint *)p != 1) ; }\n"
	"kernel void barriers(global uint *p) {\n"
	"	if (get_local_id(0) == 3) return;\n"
	"	barrier(CLK_LOCAL_MEM_FENCE); p[get_global_id(0)] = 1; }\n"
	"uint deep(uint n, volatile uint *p) { volatile uint a[64]; a[n % 64] = *p;\n"
	"	return n ? deep(n - 1, a) + a[n % 64] : 0; }\n"
	"kernel void stack(global uint *p) { uint n = p[0]; p[0] = deep(100000 + n, &n); }\n"
	"kernel void odd(global uint *p) { atomic_add((global uint *)((global char *)p + 2), 1); "
	"}\n"
	"kernel void format(global uint *p) { printf(\"%n\", 1); }\n"
	"kernel void text(global uint *p) { printf(\"%s\", 12); }\n"
	"kernel void number(global uint *p) { printf((constant char *)(uint)16, 12); }\n"
	"kernel void waits(global uint *p) { while (*(volatile global uint *)p != 1)\n"
	"	barrier(CLK_LOCAL_MEM_FENCE); }\n"
	"kernel void jumps(global uint *p) { __asm__ volatile(\"csrr t0, 0xcd7\\n andi t0, t0, "
	"1\\n\"\n"
	"	\"slli t0, t0, 2\\n la t1, 1f\\n add t0, t0, t1\\n 1: nop\\n jr t0\"); }\n"
	"kernel void flood(global uint *p) { __asm__ volatile(\"addi sp, %0, 2045\\n mv a0, "
	"%0\\n\"\n"
	"	\"lw a1, 0(sp)\\n mv a2, a1\\n mv a3, a1\\n mv a4, a1\\n mv a5, a1\\n\"\n"
	"	\"mv a6, a1\\n mv a7, a1\\n li t0, 1\\n ecall\" : : \"r\"(p)); }\n"
	"kernel void prints(global uint *p) { __asm__ volatile(\"mv t3, %0\\n addi a1, %0, "
	"64\\n\"\n"
	"	\"li t0, 1\\n .rept 5000\\n mv a0, t3\\n ecall\\n .endr\" : : \"r\"(p)); }\n";

static struct engine_program *program;

/* A kernel that must succeed follows. */
static void wrong(const char *kernel, const char *const *parts)
{
	struct engine_launch l = rig_launch(program, kernel, 64, 64);

	memset(memory, 0, 8192);
	l.arguments[0] = rig_buffer(4096, 4096);
	int status = rig_run(&l);
	printf("%s\n", text);
	if (status != DXP_EDEVICE)
		fail_msg("%s: status %d", kernel, status);
	for (; *parts; parts++)
		if (!strstr(text, *parts))
			fail_msg("%s: '%s' is not in '%s'", kernel, *parts, text);
	l.kernel = "good";
	rig_good(&l);
	assert_int_equal(rig_word(1024 + 63), 42);
}

static void engine_run__traps(void **state)
{
	static const struct {
		const char *kernel, *parts[8];
	} cases[] = {
		{"store",
		 {"'store'", "(5,0,0)", "4 bytes", "'p'", "4096 bytes", "store+0x", ", line 2"}},
		{"load", {"'load'", "(0,0,0)", "load+0x", ", line 3"}},
		{"wild", {"'wild'", "0xd0000000"}},
		{"code", {"'code'", "the program's code", "must not write"}},
		{"constants", {"'constants'", "constants+0x", ", line 8"}},
		{"illegal", {"'illegal'", "0xffffffff", "illegal+0x", ", line 9"}},
		{"vortex", {"'vortex'", "0x0000000b"}},
		{"jump", {"'jump'", "0x01234560"}},
		{"call", {"'call'", "ecall"}},
		{"stop", {"'stop'", "stop+0x"}},
		{"forever", {"'forever'", "still running after 1 s", "forever+0x", ", line 14"}},
		{"barriers", {"'barriers'", "barrier", ", line 17"}},
		{"stack", {"'stack'", "deep+0x", ", line 18"}},
		{"odd", {"'odd'", "odd+0x"}},
		{"format", {"'format'", "printf", "conversion"}},
		{"text", {"'text'", "printf", "%s"}},
		{"number", {"'number'", "printf", "format"}},
		{"waits", {"'waits'", "still running after 1 s", ", line 2"}},
		{"jumps", {"'jumps'", "still running after 1 s", "jumps+0x", ", line 2"}},
	};

	program = rig_program(wrongs);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		wrong(cases[i].kernel, cases[i].parts);
	engine_release(engine, program);
}

/* Runs a kernel on the bytes that memory has; it must fail. A kernel that must succeed follows. */
static void wrong_print(const char *kernel, const char *const *parts)
{
	struct engine_launch l = rig_launch(program, kernel, 64, 64);

	if (rig_run(&l) != DXP_EDEVICE)
		fail_msg("%s does not fail", kernel);
	for (; *parts; parts++)
		if (!strstr(text, *parts))
			fail_msg("%s: '%s' is not in '%s'", kernel, *parts, text);
	l.kernel = "good";
	rig_good(&l);
	assert_int_equal(rig_word(63), 42);
}

/* The calls of printf print much, or take long. */
static void engine_run__prints(void **state)
{
	const uint32_t letters = RV32_BUFFER_BASE + 65536;

	program = rig_program(wrongs);
	memset(memory, 0, RIG_BYTES);
	for (size_t i = 0; i < 1000; i++)
		memcpy(memory + 2 * i, "%s", 2);
	for (size_t i = 0; i < 1000; i++)
		memcpy(memory + 2045 + 4 * i, &letters, sizeof(letters));
	memset(memory + 65536, 'x', 60000);
	wrong_print("flood",
		    (const char *const[]){"'flood'", "more than 16 MiB", "flood+0x", NULL});
	memset(memory, 0, RIG_BYTES);
	memcpy(memory, "%.1s", 4);
	memset(memory + 64, 'x', 60000);
	wrong_print("prints", (const char *const[]){"'prints'", "still running after 1 s", NULL});
	engine_release(engine, program);
}

/* ---- launches that the engine rejects ---- */

static void rejected(const struct engine_launch *l, int status, const char *part)
{
	assert_int_equal(rig_run(l), status);
	if (!strstr(text, part))
		fail_msg("'%s' is not in '%s'", part, text);
}

static void engine_run__rejected(void **state)
{
	struct engine_program *p =
		rig_program("kernel void k(global uint *p, uint n, local uint *l) { p[0] = n; }\n"
			    "kernel __attribute__((reqd_work_group_size(8, 1, 1)))\n"
			    "void eight(global uint *p) { p[0] = 1; }\n");
	struct engine_launch l = rig_launch(p, "missing", 1, 1);
	const uint64_t n = 1;

	rejected(&l, DXP_ENOENT, "no kernel 'missing'");
	l.kernel = "k";
	rejected(&l, DXP_EINVAL, "takes 3 arguments, 1 were given");
	l.argument_count = 3;
	l.arguments[1] = rig_value(&n, 8);
	l.arguments[2] = rig_local(64);
	rejected(&l, DXP_EINVAL, "uint has 4 bytes, 8 were given");
	l.arguments[1] = rig_buffer(0, 64);
	rejected(&l, DXP_EINVAL, "takes a value (uint), a buffer was given");
	l.arguments[1] = rig_value(&n, 4);
	l.arguments[2] = rig_local(0);
	rejected(&l, DXP_EINVAL, "0 bytes of local memory");
	l.arguments[2] = rig_local(70000);
	rejected(&l, DXP_EINVAL, "this device has 65536");
	l.arguments[2] = rig_local(64);
	l.global[0] = 2048;
	l.local[0] = 2048;
	rejected(&l, DXP_EINVAL, "1024 work-items at most");
	l.local[0] = 3;
	rejected(&l, DXP_EINVAL, "does not divide");
	l.global[0] = 1ull << 32;
	l.local[0] = 64;
	rejected(&l, DXP_EINVAL, "32-bit");
	l = rig_launch(p, "eight", 64, 16);
	rejected(&l, DXP_EINVAL, "requires another work-group size");
	engine_release(engine, p);
}

/* ---- builds that fail ---- */

/* The log must contain `part`. */
static void build_fails(const char *source, const char *options, const char *part, int native)
{
	struct engine_program *p = NULL;
	char *log = NULL;

	assert_int_equal(rig_build(source, options, &p, &log), DXP_EBUILD);
	assert_int_equal(engine->native, native);
	if (!log || !strstr(log, part))
		fail_msg("'%s' is not in '%s'", part, log ? log : "");
	assert_null(strstr(log, "/tmp/"));
	free(log);
}

static void engine_build__fails(void **state)
{
	static const char *const options[] = {"-Xclang -load", "-include /etc/passwd",
					      "-I/etc",        "-I ../x",
					      "-o /tmp/x",     "@file",
					      "-D @file",      "-D",
					      "-cl-std=CL3.0"};
	const char good[] = "kernel void k(global uint *p) { p[0] = 1; }";

	build_fails("kernel void k(global uint *p) { p[0] = nothing; }", "",
		    "program.cl:1:40: error", CL_BUILD_PROGRAM_FAILURE);
	build_fails("void f(void); kernel void k(global uint *p) { f(); }", "",
		    "function 'f' is neither", CL_BUILD_PROGRAM_FAILURE);
	for (size_t i = 0; i < ARRAY_COUNT(options); i++)
		build_fails(good, options[i], "Invalid build option", CL_INVALID_BUILD_OPTIONS);
	build_fails("constant uint big[1 << 28] = {1};"
		    "kernel void k(global uint *p) { p[0] = big[p[1]]; }",
		    "", "the compiler was stopped by signal", CL_BUILD_PROGRAM_FAILURE);
	build_fails("#include \"/etc/hostname\"\n", "", "error", CL_BUILD_PROGRAM_FAILURE);
	build_fails("__asm__(\".incbin \\\"/etc/hostname\\\"\");", "", "error",
		    CL_BUILD_PROGRAM_FAILURE);
}

/* ---- binaries ---- */

static int binary_load(const uint8_t *data, size_t bytes, struct engine_program **p)
{
	const struct engine_file file = {.data = data, .bytes = bytes};
	const struct engine_source s = {
		.kind = DXP_PROGRAM_BINARY, .options = "", .files = &file, .file_count = 1};
	char *log = NULL;
	int status = engine_build(engine, &s, p, &log);

	free(log);
	return status;
}

static void engine_build__binaries(void **state)
{
	struct engine_program *p = rig_program(wrongs), *again = NULL;
	uint8_t *binary;
	size_t bytes;

	assert_int_equal(engine_fetch(engine, p, FETCH_BINARY, &binary, &bytes), DXP_OK);
	assert_int_equal(binary_load(binary, bytes, &again), DXP_OK);
	struct engine_launch l = rig_launch(again, "good", 64, 64);
	rig_good(&l);
	engine_release(engine, again);
	assert_int_equal(binary_load(binary, bytes - 1, &again), DXP_EBUILD);
	binary[bytes / 2] ^= 1;
	assert_int_equal(binary_load(binary, bytes, &again), DXP_EBUILD);
	assert_int_equal(binary_load(binary, 3, &again), DXP_EBUILD);
	free(binary);
	engine_release(engine, p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(engine_run__traps),      cmocka_unit_test(engine_run__prints),
		cmocka_unit_test(engine_run__rejected),   cmocka_unit_test(engine_build__fails),
		cmocka_unit_test(engine_build__binaries),
	};
	int status = rig_begin("rv32:limit=1");

	if (status != 0)
		return status;
	status = cmocka_run_group_tests(tests, NULL, NULL);
	rig_end();
	return status;
}
