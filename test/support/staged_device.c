/* SPDX-License-Identifier: BSD-3-Clause */
/* The device has tables of fixed size and reads no clock: the time comes from its polls and from
 * calls of the NIC. */
#include "test/support/staged_device.h"

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"

struct staged_write {
	/* write_settled returned EAGAIN, so the NIC must be notified later */
	bool used, requested;
	uint64_t offset, bytes, placed, done;
	uint8_t *seen; /* for each byte, whether it was placed */
	int status;
};

struct staged_read {
	struct nic_staged_read *nic; /* NULL: the entry is free */
	uint64_t offset, bytes, begun, handed;
};

enum buffer_state { BUFFER_FREE, BUFFER_FILL, BUFFER_DMA, BUFFER_READY, BUFFER_OUT };

struct staged_buffer {
	uint8_t state;
	struct staged_write *write; /* NULL: the write was cancelled */
	struct staged_read *read;   /* NULL: the read was cancelled */
	uint64_t at, offset, due_ns;
	uint32_t bytes, filled;
	bool fails;
	uint8_t *data;
};

/* buffers that one packet may need: no packet is longer than a buffer */
#define KEPT 2

static void broken(struct staged_device *d, const char *what)
{
	if (!d->broken)
		d->broken = what;
}

static void dma_begin(struct staged_device *d, struct staged_buffer *b)
{
	const struct staged_options *o = &d->options;

	d->dmas++;
	b->state = BUFFER_DMA;
	b->due_ns = 0; /* the DMA completes at the next poll */
	b->fails = d->dmas == o->fail_nth || (o->fail_every && d->dmas % o->fail_every == 0);
}

static struct nic_staged_write *write_begin(void *context, struct nic_staged_span *span)
{
	struct staged_device *d = context;
	uint64_t offset = span->offset, bytes = span->bytes;

	if (offset > d->options.bytes || bytes > d->options.bytes - offset) {
		broken(d, "a write outside the memory");
		return NULL;
	}
	for (uint32_t i = 0; i < STAGED_WRITES; i++) {
		struct staged_write *w = &d->write[i];
		if (w->used)
			continue;
		*w = (struct staged_write){.used = true,
					   .offset = offset,
					   .bytes = bytes,
					   .seen = calloc(1, bytes + 1)};
		if (!w->seen) {
			w->used = false;
			return NULL;
		}
		d->writes++;
		return (struct nic_staged_write *)w;
	}
	d->refused++;
	return NULL;
}

static struct staged_buffer *buffer_of(struct staged_device *d, const struct staged_write *w,
				       uint64_t piece)
{
	for (uint32_t i = 0; i < d->options.buffers; i++)
		if (d->in[i].state == BUFFER_FILL && d->in[i].write == w &&
		    d->in[i].at / d->options.buffer_bytes == piece)
			return &d->in[i];
	return NULL;
}

static uint32_t buffers_free(const struct staged_device *d)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < d->options.buffers; i++)
		count += d->in[i].state == BUFFER_FREE;
	return count;
}

static struct staged_buffer *buffer_dequeue(struct staged_device *d, struct staged_write *w,
					    uint64_t piece)
{
	uint64_t at = piece * d->options.buffer_bytes;
	struct staged_buffer *b = d->in;

	while (b->state != BUFFER_FREE)
		b++;
	b->state = BUFFER_FILL;
	b->write = w;
	b->at = at;
	b->offset = w->offset + at;
	b->bytes = (uint32_t)min_u64(w->bytes - at, d->options.buffer_bytes);
	b->filled = 0;
	d->buffers++;
	return b;
}

static void piece_fill(struct staged_device *d, struct staged_write *w, uint64_t at,
		       const uint8_t *data, uint32_t bytes)
{
	uint64_t piece = at / d->options.buffer_bytes;
	struct staged_buffer *b = buffer_of(d, w, piece);

	if (!b)
		b = buffer_dequeue(d, w, piece);
	memcpy(b->data + (at - b->at), data, bytes);
	b->filled += bytes;
	if (b->filled == b->bytes)
		dma_begin(d, b);
}

