/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls every function of dxp/device.h once, as C17, C++, CUDA C, OpenCL C, and C for RISC-V.
 * LAYOUT names a file of CHECK_ rows, made by test/device/lib.sh from docs/reference/window.md. */
#include <dxp/device.h>

/* These languages share no static assertion, so an array has negative size. */
#define CHECK_CONCAT_(a, b)    a##b
#define CHECK_NAME_(line)      CHECK_CONCAT_(check_, line)
#define CHECK_TRUE(what)       typedef char CHECK_NAME_(__LINE__)[(what) ? 1 : -1];
#define CHECK_SIZE(type, size) CHECK_TRUE(sizeof(struct type) == (size))
#define CHECK_FIELD(type, field, offset, size)                           \
	CHECK_TRUE(__builtin_offsetof(struct type, field) == (offset) && \
		   sizeof(((struct type *)0)->field) == (size))
#include LAYOUT

#if defined(DXP_DEVICE_OPENCL)
#define ENTRY __kernel void
#elif defined(__CUDACC__)
#define ENTRY extern "C" __global__ void
#elif defined(__cplusplus)
#define ENTRY                                                      \
	extern "C" void every(struct dxp_window *w, dxp_u64 *out); \
	void
#else
#define ENTRY                                           \
	void every(struct dxp_window *w, dxp_u64 *out); \
	void
#endif

DXP_FN dxp_u64 posts(DXP_SHARED struct dxp_window *w)
{
	struct dxp_target to;
	struct dxp_entry a, b;
	dxp_u8 data[100];
	dxp_u64 sum = 0;

	for (int i = 0; i < 100; i++)
		data[i] = (dxp_u8)i;
	to.node = 0;
	to.function = 1;
	to.qp = 2;
	to.magic = w->qp_magic[2];
	a.offset = b.offset = 64;
	a.bytes = b.bytes = 8;
	a.key = b.key = 5;
	sum += (dxp_u64)dxp_post_nap(w, 0, &to, data, 7, 1, 2);
	sum += (dxp_u64)dxp_post_nap(w, 0, &to, data, 99, 1, 2);
	sum += (dxp_u64)dxp_post_put(w, 1, &to, &a, &b, DXP_FLAG_NOTIFY, 1, 2);
	sum += (dxp_u64)dxp_post_get(w, 2, &to, &a, &b, 3);
	sum += (dxp_u64)dxp_post_atomic(w, 3, &to, DXP_OP_FETCH_ADD, &a, 1, 0, 4);
	dxp_u32 values[2];
	values[0] = values[1] = 6;
	struct dxp_target self = dxp_self(w, 1);
	sum += (dxp_u64)dxp_post_cfg_read(w, 1, &self, 28, &a, 5);
	sum += (dxp_u64)dxp_post_cfg_write(w, 1, &self, 28, values, 2, 6);
	struct dxp_descriptor head = dxp_head(DXP_OP_PUT, 0, &to, 9);
	head.src_count = head.dst_count = 1;
	head.trailer = 77;
	sum += (dxp_u64)dxp_post_lists(w, &head, &a, &b, 0);
	struct dxp_entry both[2] = {a, b};
	sum += (dxp_u64)dxp_post(w, &head, both, 0);
	return sum;
}

DXP_FN dxp_u64 by_hand(DXP_SHARED struct dxp_window *w)
{
	struct dxp_target to = {0, 0, 0, 0};
	struct dxp_descriptor head = dxp_head(DXP_OP_NAP, 0, &to, 0);
	dxp_u32 index;

	if (dxp_claim(w, &index) != DXP_OK)
		return (dxp_u64)dxp_error(w);
	dxp_head_store(dxp_slot(w, index), &head);
	dxp_store_bytes(dxp_slot(w, index)->body, &to, (dxp_u32)sizeof(to));
	dxp_ring(w, index);
	return dxp_lap(index, DXP_DOORBELLS);
}

DXP_FN dxp_u64 events(DXP_SHARED struct dxp_window *w)
{
	struct dxp_nic_event event;
	dxp_u64 sum = 0;

	if (dxp_sent_dequeue(w, &event))
		sum += event.context;
	if (dxp_sent_wait(w, &event, 10) == DXP_OK)
		sum += event.imm;
	if (dxp_received_wait(w, 10) == DXP_OK) {
		const DXP_SHARED struct dxp_nic_event *e = dxp_received_peek(w);
		sum += dxp_received_data(w, e)[0];
		dxp_u16 buffer = e->buffer;
		dxp_received_keep(w);
		if (buffer != DXP_NO_BUFFER)
			dxp_buffer_return(w, buffer);
	}
	if (dxp_received_peek(w))
		dxp_received_release(w);
	dxp_u64 looks = 3;
	while (!dxp_received_peek(w) && dxp_look_again(w, &looks) == DXP_OK)
		sum++;
	return sum + (dxp_u64)dxp_total_wait(w, 4096, 10);
}

DXP_FN dxp_u64 registers(DXP_SHARED struct dxp_window *w)
{
	struct dxp_target to = {0, 0, 0, 1};

	if (dxp_register_receive(w, 0x1000, 64, 100) != DXP_OK)
		return 0;
	if (dxp_register_send(w, 0, &to, 0x2000, 64) != DXP_OK)
		return 1;
	return (dxp_u64)dxp_register_wait(w, 100);
}

DXP_FN dxp_u64 references(DXP_SHARED struct dxp_window *w, DXP_SHARED struct dxp_chain *chain)
{
	struct dxp_target to = {0, 0, 0, 1};
	struct dxp_descriptor put = dxp_head(DXP_OP_PUT, 0, &to, 8);
	struct dxp_entry all = {0, (dxp_u32)dxp_chain_bytes(2, 1), 7};

	dxp_chain_store(chain, &put, 2, 1);
	return (dxp_u64)dxp_post_reference(w, 0, &all, 9);
}

DXP_FN dxp_u64 allreduces(DXP_SHARED struct dxp_window *w,
			  const DXP_SHARED struct dxp_allreduce_result *result)
{
	struct dxp_allreduce_descriptor d; /* an initializer may call memcpy */

	d.from = d.to = 0x1000;
	d.count = 16;
	d.result = 0x2000;
	d.group = 1;
	d.type = DXP_FLOAT;
	d.reduction = DXP_MAX;
	d.tag = 7;
	if (dxp_post_allreduce(w, 1, &d, 10) != DXP_OK)
		return 0;
	return (dxp_u64)dxp_allreduce_wait(w, result, 7, 100);
}

DXP_FN dxp_u64 words(DXP_SHARED struct dxp_window *w)
{
	dxp_u64 before = dxp_load_acquire64(&w->total_bytes);

	dxp_store_release(&w->user_waits, 1);
	dxp_fence();
	if (dxp_exchange_if(&w->user_waits, 1, 0))
		dxp_relax();
	return before + dxp_load_acquire(&w->need_wakeup);
}

ENTRY every(DXP_SHARED struct dxp_window *w, DXP_SHARED dxp_u64 *out)
{
	out[0] = posts(w);
	out[1] = by_hand(w);
	out[2] = events(w);
	out[3] = registers(w);
	out[4] = words(w);
	out[6] = references(w, (DXP_SHARED struct dxp_chain *)(out + 8));
	out[7] = allreduces(w, (const DXP_SHARED struct dxp_allreduce_result *)(out + 8));
#if !defined(DXP_DEVICE_OPENCL) && !defined(__CUDA_ARCH__) && __SIZEOF_POINTER__ >= 8
	dxp_store_release64(&out[5], 1);
#endif
}
