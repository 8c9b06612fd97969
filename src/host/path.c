/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/path.h"

#include "host/internal.h"
#include "rltp/endpoint.h"

int path_view(struct dxp_fabric *fabric, uint16_t node, struct rltp_view *out)
{
	host_fabric_enter(fabric);
	const struct rltp_session *s =
		rltp_endpoint_session(nic_endpoint(node_nic(fabric->node)), node);
	if (s)
		rltp_session_view(s, out);
	host_fabric_leave(fabric);
	return s ? DXP_OK : DXP_ENOENT;
}
