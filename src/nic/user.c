/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes descriptors with lists; the memory barriers are in dxp/device.h. */
#include "nic/user.h"

#include "nic/limits.h"

static int lists_post(struct dxp_window *w, struct dxp_descriptor *head,
		      const struct dxp_entry *src, uint16_t src_count, const struct dxp_entry *dst,
		      uint16_t dst_count)
{
	if ((uint32_t)src_count + dst_count > DXP_LIST_ENTRIES)
		return DXP_EINVAL;
	head->src_count = (uint8_t)src_count;
	head->dst_count = (uint8_t)dst_count;
	return dxp_post_lists(w, head, src, dst, NULL);
}

int nic_user_put(struct dxp_window *w, uint8_t qp, const struct dxp_target *to,
		 const struct nic_lists *l, uint64_t context)
{
	struct dxp_descriptor head = dxp_head(DXP_OP_PUT, qp, to, context);

	return lists_post(w, &head, l->local, l->local_count, l->remote, l->remote_count);
}

int nic_user_get(struct dxp_window *w, uint8_t qp, const struct dxp_target *to,
		 const struct nic_lists *l, uint64_t context)
{
	struct dxp_descriptor head = dxp_head(DXP_OP_GET, qp, to, context);

	return lists_post(w, &head, l->remote, l->remote_count, l->local, l->local_count);
}

int nic_user_cfg_read(struct dxp_window *w, uint8_t qp, const struct dxp_target *to, uint32_t first,
		      const struct dxp_entry *local, uint64_t context)
{
	const struct dxp_entry registers = {.offset = 4ull * first, .bytes = local->bytes};
	struct dxp_descriptor head = dxp_head(DXP_OP_CFG_READ, qp, to, context);

	return lists_post(w, &head, &registers, 1, local, 1);
}

int nic_user_cfg_write(struct dxp_window *w, uint8_t qp, const struct dxp_target *to,
		       uint32_t first, const uint32_t *values, uint32_t count, uint64_t context)
{
	const struct dxp_entry registers = {.offset = 4ull * first, .bytes = 4 * count};
	struct dxp_descriptor head = dxp_head(DXP_OP_CFG_WRITE, qp, to, context);

	if (count > NIC_CFG_WORDS_MAX)
		return DXP_EINVAL;
	head.dst_count = 1;
	head.flags = DXP_FLAG_INLINE;
	head.inline_bytes = (uint16_t)(4 * count);
	return dxp_post(w, &head, &registers, values);
}

const struct dxp_nic_event *nic_user_received_peek(const struct dxp_window *w, const uint8_t **data)
{
	const struct dxp_nic_event *event = dxp_received_peek(w);

	if (event)
		*data = dxp_received_data(w, event);
	return event;
}