static bool write_live(struct staged_device *d, const struct nic_staged_write *nic)
{
	const struct staged_write *w = (const struct staged_write *)nic;

	if (w >= d->write && w < d->write + STAGED_WRITES && w->used)
		return true;
	broken(d, "a write that has ended is named");
	return false;
}

/* The last KEPT free buffers, enough for one packet, are for a write whose message waits for no
 * other. Only one write at a time may use them, `favoured`, until its partial buffers are full or
 * space is free again (src/bridge/feed.c). */
static bool admit(struct staged_device *d, const struct staged_write *w, uint32_t needed,
		  bool first)
{
	uint32_t free = buffers_free(d);
	bool filling = false;

	for (uint32_t i = 0; i < d->options.buffers; i++)
		filling |= d->in[i].state == BUFFER_FILL && d->in[i].write == d->favoured;
	if (!filling || free >= KEPT)
		d->favoured = NULL;
	if (free >= needed + KEPT)
		return true;
	if (!first || free < needed || (d->favoured && d->favoured != w))
		return false;
	d->favoured = w;
	return true;
}

static int write_place(void *context, struct nic_staged_write *nic, uint64_t at,
		       const uint8_t *payload, uint32_t bytes, bool first)
{
	struct staged_write *w = (struct staged_write *)nic;
	struct staged_device *d = context;
	uint32_t size = d->options.buffer_bytes, needed = 0;

	if (!write_live(d, nic))
		return DXP_EDEVICE;
	if (bytes == 0 || at > w->bytes || bytes > w->bytes - at)
		broken(d, "payload outside its write");
	if (w->status != DXP_OK)
		return w->status;
	if (d->broken)
		return DXP_EDEVICE;
	for (uint64_t piece = at / size; piece <= (at + bytes - 1) / size; piece++)
		needed += buffer_of(d, w, piece) == NULL;
	if (needed > 0 && !admit(d, w, needed, first)) {
		d->refused++;
		return DXP_EAGAIN;
	}
	for (uint32_t i = 0; i < bytes; i++)
		if (w->seen[at + i]++)
			broken(d, "a byte is placed twice");
	w->placed += bytes;
	while (bytes > 0) {
		uint32_t part = (uint32_t)min_u64(bytes, size - at % size);
		piece_fill(d, w, at, payload, part);
		at += part;
		payload += part;
		bytes -= part;
	}
	return DXP_OK;
}

static int write_settled(void *context, struct nic_staged_write *nic)
{
	struct staged_write *w = (struct staged_write *)nic;
	struct staged_device *d = context;

	if (!write_live(d, nic))
		return DXP_EDEVICE;
	if (w->placed != w->bytes)
		broken(d, "a write is said to be complete, and is not");
	if (w->status != DXP_OK)
		return w->status;
	w->requested = w->done < w->bytes;
	return w->requested ? DXP_EAGAIN : DXP_OK;
}

static void write_end(void *context, struct nic_staged_write *nic)
{
	struct staged_write *w = (struct staged_write *)nic;
	struct staged_device *d = context;

	if (!write_live(d, nic))
		return;
	for (uint32_t i = 0; i < d->options.buffers; i++) {
		struct staged_buffer *b = &d->in[i];
		if (b->state == BUFFER_FREE || b->write != w)
			continue;
		b->write = NULL;
		if (b->state == BUFFER_FILL) {
			b->state = BUFFER_FREE;
			d->buffers--;
		}
	}
	free(w->seen);
	*w = (struct staged_write){0};
	d->writes--;
}

/* During its DMA a buffer stays in use, even if its write has completed or was cancelled. */
static bool write_touches(void *context, uint64_t offset, uint64_t bytes)
{
	const struct staged_device *d = context;

	for (uint32_t i = 0; i < d->options.buffers; i++) {
		const struct staged_buffer *b = &d->in[i];
		if (b->state != BUFFER_FREE && b->offset < offset + bytes &&
		    offset < b->offset + b->bytes)
			return true;
	}
	return false;
}

