/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads the XDP program with libbpf. Messages of libbpf and the verifier are logged at level debug;
 * the last informative line goes into the error text. */
#include "switch/plane_load.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <dxp/status.h>

#include "base/log.h"

#define ICRC_POLYNOMIAL 0xedb88320u
#define ICRC_MAP        ".rodata.icrc"
#define ICRC_WAYS       8

/* Last informative line of libbpf or the verifier. */
static _Thread_local char reported[PLANE_WHY_BYTES];

static int on_message(enum libbpf_print_level level, const char *format, va_list args)
{
	char *text = NULL, *rest;

	if (level == LIBBPF_DEBUG || vasprintf(&text, format, args) < 0)
		return 0;
	rest = text;
	for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
		if (line[0] == '\0')
			continue;
		log_debug("%s", line);
		if (strncmp(line, "libbpf: prog", 12) != 0 && strncmp(line, "--", 2) != 0)
			snprintf(reported, sizeof(reported), "%s", line);
	}
	free(text);
	return 0;
}

/* Fills tables of a CRC by slices of 8: table[n][b] is byte b followed by n zeros. */
static void icrc_fill(uint32_t table[ICRC_WAYS][256])
{
	for (uint32_t byte = 0; byte < 256; byte++) {
		uint32_t crc = byte;

		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ ICRC_POLYNOMIAL : crc >> 1;
		table[0][byte] = crc;
	}
	for (int way = 1; way < ICRC_WAYS; way++)
		for (int byte = 0; byte < 256; byte++) {
			uint32_t before = table[way - 1][byte];

			table[way][byte] = before >> 8 ^ table[0][before & 0xff];
		}
}

static int icrc_set(struct bpf_object *object)
{
	static uint32_t table[ICRC_WAYS][256];
	struct bpf_map *map = bpf_object__find_map_by_name(object, ICRC_MAP);

	icrc_fill(table);
	return map ? bpf_map__set_initial_value(map, table, sizeof(table)) : -ENOENT;
}

static int refused(int error, char why[PLANE_WHY_BYTES])
{
	if (error == -EPERM || error == -EACCES)
		snprintf(why, PLANE_WHY_BYTES,
			 "this user may not load XDP programs: run as root, or with CAP_BPF, "
			 "CAP_NET_ADMIN and CAP_PERFMON");
	else
		snprintf(why, PLANE_WHY_BYTES,
			 "the kernel rejects the XDP program: %s (%.120s); DXP_LOG=debug logs the "
			 "verifier's output; use Linux 6.1 or newer",
			 strerror(-error), reported);
	return DXP_EUNSUPPORTED;
}

static int map_of(struct bpf_object *object, const char *name)
{
	return bpf_object__find_map_fd_by_name(object, name);
}

int plane_load(uint32_t own_ip, bool check_icrc, struct plane_program *out,
	       char why[PLANE_WHY_BYTES])
{
	DECLARE_LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = SWITCH_KERNEL_NAME);
	struct kernel_config config = {.own_ip_be = __builtin_bswap32(own_ip),
				       .check_icrc = check_icrc};
	struct bpf_program *program;
	struct bpf_object *object;
	uint32_t zero = 0;
	int error;

	reported[0] = '\0';
	libbpf_set_print(on_message);
	object = bpf_object__open_mem(plane_object, plane_object_bytes, &options);
	if (!object)
		return refused(-errno, why);
	error = icrc_set(object);
	if (!error)
		error = bpf_object__load(object);
	if (error)
		goto close_object;
	program = bpf_object__find_program_by_name(object, SWITCH_KERNEL_NAME);
	error = bpf_map_update_elem(map_of(object, "config"), &zero, &config, BPF_ANY);
	if (error)
		goto close_object;
	*out = (struct plane_program){
		.object = object,
		.program = bpf_program__fd(program),
		.neighbours = map_of(object, "neighbours"),
		.groups = map_of(object, "groups"),
		.aggregators = map_of(object, "aggregators"),
		.ports = map_of(object, "ports"),
		.counters = map_of(object, "counters"),
	};
	return DXP_OK;

close_object:
	bpf_object__close(object);
	return refused(error, why);
}

void plane_unload(struct plane_program *p)
{
	bpf_object__close(p->object);
	p->object = NULL;
}

void plane_counts(const struct plane_program *p, uint64_t counts[KERNEL_COUNTERS])
{
	int cpus = libbpf_num_possible_cpus();
	struct kernel_counts *all = cpus > 0 ? calloc((size_t)cpus, sizeof(*all)) : NULL;
	uint32_t zero = 0;

	memset(counts, 0, KERNEL_COUNTERS * sizeof(*counts));
	if (all && bpf_map_lookup_elem(p->counters, &zero, all) == 0)
		for (int cpu = 0; cpu < cpus; cpu++)
			for (int i = 0; i < KERNEL_COUNTERS; i++)
				counts[i] += all[cpu].of[i];
	free(all);
}
