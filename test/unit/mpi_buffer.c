/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests pointers that name device memory for MPI: arguments, offsets, freed buffers and memory,
 * and that the host cannot access them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <dxp/mpi.h>

#include "host/internal.h"
#include "host/mpi.h"

static struct dxp_xpu xpu = {
	.node = 7, .memory_key = 99, .caps = {.name = "gpu", .memory_bytes = 1 << 20}};

static void mpi_buffer__rejects(void **state)
{
	static struct dxp_xpu large = {.caps = {.name = "large", .memory_bytes = UINT64_MAX}};
	void *out = NULL;

	assert_int_equal(dxp_mpi_buffer(NULL, 0, 1, &out), DXP_EINVAL);
	assert_int_equal(dxp_mpi_buffer(&xpu, 0, 1, NULL), DXP_EINVAL);
	assert_int_equal(dxp_mpi_buffer(&xpu, 0, 0, &out), DXP_EINVAL);
	assert_non_null(strstr(dxp_fabric_error(NULL), "0 bytes; use 1 or more"));
	assert_int_equal(dxp_mpi_buffer(&xpu, 1 << 20, 1, &out), DXP_ERANGE);
	assert_int_equal(dxp_mpi_buffer(&xpu, 1, 1 << 20, &out), DXP_ERANGE);
	assert_int_equal(dxp_mpi_buffer(&xpu, UINT64_MAX, 2, &out), DXP_ERANGE);
	assert_non_null(strstr(dxp_fabric_error(NULL), "xPU 'gpu', which has 1048576 bytes"));
	/* more than the address space has */
	assert_int_equal(dxp_mpi_buffer(&large, 0, 1ull << 62, &out), DXP_ENOMEM);
	assert_int_equal(dxp_mpi_buffer(&large, 0, UINT64_MAX, &out), DXP_ENOMEM);
	assert_null(out);
	dxp_mpi_buffer_free(NULL);
}

static void mpi_buffer__names_memory(void **state)
{
	struct mpi_device_place place;
	void *a, *b, *c;
	int host, pipes[2];

	assert_int_equal(dxp_mpi_buffer(&xpu, 4096, 5000, &a), DXP_OK);
	assert_int_equal(dxp_mpi_buffer(&xpu, 512, 100, &b), DXP_OK);
	assert_int_equal(mpi_buffer_find(&host, &place), DXP_ENOENT);
	assert_int_equal(mpi_buffer_find((char *)a + 8, &place), DXP_OK);
	assert_int_equal(place.address, 4104);
	assert_int_equal(place.bytes, 4992);
	assert_int_equal(place.node, 7);
	assert_int_equal(place.key, 99);
	assert_string_equal(place.name, "gpu");
	assert_int_equal(mpi_buffer_find((char *)a + 5000, &place), DXP_OK);
	assert_int_equal(place.bytes, 0);
	assert_int_equal(mpi_buffer_find((char *)a + 5001, &place), DXP_EINVAL);
	/* The kernel reports an access by a system call. */
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(write(pipes[1], a, 1), -1);
	assert_int_equal(errno, EFAULT);
	close(pipes[0]);
	close(pipes[1]);
	/* A freed buffer is found until one of the same length replaces it. */
	dxp_mpi_buffer_free(b);
	assert_int_equal(mpi_buffer_find(b, &place), DXP_EINVAL);
	assert_non_null(strstr(dxp_fabric_error(NULL), "dxp_mpi_buffer_free()"));
	assert_int_equal(dxp_mpi_buffer(&xpu, 0, 200, &c), DXP_OK);
	assert_ptr_equal(b, c);
	assert_int_equal(mpi_buffer_find(c, &place), DXP_OK);
	assert_int_equal(place.bytes, 200);
	dxp_mpi_buffer_free(a);
	dxp_mpi_buffer_free(c);
}

