/* SPDX-License-Identifier: BSD-3-Clause */
/* One-way stream. A datagram starts with its number n, 8 bytes in host order (one machine). It is
 * read from position n of the source and copied to position n of the destination, modulo their
 * size. */
#include "bench/raw_udp.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <dxp/status.h>

#include "base/log.h"
#include "base/util.h"
#include "bench/raw_ends.h"

#define NUMBER_BYTES       sizeof(uint64_t)
#define SEGMENTS_DEFAULT   64 /* per batch; every kernel with GSO accepts this many */
#define CREDITS_PER_WINDOW 4
#define RECEIVE_BUFFERS    8
#define RECEIVE_BYTES      65536 /* GRO merges up to one full IP packet */
/* bytes; three quarters hold the longest batch */
#define WINDOW_BYTES_MIN (128u << 10)

struct plan {
	size_t segment_bytes;
	size_t window_bytes;
	size_t batch_segments;
	size_t positions;       /* datagrams in RAW_BUFFER_BYTES, in whole batches */
	uint64_t segment_count; /* datagrams of the stream, in whole batches */
	bool spin;
};

struct sender {
	const struct plan *plan;
	int fd;
	uint8_t *source;
	/* as planned; 1 if the kernel rejects batches */
	size_t batch_segments;
	uint64_t number;   /* number of the next datagram */
	uint64_t credited; /* bytes that the receiver has placed */
};

struct receiver {
	const struct plan *plan;
	int fd;
	uint8_t *region;
	uint8_t *buffers;
	uint64_t number;   /* of the next datagram */
	uint64_t credited; /* bytes reported to the sender */
	struct mmsghdr messages[RECEIVE_BUFFERS];
	struct iovec iovecs[RECEIVE_BUFFERS];
	union {
		struct cmsghdr align;
		uint8_t bytes[CMSG_SPACE(sizeof(int))];
	} control[RECEIVE_BUFFERS];
};

static int plan_make(const struct raw_stream_options *o, struct plan *p)
{
	p->segment_bytes = o->segment_bytes ? o->segment_bytes : 1472;
	p->window_bytes = o->window_bytes ? o->window_bytes : RAW_WINDOW_BYTES;
	p->spin = o->spin;
	if (p->segment_bytes < RAW_SEGMENT_BYTES_MIN || p->segment_bytes > RAW_PAYLOAD_BYTES_MAX ||
	    p->window_bytes < WINDOW_BYTES_MIN || o->total_bytes < 1) {
		log_error("a stream has segments of %d to %d bytes, a window of at least %u and at "
			  "least one byte",
			  RAW_SEGMENT_BYTES_MIN, RAW_PAYLOAD_BYTES_MAX, WINDOW_BYTES_MIN);
		return DXP_EINVAL;
	}
	size_t segments = o->batch_segments ? o->batch_segments : SEGMENTS_DEFAULT;
	p->batch_segments = min_u64(RAW_PAYLOAD_BYTES_MAX / p->segment_bytes, segments);
	size_t batch_bytes = p->batch_segments * p->segment_bytes;
	p->positions = RAW_BUFFER_BYTES / batch_bytes * p->batch_segments;
	p->segment_count = (o->total_bytes + batch_bytes - 1) / batch_bytes * p->batch_segments;
	return DXP_OK;
}

/* Returns false after RAW_PATIENCE_S without credit. */
static bool credit_receive(struct sender *s)
{
	uint64_t spin_end = s->plan->spin ? raw_clock_ns(CLOCK_MONOTONIC) + RAW_SPIN_NS : 0;
	uint64_t credited;
	ssize_t got = -1;

	while (got < 0 && spin_end && raw_clock_ns(CLOCK_MONOTONIC) < spin_end)
		got = recv(s->fd, &credited, sizeof(credited), MSG_DONTWAIT);
	if (got < 0)
		got = recv(s->fd, &credited, sizeof(credited), 0);
	if (got != sizeof(credited))
		return false;
	s->credited = credited;
	return true;
}

