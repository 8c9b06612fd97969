/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/session.h"

#include "cmd/dxp/command.h"

int session_fail(void)
{
	return print_fail("%s", dxp_fabric_error(NULL));
}

bool session_open(const struct session_options *options, const char *xpu, struct session *out)
{
	struct session s = {0};
	int status = dxp_fabric_open(&options->fabric, &s.fabric);

	if (status == DXP_OK && xpu)
		status = dxp_xpu_open(s.fabric, xpu, &s.xpu);
	if (status == DXP_OK && xpu)
		status = dxp_xpu_caps(s.xpu, &s.caps);
	if (status == DXP_OK) {
		*out = s;
		return true;
	}
	session_fail();
	session_close(&s);
	return false;
}

void session_close(struct session *s)
{
	dxp_xpu_close(s->xpu);
	dxp_fabric_close(s->fabric);
}
