/* SPDX-License-Identifier: BSD-3-Clause */
/* The event loop: packets to the core, its output, expired leases, then spin and sleep. */
#include "switch/serve.h"

#include <dirent.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/log.h"
#include "base/privileges.h"
#include "base/program.h"
#include "base/service.h"
#include "base/spin.h"
#include "base/util.h"
#include "link/limits.h"
#include "link/udp.h"
#include "switch/kernel.h"
#include "switch/limits.h"
#include "switch/plane.h"
#include "switch/report.h"
#include "switch/serve_send.h"
#include "wire/limits.h"

/* ---- interfaces: that with the switch's address, and the ports for the XDP program ---- */

#define SERVE_NAME_BYTES 16 /* IF_NAMESIZE */

struct serve_ports {
	char own[SERVE_NAME_BYTES]; /* first with the switch's address */
	unsigned owners;            /* interfaces with it */
	unsigned mtu;               /* of `own` */
	/* Ports in `names`: those of `own` if it is a bridge, else `own`. */
	unsigned count;
	char names[SWITCH_KERNEL_PORTS][SERVE_NAME_BYTES];
};

static uint32_t host_order(const struct sockaddr *any)
{
	struct sockaddr_in v4;

	memcpy(&v4, any, sizeof(v4));
	return ntohl(v4.sin_addr.s_addr);
}

/* On loopback, all addresses of its network are this host's. */
static bool address_is(const struct ifaddrs *a, uint32_t ip)
{
	if (!a->ifa_addr || a->ifa_addr->sa_family != AF_INET)
		return false;
	uint32_t mask = a->ifa_flags & IFF_LOOPBACK && a->ifa_netmask ? host_order(a->ifa_netmask)
								      : UINT32_MAX;
	return ((host_order(a->ifa_addr) ^ ip) & mask) == 0;
}

static int owner_find(uint32_t ip, struct serve_ports *out)
{
	struct ifaddrs *all;

	if (getifaddrs(&all) < 0) {
		log_error("cannot list the interfaces: %m");
		return DXP_EIO;
	}
	for (const struct ifaddrs *a = all; a; a = a->ifa_next) {
		if (address_is(a, ip) && out->owners++ == 0)
			snprintf(out->own, sizeof(out->own), "%s", a->ifa_name);
	}
	freeifaddrs(all);
	if (out->owners > 0)
		return DXP_OK;
	log_error("no interface of this machine has the address %u.%u.%u.%u; \"ip address\" lists "
		  "the addresses",
		  ip >> 24, ip >> 16 & 0xff, ip >> 8 & 0xff, ip & 0xff);
	return DXP_ENOENT;
}

