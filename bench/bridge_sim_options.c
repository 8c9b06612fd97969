/* SPDX-License-Identifier: BSD-3-Clause */
/* Command line of `dxp bench bridge-sim`: every stage's speed is an option. */
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "bench/bench.h"
#include "bench/bridge_sim.h"
#include "bench/report.h"
#include "bridge/limits.h"
#include "sim/bridge_source.h"
#include "engine/board_config.h"

#define SETTING(field) offsetof(struct bridge_sim_settings, field)
#define MB             1000000

/* Returns the source's stages (S-07) and this project's other defaults. */
static struct bridge_sim_settings settings_default(void)
{
	const struct stages_options *o = &bridge_source_stages;

	return (struct bridge_sim_settings){
		.read = o->read.bytes_per_s,
		.write = o->write.bytes_per_s,
		.to_device = o->to_device.bytes_per_s,
		.from_device = o->from_device.bytes_per_s,
		.memory = o->memory_bytes_per_s,
		.network_ns = o->read.latency_ns,
		.dma_ns = o->to_device.latency_ns,
		.interrupt_ns = o->to_device.end_ns,
		.seed = 1,
		.source = true,
	};
}

/* Options that set a uint64_t of struct bridge_sim_settings. If one with `stage` is set, the
 * source's figures no longer apply. */
static const struct {
	const char *name, *help;
	size_t offset;
	uint64_t low, high;
	uint32_t unit;
	bool stage;
} numbers[] = {
	{"read", "MB/s that the network reads; all rates: 0 is unlimited", SETTING(read), 0,
	 STAGES_RATE_MAX, MB, true},
	{"write", "MB/s that the network writes", SETTING(write), 0, STAGES_RATE_MAX, MB, true},
	{"to-device", "MB/s of the DMA controller to the device", SETTING(to_device), 0,
	 STAGES_RATE_MAX, MB, true},
	{"from-device", "MB/s of the DMA controller from the device", SETTING(from_device), 0,
	 STAGES_RATE_MAX, MB, true},
	{"memory", "MB/s of the device's memory", SETTING(memory), 0, STAGES_RATE_MAX, MB, true},
	{"network-ns", "latency of a read to its first byte; of a write to its acknowledgement",
	 SETTING(network_ns), 0, STAGES_LATENCY_MAX, 1, true},
	{"dma-ns", "latency of a DMA to its first byte", SETTING(dma_ns), 0, STAGES_LATENCY_MAX, 1,
	 true},
	{"interrupt-ns", "latency from its last byte to its completion", SETTING(interrupt_ns), 0,
	 STAGES_LATENCY_MAX, 1, true},
	{"queue", "outstanding steps of a stage; 0: unlimited", SETTING(queue), 0, STAGES_STEPS_MAX,
	 1, true},
	{"jitter-ns", "each latency is longer by up to this", SETTING(jitter_ns), 0,
	 STAGES_LATENCY_MAX, 1, false},
	{"seed", "seed of the jitter", SETTING(seed), 0, UINT64_MAX, 1, false},
	{"buffers", "buffers of each ring; 0: 8", SETTING(buffers), 0, BRIDGE_BUFFERS_MAX, 1,
	 false},
	{"fills", "outstanding reads; 0: as many as buffers", SETTING(fills), 0, BRIDGE_BUFFERS_MAX,
	 1, false},
	{"dmas", "outstanding DMAs in each direction; 0: the bridge's choice", SETTING(dmas), 0,
	 BRIDGE_BUFFERS_MAX, 1, false},
	{"piece", "bytes of each piece; 0: the bridge's choice", SETTING(piece_bytes), 0,
	 BRIDGE_BUFFER_MAX, 1, false},
	{"buffer", "only buffers of this many bytes, a multiple of 4096; 0: 16 KiB .. 16 MiB",
	 SETTING(buffer_bytes), 0, BRIDGE_BUFFER_MAX, 1, false},
};

enum {
	OPTION_PATH = ARRAY_COUNT(numbers),
	OPTION_BOARD,
	OPTION_QUICK,
	OPTION_JSON,
	OPTION_HELP,
	OPTIONS
};

static uint64_t *number(struct bridge_sim_settings *s, size_t i)
{
	return (uint64_t *)(void *)((char *)s + numbers[i].offset);
}