static int read_begin(void *context, struct nic_staged_read *nic, uint64_t offset, uint64_t bytes)
{
	struct staged_device *d = context;

	for (uint32_t i = 0; i < d->options.reads; i++) {
		if (d->read[i].nic)
			continue;
		d->read[i] = (struct staged_read){.nic = nic, .offset = offset, .bytes = bytes};
		d->reads++;
		return DXP_OK;
	}
	d->refused++;
	return DXP_EAGAIN;
}

static void read_forget(struct staged_device *d, struct staged_read *r)
{
	for (uint32_t i = 0; i < d->options.buffers; i++) {
		struct staged_buffer *b = &d->out[i];
		if (b->read != r)
			continue;
		b->read = NULL;
		if (b->state == BUFFER_READY) {
			b->state = BUFFER_FREE;
			d->buffers--;
		}
	}
	r->nic = NULL;
	d->reads--;
}

static void read_cancel(void *context, struct nic_staged_read *nic)
{
	struct staged_device *d = context;

	for (uint32_t i = 0; i < d->options.reads; i++) {
		if (d->read[i].nic == nic) {
			read_forget(d, &d->read[i]);
			return;
		}
	}
	broken(d, "a read is cancelled that is none");
}

static void read_sent(void *context, void *piece, int status)
{
	struct staged_device *d = context;
	struct staged_buffer *b = piece;

	if (b->state != BUFFER_OUT) {
		broken(d, "a piece comes back that was not handed over");
		return;
	}
	b->state = BUFFER_FREE;
	d->buffers--;
}

static int fail_status(const struct staged_device *d)
{
	return d->options.fail_status ? d->options.fail_status : DXP_EDEVICE;
}

const struct nic_staged_ops staged_device_ops = {
	.write_begin = write_begin,
	.write_place = write_place,
	.write_settled = write_settled,
	.write_end = write_end,
	.write_touches = write_touches,
	.read_begin = read_begin,
	.read_cancel = read_cancel,
	.read_sent = read_sent,
};

static void write_dma_end(struct staged_device *d, struct staged_buffer *b, uint64_t now_ns)
{
	struct staged_write *w = b->write;

	b->state = BUFFER_FREE;
	d->buffers--;
	if (!b->fails)
		memcpy(d->memory + b->offset, b->data, b->bytes);
	if (!w)
		return;
	b->write = NULL;
	if (b->fails)
		w->status = fail_status(d);
	w->done += b->bytes;
	if (w->requested && (w->done == w->bytes || w->status != DXP_OK))
		nic_staged_settled(d->nic, (struct nic_staged_write *)w, now_ns);
}

static void answer(struct staged_device *d, struct staged_buffer *b, uint64_t now_ns)
{
	struct staged_read *r = b->read;

	int status = nic_staged_answer(d->nic, r->nic, b->at, b->data, b->bytes, b, now_ns);
	if (status == DXP_ENOMEM) {
		b->state = BUFFER_READY;
		b->due_ns = now_ns + MS_NS;
		return;
	}
	b->state = BUFFER_OUT;
	b->read = NULL;
	r->handed += b->bytes;
	if (r->handed == r->bytes) {
		r->nic = NULL; /* the NIC has received all bytes, so the entry is free */
		d->reads--;
	}
}

static void read_dma_end(struct staged_device *d, struct staged_buffer *b, uint64_t now_ns)
{
	struct nic_staged_read *nic = b->read ? b->read->nic : NULL;

	if (b->fails && nic) {
		read_forget(d, b->read);
		nic_staged_refuse(d->nic, nic, fail_status(d), now_ns);
		nic = NULL;
	}
	if (!nic) {
		b->state = BUFFER_FREE;
		d->buffers--;
		return;
	}
	memcpy(b->data, d->memory + b->offset, b->bytes);
	answer(d, b, now_ns);
}

