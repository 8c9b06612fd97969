/* SPDX-License-Identifier: BSD-3-Clause */
/* The user's side of a function window: post descriptors, take events. Lock-free between any number
 * of posting threads; each event ring has one consumer at a time. Knows the window and nothing of
 * the engine. */
#ifndef NIC_USER_H
#define NIC_USER_H

#include <stdbool.h>

#include "nic/window.h"

/* Copies a descriptor of `bytes` (head and what follows) into the window and rings. DXP_EAGAIN when
 * all 32 doorbells are taken: poll events, then post again. DXP_EINVAL when it is larger than a
 * slot. */
int nic_user_post(struct nic_window *w, const void *descriptor, uint32_t bytes);

/* Whom an operation addresses. */
struct nic_target {
	uint16_t node;
	uint8_t function;
	uint16_t qp;
	uint32_t magic; /* of that queue pair, told by its owner */
};

/* The operations, as descriptors that are posted. `qp` is the own queue pair, `context` comes back
 * in the completion. DXP_EAGAIN as nic_user_post; DXP_EINVAL when a list or the data does not fit a
 * descriptor. */

/* Data up to NIC_INLINE_BYTES_MAX goes inside the descriptor, so `data` may be reused at once. */
int nic_user_nap(struct nic_window *w, uint8_t qp, const struct nic_target *to, const void *data,
		 uint32_t bytes, uint64_t imm, uint64_t context);

/* Lists of registered memory: local entries by own keys, remote entries by the target's keys.
 * Memory is the NIC's until the completion. */
struct nic_lists {
	const struct nic_entry *local, *remote;
	uint16_t local_count, remote_count;
};
int nic_user_put(struct nic_window *w, uint8_t qp, const struct nic_target *to,
		 const struct nic_lists *lists, uint64_t context);
int nic_user_get(struct nic_window *w, uint8_t qp, const struct nic_target *to,
		 const struct nic_lists *lists, uint64_t context);

/* Registers `first` .. of the target: into `local` (4 bytes each, host order), or from `values`. */
int nic_user_cfg_read(struct nic_window *w, uint8_t qp, const struct nic_target *to, uint32_t first,
		      const struct nic_entry *local, uint64_t context);
int nic_user_cfg_write(struct nic_window *w, uint8_t qp, const struct nic_target *to,
		       uint32_t first, const uint32_t *values, uint32_t count, uint64_t context);

/* Takes the oldest completion of what was posted. Returns false when there is none. */
bool nic_user_sent(struct nic_window *w, struct nic_event *event);

/* The oldest receive event, or NULL. It and its buffer stay valid until nic_user_received_release.
 */
const struct nic_event *nic_user_received_peek(struct nic_window *w, const uint8_t **data);
void nic_user_received_release(struct nic_window *w);

#endif
