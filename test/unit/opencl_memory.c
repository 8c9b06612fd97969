/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares memory objects with expected bytes, while random programs run on three devices in any
 * order that their wait lists allow. */
#include "test/unit/opencl_memory_model.h"

const cl_icd_dispatch opencl_dispatch;

#define STEPS  400
#define ROUNDS 40

static void op_read(struct thing *o)
{
	uint64_t at, bytes;
	cl_event list[2], e;
	cl_uint count = waits(o, NULL, list);

	range(o, &at, &bytes);
	uint8_t *to = malloc(bytes);
	assert_int_equal(dxp_clEnqueueReadBuffer(any_queue(), o->mem, CL_FALSE, at, bytes, to,
						 LIST(count, list), &e),
			 CL_SUCCESS);
	expect(to, o, at, bytes);
	keep(o, e);
}

static void op_write(struct thing *o)
{
	uint64_t at, bytes;
	cl_event list[2], e;
	cl_uint count = waits(o, NULL, list);

	range(o, &at, &bytes);
	uint8_t *from = malloc(bytes);
	memset(from, (int)pick(256), bytes);
	assert_int_equal(dxp_clEnqueueWriteBuffer(any_queue(), o->mem, CL_FALSE, at, bytes, from,
						  LIST(count, list), &e),
			 CL_SUCCESS);
	memcpy(o->value + at, from, bytes);
	memset(o->known + at, 1, bytes);
	/* a write compares `from` with itself, and frees it later */
	expect(from, o, at, bytes);
	keep(o, e);
}

static void op_fill(struct thing *o)
{
	uint64_t at, bytes;
	uint8_t pattern = (uint8_t)pick(256);
	cl_event list[2], e;
	cl_uint count = waits(o, NULL, list);

	range(o, &at, &bytes);
	assert_int_equal(dxp_clEnqueueFillBuffer(any_queue(), o->mem, &pattern, 1, at, bytes,
						 LIST(count, list), &e),
			 CL_SUCCESS);
	memset(o->value + at, pattern, bytes);
	memset(o->known + at, 1, bytes);
	keep(o, e);
}

static void op_copy(struct thing *from, struct thing *to)
{
	uint64_t at, bytes, to_at;
	cl_event list[2], e = NULL;
	cl_uint count = waits(from, to, list);

	range(from, &at, &bytes);
	if (bytes > to->bytes)
		bytes = to->bytes;
	to_at = pick(to->bytes - bytes + 1);
	bool overlap = from == to && at < to_at + bytes && to_at < at + bytes;
	assert_int_equal(dxp_clEnqueueCopyBuffer(any_queue(), from->mem, to->mem, at, to_at, bytes,
						 LIST(count, list), &e),
			 overlap ? CL_MEM_COPY_OVERLAP : CL_SUCCESS);
	if (overlap)
		return;
	memmove(to->value + to_at, from->value + at, bytes);
	memmove(to->known + to_at, from->known + at, bytes);
	keep_both(from, to, e);
}

static void op_read_rect(struct thing *o)
{
	struct rect r = rect_of(o);
	uint64_t bytes = host_bytes(&r);
	uint8_t *to = calloc(1, bytes), *expected = calloc(1, bytes), *known = malloc(bytes);
	cl_event list[2], e;
	cl_uint count = waits(o, NULL, list);

	/* bytes between rows must stay 0 */
	memset(known, 1, bytes);
	rect_rows(&r, expected, o->value, true);
	rect_rows(&r, known, o->known, true);
	assert_int_equal(dxp_clEnqueueReadBufferRect(any_queue(), o->mem, CL_FALSE, r.origin,
						     r.host_origin, r.region, r.row, r.slice,
						     r.host_row, r.host_slice, to,
						     LIST(count, list), &e),
			 CL_SUCCESS);
	assert_true(the->check_count < CHECKS);
	the->checks[the->check_count++] = (struct check){to, expected, known, bytes};
	keep(o, e);
}