static void help(const char *name)
{
	struct bridge_sim_settings settings = settings_default();

	printf("usage: dxp bench %s [options]\n"
	       "\n"
	       "The bridge between a network and memory that only DMA engines reach, in virtual\n"
	       "time: bandwidth of each path against sizes of transfers and buffers, beside the\n"
	       "figures of the source's machine, beside the same without a pipeline, and with 1 "
	       "to\n"
	       "8 outstanding reads. The bridge is the shipped one; options set the speed of the\n"
	       "stages around it:\n"
	       "\n",
	       name);
	for (size_t i = 0; i < ARRAY_COUNT(numbers); i++)
		printf("  --%-12s N  %s (%.10g)\n", numbers[i].name, numbers[i].help,
		       (double)*number(&settings, i) / numbers[i].unit);
	printf("  --path TEXT       only paths whose name contains it: local,\n"
	       "                    host to device, device to host, round trip, device to device\n"
	       "  --board NAME      stages of the device as this preset or file of the engine "
	       "`board`\n"
	       "                    has them; later options change them\n"
	       "  --quick           fewer sizes of transfers\n"
	       "  --json            one JSON object a line\n"
	       "  --help            this text\n");
}

/* Multiplies a number by `unit`; with unit 1 it must be whole. */
static bool number_parse(const char *text, uint32_t unit, uint64_t *out)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	if (unit == 1) {
		*out = strtoull(text, &end, 10);
	} else {
		double value = strtod(text, &end) * unit;
		*out = value <= (double)UINT32_MAX * unit ? (uint64_t)(value + 0.5) : UINT64_MAX;
	}
	return *end == '\0';
}

static bool number_set(struct bridge_sim_settings *s, int i, const char *text)
{
	uint64_t value;

	if (!number_parse(text, numbers[i].unit, &value) || value < numbers[i].low ||
	    value > numbers[i].high) {
		fprintf(stderr, "dxp bench bridge-sim: --%s takes %llu .. %llu, not '%s'\n",
			numbers[i].name, (unsigned long long)(numbers[i].low / numbers[i].unit),
			(unsigned long long)(numbers[i].high / numbers[i].unit), text);
		return false;
	}
	*number(s, (size_t)i) = value;
	s->source &= !numbers[i].stage;
	return true;
}

/* Returns false, after a message, for an invalid description. */
static bool board_apply(struct bridge_sim_settings *s, const char *name)
{
	struct board_config c;

	if (board_config_load(name, &c) != DXP_OK)
		return false;
	s->to_device = c.to_device * MB;
	s->from_device = c.from_device * MB;
	s->memory = c.memory * MB;
	s->dma_ns = c.latency_ns;
	s->interrupt_ns = c.interrupt_ns;
	s->queue = c.queue;
	s->source = false;
	return true;
}

static bool settings_valid(const struct bridge_sim_settings *s)
{
	uint64_t ring = s->buffers ? s->buffers : BRIDGE_BUFFERS;

	if (s->buffer_bytes % BRIDGE_BUFFER_MIN != 0) {
		fprintf(stderr, "dxp bench bridge-sim: --buffer takes a multiple of %d\n",
			BRIDGE_BUFFER_MIN);
		return false;
	}
	if (s->piece_bytes != 0 && s->piece_bytes < BRIDGE_BUFFER_MIN) {
		fprintf(stderr, "dxp bench bridge-sim: --piece takes 0 or %d .. %u\n",
			BRIDGE_BUFFER_MIN, BRIDGE_BUFFER_MAX);
		return false;
	}
	if (s->fills > ring) {
		fprintf(stderr,
			"dxp bench bridge-sim: --fills takes no more than the %llu buffers\n",
			(unsigned long long)ring);
		return false;
	}
	return true;
}

int bench_bridge_sim(int argc, char **argv)
{
	struct bridge_sim_settings settings = settings_default();
	bool quick = false, json = false;
	struct option options[OPTIONS + 1] = {
		[OPTION_PATH] = {"path", required_argument, NULL, OPTION_PATH},
		[OPTION_BOARD] = {"board", required_argument, NULL, OPTION_BOARD},
		[OPTION_QUICK] = {"quick", no_argument, NULL, OPTION_QUICK},
		[OPTION_JSON] = {"json", no_argument, NULL, OPTION_JSON},
		[OPTION_HELP] = {"help", no_argument, NULL, OPTION_HELP},
	};
	int c;

	for (int i = 0; i < OPTION_PATH; i++)
		options[i] = (struct option){numbers[i].name, required_argument, NULL, i};
	optind = 1;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == OPTION_HELP) {
			help(argv[0]);
			return 0;
		}
		if (c >= OPTIONS || (c < OPTION_PATH && !number_set(&settings, c, optarg)) ||
		    (c == OPTION_BOARD && !board_apply(&settings, optarg)))
			return 2;
		settings.path = c == OPTION_PATH ? optarg : settings.path;
		quick |= c == OPTION_QUICK;
		json |= c == OPTION_JSON;
	}
	if (optind < argc) {
		fprintf(stderr, "dxp bench bridge-sim: '%s' is not an option; see --help\n",
			argv[optind]);
		return 2;
	}
	if (!settings_valid(&settings))
		return 2;
	report_begin(json, "The bridge between stages of set speed, simulated");
	return bridge_sim_tables(&settings, quick);
}
