/* SPDX-License-Identifier: BSD-3-Clause */
/* Extends dxp/device.h for C programs: operations on lists, and on registers of a peer. */
#ifndef NIC_USER_H
#define NIC_USER_H

#include "nic/window.h"

/* `qp` is in this window; the completion returns `context`. DXP_EAGAIN: no free doorbell; poll
 * events, then retry. DXP_EINVAL: a list or the data does not fit. Other statuses: see
 * dxp_error(). */

/* Keys of local entries are this user's, of remote ones the target's. The NIC owns the memory until
 * the completion. */
struct nic_lists {
	const struct dxp_entry *local, *remote;
	uint16_t local_count, remote_count;
};
int nic_user_put(struct dxp_window *w, uint8_t qp, const struct dxp_target *to,
		 const struct nic_lists *lists, uint64_t context);
int nic_user_get(struct dxp_window *w, uint8_t qp, const struct dxp_target *to,
		 const struct nic_lists *lists, uint64_t context);

/* Registers from index `first` on: 4 bytes each, in this machine's byte order. */
int nic_user_cfg_read(struct dxp_window *w, uint8_t qp, const struct dxp_target *to, uint32_t first,
		      const struct dxp_entry *local, uint64_t context);
int nic_user_cfg_write(struct dxp_window *w, uint8_t qp, const struct dxp_target *to,
		       uint32_t first, const uint32_t *values, uint32_t count, uint64_t context);

/* Returns the oldest receive event and its data, valid until dxp_received_release; NULL: none. */
const struct dxp_nic_event *nic_user_received_peek(const struct dxp_window *w,
						   const uint8_t **data);

#endif
