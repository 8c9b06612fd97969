/* SPDX-License-Identifier: BSD-3-Clause */
/* The process has a TUN interface in each namespace, so the kernel hands it whole IP packets:
 *
 *   dxpb-PID-near [d0 10.77.0.1] ==== this process, a queue each way ==== [d1 10.77.0.2]
 * dxpb-PID-far
 */
#include "bench/delay.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/util.h"
#include "bench/child.h"
#include "bench/report.h"

#define MTU          9000
#define PACKET_BYTES 9216
#define PACKETS      4096 /* per direction, for 1 GB/s over 30 ms; more are lost */
#define COMMAND      256

static const struct lab delayed = {DELAY_LAB, MTU, MTU - 28, true};

struct line {
	int from, to;
	uint32_t head, tail;
	uint64_t due_ns[PACKETS];
	uint16_t bytes[PACKETS];
	uint8_t data[PACKETS][PACKET_BYTES];
};

struct delay {
	uint64_t one_way_ns;
	lab_body body;
	void *context;
	char near[48], far[48];
};

/* Returns -1 on failure. */
static int tun_open(const char *netns, const char *name, const char *address)
{
	struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
	char command[COMMAND];

	if (child_netns_enter(netns) != DXP_OK)
		return -1;
	int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -1;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	snprintf(command, sizeof(command),
		 "ip addr add %s/24 dev %s && ip link set %s mtu %d txqueuelen %d up", address,
		 name, name, MTU, PACKETS);
	if (ioctl(fd, TUNSETIFF, &request) == 0 && system(command) == 0)
		return fd;
	close(fd);
	return -1;
}

static void packets_read(struct line *l, uint64_t one_way_ns)
{
	while (l->tail - l->head < PACKETS) {
		const uint32_t at = l->tail % PACKETS;
		const ssize_t bytes = read(l->from, l->data[at], PACKET_BYTES);
		if (bytes <= 0)
			return;
		l->bytes[at] = (uint16_t)bytes;
		l->due_ns[at] = clock_now_ns() + one_way_ns;
		l->tail++;
	}
}

/* Returns the next due time or UINT64_MAX. */
static uint64_t packets_write(struct line *l)
{
	while (l->head != l->tail) {
		const uint32_t at = l->head % PACKETS;
		if (clock_now_ns() < l->due_ns[at])
			return l->due_ns[at];
		/* an interface with a full queue loses the packet */
		if (write(l->to, l->data[at], l->bytes[at]) < 0 && errno == EINTR)
			continue;
		l->head++;
	}
	return UINT64_MAX;
}

static void relay(int control, void *context)
{
	const struct delay *d = context;
	struct line *lines = calloc(2, sizeof(*lines));
	const int near = tun_open(d->near, "d0", "10.77.0.1");
	const int far = tun_open(d->far, "d1", "10.77.0.2");
	struct pollfd both[] = {{near, POLLIN, 0}, {far, POLLIN, 0}};

	if (!lines || near < 0 || far < 0 || write(control, "", 1) != 1)
		return;
	prctl(PR_SET_TIMERSLACK, 1);
	lines[0].from = lines[1].to = near;
	lines[0].to = lines[1].from = far;
	for (;;) {
		packets_read(&lines[0], d->one_way_ns);
		packets_read(&lines[1], d->one_way_ns);
		const uint64_t due_ns = min_u64(packets_write(&lines[0]), packets_write(&lines[1]));
		const uint64_t now_ns = clock_now_ns();
		const uint64_t wait_ns = due_ns > now_ns ? due_ns - now_ns : 0;
		const struct timespec wait = {(time_t)(wait_ns / S_NS), (long)(wait_ns % S_NS)};
		ppoll(both, ARRAY_COUNT(both), due_ns == UINT64_MAX ? NULL : &wait, NULL);
	}
}

static int inside_run(void *context)
{
	struct delay *d = context;
	struct raw_ends ends = {.far_netns = d->far};
	struct child child;
	char ready;
	int status = 0;

	snprintf(d->near, sizeof(d->near), "%s-near", lab_prefix());
	snprintf(d->far, sizeof(d->far), "%s-far", lab_prefix());
	address_parse("10.77.0.1", 0, &ends.near);
	address_parse("10.77.0.2", 0, &ends.far);
	if (child_spawn(relay, d, &child) != DXP_OK)
		return 1;
	if (read(child.control, &ready, 1) != 1)
		report_note("%s: skipped; it needs /dev/net/tun", DELAY_LAB);
	else
		status = child_netns_enter(d->near) == DXP_OK ? d->body(&delayed, &ends, d->context)
							      : 1;
	child_end(&child);
	return status;
}

int delay_run(uint64_t one_way_ns, lab_body body, void *context)
{
	struct delay d = {.one_way_ns = one_way_ns, .body = body, .context = context};
	const struct lab_scripts scripts = {
		.name = DELAY_LAB,
		.make = "for n in near far; do\n"
			"ip netns add $LAB-$n && ip -n $LAB-$n link set lo up || exit 1\n"
			"done",
		.remove = "ip netns del $LAB-near; ip netns del $LAB-far",
	};

	return lab_scripts_run(&scripts, inside_run, &d);
}
