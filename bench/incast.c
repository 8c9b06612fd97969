/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxp bench incast`: N hosts send 64 KiB messages to LAB-r, through a switch port of 1 Gb/s that
 * holds 150 kB:
 *
 *   LAB-s1 [v0 10.78.0.2] ==== [p1 |     |
 *   LAB-s2 [v0 10.78.0.3] ==== [p2 | hub | p0] ==== tbf 1 Gb/s ==== [v0 10.78.0.1] LAB-r
 *   ...                            |     |
 *
 * Senders cut batches into packets, so each is queued and dropped alone. The switch marks
 * ECN-capable packets above 0.92 of the port's rate, as a phantom queue does. Each sender has its
 * own receiving process. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/util.h"
#include "bench/bench.h"
#include "bench/child.h"
#include "bench/contenders.h"
#include "bench/measure.h"
#include "bench/options.h"
#include "bench/report.h"
#include "bench/table.h"

#define SENDERS_MAX   8
#define MESSAGE_BYTES (64u << 10)
#define DEPTH         4
#define RATE_GB_PER_S 0.125

static const unsigned sender_counts[] = {2, 4, SENDERS_MAX};

static const struct contender contenders[] = {
	CONTENDER_RLTP_AS("swift", "swift"),
	CONTENDER_RLTP_AS("none", "none,no_pacing"),
	CONTENDER_RLTP_AS("dctcp", "dctcp"),
	CONTENDER_RLTP_AS("reno", "reno"),
	CONTENDER_TCP_CUBIC,
	CONTENDER_TCP_BBR,
};

static const char lab_make[] =
	"hub=\"ip netns exec $LAB-hub\"\n"
	"host() { # name port address\n"
	"	ip netns add $LAB-$1 || exit 1\n"
	"	on=\"ip netns exec $LAB-$1\"\n"
	"	$hub ip link add $2 type veth peer name v0 netns $LAB-$1 &&\n"
	"	$hub ip link set $2 master hub up && $on ip addr add $3/24 dev v0 &&\n"
	"	$on ethtool -K v0 tx-udp-segmentation off tso off gso off &&\n"
	"	$on sysctl -qw net.ipv4.tcp_no_metrics_save=1 &&\n"
	"	$on ip link set v0 up || exit 1\n"
	"}\n"
	"ip netns add $LAB-hub && $hub ip link add hub type bridge &&\n"
	"$hub ip link set hub up || exit 1\n"
	"host r p0 10.78.0.1\n"
	"for i in 1 2 3 4 5 6 7 8; do host s$i p$i 10.78.0.$((i + 1)); done\n"
	"$hub tc qdisc add dev p0 root tbf rate 1gbit burst 32kb limit 150kb || exit 1\n"
	"$hub nft add table bridge dxpb &&\n"
	"$hub nft add chain bridge dxpb f '{ type filter hook forward priority 0; }' &&\n"
	"$hub nft add rule bridge dxpb f oifname p0 ip ecn != not-ect"
	" limit rate over 115 mbytes/second burst 40 kbytes ip ecn set ce\n";
static const char lab_remove[] = "for i in hub r s1 s2 s3 s4 s5 s6 s7 s8; do\n"
				 "	ip netns del $LAB-$i\n"
				 "done";

struct sender {
	unsigned index; /* from 1 */
	const struct contender *contender;
	const struct work *work;
	struct tally *tally;
};

/* Runs in its own process, because measure_run() runs the near end in its caller's namespace. */
static void sender_main(int control, void *context)
{
	const struct sender *s = context;
	struct raw_ends ends = {0};
	struct outcome outcome;
	char name[48], far[48], address[32];

	snprintf(name, sizeof(name), "%s-s%u", lab_prefix(), s->index);
	snprintf(far, sizeof(far), "%s-r", lab_prefix());
	snprintf(address, sizeof(address), "10.78.0.%u", s->index + 1);
	address_parse(address, 0, &ends.near);
	address_parse("10.78.0.1", 0, &ends.far);
	ends.far_netns = far;
	outcome.status = child_netns_enter(name);
	if (outcome.status == DXP_OK)
		measure_into(s->tally, s->contender, &ends, s->work, 1472, &outcome);
	control_write(control, &outcome, sizeof(outcome));
}

struct port {
	uint64_t packets, dropped;
};

static struct port port_read(void)
{
	struct port p = {0};
	char command[128], line[256];

	snprintf(command, sizeof(command), "ip netns exec %s-hub tc -s qdisc show dev p0",
		 lab_prefix());
	FILE *f = popen(command, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, " Sent %*u bytes %" SCNu64 " pkt (dropped %" SCNu64, &p.packets,
			   &p.dropped) == 2)
			break;
	if (f)
		pclose(f);
	return p;
}

struct figures {
	double goodput, drops_percent, jain, p50_us, p99_us;
	unsigned failed; /* number of senders that failed */
};

static void times_pool(const struct tally *tallies, unsigned count, struct figures *out)
{
	uint64_t *all = malloc((size_t)count * TALLY_SAMPLES * sizeof(*all));
	size_t n = 0;

	for (unsigned i = 0; all && i < count; i++) {
		memcpy(all + n, tallies[i].samples, tallies[i].sample_count * sizeof(*all));
		n += tallies[i].sample_count;
	}
	if (n > 0) {
		out->p50_us = (double)raw_percentile(all, n, 50) / 1000;
		out->p99_us = (double)raw_percentile(all, n, 99) / 1000;
	}
	free(all);
}

static void figures_read(const struct tally *tallies, const struct outcome *outcomes,
			 unsigned count, struct figures *f)
{
	uint64_t begin_ns = UINT64_MAX, end_ns = 0, messages = 0;
	double sum = 0, squares = 0;

	for (unsigned i = 0; i < count; i++) {
		const struct outcome *o = &outcomes[i];
		double rate = o->status == DXP_OK && o->seconds > 0
				      ? (double)o->done * MESSAGE_BYTES / o->seconds / 1e9
				      : 0;
		f->failed += o->status != DXP_OK;
		if (tallies[i].begin_ns) {
			begin_ns = min_u64(begin_ns, tallies[i].begin_ns);
			end_ns = max_u64(end_ns, tallies[i].end_ns);
			messages += o->done;
		}
		sum += rate;
		squares += rate * rate;
	}
	/* from first start to last completion, because senders start at different times */
	if (end_ns > begin_ns)
		f->goodput = (double)messages * MESSAGE_BYTES / (double)(end_ns - begin_ns);
	f->jain = squares > 0 ? sum * sum / (count * squares) : 0;
}

static void incast_run(const struct contender *c, const struct work *work, unsigned count,
		       struct figures *f)
{
	struct tally *tallies = measure_tally_map(count);
	struct outcome outcomes[SENDERS_MAX];
	struct sender senders[SENDERS_MAX];
	struct child children[SENDERS_MAX] = {0};
	struct port before = port_read();

	*f = (struct figures){.failed = count};
	if (!tallies)
		return;
	for (unsigned i = 0; i < count; i++) {
		senders[i] = (struct sender){i + 1, c, work, &tallies[i]};
		child_spawn(sender_main, &senders[i], &children[i]);
	}
	for (unsigned i = 0; i < count; i++) {
		if (children[i].pid <= 0 ||
		    !control_read(children[i].control, &outcomes[i], sizeof(outcomes[i])))
			outcomes[i] = (struct outcome){.status = DXP_EIO};
		child_end(&children[i]);
	}
	struct port after = port_read();
	f->failed = 0;
	figures_read(tallies, outcomes, count, f);
	times_pool(tallies, count, f);
	double passed = (double)(after.packets - before.packets);
	double dropped = (double)(after.dropped - before.dropped);
	f->drops_percent = passed + dropped > 0 ? 100 * dropped / (passed + dropped) : 0;
	measure_tally_unmap(tallies, count);
}

static double median_of(const struct figures *f, unsigned rounds, size_t offset)
{
	double values[ROUNDS_MAX];

	for (unsigned r = 0; r < rounds; r++)
		memcpy(&values[r], (const char *)&f[r] + offset, sizeof(double));
	return report_median(values, rounds);
}

static void row_print(const char *contender, unsigned count, const struct figures *f,
		      unsigned rounds)
{
	char name[32], note[64];
	unsigned failed = 0;

	for (unsigned r = 0; r < rounds; r++)
		failed += f[r].failed;
	snprintf(name, sizeof(name), "%u senders", count);
	snprintf(note, sizeof(note), "%u of %u senders failed", failed, rounds * count);
	report_row(&(struct report_row){
		.bench = "incast",
		.name = name,
		.metric = "goodput",
		.unit = "GB/s",
		.lab = "tbf-1gbit",
		.contender = contender,
		.value = median_of(f, rounds, offsetof(struct figures, goodput)),
		.peer = "the port's rate",
		.peer_value = RATE_GB_PER_S,
		.x_name = "senders",
		.x = count,
		.p50_us = median_of(f, rounds, offsetof(struct figures, p50_us)),
		.p99_us = median_of(f, rounds, offsetof(struct figures, p99_us)),
		.samples = rounds,
		.note = failed > 0 ? note : NULL,
		.more =
			{
				{"drops_percent",
				 median_of(f, rounds, offsetof(struct figures, drops_percent))},
				{"jain", median_of(f, rounds, offsetof(struct figures, jain))},
			},
	});
}

static int count_run(const struct bench_options *o, unsigned count)
{
	const struct work work = {.op = WORK_PUT,
				  .bytes = MESSAGE_BYTES,
				  .depth = DEPTH,
				  .count = UINT32_MAX,
				  .budget_ns = o->quick ? S_NS / 2 : 3 * S_NS,
				  .payload_crc = o->payload_crc};
	struct figures f[ARRAY_COUNT(contenders)][ROUNDS_MAX] = {0};

	for (unsigned r = 0; r < o->rounds; r++)
		for (size_t i = 0; i < ARRAY_COUNT(contenders); i++)
			if (bench_wanted(o->only, contenders[i].name))
				incast_run(&contenders[i], &work, count, &f[i][r]);
	for (size_t i = 0; i < ARRAY_COUNT(contenders); i++)
		if (bench_wanted(o->only, contenders[i].name))
			row_print(contenders[i].name, count, f[i], o->rounds);
	return f[0][0].failed == count;
}

static int incast_all(void *context)
{
	int status = 0;

	for (size_t i = 0; i < ARRAY_COUNT(sender_counts) && status == 0; i++)
		status = count_run(context, sender_counts[i]);
	return status;
}

int bench_incast(int argc, char **argv)
{
	const struct lab_scripts lab = {"incast", lab_make, lab_remove, false};
	struct bench_options o;
	int status = bench_options_parse(
		argc, argv, "N hosts send to one through a port of 1 Gb/s, in a separate lab.",
		"on", &o);

	if (status >= 0)
		return status;
	report_begin(o.json, "Incast");
	return lab_scripts_run(&lab, incast_all, &o);
}
