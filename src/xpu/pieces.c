/* SPDX-License-Identifier: BSD-3-Clause */
#include "xpu/pieces.h"

#include <dxp/status.h>

#include "base/util.h"

bool pieces_continue(int status)
{
	return status == DXP_EPEERLOST || status == DXP_EUNSUPPORTED;
}

void pieces_next(struct pieces *p)
{
	p->piece_bytes = (uint32_t)min_u64(p->bytes - p->done_bytes, p->piece_max);
}

enum pieces_step pieces_ended(struct pieces *p, int status, uint64_t bytes, bool left)
{
	if (status != DXP_OK && !pieces_continue(status))
		return PIECES_FAILED;
	p->done_bytes += bytes;
	if (status != DXP_OK)
		return PIECES_LOST;
	if (left)
		return PIECES_CANCELLED;
	return p->done_bytes < p->bytes ? PIECES_NEXT : PIECES_COMPLETE;
}
