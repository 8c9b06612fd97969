/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements both kernels, for OpenCL C, CUDA and C. The sender computes a picture and PUTs each
 * block while it computes the next. The receiver counts points in the blocks that arrive, then
 * answers. The kernels drive the NIC by loads and stores alone, without a host. */
#ifndef KERNEL_PUT_BLOCKS_H
#define KERNEL_PUT_BLOCKS_H

#include <dxp/device.h>
#if defined(__riscv)
#include <dxp/rv32.h>
#endif

/* polls per wait: about ten seconds, even with the NIC's thread on the same core */
#if defined(DXP_DEVICE_OPENCL)
#define LOOKS 4000000000ul
#elif defined(__CUDA_ARCH__)
#define LOOKS 10000000ul /* each crosses the PCIe bus */
#else
#define LOOKS 300000000ul /* dxp_relax() pauses in each poll */
#endif

/* steps per point; one still inside is in the set */
#define STEPS_MAX 255

/* A kernel argument, of at most 16 bytes. */
struct shape {
	dxp_u32 width, height; /* points, one byte each */
	dxp_u32 rows;          /* rows of one block */
	dxp_u32 blocks;
};

struct report {
	/* sender: received answer; receiver: points in the set */
	dxp_u64 answer;
	dxp_u32 failed; /* 0, or a negated enum dxp_status */
	dxp_u32 blocks; /* sender: acknowledged; receiver: arrived */
	dxp_u32 early;  /* sender: acknowledged before the last one was computed */
	dxp_u32 reserved;
};

/* Returns the steps until z * z + c leaves the circle of radius 2. Fixed point (24 fraction bits)
 * gives the same result on every machine. */
DXP_FN dxp_u32 point_steps(const struct shape *s, dxp_u32 x, dxp_u32 y)
{
	long cr = (long)x * (3L << 24) / s->width - (9L << 22);
	long ci = (long)y * (3L << 24) / s->height - (3L << 23);
	long zr = 0, zi = 0;
	dxp_u32 steps = 0;

	while (steps < STEPS_MAX) {
		long rr = zr * zr >> 24, ii = zi * zi >> 24;
		if (rr + ii > 4L << 24)
			break;
		zi = (zr * zi >> 23) + ci;
		zr = rr - ii + cr;
		steps++;
	}
	return steps;
}

/* Computes the points of `worker`, one of `workers`. */
DXP_FN void block_compute(const struct shape *s, dxp_u32 block, DXP_SHARED dxp_u8 *image,
			  dxp_u32 worker, dxp_u32 workers)
{
	dxp_u32 points = s->width * s->rows;

	for (dxp_u32 i = worker; i < points; i += workers)
		image[block * points + i] =
			(dxp_u8)point_steps(s, i % s->width, block * s->rows + i / s->width);
}

DXP_FN dxp_u32 block_count(const struct shape *s, dxp_u32 block, const DXP_SHARED dxp_u8 *image)
{
	dxp_u32 points = s->width * s->rows, inside = 0;

	for (dxp_u32 i = 0; i < points; i++)
		inside += image[block * points + i] == STEPS_MAX;
	return inside;
}

/* ---- sender ---- */

/* The receiver's NIC, and the picture's memory at both ends. */
struct route {
	struct dxp_target peer;
	struct dxp_entry from, to;
};

/* Adds arrived completions to *done; *value is the last one's immediate value. Returns the first
 * status that is not DXP_OK. */
DXP_FN int completions_dequeue(DXP_SHARED struct dxp_window *nic, dxp_u32 *done, dxp_u64 *value)
{
	struct dxp_nic_event event;

	while (dxp_sent_dequeue(nic, &event)) {
		if (event.status != DXP_OK)
			return event.status;
		*value = event.imm;
		(*done)++;
	}
	return DXP_OK;
}

/* Polls until `until` descriptors complete. Returns DXP_ETIMEDOUT after LOOKS polls. */
DXP_FN int completions_wait(DXP_SHARED struct dxp_window *nic, dxp_u32 until, dxp_u32 *done,
			    dxp_u64 *value)
{
	int status = DXP_OK;

	for (dxp_u64 look = 0; *done < until && status == DXP_OK; look++) {
		status = look < LOOKS ? dxp_error(nic) : DXP_ETIMEDOUT;
		if (status == DXP_OK)
			status = completions_dequeue(nic, done, value);
		dxp_relax();
	}
	return status;
}

/* PUTs a block with an event at the receiver. Retries while no descriptor is free. */
#if defined(__riscv) && defined(DXP_DEVICE_OPENCL)
/* Keeps the route in communication registers; then one instruction posts. */
DXP_FN int block_put(DXP_SHARED struct dxp_window *nic, const DXP_SHARED dxp_u8 *image,
		     const struct shape *s, const struct route *r, dxp_u32 block)
{
	const dxp_u32 bytes = s->width * s->rows;
	int status = DXP_EAGAIN;

	dxp_insn_peer_set(&r->peer, 0);
	dxp_insn_keys_set(r->from.key, r->from.offset, r->to.key);
	dxp_insn_flags_set(DXP_FLAG_NOTIFY);
	dxp_insn_remote_set(r->to.offset + (dxp_u64)block * bytes);
	dxp_insn_imm_set(block);
	dxp_insn_context_set(block);
	for (dxp_u64 look = 0; status == DXP_EAGAIN && look < LOOKS; look++)
		status = dxp_insn_put(image + block * bytes, bytes);
	return status == DXP_EAGAIN ? DXP_ETIMEDOUT : status;
}
#else
DXP_FN int block_put(DXP_SHARED struct dxp_window *nic, const DXP_SHARED dxp_u8 *image,
		     const struct shape *s, const struct route *r, dxp_u32 block)
{
	dxp_u32 bytes = s->width * s->rows;
	struct dxp_entry from = {r->from.offset + (dxp_u64)block * bytes, bytes, r->from.key};
	struct dxp_entry to = {r->to.offset + (dxp_u64)block * bytes, bytes, r->to.key};
	int status = DXP_EAGAIN;

	for (dxp_u64 look = 0; status == DXP_EAGAIN && look < LOOKS; look++)
		status = dxp_post_put(nic, 0, &r->peer, &from, &to, DXP_FLAG_NOTIFY, block, block);
	return status == DXP_EAGAIN ? DXP_ETIMEDOUT : status;
}
#endif

