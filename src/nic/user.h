/* SPDX-License-Identifier: BSD-3-Clause */
/* What a C program adds to dxp/device.h: operations on lists, and on registers of the peer. Knows
 * the window and nothing of the engine. */
#ifndef NIC_USER_H
#define NIC_USER_H

#include "nic/window.h"

/* The operations, as descriptors that are posted. `qp` is the own queue pair, `context` comes back
 * in the completion. DXP_EAGAIN when all doorbells are taken: poll events, then post again;
 * DXP_EINVAL when a list or the data does not fit a descriptor; else as dxp_error(). */

/* Lists of registered memory: local entries by own keys, remote entries by the target's keys.
 * Memory is the NIC's until the completion. */
struct nic_lists {
	const struct dxp_entry *local, *remote;
	uint16_t local_count, remote_count;
};
int nic_user_put(struct dxp_window *w, uint8_t qp, const struct dxp_target *to,
		 const struct nic_lists *lists, uint64_t context);
int nic_user_get(struct dxp_window *w, uint8_t qp, const struct dxp_target *to,
		 const struct nic_lists *lists, uint64_t context);

/* Registers `first` .. of the target: into `local` (4 bytes each, host order), or from `values`. */
int nic_user_cfg_read(struct dxp_window *w, uint8_t qp, const struct dxp_target *to, uint32_t first,
		      const struct dxp_entry *local, uint64_t context);
int nic_user_cfg_write(struct dxp_window *w, uint8_t qp, const struct dxp_target *to,
		       uint32_t first, const uint32_t *values, uint32_t count, uint64_t context);

/* The oldest receive event and its data, or NULL. Both stay valid until dxp_received_release. */
const struct dxp_nic_event *nic_user_received_peek(const struct dxp_window *w,
						   const uint8_t **data);

#endif
