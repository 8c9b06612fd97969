/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxp bench latency --parts`: the parts of a PUT's round trip. Two processes poll as
 * node_poll does and stamp each step, so the library has no stamps. Each part starts where the
 * previous ends, so parts add up exactly. Round trips without stamps alternate; the row "sum of the
 * parts" states the stamps' cost.
 *
 *   near   doorbell | engine | send call |                                       completion
 *   wire                                 | wire |              acknowledgement |
 *   far                                         | receive | placement |
 *
 * On loopback and veth the packet crosses within the send call, so "wire" is 0. */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <dxp/device.h>
#include <dxp/status.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/util.h"
#include "bench/child.h"
#include "bench/latency.h"
#include "bench/peer.h"
#include "bench/report.h"
#include "link/udp.h"
#include "nic/nic.h"
#include "rltp/session.h"

#define NEAR_ID       1
#define FAR_ID        2
#define PAYLOAD_BYTES 1344 /* multiple of 64 that fits every lab */
#define REGION_BYTES  4096
/* datagrams per poll; a round trip has one each way */
#define BATCH   8
#define TRIPS   2000
#define WARMUP  500
#define TRIP_NS (2 * S_NS) /* a longer round trip has failed */

static const uint32_t sizes[] = {4, 64, 1024};

enum part { DOORBELL, ENGINE, SEND, WIRE, RECEIVE, PLACEMENT, ACKNOWLEDGEMENT, COMPLETION, PARTS };
static const char *const part_names[PARTS] = {
	"doorbell", "engine",    "send call",       "wire",
	"receive",  "placement", "acknowledgement", "completion"};

/* Far end's times of one round trip, written before the near end's completion arrives. */
struct marks {
	_Atomic uint64_t arrived_ns, received_ns, placed_ns;
	_Atomic bool stamp; /* far end takes time stamps */
};

struct introduction {
	struct udp_address address;
	uint64_t incarnation;
	uint32_t magic, key;
};

struct end {
	struct nic *nic;
	struct link *link;
	struct dxp_window *window;
	uint8_t *memory;
	uint64_t incarnation;
	uint32_t key;
	struct datagram out[BATCH];
	struct datagram_arrival in[BATCH];
	struct marks *marks;
};

static uint64_t token(void *context, uint32_t id)
{
	(void)context;
	return id * 0x9e3779b97f4a7c15ull + 1;
}

static int end_open(struct end *e, const struct udp_address *at, uint16_t node)
{
	const struct link_options link = {.bind = *at, .whole = true};
	struct nic_options nic = {.node = node, .entropy = rng_entropy_kernel, .token = token};

	rng_entropy_kernel(NULL, &nic.incarnation, sizeof(nic.incarnation));
	rng_entropy_kernel(NULL, nic.uuid, sizeof(nic.uuid));
	nic.incarnation >>= 8; /* keeps it below the reserved values */
	e->incarnation = nic.incarnation;
	e->window = aligned_alloc(4096, sizeof(*e->window));
	e->memory = aligned_alloc(4096, REGION_BYTES);
	if (!e->window || !e->memory)
		return DXP_ENOMEM;
	memset(e->window, 0, sizeof(*e->window));
	memset(e->memory, 0, REGION_BYTES);
	int status = link_open(&link, &e->link);
	if (status == DXP_OK)
		status = nic_create(&nic, &e->nic);
	if (status == DXP_OK)
		status = nic_function_open(e->nic, 0, e->window);
	if (status == DXP_OK)
		status = nic_region_register(e->nic, 0, e->memory, REGION_BYTES, NIC_REMOTE_WRITE,
					     &e->key);
	return status;
}

static int end_meet(struct end *e, int control, uint16_t node, struct introduction *theirs)
{
	struct introduction own = {
		.incarnation = e->incarnation, .magic = e->window->qp_magic[0], .key = e->key};

	link_address(e->link, &own.address);
	if (!control_write(control, &own, sizeof(own)) ||
	    !control_read(control, theirs, sizeof(*theirs)))
		return DXP_EIO;
	const struct rltp_peer_info peer = {.node = node,
					    .address = theirs->address,
					    .incarnation = theirs->incarnation,
					    .payload_bytes = PAYLOAD_BYTES};
	return nic_peer_set(e->nic, &peer, clock_now_ns());
}

static void end_close(struct end *e)
{
	if (e->nic)
		nic_destroy(e->nic);
	if (e->link)
		link_close(e->link);
	free(e->window);
	free(e->memory);
}

static size_t end_send(struct end *e, uint64_t now_ns)
{
	size_t count = nic_send(e->nic, e->out, BATCH, now_ns), sent = 0;

	for (int tries = 0; sent < count && tries < 100; tries++)
		sent += link_send(e->link, e->out + sent, count - sent);
	return count;
}

/* ---- far end ---- */

static void far_poll(struct end *e)
{
	size_t count = link_receive(e->link, e->in, BATCH);
	uint64_t now_ns = clock_now_ns();
	bool stamp = count > 0 && atomic_load_explicit(&e->marks->stamp, memory_order_relaxed);

	for (size_t i = 0; i < count; i++)
		nic_receive(e->nic, &e->in[i], now_ns);
	if (stamp) {
		atomic_store(&e->marks->arrived_ns, e->in[0].arrived_ns);
		atomic_store(&e->marks->received_ns, now_ns);
		atomic_store(&e->marks->placed_ns, clock_now_ns());
	}
	nic_doorbells(e->nic, now_ns);
	end_send(e, now_ns);
}

struct far {
	const struct raw_ends *ends;
	struct marks *marks;
};

static void far_run(int control, void *context)
{
	const struct far *f = context;
	struct end e = {.marks = f->marks};
	struct introduction theirs;

	if (child_netns_enter(f->ends->far_netns) != DXP_OK ||
	    end_open(&e, &f->ends->far, FAR_ID) != DXP_OK ||
	    end_meet(&e, control, NEAR_ID, &theirs) != DXP_OK)
		return;
	for (;;) /* until the parent kills this process */
		far_poll(&e);
}

/* ---- near end ---- */

struct near {
	struct end end;
	struct dxp_target to;
	struct dxp_entry from, at;
	uint64_t part_ns[PARTS][TRIPS], whole_ns[TRIPS], bare_ns[TRIPS], sorted_ns[TRIPS];
	unsigned rounds;
	double part_us[PARTS][BENCH_ROUNDS_MAX], whole_us[BENCH_ROUNDS_MAX],
		bare_us[BENCH_ROUNDS_MAX];
};

/* Receives until the PUT completes. *received_ns: when its answer was read from the socket. */
static int answer_await(struct end *e, uint64_t *received_ns, uint64_t end_ns)
{
	struct dxp_nic_event event;

	while (!dxp_sent_dequeue(e->window, &event)) {
		size_t count = link_receive(e->link, e->in, BATCH);
		uint64_t now_ns = clock_now_ns();
		for (size_t i = 0; i < count; i++)
			nic_receive(e->nic, &e->in[i], now_ns);
		if (count > 0)
			*received_ns = now_ns;
		nic_doorbells(e->nic, now_ns);
		/* Unlike node_poll, handles completions before sending: a round trip has no other
		 * work. */
		if (count == 0)
			end_send(e, now_ns);
		if (now_ns > end_ns)
			return DXP_ETIMEDOUT;
	}
	return event.status;
}

/* Limits `t`: the kernel's stamps use another clock and may lie slightly outside. */
static uint64_t within(uint64_t t, uint64_t low, uint64_t high)
{
	return min_u64(max_u64(t, low), high);
}

static int trip_stamped(struct near *n, uint32_t i)
{
	struct end *e = &n->end;
	struct marks *m = e->marks;
	uint64_t cut[PARTS + 1], sent_ns;

	cut[DOORBELL] = clock_now_ns();
	int status = dxp_post_put(e->window, 0, &n->to, &n->from, &n->at, 0, 0, 0);
	cut[ENGINE] = clock_now_ns();
	nic_doorbells(e->nic, cut[ENGINE]);
	size_t count = 0;
	do { /* congestion control may delay the packet */
		cut[SEND] = clock_now_ns();
		count = nic_send(e->nic, e->out, BATCH, cut[SEND]);
	} while (count == 0 && cut[SEND] - cut[ENGINE] < TRIP_NS);
	cut[SEND] = clock_now_ns();
	link_send(e->link, e->out, count);
	sent_ns = clock_now_ns();
	if (status == DXP_OK)
		status = answer_await(e, &cut[COMPLETION], sent_ns + TRIP_NS);
	cut[PARTS] = clock_now_ns();
	cut[PLACEMENT] = within(atomic_load(&m->received_ns), cut[SEND], cut[COMPLETION]);
	cut[ACKNOWLEDGEMENT] = within(atomic_load(&m->placed_ns), cut[PLACEMENT], cut[COMPLETION]);
	cut[RECEIVE] = within(atomic_load(&m->arrived_ns), cut[SEND], cut[PLACEMENT]);
	cut[WIRE] = min_u64(sent_ns, cut[RECEIVE]);
	for (int part = 0; part < PARTS; part++)
		n->part_ns[part][i] = cut[part + 1] - cut[part];
	n->whole_ns[i] = cut[PARTS] - cut[0];
	return status;
}

static int trip_bare(struct near *n, uint64_t *ns)
{
	struct end *e = &n->end;
	uint64_t begin_ns = clock_now_ns(), unused;
	int status = dxp_post_put(e->window, 0, &n->to, &n->from, &n->at, 0, 0, 0);

	nic_doorbells(e->nic, begin_ns);
	end_send(e, begin_ns);
	if (status == DXP_OK)
		status = answer_await(e, &unused, begin_ns + TRIP_NS);
	*ns = clock_now_ns() - begin_ns;
	return status;
}

/* Averages each part over the fifth of the round trips nearest the median, so parts add up to a
 * typical round trip. Sorts whole_ns and bare_ns. */
static void round_evaluate(struct near *n, uint32_t trips, unsigned round)
{
	double sum[PARTS] = {0}, used = 0;
	uint64_t low, high;

	memcpy(n->sorted_ns, n->whole_ns, trips * sizeof(*n->sorted_ns));
	low = raw_percentile(n->sorted_ns, trips, 40);
	high = raw_percentile(n->sorted_ns, trips, 60);
	for (uint32_t i = 0; i < trips; i++) {
		if (n->whole_ns[i] < low || n->whole_ns[i] > high)
			continue;
		for (int part = 0; part < PARTS; part++)
			sum[part] += (double)n->part_ns[part][i];
		used++;
	}
	for (int part = 0; part < PARTS; part++)
		n->part_us[part][round] = sum[part] / used / 1e3;
	n->whole_us[round] = (double)raw_percentile(n->sorted_ns, trips, 50) / 1e3;
	n->bare_us[round] = (double)raw_percentile(n->bare_ns, trips, 50) / 1e3;
}

static int round_run(struct near *n, uint32_t trips, unsigned round)
{
	struct marks *m = n->end.marks;
	int status = DXP_OK;

	atomic_store(&m->stamp, false);
	for (uint32_t i = 0; i < WARMUP && status == DXP_OK; i++)
		status = trip_bare(n, &n->bare_ns[0]);
	for (uint32_t i = 0; i < trips && status == DXP_OK; i++) {
		atomic_store(&m->stamp, false);
		status = trip_bare(n, &n->bare_ns[i]);
		atomic_store(&m->stamp, true);
		if (status == DXP_OK)
			status = trip_stamped(n, i);
	}
	if (status == DXP_OK)
		round_evaluate(n, trips, round);
	return status;
}

static unsigned round_choose(const struct near *n)
{
	double sorted[BENCH_ROUNDS_MAX];
	unsigned best = 0;

	memcpy(sorted, n->whole_us, n->rounds * sizeof(*sorted));
	double median = report_median(sorted, n->rounds);
	for (unsigned i = 1; i < n->rounds; i++)
		if (fabs(n->whole_us[i] - median) < fabs(n->whole_us[best] - median))
			best = i;
	return best;
}

static void rows_print(struct near *n, const char *lab, uint32_t bytes)
{
	char name[32];
	unsigned round = round_choose(n);
	double bare = n->bare_us[round], sum = 0;
	struct report_row row = {.bench = "latency",
				 .lab = lab,
				 .name = name,
				 .metric = "part",
				 .unit = "us",
				 .x_name = "bytes",
				 .x = bytes,
				 .peer = "whole, without stamps",
				 .peer_value = bare,
				 .samples = n->rounds};

	snprintf(name, sizeof(name), "parts of PUT %u B", bytes);
	for (int part = 0; part < PARTS; part++) {
		row.contender = part_names[part];
		row.value = n->part_us[part][round];
		sum += row.value;
		report_row(&row);
	}
	row.contender = "sum of the parts";
	row.value = sum;
	row.more[0].name = "difference_percent";
	row.more[0].value = 100 * (sum - bare) / bare;
	report_row(&row);
	row.more[0].name = NULL;
	row.contender = "whole, with stamps";
	row.value = n->whole_us[round];
	report_row(&row);
	row.contender = "whole, without stamps";
	row.value = bare;
	report_row(&row);
}

static int size_run(struct near *n, const struct lab *lab, const struct bench_options *o,
		    uint32_t bytes)
{
	uint32_t trips = o->quick ? TRIPS / 10 : TRIPS;

	n->from = (struct dxp_entry){.bytes = bytes, .key = n->end.key};
	n->at.bytes = bytes;
	n->rounds = o->rounds;
	for (unsigned round = 0; round < o->rounds; round++) {
		int status = round_run(n, trips, round);
		if (status != DXP_OK) {
			log_error("bench latency: %s, PUT of %u bytes: %s", lab->name, bytes,
				  dxp_status_text(status));
			return 1;
		}
	}
	rows_print(n, lab->name, bytes);
	return 0;
}

static int sizes_run(struct near *n, const struct lab *lab, const struct bench_options *o)
{
	int status = 0;
	char name[32];

	for (size_t i = 0; i < ARRAY_COUNT(sizes) && status == 0; i++) {
		snprintf(name, sizeof(name), "parts of PUT %u B", sizes[i]);
		if (bench_wanted(o->only_case, name))
			status = size_run(n, lab, o, sizes[i]);
	}
	return status;
}

int latency_parts_run(const struct lab *lab, const struct raw_ends *ends, void *context)
{
	struct near *n = calloc(1, sizeof(*n));
	struct marks *marks = mmap(NULL, sizeof(*marks), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct far far = {ends, marks};
	struct introduction theirs;
	struct child child;
	int status = 1;

	if (!n || marks == MAP_FAILED || child_spawn(far_run, &far, &child) != DXP_OK) {
		free(n);
		return 1;
	}
	n->end.marks = marks;
	if (end_open(&n->end, &ends->near, NEAR_ID) == DXP_OK &&
	    end_meet(&n->end, child.control, FAR_ID, &theirs) == DXP_OK) {
		n->to = (struct dxp_target){.node = FAR_ID, .magic = theirs.magic};
		n->at.key = theirs.key;
		status = sizes_run(n, lab, context);
	}
	child_end(&child);
	end_close(&n->end);
	munmap(marks, sizeof(*marks));
	free(n);
	return status;
}
