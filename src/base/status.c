/* SPDX-License-Identifier: BSD-3-Clause */
#include <dxp/status.h>

const char *dxp_status_text(int status)
{
	switch (status) {
#define CASE(name, value, text) \
	case value: return text;
		DXP_STATUS_LIST(CASE)
#undef CASE
	}
	return "unknown status";
}

const char *dxp_status_name(int status)
{
	switch (status) {
#define CASE(name, value, text) \
	case value: return #name;
		DXP_STATUS_LIST(CASE)
#undef CASE
	}
	return "DXP_UNKNOWN";
}