static int batch_send(struct sender *s, size_t segments)
{
	union {
		struct cmsghdr align;
		uint8_t bytes[CMSG_SPACE(sizeof(uint16_t))];
	} control = {0};
	uint16_t segment_bytes = (uint16_t)s->plan->segment_bytes;
	uint8_t *first = s->source + s->number % s->plan->positions * segment_bytes;
	struct iovec iovec = {first, segments * segment_bytes};
	struct msghdr m = {.msg_iov = &iovec, .msg_iovlen = 1};

	for (uint64_t i = 0; i < segments; i++) {
		uint64_t number = s->number + i;
		memcpy(first + i * segment_bytes, &number, NUMBER_BYTES);
	}
	if (segments > 1) {
		control.align = (struct cmsghdr){.cmsg_level = IPPROTO_UDP,
						 .cmsg_type = UDP_SEGMENT,
						 .cmsg_len = CMSG_LEN(sizeof(segment_bytes))};
		memcpy(CMSG_DATA(&control.align), &segment_bytes, sizeof(segment_bytes));
		m.msg_control = control.bytes;
		m.msg_controllen = sizeof(control.bytes);
	}
	return sendmsg(s->fd, &m, 0) < 0 ? errno : 0;
}

static int sender_run(struct sender *s)
{
	uint64_t end_bytes = s->plan->segment_count * s->plan->segment_bytes;
	bool in_time = true;

	while (in_time && s->number < s->plan->segment_count) {
		size_t batch_bytes = s->batch_segments * s->plan->segment_bytes;
		uint64_t sent_bytes = s->number * s->plan->segment_bytes;
		while (in_time && sent_bytes + batch_bytes > s->credited + s->plan->window_bytes)
			in_time = credit_receive(s);
		int error = in_time ? batch_send(s, s->batch_segments) : 0;
		if (error && s->batch_segments > 1) {
			/* This path has no GSO, so sends single datagrams from now on. If that
			 * fails too, the error is reported. */
			s->batch_segments = 1;
		} else if (error) {
			errno = error;
			log_error("cannot send %zu bytes: %m; choose smaller segments",
				  s->plan->segment_bytes);
			return DXP_EIO;
		} else {
			s->number += s->batch_segments;
		}
	}
	while (in_time && s->credited < end_bytes)
		in_time = credit_receive(s);
	if (in_time)
		return DXP_OK;
	log_error("no credit within %d s; datagrams were lost: raise \"sysctl net.core.rmem_max\" "
		  "or make "
		  "the window smaller",
		  RAW_PATIENCE_S);
	return DXP_ETIMEDOUT;
}

static void receiver_prepare(struct receiver *r)
{
	for (size_t i = 0; i < RECEIVE_BUFFERS; i++) {
		r->iovecs[i] = (struct iovec){r->buffers + i * RECEIVE_BYTES, RECEIVE_BYTES};
		r->messages[i].msg_hdr =
			(struct msghdr){.msg_iov = &r->iovecs[i],
					.msg_iovlen = 1,
					.msg_control = r->control[i].bytes,
					.msg_controllen = sizeof(r->control[i].bytes)};
	}
}

/* Returns false if a datagram is missing or foreign. */
static bool message_address(struct receiver *r, size_t index)
{
	const struct plan *p = r->plan;
	const uint8_t *at = r->buffers + index * RECEIVE_BYTES;
	size_t left = r->messages[index].msg_len;

	for (; left >= p->segment_bytes; left -= p->segment_bytes, at += p->segment_bytes) {
		uint64_t number;
		memcpy(&number, at, NUMBER_BYTES);
		if (number != r->number)
			return false;
		memcpy(r->region + number % p->positions * p->segment_bytes, at + NUMBER_BYTES,
		       p->segment_bytes - NUMBER_BYTES);
		r->number++;
	}
	return left == 0;
}

static int messages_receive(struct receiver *r)
{
	uint64_t spin_end = r->plan->spin ? raw_clock_ns(CLOCK_MONOTONIC) + RAW_SPIN_NS : 0;

	receiver_prepare(r);
	while (spin_end && raw_clock_ns(CLOCK_MONOTONIC) < spin_end) {
		int got = recvmmsg(r->fd, r->messages, RECEIVE_BUFFERS, MSG_DONTWAIT, NULL);
		if (got > 0)
			return got;
	}
	return recvmmsg(r->fd, r->messages, RECEIVE_BUFFERS, MSG_WAITFORONE, NULL);
}