static void mpi_buffer__freed_memory(void **state)
{
	const uint64_t address = 4096, other = 0;
	struct mpi_device_place place;
	void *a, *b;

	assert_int_equal(dxp_mpi_buffer(&xpu, address, 64, &a), DXP_OK);
	mpi_buffers_forget(&xpu, &other);
	assert_int_equal(mpi_buffer_find(a, &place), DXP_OK);
	mpi_buffers_forget(&xpu, &address);
	assert_int_equal(mpi_buffer_find(a, &place), DXP_EINVAL);
	assert_non_null(strstr(dxp_fabric_error(NULL), "memory was freed before the buffer"));
	dxp_mpi_buffer_free(a);
	/* the same range, for new memory */
	assert_int_equal(dxp_mpi_buffer(&xpu, address, 64, &b), DXP_OK);
	assert_int_equal(mpi_buffer_find(b, &place), DXP_OK);
	/* The xPU is closed. */
	mpi_buffers_forget(&xpu, NULL);
	assert_int_equal(mpi_buffer_find(b, &place), DXP_EINVAL);
	dxp_mpi_buffer_free(b);
}

/* Ranks of a run: every error before its first command. */
static void mpi_run__rejects(void **state)
{
	const struct mpi_device *d = dxp_mpi_device(MPI_DEVICE_VERSION);
	const struct mpi_device_member same[2] = {{.node = 3}, {.node = 3}};
	struct mpi_device_call call = {.members = 2, .count = 1, .xpu = &xpu, .all = same};
	struct mpi_device_run *run;

	assert_null(dxp_mpi_device(MPI_DEVICE_VERSION + 1));
	assert_non_null(d);
	assert_int_equal(d->begin(&call, &run), DXP_EINVAL);
	assert_non_null(strstr(d->error(), "ranks 0 and 1 use the same xPU (node 3)"));
	call.members = 1;
	assert_int_equal(d->begin(&call, &run), DXP_EINVAL);
	call.members = DXP_GROUP_MEMBERS_MAX + 1;
	assert_int_equal(d->begin(&call, &run), DXP_EINVAL);
}

/* Member 1 of a broadcast waits for a notice of the SEND of member 0, and has no command. */
static void mpi_run__waits_for_notices(void **state)
{
	const struct mpi_device *d = dxp_mpi_device(MPI_DEVICE_VERSION);
	const struct mpi_device_member all[2] = {{.node = 3}, {.node = 4}};
	const struct mpi_device_call call = {.operation = MPI_DEVICE_BROADCAST,
					     .members = 2,
					     .self = 1,
					     .count = 16,
					     .type = DXP_UINT8,
					     .in_place = 1,
					     .xpu = &xpu,
					     .all = all};
	struct mpi_device_run *run;
	uint32_t member, step;

	assert_int_equal(d->begin(&call, &run), DXP_OK);
	assert_int_equal(d->advance(run), DXP_EAGAIN);
	/* It has begun, so member 0 may write to its output. */
	assert_true(d->notice(run, &member, &step));
	assert_int_equal(member, 0);
	assert_int_equal(step, 1);
	assert_false(d->notice(run, &member, &step));
	assert_int_equal(d->notified(run, 0, 1000), DXP_EINVAL);
	assert_int_equal(d->notified(run, 0, 1), DXP_EINVAL); /* its own step */
	assert_int_equal(d->notified(run, 1, 2), DXP_EINVAL);
	assert_int_equal(d->advance(run), DXP_EAGAIN);
	assert_int_equal(d->notified(run, 0, 2), DXP_OK);
	assert_int_equal(d->advance(run), DXP_OK);
	assert_true(d->end(run));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mpi_buffer__rejects),
		cmocka_unit_test(mpi_buffer__names_memory),
		cmocka_unit_test(mpi_buffer__freed_memory),
		cmocka_unit_test(mpi_run__rejects),
		cmocka_unit_test(mpi_run__waits_for_notices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
