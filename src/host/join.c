/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/join.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"
#include "host/internal.h"
#include "node/limits.h"
#include "wire/frame.h"

#define WHY_BYTES 512 /* bytes of a log text of a lower layer that an error text quotes */

int join_open(const struct node_options *options, struct node **out)
{
	char bind[UDP_ADDRESS_TEXT_BYTES];
	char why[WHY_BYTES];

	log_divert(why, sizeof(why));
	int status = node_open(options, out);
	log_divert(NULL, 0);

	/* The node is open, so the text is only a warning about an optional part, such as the
	 * trace. */
	if (status == DXP_OK && why[0])
		log_error("%s", why);
	if (status == DXP_EBUSY)
		return error_set(status, "%s is in use by another program; choose another port",
				 address_format(&options->bind, bind));
	if (status != DXP_OK && why[0])
		return error_set(status, "%s", why);
	if (status != DXP_OK)
		return error_set(status, "cannot open a node on %s: %s",
				 address_format(&options->bind, bind), dxp_status_text(status));
	return DXP_OK;
}

int join_wait(struct node *n, const char *manager, uint64_t timeout_ns)
{
	char why[WHY_BYTES];

	log_divert(why, sizeof(why));
	int status = node_join(n, clock_now_ns() + timeout_ns);
	log_divert(NULL, 0);

	if (status == DXP_OK && why[0])
		log_error("%s", why);
	if (status == DXP_ETIMEDOUT && node_other_version(n))
		return error_set(DXP_EUNSUPPORTED, MEMBER_OTHER_VERSION, manager,
				 node_other_version(n), WIRE_VERSION);
	if (status == DXP_ETIMEDOUT && !node_error(n)[0])
		return error_set(status,
				 "no manager answers at %s within %llu ms; check the address; `dxp "
				 "up` starts a fabric, `dxp doctor` checks this machine",
				 manager, (unsigned long long)(timeout_ns / MS_NS));
	return status == DXP_OK ? DXP_OK : error_set(status, "%s", node_error(n));
}

bool join_complete(const struct node *n)
{
	struct manage_progress p = node_table_progress(node_table(n));

	return p.epoch != 0 && p.cursor == 0;
}

int join_incomplete(const char *manager)
{
	return error_set(DXP_ETIMEDOUT,
			 "the manager at %s sent a lease but no node table; see its log", manager);
}