static void op_write_rect(struct thing *o)
{
	struct rect r = rect_of(o);
	uint64_t bytes = host_bytes(&r);
	uint8_t *from = malloc(bytes), *ones = malloc(bytes);
	cl_event list[2], e;
	cl_uint count = waits(o, NULL, list);

	for (uint64_t i = 0; i < bytes; i++)
		from[i] = (uint8_t)pick(256);
	memset(ones, 1, bytes);
	assert_int_equal(dxp_clEnqueueWriteBufferRect(any_queue(), o->mem, CL_FALSE, r.origin,
						      r.host_origin, r.region, r.row, r.slice,
						      r.host_row, r.host_slice, from,
						      LIST(count, list), &e),
			 CL_SUCCESS);
	rect_rows(&r, from, o->value, false);
	rect_rows(&r, ones, o->known, false);
	the->checks[the->check_count++] = (struct check){from, copy_of(from, bytes), ones, bytes};
	keep(o, e);
}

static void op_copy_rect(struct thing *from, struct thing *to)
{
	struct rect r = rect_of(to);
	cl_event list[2], e;
	cl_uint count = waits(from, to, list);
	size_t zero[3] = {0};

	if (from == to || host_bytes(&r) > from->bytes)
		return;
	assert_int_equal(dxp_clEnqueueCopyBufferRect(any_queue(), from->mem, to->mem, zero,
						     r.origin, r.region, r.host_row, r.host_slice,
						     r.row, r.slice, LIST(count, list), &e),
			 CL_SUCCESS);
	r.host_origin[0] = 0;
	rect_rows(&r, from->value, to->value, false);
	rect_rows(&r, from->known, to->known, false);
	keep_both(from, to, e);
}

/* Posts a kernel in the way in which a launch does. */
static void op_kernel(struct thing *o)
{
	cl_event list[2], e;
	cl_uint count = waits(o, NULL, list);
	enum memory_access access = pick(2) ? MEMORY_READ : MEMORY_READ_WRITE;
	struct enqueue q;
	dxp_event event;

	assert_int_equal(
		enqueue_begin(&q, any_queue(), CL_COMMAND_NDRANGE_KERNEL, LIST(count, list)),
		CL_SUCCESS);
	struct kernel *k = calloc(1, sizeof *k + 2 * o->bytes);
	cl_int error = memory_ready(&q, o->mem, 0, o->bytes, access, &k->address);
	assert_int_equal(error, CL_SUCCESS);
	k->xpu = q.device->xpu;
	k->bytes = o->bytes;
	k->expected = (uint8_t *)(k + 1);
	k->known = k->expected + o->bytes;
	memcpy(k->expected, o->value, o->bytes);
	memcpy(k->known, o->known, o->bytes);
	if (access & MEMORY_WRITE) {
		k->write_at = (uint32_t)pick(o->bytes);
		k->write_bytes = 1 + (uint32_t)pick(o->bytes - k->write_at);
		k->value = (uint8_t)pick(256);
		memset(o->value + k->write_at, k->value, k->write_bytes);
		memset(o->known + k->write_at, 1, k->write_bytes);
	}
	assert_int_equal(fake_post(q.device->xpu, &q.waits, kernel_act, k, &event), DXP_OK);
	memory_used(&q, o->mem, 0, o->bytes, access, event);
	assert_int_equal(enqueue_end(&q, CL_SUCCESS, event, false, &e), CL_SUCCESS);
	keep(o, e);
}

static void op_migrate(struct thing *o)
{
	cl_event list[2], e;
	cl_uint count = waits(o, NULL, list);
	cl_mem_migration_flags flags = pick(3) ? 0 : CL_MIGRATE_MEM_OBJECT_HOST;

	if (!pick(8))
		flags |= CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
	assert_int_equal(dxp_clEnqueueMigrateMemObjects(any_queue(), 1, &o->mem, flags,
							LIST(count, list), &e),
			 CL_SUCCESS);
	if (flags & CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED)
		memset(o->known, 0, o->bytes);
	keep(o, e);
}

