/* SPDX-License-Identifier: BSD-3-Clause */
#include <dxp/status.h>

#include "cmd/dxp/vf.h"
#include "link/local.h"

int vf_request(int fd, const struct attach_request *request, struct attach_answer *answer)
{
	uint8_t bytes[ATTACH_BYTES_MAX];
	unsigned none = 0;
	size_t length = attach_request_encode(request, bytes);

	int got = local_send(fd, bytes, length, NULL, 0);
	if (got >= 0 && local_wait(fd, VF_ANSWER_NS) != DXP_OK)
		got = DXP_ETIMEDOUT;
	if (got >= 0)
		got = local_receive(fd, bytes, sizeof(bytes), NULL, &none);
	if (got == DXP_ECLOSED)
		return DXP_ECLOSED;
	if (got == DXP_ETIMEDOUT || got == DXP_EAGAIN)
		return DXP_ETIMEDOUT;
	int status = got < 0 ? got : attach_answer_decode(bytes, (size_t)got, answer);
	if (status != DXP_OK)
		return DXP_EMALFORMED;
	if (answer->type == request->type)
		return DXP_OK;
	return answer->status == DXP_EBUSY ? DXP_EBUSY : DXP_EMALFORMED;
}

/* Sets the request to the position after a row. Returns false if this was the last row. */
static bool row_next(const struct attach_row *row, struct attach_request *r)
{
	uint32_t qp = (uint32_t)row->qp + row->qps;
	uint32_t function = row->function + qp / NIC_QPS_PER_FUNCTION;

	if (function >= NIC_FUNCTIONS)
		return false;
	r->function = (uint8_t)function;
	r->qp = (uint8_t)(qp % NIC_QPS_PER_FUNCTION);
	return true;
}

bool vf_rows_add(struct vf_nic *nic, const struct attach_answer *answer,
		 struct attach_request *next)
{
	for (uint8_t i = 0; i < answer->row_count && nic->row_count < NIC_USERS; i++)
		nic->rows[nic->row_count++] = answer->rows[i];
	nic->malformed = answer->malformed;
	return nic->row_count < NIC_USERS && answer->row_count > 0 &&
	       row_next(&answer->rows[answer->row_count - 1], next);
}
