/* SPDX-License-Identifier: BSD-3-Clause */
/* Configures and reads the stream core of an xPU through its registers
 * (docs/reference/registers.md, from CORE on). */
#include <stdio.h>

#include <dxp/bridge.h>

#include "base/util.h"
#include "host/internal.h"

enum core_register { REGISTER_CORE = 44, CORE_WORDS = 2, RESULT_WORDS = 2 };

static int no_core(const struct dxp_xpu *x)
{
	return error_set(DXP_EUNSUPPORTED,
			 "core: xPU '%s' (engine '%s') has no stream core; use an xPU with the "
			 "engine 'board'",
			 x->caps.name, x->caps.engine);
}

int dxp_core_set(struct dxp_xpu *xpu, enum dxp_core core, uint32_t operand)
{
	const uint32_t words[CORE_WORDS] = {core, operand};

	if ((unsigned)core > DXP_CORE_KERNEL)
		return error_set(DXP_EINVAL, "core: unknown core %u; see enum dxp_core",
				 (unsigned)core);
	if (!xpu->caps.streams)
		return no_core(xpu);
	int status = dxp_reg_write(xpu, REGISTER_CORE, words, ARRAY_COUNT(words));
	if (status == DXP_EUNSUPPORTED)
		error_set(status,
			  "core: xPU '%s' lacks this core; a kernel core must be in the board's "
			  "description (docs/guide/bridge.md)",
			  xpu->caps.name);
	return status;
}

int dxp_core_get(struct dxp_xpu *xpu, enum dxp_core *core, uint32_t *operand, uint64_t *result)
{
	uint32_t words[CORE_WORDS + RESULT_WORDS];

	if (!xpu->caps.streams)
		return no_core(xpu);
	int status = dxp_reg_read(xpu, REGISTER_CORE, words, ARRAY_COUNT(words));
	if (status != DXP_OK)
		return status;
	*core = (enum dxp_core)words[0];
	*operand = words[1];
	*result = (uint64_t)words[3] << 32 | words[2];
	return DXP_OK;
}
