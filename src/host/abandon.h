/* SPDX-License-Identifier: BSD-3-Clause */
/* Leaves a fabric without a wait, for a program that must exit. */
#ifndef HOST_ABANDON_H
#define HOST_ABANDON_H

struct dxp_fabric;

/* Closes all sessions and leaves the fabric, each with one datagram, while another thread may still
 * close xPUs. Their later calls fail. Only dxp_fabric_close() may follow. */
void fabric_abandon(struct dxp_fabric *fabric);

#endif