struct sending {
	dxp_u32 done, early;
	int status;
};

DXP_FN void sending_block(DXP_SHARED struct dxp_window *nic, const DXP_SHARED dxp_u8 *image,
			  const struct shape *s, const struct route *r, dxp_u32 block,
			  struct sending *to)
{
	dxp_u64 value;

	to->early = to->done;
	to->status = block_put(nic, image, s, r, block);
	if (to->status == DXP_OK)
		to->status = completions_dequeue(nic, &to->done, &value);
}

/* Waits for the receiving kernel's NAP, sent after all blocks. */
DXP_FN int answer_wait(DXP_SHARED struct dxp_window *nic, dxp_u64 *answer)
{
	int status = dxp_received_wait(nic, LOOKS);

	if (status != DXP_OK)
		return status;
	*answer = dxp_received_peek(nic)->imm;
	dxp_received_release(nic);
	return DXP_OK;
}

/* Reads the answer without a kernel at the receiver: a fetch-and-add on a counter behind the
 * picture, which executes after all earlier PUTs are in place. */
DXP_FN int answer_of_nic(DXP_SHARED struct dxp_window *nic, const struct shape *s,
			 const struct route *r, dxp_u64 *answer)
{
	struct dxp_entry number = {r->to.offset + (dxp_u64)s->width * s->height, 8, r->to.key};
	dxp_u32 done = 0;
	int status = dxp_post_atomic(nic, 0, &r->peer, DXP_OP_FETCH_ADD, &number, s->blocks, 0, 0);

	if (status == DXP_OK)
		status = completions_wait(nic, 1, &done, answer);
	*answer += s->blocks;
	return status;
}

/* Awaits all completions and the answer, then fills the report. */
DXP_FN void sending_end(DXP_SHARED struct dxp_window *nic, const struct shape *s,
			const struct route *r, int nic_answers, struct sending *to,
			DXP_SHARED struct report *report)
{
	dxp_u64 answer = 0;

	if (to->status == DXP_OK)
		to->status = completions_wait(nic, s->blocks, &to->done, &answer);
	if (to->status == DXP_OK)
		to->status =
			nic_answers ? answer_of_nic(nic, s, r, &answer) : answer_wait(nic, &answer);
	report->answer = answer;
	report->blocks = to->done;
	report->early = to->early;
	report->failed = (dxp_u32)-to->status;
}

/* One worker runs the whole sender. */
DXP_FN void sender_run(DXP_SHARED struct dxp_window *nic, DXP_SHARED dxp_u8 *image,
		       const struct shape *s, const struct route *r, int nic_answers,
		       DXP_SHARED struct report *report)
{
	struct sending sending = {0, 0, DXP_OK};

	for (dxp_u32 block = 0; block < s->blocks && sending.status == DXP_OK; block++) {
		block_compute(s, block, image, 0, 1);
		sending_block(nic, image, s, r, block, &sending);
	}
	sending_end(nic, s, r, nic_answers, &sending, report);
}

/* ---- receiver ---- */

DXP_FN int answer_send(DXP_SHARED struct dxp_window *nic, const struct dxp_target *peer,
		       dxp_u64 answer)
{
	struct dxp_nic_event event;
	int status = dxp_post_nap(nic, 0, peer, 0, 0, answer, 0);

	if (status == DXP_OK)
		status = dxp_sent_wait(nic, &event, LOOKS);
	return status == DXP_OK ? event.status : status;
}

DXP_FN void receiver_run(DXP_SHARED struct dxp_window *nic, const DXP_SHARED dxp_u8 *image,
			 const struct shape *s, const struct dxp_target *peer,
			 DXP_SHARED struct report *report)
{
	dxp_u64 inside = 0;
	int status = DXP_OK;

	for (dxp_u32 i = 0; i < s->blocks && status == DXP_OK; i++) {
		status = dxp_received_wait(nic, LOOKS);
		if (status != DXP_OK)
			break;
		dxp_u32 block = (dxp_u32)dxp_received_peek(nic)->imm;
		dxp_received_release(nic);
		if (block < s->blocks)
			inside += block_count(s, block, image);
		report->blocks = i + 1;
	}
	if (status == DXP_OK)
		status = answer_send(nic, peer, inside);
	report->answer = inside;
	report->failed = (dxp_u32)-status;
}

/* ---- doorbell latency ---- */

/* Repeats `count` times: PUTs 8 bytes to its own function, awaits completion. */
DXP_FN void rings_run(DXP_SHARED struct dxp_window *nic, const struct route *r, dxp_u32 count,
		      DXP_SHARED struct report *report)
{
	struct dxp_nic_event event;
	int status = DXP_OK;
	dxp_u32 i;

	for (i = 0; i < count && status == DXP_OK; i++) {
		status = dxp_post_put(nic, 0, &r->peer, &r->from, &r->to, 0, 0, i);
		if (status == DXP_OK)
			status = dxp_sent_wait(nic, &event, LOOKS);
		if (status == DXP_OK)
			status = event.status;
	}
	report->blocks = i;
	report->failed = (dxp_u32)-status;
}

#endif