/* Assigns free buffers to reads that still have bytes to fetch. */
static bool reads_advance(struct staged_device *d)
{
	bool any = false;

	for (uint32_t i = 0; i < d->options.reads; i++) {
		struct staged_read *r = &d->read[i];
		for (uint32_t k = 0; r->nic && k < d->options.buffers; k++) {
			struct staged_buffer *b = &d->out[k];
			uint64_t begun = r->begun;
			if (b->state != BUFFER_FREE || begun == r->bytes)
				continue;
			b->read = r;
			b->at = begun;
			b->offset = r->offset + begun;
			b->bytes = (uint32_t)min_u64(r->bytes - begun, d->options.buffer_bytes);
			r->begun += b->bytes;
			d->buffers++;
			dma_begin(d, b);
			any = true;
		}
	}
	return any;
}

static bool buffer_poll(struct staged_device *d, struct staged_buffer *b, uint64_t now_ns)
{
	if (b->state == BUFFER_DMA && b->due_ns == 0) {
		b->due_ns = now_ns + d->options.latency_ns;
		return d->options.latency_ns == 0;
	}
	if ((b->state != BUFFER_DMA && b->state != BUFFER_READY) || now_ns < b->due_ns)
		return false;
	if (b->state == BUFFER_READY)
		answer(d, b, now_ns);
	else if (b >= d->in && b < d->in + STAGED_BUFFERS)
		write_dma_end(d, b, now_ns);
	else
		read_dma_end(d, b, now_ns);
	return true;
}

bool staged_device_poll(struct staged_device *d, uint64_t now_ns)
{
	bool any = reads_advance(d);

	for (uint32_t i = 0; i < d->options.buffers; i++) {
		any |= buffer_poll(d, &d->in[i], now_ns);
		any |= buffer_poll(d, &d->out[i], now_ns);
	}
	return any;
}

uint64_t staged_device_next(const struct staged_device *d)
{
	uint64_t next_ns = UINT64_MAX;

	for (uint32_t i = 0; i < d->options.buffers; i++) {
		if (d->in[i].state == BUFFER_DMA)
			next_ns = min_u64(next_ns, d->in[i].due_ns);
		if (d->out[i].state == BUFFER_DMA || d->out[i].state == BUFFER_READY)
			next_ns = min_u64(next_ns, d->out[i].due_ns);
	}
	return next_ns;
}

void staged_device_nic_gone(struct staged_device *d)
{
	if (d->writes > 0 || d->reads > 0)
		broken(d, "the NIC is gone, and not what it began");
	for (uint32_t i = 0; i < d->options.buffers; i++)
		if (d->out[i].state == BUFFER_OUT || d->out[i].state == BUFFER_READY)
			broken(d, "the NIC is gone, and has a piece");
}

bool staged_device_create(struct staged_device *d, const struct staged_options *o)
{
	*d = (struct staged_device){.options = *o};
	if (o->reads == 0)
		d->options.reads = STAGED_READS;
	d->memory = calloc(1, o->bytes);
	d->write = calloc(STAGED_WRITES, sizeof(*d->write));
	d->read = calloc(STAGED_READS, sizeof(*d->read));
	d->in = calloc(STAGED_BUFFERS, sizeof(*d->in));
	d->out = calloc(STAGED_BUFFERS, sizeof(*d->out));
	bool good = d->memory && d->write && d->read && d->in && d->out;
	for (uint32_t i = 0; good && i < o->buffers; i++) {
		d->in[i].data = malloc(o->buffer_bytes);
		d->out[i].data = malloc(o->buffer_bytes);
		good = d->in[i].data && d->out[i].data;
	}
	if (!good)
		staged_device_destroy(d);
	return good;
}

void staged_device_destroy(struct staged_device *d)
{
	for (uint32_t i = 0; d->in && d->out && i < d->options.buffers; i++) {
		free(d->in[i].data);
		free(d->out[i].data);
	}
	for (uint32_t i = 0; d->write && i < STAGED_WRITES; i++)
		free(d->write[i].seen);
	free(d->memory);
	free(d->write);
	free(d->read);
	free(d->in);
	free(d->out);
	*d = (struct staged_device){0};
}
