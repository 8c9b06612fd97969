/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/session.h"

#include "cmd/dxp/command.h"

int session_fail(void)
{
	return print_fail("%s", dxp_fabric_error(NULL));
}

int session_begin(const struct session_options *options, const char *xpu, struct session *out)
{
	*out = (struct session){0};
	int status = dxp_fabric_open(&options->fabric, &out->fabric);

	if (status == DXP_OK && xpu)
		status = dxp_xpu_open(out->fabric, xpu, &out->xpu);
	if (status == DXP_OK && xpu)
		status = dxp_xpu_caps(out->xpu, &out->caps);
	return status;
}

bool session_open(const struct session_options *options, const char *xpu, struct session *out)
{
	if (session_begin(options, xpu, out) == DXP_OK)
		return true;
	session_fail();
	session_close(out);
	return false;
}

void session_close(struct session *s)
{
	dxp_xpu_close(s->xpu);
	dxp_fabric_close(s->fabric);
}