static void credit_give(struct receiver *r)
{
	uint64_t placed_bytes = r->number * r->plan->segment_bytes;
	bool due = placed_bytes - r->credited >= r->plan->window_bytes / CREDITS_PER_WINDOW ||
		   r->number == r->plan->segment_count;

	if (due && send(r->fd, &placed_bytes, sizeof(placed_bytes), 0) == sizeof(placed_bytes))
		r->credited = placed_bytes;
}

static bool receiver_run(struct receiver *r)
{
	while (r->number < r->plan->segment_count) {
		int got = messages_receive(r);
		if (got <= 0)
			return false;
		for (int i = 0; i < got; i++)
			if (!message_address(r, (size_t)i))
				return false;
		credit_give(r);
	}
	return true;
}

/* Touches the buffers and enables GRO before the sender starts: datagrams without GRO stay separate
 * and exceed the socket buffer that a window needs. */
static int receiver_open(struct receiver *r)
{
	const int one = 1;

	r->region = malloc(RAW_BUFFER_BYTES);
	r->buffers = malloc(RECEIVE_BUFFERS * RECEIVE_BYTES);
	if (!r->region || !r->buffers)
		return DXP_ENOMEM;
	memset(r->region, 0, RAW_BUFFER_BYTES);
	memset(r->buffers, 0, RECEIVE_BUFFERS * RECEIVE_BYTES);
	setsockopt(r->fd, IPPROTO_UDP, UDP_GRO, &one, sizeof(one));
	return DXP_OK;
}

static struct far_report receiver_main(int fd, const void *context)
{
	struct receiver r = {.plan = context, .fd = fd};
	struct far_report report = {.status = receiver_open(&r)};
	const uint64_t ready = 0;

	if (report.status == DXP_OK && send(fd, &ready, sizeof(ready), 0) != sizeof(ready))
		report.status = DXP_EIO;
	if (report.status == DXP_OK) {
		uint64_t start_ns = raw_clock_ns(CLOCK_THREAD_CPUTIME_ID);
		report.status = receiver_run(&r) ? DXP_OK : DXP_ETIMEDOUT;
		report.cpu_ns = raw_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
		report.bytes = r.number * r.plan->segment_bytes;
	}
	free(r.region);
	free(r.buffers);
	return report;
}

static int sender_time(struct sender *s, uint64_t *ns, uint64_t *cpu_ns)
{
	if (!credit_receive(s)) {
		log_error("the far end of a stream was not ready within %d s; check its address "
			  "and firewalls",
			  RAW_PATIENCE_S);
		return DXP_ETIMEDOUT;
	}
	uint64_t start_ns = raw_clock_ns(CLOCK_MONOTONIC);
	uint64_t cpu_start_ns = raw_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	int status = sender_run(s);
	*cpu_ns = raw_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_start_ns;
	*ns = raw_clock_ns(CLOCK_MONOTONIC) - start_ns;
	return status;
}

int raw_stream(const struct raw_stream_options *options, struct raw_stream_result *out)
{
	struct plan plan;
	struct sender s = {.plan = &plan};
	struct far_end far;
	uint64_t ns = 0, cpu_ns = 0;
	int status = plan_make(options, &plan);

	if (status != DXP_OK)
		return status;
	s.batch_segments = plan.batch_segments;
	s.source = malloc(RAW_BUFFER_BYTES);
	if (!s.source)
		return DXP_ENOMEM;
	memset(s.source, 0x5a, RAW_BUFFER_BYTES);
	status = raw_far_start(&far, &options->ends, receiver_main, &plan);
	if (status != DXP_OK)
		goto free_source;
	s.fd = far.fd;
	status = sender_time(&s, &ns, &cpu_ns);
	struct far_report report = raw_far_stop(&far, status != DXP_OK);
	if (status == DXP_OK)
		status = report.status;
	if (status == DXP_OK)
		*out = (struct raw_stream_result){
			.gb_per_s = (double)report.bytes / (double)ns,
			.sender_ns_per_kb = (double)cpu_ns * 1000.0 / (double)report.bytes,
			.receiver_ns_per_kb = (double)report.cpu_ns * 1000.0 / (double)report.bytes,
			.bytes = report.bytes,
		};
free_source:
	free(s.source);
	return status;
}
