/* SPDX-License-Identifier: BSD-3-Clause */
#include "collective/cause.h"

#include <dxp/status.h>

bool cause_look(struct cause *c, uint32_t index, int status, bool sentence)
{
	if (status == DXP_OK || status == DXP_ECANCELED || (c->found && !sentence))
		return false;
	*c = (struct cause){.found = true, .sentence = sentence, .status = status, .index = index};
	return sentence;
}
