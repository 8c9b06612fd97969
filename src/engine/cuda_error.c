/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include <dxp/status.h>

#include "base/log.h"
#include "engine/cuda_engine.h"

int cuda_check(struct engine_cuda *c, int error)
{
	int none = CUDA_OK;

	if (error == CUDA_OK)
		return DXP_OK;
	if (cuda_error_sticky(error) && atomic_compare_exchange_strong(&c->dead, &none, error))
		log_error("CUDA device '%s' is unusable in this process: %s (%d); restart dxpd, "
			  "and find the kernel that caused it with compute-sanitizer",
			  c->name, cuda_error_text(c->cu, error), error);
	return error == CUDA_OUT_OF_MEMORY                                            ? DXP_ENOMEM
	       : error == CUDA_INVALID_VALUE || error == CUDA_LAUNCH_OUT_OF_RESOURCES ? DXP_EINVAL
										      : DXP_EDEVICE;
}

int cuda_enter(struct engine_cuda *c, char text[ENGINE_TEXT_BYTES])
{
	int error = atomic_load(&c->dead);

	if (error == CUDA_OK && flights_lost(c->flights)) {
		if (text)
			snprintf(text, ENGINE_TEXT_BYTES,
				 "device '%s' hangs and is no longer used; restart the xPU",
				 c->name);
		return DXP_EDEVICE;
	}
	if (error == CUDA_OK)
		error = c->cu->cuCtxSetCurrent(c->context);
	if (error == CUDA_OK)
		return DXP_OK;
	cuda_check(c, error);
	if (text)
		snprintf(text, ENGINE_TEXT_BYTES,
			 "device '%s' failed: %.120s (%d); restart the xPU", c->name,
			 cuda_error_text(c->cu, error), error);
	return DXP_EDEVICE;
}
