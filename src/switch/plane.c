/* SPDX-License-Identifier: BSD-3-Clause */
/* Attaches the XDP program by BPF links, which the kernel removes when the process exits. */
#include "switch/plane_group.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/if_link.h>
#include <net/if.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <dxp/status.h>

static int attach_rejected(const char *interface, bool native, int error, char why[PLANE_WHY_BYTES])
{
	if (error == EBUSY || error == EEXIST) {
		snprintf(why, PLANE_WHY_BYTES,
			 "another XDP program is attached to %s; detach it (ip link set dev %s xdp "
			 "off, or dxp-switch remove %s), or exclude that port with --port",
			 interface, interface, interface);
		return DXP_EBUSY;
	}
	snprintf(why, PLANE_WHY_BYTES, "%s accepts no XDP program in %s mode: %s%s", interface,
		 native ? "native" : "generic", strerror(error),
		 native ? "; generic mode works on all interfaces" : "");
	return DXP_EUNSUPPORTED;
}

static int attach(struct plane *p, const char *interface, bool native, char why[PLANE_WHY_BYTES])
{
	DECLARE_LIBBPF_OPTS(bpf_link_create_opts, options,
			    .flags = native ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE);
	unsigned ifindex = if_nametoindex(interface);
	int link;

	if (ifindex == 0) {
		snprintf(why, PLANE_WHY_BYTES, "no interface %s on this machine; see `ip link`",
			 interface);
		return DXP_ENOENT;
	}
	link = bpf_link_create(p->program.program, (int)ifindex, BPF_XDP, &options);
	if (link < 0)
		return attach_rejected(interface, native, -link, why);
	p->ports[p->port_count].ifindex = (int)ifindex;
	p->ports[p->port_count].link = link;
	p->port_count++;
	return DXP_OK;
}

int plane_open(const struct plane_options *options, struct plane **out, char why[PLANE_WHY_BYTES])
{
	struct plane *p;
	int status;

	if (options->port_count == 0 || options->port_count > SWITCH_KERNEL_PORTS) {
		snprintf(why, PLANE_WHY_BYTES, "%u ports; the XDP plane supports 1 to %d",
			 options->port_count, SWITCH_KERNEL_PORTS);
		return DXP_EINVAL;
	}
	p = calloc(1, sizeof(*p));
	if (!p) {
		snprintf(why, PLANE_WHY_BYTES, "%s", dxp_status_text(DXP_ENOMEM));
		return DXP_ENOMEM;
	}
	p->ip = options->ip;
	p->check_icrc = !options->no_icrc_check;
	status = plane_load(options->ip, p->check_icrc, &p->program, why);
	if (status)
		goto free_plane;
	plane_groups_fill(p);
	for (unsigned i = 0; i < options->port_count && !status; i++)
		status = attach(p, options->ports[i], options->native, why);
	if (status)
		goto close_plane;
	*out = p;
	return DXP_OK;

close_plane:
	plane_close(p);
	return status;
free_plane:
	free(p);
	return status;
}

void plane_close(struct plane *p)
{
	for (unsigned i = 0; i < p->port_count; i++)
		close(p->ports[i].link);
	plane_groups_free(&p->groups);
	plane_unload(&p->program);
	free(p);
}