static unsigned mtu_of(const char *interface)
{
	int fd = descriptor_raise(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	struct ifreq request = {0};
	unsigned mtu = 1500;

	if (fd < 0)
		return mtu;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
	if (ioctl(fd, SIOCGIFMTU, &request) == 0 && request.ifr_mtu > 0)
		mtu = (unsigned)request.ifr_mtu;
	close(fd);
	return mtu;
}

static int name_order(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* False: `own` is no bridge. *more: above SWITCH_KERNEL_PORTS. */
static bool bridge_ports(struct serve_ports *out, bool *more)
{
	char path[64 + SERVE_NAME_BYTES];

	snprintf(path, sizeof(path), "/sys/class/net/%s/brif", out->own);
	DIR *folder = descriptor_opendir(path);
	if (!folder)
		return false;
	for (struct dirent *e = readdir(folder); e; e = readdir(folder)) {
		if (e->d_name[0] == '.')
			continue;
		if (out->count == SWITCH_KERNEL_PORTS) {
			*more = true;
			break;
		}
		snprintf(out->names[out->count++], SERVE_NAME_BYTES, "%.*s", SERVE_NAME_BYTES - 1,
			 e->d_name);
	}
	closedir(folder);
	qsort(out->names, out->count, SERVE_NAME_BYTES, name_order);
	return true;
}

/* DXP_ENOENT: no interface has it; DXP_EIO: not listed; both logged. DXP_EUNSUPPORTED: more ports
 * than `names` holds; other fields are valid. */
static int serve_ports_find(uint32_t ip, struct serve_ports *out)
{
	bool more = false;

	memset(out, 0, sizeof(*out));
	int status = owner_find(ip, out);
	if (status != DXP_OK)
		return status;
	out->mtu = mtu_of(out->own);
	if (!bridge_ports(out, &more)) {
		memcpy(out->names[0], out->own, SERVE_NAME_BYTES);
		out->count = 1;
	}
	return more ? DXP_EUNSUPPORTED : DXP_OK;
}

#define IP_UDP_BYTES 28

struct server {
	const struct serve_options *options;
	struct sw_options core; /* of `options`, completed by addresses_find */
	struct serve_ports ports;
	struct plane *plane;
	struct link *link; /* UDP port 4791 */
	struct senders *senders;
	struct input *input;
	struct sw *sw;
	struct report *report; /* NULL: no key */
	struct spin spin;
	uint64_t expire_ns;
	bool draining;
	struct datagram_arrival arrivals[DATAGRAM_BATCH];
	struct datagram datagrams[SERVE_BATCH];
	uint8_t trailers[SERVE_BATCH][INC_TRAILER_BYTES];
	uint16_t from_ports[SERVE_BATCH];
};

/* ---- XDP plane ---- */

/* Attaches XDP to the options' ports, else to those that serve_ports_find found. */
static int plane_try(struct server *v, char why[PLANE_WHY_BYTES])
{
	const struct serve_options *o = v->options;
	const char *found[SWITCH_KERNEL_PORTS];
	struct plane_options p = {.ip = v->core.ip,
				  .ports = o->ports,
				  .port_count = o->port_count,
				  .native = o->native,
				  .no_icrc_check = o->core.no_icrc_check};

	if (o->port_count == 0 && v->ports.owners > 1) {
		snprintf(why, PLANE_WHY_BYTES,
			 "%u interfaces have the switch's address; choose its ports with --port",
			 v->ports.owners);
		return DXP_EUNSUPPORTED;
	}
	if (o->port_count == 0) {
		for (unsigned i = 0; i < v->ports.count; i++)
			found[i] = v->ports.names[i];
		p.ports = found;
		p.port_count = v->ports.count;
	}
	if (p.port_count == 0) {
		snprintf(why, PLANE_WHY_BYTES, "the bridge %s has no ports; add one", v->ports.own);
		return DXP_EUNSUPPORTED;
	}
	return plane_open(&p, &v->plane, why);
}

/* With SERVE_PLANE_AUTO, a failure is only logged, and user space computes all. */
static int kernel_open(struct server *v)
{
	char why[PLANE_WHY_BYTES] = "";

	if (v->options->plane == SERVE_PLANE_USER)
		return DXP_OK;
	int status = plane_try(v, why);
	if (status == DXP_OK) {
		v->core.kernel = plane_kernel(v->plane);
		return DXP_OK;
	}
	v->plane = NULL;
	if (v->options->plane == SERVE_PLANE_KERNEL) {
		log_error("the XDP plane is not available: %s; --plane user runs without it", why);
		return status;
	}
	log_warn("all operations are computed in user space: %s", why);
	return DXP_OK;
}

/* ---- start and close ---- */

/* Returns the segment bytes in one packet, a multiple of 16. */
static uint16_t segment_of(unsigned mtu)
{
	unsigned header_bytes = IP_UDP_BYTES + INC_UD_BYTES + INC_TRAILER_BYTES;
	unsigned bytes = mtu > header_bytes ? (mtu - header_bytes) & ~15u : 0;

	return (uint16_t)min_u64(bytes, SWITCH_SEGMENT_MAX);
}

static int addresses_find(struct server *v)
{
	int status = serve_ports_find(v->core.ip, &v->ports);

	if (status == DXP_EUNSUPPORTED) {
		log_warn("bridge %s has more than %u ports; the others are handled in user space; "
			 "choose with --port",
			 v->ports.own, SWITCH_KERNEL_PORTS);
		status = DXP_OK;
	}
	if (status == DXP_OK && v->core.segment_bytes == 0)
		v->core.segment_bytes = segment_of(v->ports.mtu);
	if (status == DXP_OK && v->core.segment_bytes < INC_SHORT_BYTES) {
		log_error("packets of %s carry %u bytes, but %u are needed; raise its MTU",
			  v->ports.own, v->core.segment_bytes, INC_SHORT_BYTES);
		return DXP_EINVAL;
	}
	return status;
}

static int link_start(struct server *v)
{
	const struct link_options options = {.bind = address_v4(v->core.ip, ROCE_PORT),
					     .buffer_bytes = LINK_SOCKET_BUFFER_BYTES,
					     .whole = true,
					     .unconnected = true,
					     .alone = inc_packet_alone,
					     .priority = v->options->socket_priority};
	int status = link_open(&options, &v->link);

	if (status == DXP_OK && v->options->wake_fd >= 0)
		status = link_watch(v->link, v->options->wake_fd, true);
	return status;
}

static void loop_wake(void *context)
{
	link_wake(context);
}

static int report_start(struct server *v)
{
	const struct report_options options = {
		.bind = address_v4(v->core.ip, v->options->stats_port),
		.key = v->options->key,
		.wake = loop_wake,
		.context = v->link};

	return options.key ? report_open(&options, &v->report) : DXP_OK;
}

static void server_close(struct server *v)
{
	report_close(v->report);
	switch_destroy(v->sw);
	input_destroy(v->input);
	serve_senders_close(v->senders);
	link_close(v->link);
	if (v->plane)
		plane_close(v->plane);
	free(v);
}

static int input_start(struct server *v)
{
	uint8_t weights[INPUT_CLASSES];

	for (unsigned i = 0; i < INPUT_CLASSES; i++)
		weights[i] = v->options->weights[i] ? v->options->weights[i] : 1;
	int status = input_create(weights, &v->input);
	if (status == DXP_OK)
		v->core.input = input_counters(v->input);
	return status;
}

/* After a failure the caller closes what is open. */
static int server_start(struct server *v)
{
	int status = addresses_find(v);

	if (status == DXP_OK)
		status = link_start(v);
	if (status == DXP_OK)
		status = kernel_open(v);
	/* Before threads start; the steps below need no root rights. */
	if (status == DXP_OK)
		status = privileges_drop(v->options->user, v->plane != NULL);
	if (status == DXP_OK)
		status = serve_senders_open(v->core.ip, v->options->socket_priority, v->link,
					    &v->senders);
	if (status == DXP_OK)
		status = input_start(v);
	if (status == DXP_OK)
		status = switch_create(&v->core, clock_now_ns(), &v->sw);
	if (status == DXP_OK)
		status = report_start(v);
	if (status == DXP_ENOMEM)
		log_error("not enough memory; use fewer --groups");
	return status;
}

static void ready_report(const struct server *v)
{
	uint32_t ip = v->core.ip;

	printf("%s at %u.%u.%u.%u: ", v->core.name[0] ? v->core.name : "switch", ip >> 24,
	       ip >> 16 & 0xff, ip >> 8 & 0xff, ip & 0xff);
	if (v->plane)
		printf("short operations in XDP (%s), others in user space",
		       v->options->native ? "native" : "generic");
	else
		printf("all in user space");
	printf(", %s, %u-byte segments\n",
	       v->core.parent_count ? "below other switches" : "no switch above",
	       v->core.segment_bytes);
	program_output_check();
	service_ready(v->options->ready_fd, "\n");
}

/* ---- loop ---- */

static uint32_t ip_of(const struct udp_address *a)
{
	return (uint32_t)a->ip[12] << 24 | (uint32_t)a->ip[13] << 16 | (uint32_t)a->ip[14] << 8 |
	       a->ip[15];
}

static struct roce_path path_from(const struct server *v, uint32_t ip, uint16_t port)
{
	return (struct roce_path){
		.from_ip = ip, .from_port = port, .to_ip = v->core.ip, .to_port = ROCE_PORT};
}

/* All packets have one class, and none waits in a queue. */
static bool batch_alike(const struct server *v, size_t count)
{
	if (!input_empty(v->input))
		return false;
	for (size_t i = 1; i < count; i++)
		if (input_class_of(v->arrivals[i].data, v->arrivals[i].bytes) !=
		    input_class_of(v->arrivals[0].data, v->arrivals[0].bytes))
			return false;
	return true;
}

/* Packets of both classes go through the arbiter. */
static void batch_accept(struct server *v, size_t count, uint64_t now_ns)
{
	bool alike = batch_alike(v, count);

	for (size_t i = 0; i < count; i++) {
		const struct datagram_arrival *a = &v->arrivals[i];
		const struct roce_path path = path_from(v, ip_of(&a->from), a->from.port);

		if (alike || a->bytes > INPUT_PACKET_BYTES)
			switch_receive(v->sw, a->data, a->bytes, &path, now_ns);
		else
			input_put(v->input, input_class_of(a->data, a->bytes), &path, a->data,
				  a->bytes);
	}
}

/* Passes at most a batch to the core, by weights; more would delay results. Returns the number. */
static size_t queued_accept(struct server *v, uint64_t now_ns)
{
	const struct input_packet *p;
	size_t count = 0;

	while (count < DATAGRAM_BATCH && (p = input_next(v->input)) != NULL) {
		const struct roce_path path = path_from(v, p->from_ip, p->from_port);

		switch_receive(v->sw, p->data, p->bytes, &path, now_ns);
		count++;
	}
	return count;
}

/* Several batches if both classes have packets, so that the arbiter decides the order, not the
 * socket. Returns the packets received or passed to the core. */
static size_t receive(struct server *v)
{
	size_t total = 0, count;
	uint64_t now_ns = 0;

	for (unsigned reads = 0; reads < INPUT_READS; reads++) {
		count = link_receive(v->link, v->arrivals, ARRAY_COUNT(v->arrivals));
		if (count == 0)
			break;
		now_ns = clock_now_ns();
		batch_accept(v, count, now_ns);
		total += count;
		if (input_empty(v->input))
			break;
	}
	if (!input_empty(v->input))
		total += queued_accept(v, now_ns ? now_ns : clock_now_ns());
	return total;
}

static void send_due(struct server *v, uint64_t now_ns)
{
	struct inc_batch batch = {.datagrams = v->datagrams,
				  .trailers = v->trailers,
				  .from_ports = v->from_ports,
				  .space = SERVE_BATCH};

	while (switch_send(v->sw, &batch, now_ns) > 0) {
		serve_senders_send(v->senders, &batch, now_ns);
		batch.count = 0;
	}
}

static void housekeep(struct server *v, uint64_t now_ns)
{
	if (now_ns < v->expire_ns)
		return;
	v->expire_ns = now_ns + SERVE_EXPIRE_NS;
	switch_expire(v->sw, now_ns);
	serve_senders_tidy(v->senders, now_ns);
}

static bool has_groups(const struct server *v, uint64_t now_ns)
{
	const struct inc_inquiry q = {.section = INC_SECTION_SWITCH};
	struct inc_answer a;

	switch_answer(v->sw, &q, now_ns, &a);
	return a.self.groups > 0;
}

/* False: stop. Starts to drain groups on request. */
static bool goes_on(struct server *v, uint64_t now_ns)
{
	if (*v->options->stop)
		return false;
	if (!v->options->drain || !*v->options->drain)
		return true;
	if (!v->draining) {
		switch_emit(v->sw, true);
		v->draining = true;
		log_warn("draining: accepts no new groups, and exits after the last one");
	}
	return has_groups(v, now_ns);
}

/* Polls until packets, the deadline or the end of the spin; returns the packets. Yields, because
 * the sender may need this processor. */
static size_t spin(struct server *v, uint64_t now_ns, uint64_t deadline_ns)
{
	uint64_t until_ns = min_u64(now_ns + v->spin.budget_ns, deadline_ns);
	size_t count = 0;

	while (count == 0 && clock_now_ns() < until_ns && !*v->options->stop &&
	       !report_wanted(v->report)) {
		sched_yield();
		count = receive(v);
	}
	return count;
}

/* Returns their number. Spins only after packets (`busy`), so an idle switch sleeps. */
static size_t await(struct server *v, bool busy, uint64_t now_ns)
{
	uint64_t deadline_ns = switch_deadline(v->sw);

	/* Draining: checks whether groups are gone. */
	if (v->draining)
		deadline_ns = min_u64(deadline_ns, now_ns + SERVE_EXPIRE_NS);
	if (deadline_ns <= now_ns || !input_empty(v->input))
		return 0;
	if (busy && v->spin.full_ns > 0)
		return spin(v, now_ns, deadline_ns);
	link_wait(v->link, deadline_ns);
	return 0;
}

static void run(struct server *v)
{
	uint64_t now_ns = clock_now_ns(), quiet_ns = now_ns;
	size_t count = 0;

	while (goes_on(v, now_ns)) {
		count += receive(v);
		now_ns = clock_now_ns();
		if (count > 0)
			spin_note(&v->spin, now_ns - quiet_ns);
		housekeep(v, now_ns);
		send_due(v, now_ns);
		if (report_wanted(v->report))
			report_serve(v->report, v->sw, now_ns);
		quiet_ns = count > 0 ? clock_now_ns() : quiet_ns;
		count = await(v, count > 0, quiet_ns);
	}
}

int serve_run(const struct serve_options *options)
{
	struct server *v = calloc(1, sizeof(*v));

	if (!v) {
		log_error("not enough memory");
		return DXP_ENOMEM;
	}
	v->options = options;
	v->core = options->core;
	spin_init(&v->spin, (uint32_t)options->spin_ns);
	int status = server_start(v);
	if (status == DXP_OK) {
		ready_report(v);
		run(v);
	}
	server_close(v);
	return status;
}
