/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares random commands over all devices with a model in host memory. Queues are in order;
 * events order commands in different queues, as the standard requires. */
#include "rig.h"

#define BUFFERS  6
#define WORDS    5000
#define COMMANDS 250
/* work-items; always the same, because PoCL compiles a kernel for each new size */
#define LOCAL 8

static const char source[] =
	"kernel void blend(global uint *a, global const uint *b, uint first, uint n)\n"
	"{ size_t i = first + get_global_id(0); a[i] = a[i] * 3 + b[i] + n; }\n"
	"kernel void own(global uint *a, uint first, uint n)\n"
	"{ size_t i = first + get_global_id(0); a[i] ^= n * (uint)i; }\n";

struct world {
	cl_mem buffers[BUFFERS];
	uint32_t model[BUFFERS][WORDS];
	cl_event last[BUFFERS]; /* NULL: none */
	cl_kernel mix, own;
	cl_command_queue queues[RIG_DEVICES_MAX];
	uint32_t *reads[COMMANDS], *wanted[COMMANDS];
	size_t read_words[COMMANDS], read_count;
};

/* Writes the events that a command on buffers a and b (BUFFERS: none) must wait for. Returns their
 * number. */
static cl_uint waits(struct world *w, size_t a, size_t b, cl_event list[2])
{
	cl_uint count = 0;

	if (w->last[a])
		list[count++] = w->last[a];
	if (b < BUFFERS && b != a && w->last[b])
		list[count++] = w->last[b];
	return count;
}

static void replace(struct world *w, size_t at, cl_event e)
{
	if (at >= BUFFERS)
		return;
	if (w->last[at])
		OK(clReleaseEvent(w->last[at]));
	OK(clRetainEvent(e));
	w->last[at] = e;
}

static void run_kernel(struct world *w, cl_command_queue q, size_t a, size_t b, uint32_t n)
{
	uint32_t first = (uint32_t)rig_below(WORDS - LOCAL);
	size_t global = (1 + rig_below((WORDS - first) / LOCAL)) * LOCAL, local = LOCAL;
	bool mix = b != a && rig_below(2);
	cl_kernel k = mix ? w->mix : w->own;
	cl_event list[2], e = NULL;
	cl_uint count = waits(w, a, mix ? b : BUFFERS, list), at = 0;

	SET(k, at++, w->buffers[a]);
	if (mix)
		SET(k, at++, w->buffers[b]);
	SET(k, at++, first);
	SET(k, at++, n);
	OK(clEnqueueNDRangeKernel(q, k, 1, NULL, &global, &local, count, count ? list : NULL, &e));
	for (size_t i = first; i < first + global; i++)
		w->model[a][i] = mix ? w->model[a][i] * 3 + w->model[b][i] + n
				     : w->model[a][i] ^ (n * (uint32_t)i);
	replace(w, a, e);
	if (mix)
		replace(w, b, e);
	OK(clReleaseEvent(e));
}

static void run_transfer(struct world *w, cl_command_queue q, size_t a, bool write)
{
	size_t first = rig_below(WORDS), words = 1 + rig_below(WORDS - first);
	uint32_t *host = rig_noise(words * 4);
	cl_event list[2], e = NULL;
	cl_uint count = waits(w, a, BUFFERS, list);

	if (write) {
		OK(clEnqueueWriteBuffer(q, w->buffers[a], rig_below(4) == 0, first * 4, words * 4,
					host, count, count ? list : NULL, &e));
		memcpy(&w->model[a][first], host, words * 4);
	} else {
		size_t n = w->read_count++;
		OK(clEnqueueReadBuffer(q, w->buffers[a], rig_below(4) == 0, first * 4, words * 4,
				       host, count, count ? list : NULL, &e));
		w->reads[n] = host;
		w->read_words[n] = words;
		w->wanted[n] = rig_memory(words * 4);
		memcpy(w->wanted[n], &w->model[a][first], words * 4);
	}
	replace(w, a, e);
	OK(clReleaseEvent(e));
}

static void run_copy(struct world *w, cl_command_queue q, size_t a, size_t b)
{
	size_t from = rig_below(WORDS), to = rig_below(WORDS);
	size_t most = WORDS - (from > to ? from : to), words = 1 + rig_below(most);
	cl_event list[2], e = NULL;
	cl_uint count = waits(w, a, b, list);

	if (a == b)
		return;
	OK(clEnqueueCopyBuffer(q, w->buffers[b], w->buffers[a], from * 4, to * 4, words * 4, count,
			       count ? list : NULL, &e));
	memcpy(&w->model[a][to], &w->model[b][from], words * 4);
	replace(w, a, e);
	replace(w, b, e);
	OK(clReleaseEvent(e));
}

