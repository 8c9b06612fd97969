/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists and detaches XDP programs of this name, also of other processes. */
#include "switch/plane.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/if_link.h>
#include <net/if.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <dxp/status.h>

static bool is_dxp(uint32_t program_id)
{
	struct bpf_prog_info info = {0};
	uint32_t bytes = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(program_id);
	bool own;

	if (fd < 0)
		return false;
	own = bpf_obj_get_info_by_fd(fd, &info, &bytes) == 0 &&
	      strcmp(info.name, SWITCH_KERNEL_NAME) == 0;
	close(fd);
	return own;
}

/* 0: no program of this name. */
static uint32_t program_on(unsigned ifindex, bool *native)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, q);

	if (bpf_xdp_query((int)ifindex, 0, &q))
		return 0;
	if (q.drv_prog_id && is_dxp(q.drv_prog_id)) {
		*native = true;
		return q.drv_prog_id;
	}
	*native = false;
	return q.skb_prog_id && is_dxp(q.skb_prog_id) ? q.skb_prog_id : 0;
}

int plane_list(void (*row)(void *context, const char *interface, uint32_t program_id, bool native),
	       void *context)
{
	struct if_nameindex *all = if_nameindex();

	if (!all)
		return DXP_EIO;
	for (const struct if_nameindex *i = all; i->if_index; i++) {
		bool native;
		uint32_t id = program_on(i->if_index, &native);

		if (id)
			row(context, i->if_name, id, native);
	}
	if_freenameindex(all);
	return DXP_OK;
}

/* -1: none. */
static int link_of(uint32_t program_id, unsigned ifindex)
{
	uint32_t id = 0;

	while (bpf_link_get_next_id(id, &id) == 0) {
		struct bpf_link_info info = {0};
		uint32_t bytes = sizeof(info);
		int fd = bpf_link_get_fd_by_id(id);

		if (fd < 0)
			continue;
		if (bpf_obj_get_info_by_fd(fd, &info, &bytes) == 0 &&
		    info.type == BPF_LINK_TYPE_XDP && info.prog_id == program_id &&
		    info.xdp.ifindex == ifindex)
			return fd;
		close(fd);
	}
	return -1;
}

int plane_remove(const char *interface, char why[PLANE_WHY_BYTES])
{
	unsigned ifindex = if_nametoindex(interface);
	bool native = false;
	uint32_t id = ifindex ? program_on(ifindex, &native) : 0;
	int link, error;

	if (id == 0) {
		snprintf(why, PLANE_WHY_BYTES,
			 ifindex ? "%s has no XDP program of dxp-switch (only root can see them)"
				 : "no interface %s on this machine; see `ip link`",
			 interface);
		return DXP_ENOENT;
	}
	link = link_of(id, ifindex);
	if (link >= 0) {
		error = bpf_link_detach(link);
		close(link);
	} else {
		error = bpf_xdp_detach((int)ifindex,
				       native ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE, NULL);
	}
	if (error == 0)
		return DXP_OK;
	snprintf(why, PLANE_WHY_BYTES, "cannot detach the program from %s: %s", interface,
		 strerror(-error));
	return DXP_EIO;
}