static void op_map(struct thing *o)
{
	cl_event list[2], e;
	cl_uint count = waits(o, NULL, list);
	static const cl_map_flags kinds[] = {CL_MAP_READ, CL_MAP_WRITE, CL_MAP_READ | CL_MAP_WRITE,
					     CL_MAP_WRITE_INVALIDATE_REGION};
	cl_map_flags flags = kinds[pick(4)];
	cl_int error = 1;

	range(o, &o->map_at, &o->map_bytes);
	o->map = dxp_clEnqueueMapBuffer(any_queue(), o->mem, CL_FALSE, flags, o->map_at,
					o->map_bytes, LIST(count, list), &e, &error);
	assert_int_equal(error, CL_SUCCESS);
	if (o->host)
		assert_ptr_equal(o->map, o->host + o->map_at);
	o->map_writes = flags != CL_MAP_READ;
	if (flags == CL_MAP_WRITE_INVALIDATE_REGION)
		memset(o->known + o->map_at, 0, o->map_bytes);
	keep(o, e);
}

/* Mostly, the program first waits for the map and uses it. */
static void op_unmap(struct thing *o)
{
	cl_event list[2], e;
	cl_uint count = waits(o, NULL, list);
	bool touched = pick(3) != 0; /* false: unmapped before the map has completed */

	fake_hold(!touched);
	if (touched)
		assert_int_equal(dxp_clWaitForEvents(1, &o->last), CL_SUCCESS);
	fake_hold(true);
	for (uint64_t i = 0; i < o->map_bytes && touched; i++)
		assert_true(!o->known[o->map_at + i] || o->map[i] == o->value[o->map_at + i]);
	if (o->map_writes && touched) {
		memset(o->map, (int)pick(256), o->map_bytes);
		memcpy(o->value + o->map_at, o->map, o->map_bytes);
		memset(o->known + o->map_at, 1, o->map_bytes);
	}
	assert_int_equal(
		dxp_clEnqueueUnmapMemObject(any_queue(), o->mem, o->map, LIST(count, list), &e),
		CL_SUCCESS);
	o->map = NULL;
	keep(o, e);
}

static void step(void)
{
	struct thing *o = &the->objects[pick(OBJECTS)], *p = &the->objects[pick(OBJECTS)];

	if (o->map || p->map) {
		op_unmap(o->map ? o : p);
		return;
	}
	switch (pick(12)) {
	case 0: op_read(o); break;
	case 1: op_write(o); break;
	case 2: op_fill(o); break;
	case 3: op_copy(o, p); break;
	case 4: op_read_rect(o); break;
	case 5: op_write_rect(o); break;
	case 6: op_copy_rect(o, p); break;
	case 7: op_migrate(o); break;
	case 8: op_map(o); break;
	default: op_kernel(o); break;
	}
	if (pick(3) == 0)
		fake_step((uint32_t)pick(6), rng_next(&the->rng));
}

static void finish(void)
{
	for (int i = 0; i < OBJECTS; i++) {
		struct thing *o = &the->objects[i];
		if (o->map)
			op_unmap(o);
		op_kernel(o);
	}
	fake_hold(false);
	for (int i = 0; i < QUEUES; i++)
		assert_int_equal(dxp_clFinish(queues[i]), CL_SUCCESS);
	for (uint32_t i = 0; i < the->check_count; i++) {
		struct check *c = &the->checks[i];
		for (uint64_t at = 0; at < c->bytes; at++)
			assert_true(!c->known[at] || c->got[at] == c->expected[at]);
		free(c->got);
		free(c->expected);
		free(c->known);
	}
	for (int i = 0; i < OBJECTS; i++) {
		struct thing *o = &the->objects[i];
		keep(o, NULL);
		assert_int_equal(dxp_clReleaseMemObject(o->mem), CL_SUCCESS);
		free(o->value);
		free(o->known);
		free(o->host);
	}
}

static void opencl_memory__random(void **state)
{
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		the = calloc(1, sizeof *the);
		the->rng.state = seed;
		objects_make();
		fake_hold(true);
		for (int i = 0; i < STEPS; i++)
			step();
		finish();
		assert_int_equal(wrong_bytes, 0);
		free(the);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(opencl_memory__random, setup, teardown),
	};

	for (int i = 0; i < DEVICES; i++)
		fake_node(64 << 20, true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
