/* SPDX-License-Identifier: BSD-3-Clause */
/* The build puts blocks.h before this text. Kernels use one work-item: OpenCL does not guarantee
 * progress of others while one waits. */

kernel void send(global struct dxp_window *nic, global uchar *image, global struct report *report,
		 struct shape shape, struct dxp_target peer, struct dxp_entry from,
		 struct dxp_entry to, int nic_answers)
{
	struct route route = {peer, from, to};

	sender_run(nic, image, &shape, &route, nic_answers, report);
}

kernel void receive(global struct dxp_window *nic, global const uchar *image,
		    global struct report *report, struct shape shape, struct dxp_target peer)
{
	receiver_run(nic, image, &shape, &peer, report);
}

kernel void rings(global struct dxp_window *nic, global struct report *report, uint count,
		  struct dxp_target self, struct dxp_entry from, struct dxp_entry to)
{
	struct route route = {self, from, to};

	rings_run(nic, &route, count, report);
}
