/* SPDX-License-Identifier: BSD-3-Clause */
/* Ping-pong, and percentiles of its times. */
#include "bench/raw_udp.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include <dxp/status.h>

#include "base/log.h"
#include "bench/raw_ends.h"

static struct far_report pong(int fd, const void *context)
{
	const struct raw_ping_options *options = context;
	struct far_report report = {.status = DXP_ETIMEDOUT};
	static uint8_t buffer[RAW_PAYLOAD_BYTES_MAX];

	for (size_t i = 0; i < options->warmup + options->count; i++) {
		ssize_t got = raw_receive_spinning(fd, buffer, sizeof(buffer));
		if (got < 0 || send(fd, buffer, (size_t)got, 0) != got)
			return report;
	}
	report.status = DXP_OK;
	return report;
}

static int ping(int fd, const struct raw_ping_options *options, uint64_t *round_trip_ns)
{
	static uint8_t buffer[RAW_PAYLOAD_BYTES_MAX];

	for (size_t i = 0; i < options->warmup + options->count; i++) {
		uint64_t start = raw_clock_ns(CLOCK_MONOTONIC);
		if (send(fd, buffer, options->payload_bytes, 0) !=
		    (ssize_t)options->payload_bytes) {
			log_error("cannot send %zu bytes: %m; choose a smaller payload",
				  options->payload_bytes);
			return DXP_EIO;
		}
		if (raw_receive_spinning(fd, buffer, sizeof(buffer)) !=
		    (ssize_t)options->payload_bytes) {
			log_error("no answer to a raw UDP ping within %d s; check the far address "
				  "and firewalls",
				  RAW_PATIENCE_S);
			return DXP_ETIMEDOUT;
		}
		if (i >= options->warmup)
			round_trip_ns[i - options->warmup] = raw_clock_ns(CLOCK_MONOTONIC) - start;
	}
	return DXP_OK;
}

int raw_ping(const struct raw_ping_options *options, uint64_t *round_trip_ns)
{
	struct far_end far;

	if (options->payload_bytes < 1 || options->payload_bytes > RAW_PAYLOAD_BYTES_MAX ||
	    options->count < 1) {
		log_error("a ping carries 1 to %d bytes, at least once", RAW_PAYLOAD_BYTES_MAX);
		return DXP_EINVAL;
	}
	int status = raw_far_start(&far, &options->ends, pong, options);
	if (status != DXP_OK)
		return status;
	status = ping(far.fd, options, round_trip_ns);
	struct far_report report = raw_far_stop(&far, status != DXP_OK);
	return status != DXP_OK ? status : report.status;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

uint64_t raw_percentile(uint64_t *samples, size_t count, double percent)
{
	size_t rank = (size_t)((double)count * percent / 100.0 + 0.999999);

	qsort(samples, count, sizeof(*samples), compare);
	return samples[rank == 0 ? 0 : rank > count ? count - 1 : rank - 1];
}
