/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests built-in functions of OpenCL C on `rv32`: scalars against the host's library, vectors
 * against scalars. */
#include "test/unit/engine_rv32_rig.h"

#include <math.h>

/* ---- vector functions return the results of scalar functions, despite another call convention
 * ---- */

static const char widths[] =
	"#define SCALARS(at, n, e) for (int k = 0; k < n; k++) b[at + k] = e;\n"
	"kernel void vectors(global float *in, global float *a, global float *b) {\n"
	"	global int *i = (global int *)in;\n"
	"	vstore4(exp(vload4(0, in)), 0, a);\n"
	"	SCALARS(0, 4, exp(in[k]))\n"
	"	vstore16(clamp(vload16(0, in), vload16(1, in), vload16(2, in)), 1, a);\n"
	"	SCALARS(16, 16, clamp(in[k], in[k + 16], in[k + 32]))\n"
	"	vstore3(fmin(vload3(0, in), vload3(2, in)), 0, a + 32);\n"
	"	SCALARS(32, 3, fmin(in[k], in[k + 6]))\n"
	"	vstore8(convert_float8(add_sat(vload8(0, i), vload8(1, i))), 5, a);\n"
	"	SCALARS(40, 8, convert_float(add_sat(i[k], i[k + 8])))\n"
	"	float2 whole; vstore2(modf(vload2(0, in), &whole), 24, a); vstore2(whole, 25, a);\n"
	"	float one; SCALARS(48, 2, modf(in[k], &one))\n"
	"	for (int k = 0; k < 2; k++) { modf(in[k], &one); b[50 + k] = one; }\n"
	"	vstore2(native_sin(vload2(3, in)), 26, a);\n"
	"	SCALARS(52, 2, native_sin(in[6 + k])) }\n";

static void engine_run__widths(void **state)
{
	struct engine_program *p = rig_program(widths);
	struct engine_launch l = rig_launch(p, "vectors", 1, 1);
	float *in = (float *)(void *)memory;

	memset(memory, 0, 3 * 4096);
	for (uint32_t k = 0; k < 64; k++)
		in[k] = (float)k * 0.37f - 3;
	l.argument_count = 3;
	for (uint32_t i = 0; i < 3; i++)
		l.arguments[i] = rig_buffer(4096 * i, 4096);
	rig_good(&l);
	assert_memory_equal(memory + 4096, memory + 8192, 4096);
	for (uint32_t k = 0; k < 4; k++)
		assert_true(fabsf(in[1024 + k] - expf(in[k])) <= 4e-7f * expf(in[k]));
	engine_release(engine, p);
}

/* ---- scalars against the host ---- */

static const char scalars[] =
	"kernel void divide(global long *a) {\n"
	"	size_t i = 8 * get_global_id(0);\n"
	"	long x = a[i], y = a[i + 1];\n"
	"	a[i + 2] = x / y; a[i + 3] = x % y;\n"
	"	a[i + 4] = (ulong)x / (ulong)y; a[i + 5] = (ulong)x % (ulong)y;\n"
	"	((global float *)(a + i + 6))[0] = x; ((global float *)(a + i + 6))[1] = "
	"(ulong)x;\n"
	"	a[i + 7] = (long)((float)x / 3); }\n"
	"kernel void halves(global ushort *h, global float *f) {\n"
	"	size_t i = get_global_id(0); global half *p = (global half *)h;\n"
	"	float v = vload_half(i, p); f[i] = v; vstore_half(v, i + 65536, p);\n"
	"	vstore_half_rtz(v * 1.0002f, i + 131072, p); }\n"
	"kernel void rounds(global float *a) {\n"
	"	size_t i = 8 * get_global_id(0); float x = a[i];\n"
	"	a[i + 1] = rint(x); a[i + 2] = round(x); a[i + 3] = trunc(x);\n"
	"	a[i + 4] = floor(x); a[i + 5] = ceil(x); a[i + 6] = sqrt(fabs(x)); }\n"
	"kernel void copies(global int4 *a) {\n"
	"	local int4 t[64]; event_t e[2];\n"
	"	e[0] = async_work_group_copy(t, a, 50, 0);\n"
	"	e[1] = async_work_group_strided_copy(t + 50, a + 1000, 14, 3, 0);\n"
	"	wait_group_events(2, e);\n"
	"	wait_group_events(1, (e[0] = async_work_group_copy(a + 2000, t, 64, 0), e)); }\n";