static void run_fill(struct world *w, cl_command_queue q, size_t a, uint32_t n)
{
	size_t first = rig_below(WORDS), words = 1 + rig_below(WORDS - first);
	cl_event list[2], e = NULL;
	cl_uint count = waits(w, a, BUFFERS, list);

	OK(clEnqueueFillBuffer(q, w->buffers[a], &n, 4, first * 4, words * 4, count,
			       count ? list : NULL, &e));
	for (size_t i = 0; i < words; i++)
		w->model[a][first + i] = n;
	replace(w, a, e);
	OK(clReleaseEvent(e));
}

static void run_map(struct world *w, cl_command_queue q, size_t a)
{
	size_t first = rig_below(WORDS), words = 1 + rig_below(WORDS - first);
	cl_event list[2], e = NULL;
	cl_uint count = waits(w, a, BUFFERS, list);
	uint32_t *map =
		clEnqueueMapBuffer(q, w->buffers[a], CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, first * 4,
				   words * 4, count, count ? list : NULL, NULL, ERR);

	MADE(map);
	SAME_BYTES(map, &w->model[a][first], words * 4);
	rig_scramble(map, words * 4);
	memcpy(&w->model[a][first], map, words * 4);
	OK(clEnqueueUnmapMemObject(q, w->buffers[a], map, 0, NULL, &e));
	replace(w, a, e);
	OK(clReleaseEvent(e));
}

static void run_migration(struct world *w, cl_command_queue q, size_t a)
{
	cl_event list[2], e = NULL;
	cl_uint count = waits(w, a, BUFFERS, list);

	OK(clEnqueueMigrateMemObjects(q, 1, &w->buffers[a], 0, count, count ? list : NULL, &e));
	replace(w, a, e);
	OK(clReleaseEvent(e));
}

static void step(struct world *w, uint32_t n)
{
	cl_command_queue q = w->queues[rig_below(rig.device_count)];
	size_t a = rig_below(BUFFERS), b = rig_below(BUFFERS);

	switch (rig_below(10)) {
	case 0:
	case 1:
	case 2:
	case 3: run_kernel(w, q, a, b, n); break;
	case 4: run_transfer(w, q, a, true); break;
	case 5: run_transfer(w, q, a, false); break;
	case 6: run_copy(w, q, a, b); break;
	case 7: run_fill(w, q, a, n); break;
	case 8: run_map(w, q, a); break;
	default: run_migration(w, q, a);
	}
	if (rig_below(5) == 0)
		OK(clFlush(q));
	if (rig_below(40) == 0)
		OK(clFinish(q));
}

static void open_world(struct world *w, cl_command_queue_properties properties)
{
	static const cl_mem_flags flags[] = {0, CL_MEM_USE_HOST_PTR, CL_MEM_ALLOC_HOST_PTR};
	cl_program p = rig_program(source, NULL);

	w->mix = clCreateKernel(p, "blend", ERR);
	MADE(w->mix);
	w->own = clCreateKernel(p, "own", ERR);
	MADE(w->own);
	OK(clReleaseProgram(p));
	for (size_t i = 0; i < BUFFERS; i++) {
		uint32_t *host = rig_noise(WORDS * 4);
		memcpy(w->model[i], host, WORDS * 4);
		cl_mem_flags kind = flags[i % 3];
		w->buffers[i] =
			rig_buffer(kind == CL_MEM_USE_HOST_PTR ? kind : kind | CL_MEM_COPY_HOST_PTR,
				   WORDS * 4, host);
	}
	for (cl_uint d = 0; d < rig.device_count; d++)
		w->queues[d] = rig_queue(d, properties);
}

static void close_world(struct world *w)
{
	uint32_t *back = rig_memory(WORDS * 4);

	for (cl_uint d = 0; d < rig.device_count; d++) {
		OK(clFinish(w->queues[d]));
		OK(clReleaseCommandQueue(w->queues[d]));
	}
	for (size_t i = 0; i < w->read_count; i++)
		SAME_BYTES(w->reads[i], w->wanted[i], w->read_words[i] * 4);
	for (size_t i = 0; i < BUFFERS; i++) {
		rig_read(rig.queues[i % rig.device_count], w->buffers[i], back, WORDS * 4);
		SAME_BYTES(back, w->model[i], WORDS * 4);
		if (w->last[i])
			OK(clReleaseEvent(w->last[i]));
		OK(clReleaseMemObject(w->buffers[i]));
	}
	OK(clReleaseKernel(w->mix));
	OK(clReleaseKernel(w->own));
}

static void by_chance(cl_command_queue_properties properties)
{
	struct world *w = rig_memory(sizeof(*w));

	open_world(w, properties);
	for (uint32_t n = 0; n < COMMANDS; n++)
		step(w, n);
	close_world(w);
}

static void random__queues_in_order(void)
{
	by_chance(0);
}

static void random__queues_out_of_order(void)
{
	by_chance(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

RIG_MAIN(CASE(random__queues_in_order), CASE(random__queues_out_of_order))
