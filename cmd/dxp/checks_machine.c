/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the kernel, its sockets, processors and clock. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cmd/dxp/checks.h"
#include "cmd/dxp/file.h"
#include "link/limits.h"
#include "worker/sandbox.h"

void check_set(struct check *c, enum check_level level, const char *name, const char *next,
	       const char *format, ...)
{
	va_list arguments;

	c->level = level;
	snprintf(c->name, sizeof(c->name), "%s", name);
	snprintf(c->next, sizeof(c->next), "%s", next ? next : "");
	va_start(arguments, format);
	vsnprintf(c->found, sizeof(c->found), format, arguments);
	va_end(arguments);
}

/* Checks GSO or GRO, which give 3 to 10 times the throughput of single datagrams. */
static void check_offload(struct check *c, const char *name, int option, int value)
{
	struct utsname kernel;
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	uname(&kernel);
	if (fd < 0)
		check_set(c, CHECK_FAIL, name,
			  "load the kernel's ipv6 module; dxp uses IPv6 sockets for IPv4 "
			  "addresses, too",
			  "cannot create a UDP socket: %s", strerror(errno));
	else if (setsockopt(fd, IPPROTO_UDP, option, &value, sizeof(value)) != 0)
		check_set(c, CHECK_WARN, name,
			  "dxp works without it, but slower; Linux 5.0 or newer has it",
			  "missing in Linux %s", kernel.release);
	else
		check_set(c, CHECK_OK, name, NULL, "Linux %s has it", kernel.release);
	if (fd >= 0)
		close(fd);
}

static void check_buffer(struct check *c, const char *name, const char *limit, int option)
{
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int wanted = LINK_SOCKET_BUFFER_BYTES, got = 0;
	socklen_t bytes = sizeof(got);
	char next[128];

	setsockopt(fd, SOL_SOCKET, option, &wanted, sizeof(wanted));
	if (geteuid() == 0)
		setsockopt(fd, SOL_SOCKET, option == SO_RCVBUF ? SO_RCVBUFFORCE : SO_SNDBUFFORCE,
			   &wanted, sizeof(wanted));
	getsockopt(fd, SOL_SOCKET, option, &got, &bytes);
	if (fd >= 0)
		close(fd);
	got /= 2; /* the kernel doubles the value for its own use */
	snprintf(next, sizeof(next), "sysctl -w %s=%d", limit, wanted);
	check_set(c, got >= wanted ? CHECK_OK : CHECK_WARN, name, got >= wanted ? NULL : next,
		  "%d KiB; %d KiB are recommended", got / 1024, wanted / 1024);
}

static void check_clock(struct check *c)
{
	char source[64];
	static const char path[] =
		"/sys/devices/system/clocksource/clocksource0/current_clocksource";

	if (!file_head(path, source, sizeof(source))) {
		check_set(c, CHECK_WARN, "clock", "check that /sys is mounted",
			  "cannot read the clock source");
		return;
	}
	source[strcspn(source, "\n")] = '\0';
	/* Reading these clocks accesses a chip, which is slow. */
	bool slow = strcmp(source, "hpet") == 0 || strcmp(source, "acpi_pm") == 0;
	check_set(c, slow ? CHECK_WARN : CHECK_OK, "clock",
		  slow ? "boot with clocksource=tsc" : NULL, "source is %s", source);
}

static void check_processors(struct check *c)
{
	long count = sysconf(_SC_NPROCESSORS_ONLN);

	check_set(c, count > 1 ? CHECK_OK : CHECK_WARN, "processors",
		  count > 1 ? NULL
			    : "a program that polls leaves no processor to the xPUs; use a machine "
			      "with at least two",
		  "%ld", count);
}

static void check_governor(struct check *c)
{
	const long count = sysconf(_SC_NPROCESSORS_CONF);
	long known = 0, slow = 0;
	char path[96], governor[32], other[32] = "";

	for (long i = 0; i < count; i++) {
		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%ld/cpufreq/scaling_governor", i);
		if (!file_head(path, governor, sizeof(governor)))
			continue;
		governor[strcspn(governor, "\n")] = '\0';
		known++;
		if (strcmp(governor, "performance") == 0)
			continue;
		slow++;
		memcpy(other, governor, sizeof(other));
	}
	if (slow)
		check_set(c, CHECK_WARN, "CPU governor", "cpupower frequency-set -g performance",
			  "%s on %ld of %ld processors, which adds to the latency", other, slow,
			  known);
	else
		check_set(c, CHECK_OK, "CPU governor", NULL, "%s",
			  known ? "performance" : "none: the kernel does not set the frequency");
}

static void check_sandbox(struct check *c)
{
	const uint32_t parts = sandbox_available();
	char has[128], lacks[128];

	sandbox_parts_text(parts, has, sizeof(has));
	sandbox_parts_text(SANDBOX_ALL & ~parts, lacks, sizeof(lacks));
	if (parts == SANDBOX_ALL)
		check_set(c, CHECK_OK, "sandbox", NULL, "kernels are limited in %s", has);
	else
		check_set(c, CHECK_WARN, "sandbox",
			  "use Linux 5.19 or newer with Landlock (boot with lsm=landlock,...), or "
			  "trust all hosts",
			  "kernels are not limited in %s", lacks);
}

unsigned checks_machine(struct check *out)
{
	unsigned count = 0;

	check_offload(&out[count++], "UDP GSO", UDP_SEGMENT, 1400);
	check_offload(&out[count++], "UDP GRO", UDP_GRO, 1);
	check_buffer(&out[count++], "receive buffer", "net.core.rmem_max", SO_RCVBUF);
	check_buffer(&out[count++], "send buffer", "net.core.wmem_max", SO_SNDBUF);
	check_clock(&out[count++]);
	check_governor(&out[count++]);
	check_sandbox(&out[count++]);
	check_processors(&out[count++]);
	return count;
}