static void engine_run__long(void **state)
{
	static const int64_t values[] = {0,           1,           -1,
					 7,           -7,          1ll << 31,
					 1ll << 32,   12345678901, -98765432109876,
					 INT64_MAX,   INT64_MIN,   0xffffffff,
					 0x100000001, 1ll << 40};
	struct engine_program *p = rig_program(scalars);
	struct engine_launch l = rig_launch(p, "divide", 0, 1);
	const size_t count = ARRAY_COUNT(values);
	int64_t *a = (int64_t *)(void *)memory;
	size_t n = 0;

	for (size_t x = 0; x < count; x++)
		for (size_t y = 1; y < count; y++)
			if (!(values[x] == INT64_MIN && values[y] == -1)) {
				a[8 * n] = values[x];
				a[8 * n++ + 1] = values[y];
			}
	l.global[0] = n;
	rig_good(&l);
	for (size_t i = 0; i < n; i++) {
		const int64_t *r = a + 8 * i, x = r[0], y = r[1];
		float signed_float, unsigned_float;
		memcpy(&signed_float, r + 6, 4);
		memcpy(&unsigned_float, (const uint8_t *)(r + 6) + 4, 4);
		assert_int_equal(r[2], x / y);
		assert_int_equal(r[3], x % y);
		assert_true((uint64_t)r[4] == (uint64_t)x / (uint64_t)y);
		assert_true((uint64_t)r[5] == (uint64_t)x % (uint64_t)y);
		assert_true(signed_float == (float)x);
		assert_true(unsigned_float == (float)(uint64_t)x);
		assert_int_equal(r[7], (int64_t)((float)x / 3));
	}
	engine_release(engine, p);
}

static float half_value(uint16_t h)
{
	const int exponent = h >> 10 & 31, mantissa = h & 1023;
	const float sign = h & 0x8000 ? -1.0f : 1.0f;

	return exponent == 31 ? (mantissa ? NAN : sign * INFINITY)
	       : exponent     ? sign * ldexpf((float)(1024 + mantissa), exponent - 25)
			      : sign * ldexpf((float)mantissa, -24);
}

/* All 65536 halves load exactly and are stored unchanged. */
static void engine_run__halves(void **state)
{
	struct engine_program *p = rig_program(scalars);
	struct engine_launch l = rig_launch(p, "halves", 65536, 64);
	uint16_t *h = (uint16_t *)(void *)memory;
	const float *f = (const float *)(const void *)(memory + RIG_BYTES / 2);

	for (uint32_t i = 0; i < 65536; i++)
		h[i] = (uint16_t)i;
	l.argument_count = 2;
	l.arguments[0] = rig_buffer(0, RIG_BYTES / 2);
	l.arguments[1] = rig_buffer(RIG_BYTES / 2, RIG_BYTES / 2);
	rig_good(&l);
	for (uint32_t i = 0; i < 65536; i++) {
		const float right = half_value((uint16_t)i);
		if (isnan(right)) {
			assert_true(isnan(f[i]) && isnan(half_value(h[i + 65536])));
			continue;
		}
		assert_true(f[i] == right);
		assert_int_equal(h[i + 65536], i);
		/* 1.0002 does not reach the next half, and the store rounds towards zero, so the
		 * value is restored. */
		if (fabsf(right) > 1e-4f && !isinf(right))
			assert_int_equal(h[i + 131072], i);
	}
	engine_release(engine, p);
}

static void engine_run__rounds(void **state)
{
	static const float values[] = {0.0f,       -0.0f,      0.5f,     -0.5f,  1.5f,
				       2.5f,       -2.5f,      1e9f,     -1e20f, 0.49999997f,
				       8388607.5f, 8388609.0f, INFINITY, -0.3f};
	struct engine_program *p = rig_program(scalars);
	struct engine_launch l = rig_launch(p, "rounds", ARRAY_COUNT(values), 1);
	float *a = (float *)(void *)memory;

	for (size_t i = 0; i < ARRAY_COUNT(values); i++)
		a[8 * i] = values[i];
	rig_good(&l);
	for (size_t i = 0; i < ARRAY_COUNT(values); i++) {
		const float x = values[i];
		const float right[] = {rintf(x),  roundf(x), truncf(x),
				       floorf(x), ceilf(x),  sqrtf(fabsf(x))};
		assert_memory_equal(a + 8 * i + 1, right, sizeof(right));
	}
	engine_release(engine, p);
}

static void engine_run__copies(void **state)
{
	struct engine_program *p = rig_program(scalars);
	struct engine_launch l = rig_launch(p, "copies", 32, 32);

	for (uint32_t i = 0; i < 4 * 3000; i++)
		memcpy(memory + 4 * i, &i, 4);
	rig_good(&l);
	for (uint32_t i = 0; i < 4 * 64; i++) {
		uint32_t from = i < 200 ? i : 4000 + (i - 200) / 4 * 12 + i % 4;
		assert_int_equal(rig_word(8000 + i), from);
	}
	engine_release(engine, p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(engine_run__widths), cmocka_unit_test(engine_run__long),
		cmocka_unit_test(engine_run__halves), cmocka_unit_test(engine_run__rounds),
		cmocka_unit_test(engine_run__copies),
	};
	int status = rig_begin("rv32");

	if (status != 0)
		return status;
	status = cmocka_run_group_tests(tests, NULL, NULL);
	rig_end();
	return status;
}
