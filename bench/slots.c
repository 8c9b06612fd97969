/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxp bench slots`: 16 slots of one daemon behind one uplink. They send to, or receive
 * from, 16 xPUs on the other side at once, or each sends to the next slot:
 *
 *   LAB-near [v0 10.80.0.1] tbf 1 Gb/s ==== tbf 1 Gb/s [v1 10.80.0.2] LAB-far
 *   dxpd: slot1 .. slot16                            dxpd: xpu1 .. xpu16, manager, this program
 *
 * LAB-near has no loopback, so its slots reach each other only by the daemon's crossbar. Batches
 * are cut before the uplink, so each packet is queued and dropped alone. The program only starts
 * the transfers, and finally reads back the received bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dxp/async.h>
#include <dxp/mmd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"
#include "bench/bench.h"
#include "bench/child.h"
#include "bench/fabric.h"
#include "bench/lab.h"
#include "bench/options.h"
#include "bench/report.h"

#define SLOTS          16
#define TRANSFER_BYTES (64u << 10)
#define DEPTH          4     /* transfers per slot and direction */
#define RATE_GB_PER_S  0.125 /* uplink, each direction */
#define WAIT_NS        (60 * S_NS)
#define FOLDER_TEXT    64
#define SCRIPT_TEXT    4096
#define BATCH          64

enum direction { SEND, RECEIVE, BETWEEN, DIRECTIONS };
static const char *const contenders[DIRECTIONS] = {"slots send", "slots receive", "slots to slots"};

static const struct {
	const char *name;
	bool on[DIRECTIONS];
} cases[] = {
	{"send", {[SEND] = true}},
	{"receive", {[RECEIVE] = true}},
	{"send and receive", {[SEND] = true, [RECEIVE] = true}},
	{"between slots", {[BETWEEN] = true}},
};

struct place {
	struct dxp_xpu *xpu;
	uint64_t address;
};

struct slot_pair {
	struct dxp_xpu *slot, *xpu;
	struct place from[DIRECTIONS], to[DIRECTIONS];
};

struct sample {
	uint64_t transfers[DIRECTIONS][SLOTS];
	double seconds;
};

struct figures {
	/* GB/s of all slots; Jain's index; MB/s of the slowest and fastest slot */
	double goodput, jain, slowest, fastest;
};

struct slots_bench {
	const struct bench_options *options;
	char folder[FOLDER_TEXT];
	struct dxp_fabric *fabric;
	struct slot_pair pairs[SLOTS];
	uint32_t outstanding;
};

/* ---- transfers ---- */

static bool failed(const char *what)
{
	log_error("bench slots: %s: %s", what, dxp_fabric_error(NULL));
	return false;
}

static bool pair_open(struct slots_bench *b, uint32_t i)
{
	struct slot_pair *p = &b->pairs[i];
	char slot[16], xpu[16];

	snprintf(slot, sizeof(slot), "slot%u", i + 1);
	snprintf(xpu, sizeof(xpu), "xpu%u", i + 1);
	return (dxp_xpu_open(b->fabric, slot, &p->slot) == DXP_OK &&
		dxp_xpu_open(b->fabric, xpu, &p->xpu) == DXP_OK) ||
	       failed(slot);
}

static int place_make(struct dxp_xpu *xpu, struct place *out)
{
	out->xpu = xpu;
	return dxp_mem_alloc(xpu, TRANSFER_BYTES, &out->address);
}

static bool places_make(struct slots_bench *b, uint32_t i)
{
	struct slot_pair *p = &b->pairs[i];
	struct dxp_xpu *next = b->pairs[(i + 1) % SLOTS].slot;
	int status = DXP_OK;

	for (int d = 0; d < DIRECTIONS && status == DXP_OK; d++) {
		status = place_make(d == RECEIVE ? p->xpu : p->slot, &p->from[d]);
		if (status == DXP_OK)
			status = place_make(d == SEND      ? p->xpu
					    : d == RECEIVE ? p->slot
							   : next,
					    &p->to[d]);
	}
	return status == DXP_OK || failed("device memory");
}

static int transfer_post(struct slots_bench *b, uint32_t pair, enum direction d)
{
	const struct place *from = &b->pairs[pair].from[d], *to = &b->pairs[pair].to[d];
	const struct dxp_transfer t = {
		.from_address = from->address, .to_address = to->address, .bytes = TRANSFER_BYTES};
	dxp_event event;
	int status = dxp_send(from->xpu, to->xpu, &t, &event);

	if (status == DXP_OK)
		status = dxp_event_notify(b->fabric, event, pair * DIRECTIONS + d);
	b->outstanding += status == DXP_OK;
	return status;
}

/* Counts completions; starts another transfer for each unless `s` is NULL. */
static int completions_process(struct slots_bench *b, struct sample *s)
{
	struct dxp_completion done[BATCH];
	int count = dxp_completions(b->fabric, done, BATCH, WAIT_NS);
	int status = count > 0 ? DXP_OK : DXP_ETIMEDOUT;

	for (int i = 0; i < count; i++) {
		const uint32_t pair = (uint32_t)done[i].cookie / DIRECTIONS;
		const enum direction d = (enum direction)(done[i].cookie % DIRECTIONS);
		b->outstanding--;
		dxp_event_forget(b->fabric, done[i].event);
		if (status == DXP_OK)
			status = done[i].status;
		if (status == DXP_OK && s) {
			s->transfers[d][pair]++;
			status = transfer_post(b, pair, d);
		}
	}
	return status;
}

/* Runs a case for `budget_ns`, after a warm-up of a tenth. */
static int sample_run(struct slots_bench *b, size_t c, uint64_t budget_ns, struct sample *out)
{
	struct sample warm = {0};
	int status = DXP_OK;

	for (uint32_t n = 0; n < DEPTH * SLOTS; n++)
		for (int d = 0; d < DIRECTIONS; d++)
			if (cases[c].on[d] && status == DXP_OK)
				status = transfer_post(b, n % SLOTS, (enum direction)d);
	uint64_t begin_ns = clock_now_ns() + budget_ns / 10;
	while (status == DXP_OK && clock_now_ns() < begin_ns)
		status = completions_process(b, &warm);
	begin_ns = clock_now_ns();
	*out = (struct sample){0};
	while (status == DXP_OK && clock_now_ns() < begin_ns + budget_ns)
		status = completions_process(b, out);
	out->seconds = (double)(clock_now_ns() - begin_ns) / 1e9;
	while (status == DXP_OK && b->outstanding > 0)
		status = completions_process(b, NULL);
	return status;
}

/* ---- check that all bytes arrive ---- */

static uint8_t byte_at(uint32_t pair, uint32_t d, uint32_t i)
{
	return (uint8_t)(((i + 1) * 2654435761u >> 13) + 31 * pair + 7 * d);
}

static int sources_fill(struct slots_bench *b, uint8_t *memory)
{
	int status = DXP_OK;

	for (uint32_t n = 0; n < SLOTS * DIRECTIONS && status == DXP_OK; n++) {
		const uint32_t d = n % DIRECTIONS;
		const struct place *from = &b->pairs[n / DIRECTIONS].from[d];
		const struct place *to = &b->pairs[n / DIRECTIONS].to[d];
		memset(memory, 0, TRANSFER_BYTES);
		status = dxp_mem_write(to->xpu, to->address, memory, TRANSFER_BYTES);
		for (uint32_t i = 0; i < TRANSFER_BYTES; i++)
			memory[i] = byte_at(n / DIRECTIONS, d, i);
		if (status == DXP_OK)
			status = dxp_mem_write(from->xpu, from->address, memory, TRANSFER_BYTES);
	}
	return status;
}

static bool destinations_good(struct slots_bench *b, uint8_t *memory)
{
	for (uint32_t n = 0; n < SLOTS * DIRECTIONS; n++) {
		const uint32_t d = n % DIRECTIONS;
		const struct place *to = &b->pairs[n / DIRECTIONS].to[d];
		if (dxp_mem_read(to->xpu, memory, to->address, TRANSFER_BYTES) != DXP_OK)
			return failed("read");
		for (uint32_t i = 0; i < TRANSFER_BYTES; i++) {
			if (memory[i] == byte_at(n / DIRECTIONS, d, i))
				continue;
			log_error("bench slots: slot %u, %s: byte %u differs", n / DIRECTIONS + 1,
				  contenders[d], i);
			return false;
		}
	}
	return true;
}

/* ---- rows ---- */

static struct figures figures_of(const struct sample *s, enum direction d)
{
	struct figures f = {.slowest = 1e12};
	double sum = 0, squares = 0;

	for (uint32_t i = 0; i < SLOTS; i++) {
		const double rate = (double)s->transfers[d][i] * TRANSFER_BYTES / s->seconds / 1e6;
		sum += rate;
		squares += rate * rate;
		f.slowest = rate < f.slowest ? rate : f.slowest;
		f.fastest = rate > f.fastest ? rate : f.fastest;
	}
	f.goodput = sum / 1e3;
	f.jain = squares > 0 ? sum * sum / (SLOTS * squares) : 0;
	return f;
}

static double median_of(const struct figures *f, unsigned rounds, size_t offset)
{
	double values[BENCH_ROUNDS_MAX];

	for (unsigned r = 0; r < rounds; r++)
		memcpy(&values[r], (const char *)&f[r] + offset, sizeof(double));
	return report_median(values, rounds);
}
#define MEDIAN(field) median_of(f, b->options->rounds, offsetof(struct figures, field))

static void row_print(const struct slots_bench *b, size_t c, enum direction d,
		      const struct figures *f)
{
	report_row(&(struct report_row){
		.bench = "slots",
		.name = cases[c].name,
		.metric = "goodput",
		.unit = "GB/s",
		.lab = "tbf-1gbit",
		.contender = contenders[d],
		.value = MEDIAN(goodput),
		.peer = "the uplink's rate",
		.peer_value = RATE_GB_PER_S,
		.samples = b->options->rounds,
		.more = {{"slots", SLOTS},
			 {"jain", MEDIAN(jain)},
			 {"slowest_mb_per_s", MEDIAN(slowest)},
			 {"fastest_mb_per_s", MEDIAN(fastest)}},
	});
}

static bool case_run(struct slots_bench *b, size_t c, uint64_t budget_ns)
{
	struct figures f[DIRECTIONS][BENCH_ROUNDS_MAX];
	struct sample s;

	for (unsigned r = 0; r < b->options->rounds; r++) {
		if (sample_run(b, c, budget_ns, &s) != DXP_OK)
			return failed(cases[c].name);
		for (int d = 0; d < DIRECTIONS; d++)
			f[d][r] = figures_of(&s, (enum direction)d);
	}
	for (int d = 0; d < DIRECTIONS; d++)
		if (cases[c].on[d])
			row_print(b, c, (enum direction)d, f[d]);
	return true;
}

static bool cases_run(struct slots_bench *b)
{
	const uint64_t budget_ns = b->options->quick ? S_NS : 5 * S_NS;
	uint8_t *memory = malloc(TRANSFER_BYTES);
	bool good = memory && sources_fill(b, memory) == DXP_OK;

	for (size_t c = 0; c < ARRAY_COUNT(cases) && good; c++)
		if (bench_wanted(b->options->only_case, cases[c].name))
			good = case_run(b, c, budget_ns);
	if (good && !b->options->only_case)
		good = destinations_good(b, memory);
	free(memory);
	return good;
}

/* ---- the lab ---- */

static int inside_run(void *context)
{
	struct slots_bench *b = context;
	char path[FOLDER_TEXT + 16];
	bool good = true;

	snprintf(path, sizeof(path), "%s/up", b->folder);
	if (access(path, F_OK) != 0) {
		log_error(
			"bench slots: the xPUs do not start; `dxp bench direct` shows whether they "
			"start without namespaces");
		return 1;
	}
	snprintf(path, sizeof(path), "%s/fabric", b->folder);
	setenv("DXP_DIR", path, 1);
	snprintf(path, sizeof(path), "%s-far", lab_prefix());
	if (child_netns_enter(path) != DXP_OK || dxp_fabric_open(NULL, &b->fabric) != DXP_OK)
		return failed("join"), 1;
	for (uint32_t i = 0; i < SLOTS && good; i++)
		good = pair_open(b, i);
	for (uint32_t i = 0; i < SLOTS && good; i++)
		good = places_make(b, i);
	good = good && cases_run(b);
	for (uint32_t i = 0; i < SLOTS; i++) {
		dxp_xpu_close(b->pairs[i].slot);
		dxp_xpu_close(b->pairs[i].xpu);
	}
	dxp_fabric_close(b->fabric);
	return good ? 0 : 1;
}

/* %1$s: folder of the fabric; %2$s: of the programs */
static const char lab_make[] =
	"cd '%1$s' && mkdir -m 700 run && export DXP_RUN=$PWD/run DXP_CONFIG= || exit 1\n"
	"ip netns add $LAB-near && ip netns add $LAB-far || exit 1\n"
	"near=\"ip netns exec $LAB-near\" far=\"ip netns exec $LAB-far\"\n"
	"$near ip link add v0 type veth peer name v1 netns $LAB-far &&\n"
	"$near ip addr add 10.80.0.1/24 dev v0 && $far ip addr add 10.80.0.2/24 dev v1 &&\n"
	"$near ethtool -K v0 tx-udp-segmentation off tso off gso off &&\n"
	"$far ethtool -K v1 tx-udp-segmentation off tso off gso off &&\n"
	"$far ip link set lo up && $near ip link set v0 up && $far ip link set v1 up &&\n"
	"$near tc qdisc add dev v0 root tbf rate 1gbit burst 32kb limit 300kb &&\n"
	"$far tc qdisc add dev v1 root tbf rate 1gbit burst 32kb limit 300kb || exit 1\n"
	"$far '%2$s/dxp' up --dir fabric --xpus 16 --slots-per-daemon 16 --memory 16M"
	" --engine none --bind 10.80.0.2 --port 0 >said 2>&1 || exit 0\n"
	"mkfifo ready\n"
	"$near '%2$s/dxpd' --manager $(cat fabric/manager) --key fabric/fabric.key --slots 16"
	" --name slot --memory 16M --engine none --bind 10.80.0.1 --timeout 20"
	" --ready-fd 3 3>ready >near.log 2>&1 &\n"
	"echo $! >near.pid\n"
	"read line <ready && touch up\n"
	"true";
static const char lab_remove[] =
	"cd '%1$s' && [ ! -f near.pid ] || kill $(cat near.pid)\n"
	"'%2$s/dxp' down --dir '%1$s/fabric'\n"
	"for i in 1 2 3 4 5 6 7 8 9; do\n"
	"	[ -f near.pid ] && kill -0 $(cat near.pid) && sleep 0.2 || break\n"
	"done\n"
	"ip netns del $LAB-near; ip netns del $LAB-far; rm -rf '%1$s'";

int bench_slots(int argc, char **argv)
{
	struct slots_bench b = {.folder = "/tmp/dxp-bench-XXXXXX"};
	char make[SCRIPT_TEXT], end[SCRIPT_TEXT];
	struct bench_options o;
	int status = bench_options_parse(
		argc, argv,
		"16 xPUs of one daemon send and receive through one uplink of 1 Gb/s, in a lab.",
		"c", &o);

	if (status >= 0)
		return status;
	b.options = &o;
	if (!mkdtemp(b.folder)) {
		log_error("cannot create a folder in /tmp: %m");
		return 1;
	}
	snprintf(make, sizeof(make), lab_make, b.folder, fabric_programs_folder());
	snprintf(end, sizeof(end), lab_remove, b.folder, fabric_programs_folder());
	report_begin(o.json, "16 slots behind one uplink");
	const struct lab_scripts lab = {"slots", make, end, false};
	return lab_scripts_run(&lab, inside_run, &b);
}
