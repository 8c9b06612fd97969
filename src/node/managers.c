/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/managers.h"

#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "link/resolve.h"

/* Adds an address that is not yet in the list. Returns false if there is no space. */
static bool add(struct udp_address *all, unsigned *count, const struct udp_address *address)
{
	for (unsigned i = 0; i < *count; i++)
		if (address_equal(&all[i], address))
			return true;
	if (*count == MANAGERS_MAX)
		return false;
	all[(*count)++] = *address;
	return true;
}

int managers_parse(const char *text, uint16_t port, struct udp_address *manager,
		   struct manager_backups *others)
{
	struct udp_address all[MANAGERS_MAX], one;
	unsigned count = 0;
	int missing = DXP_EINVAL;

	for (;; text++) {
		const size_t bytes = strcspn(text, ",");
		char part[MANAGERS_TEXT_BYTES];
		if (snprintf(part, sizeof(part), "%.*s", (int)bytes, text) >= (int)sizeof(part))
			return DXP_EINVAL;
		int status = resolve_address(part, port, &one);
		if (status == DXP_EINVAL || (status == DXP_OK && !add(all, &count, &one)))
			return DXP_EINVAL;
		if (status != DXP_OK)
			missing = status;
		text += bytes;
		if (!*text)
			break;
	}
	if (count == 0)
		return missing;
	*manager = all[0];
	others->count = count - 1;
	memcpy(others->all, all + 1, others->count * sizeof(*all));
	return DXP_OK;
}

void managers_next(struct udp_address *manager, struct manager_backups *others)
{
	const struct udp_address before = *manager;

	if (others->count == 0)
		return;
	*manager = others->all[0];
	memmove(others->all, others->all + 1, (others->count - 1) * sizeof(before));
	others->all[others->count - 1] = before;
}

void managers_use(struct udp_address *manager, struct manager_backups *others,
		  const struct udp_address *address)
{
	for (unsigned i = 0; i < others->count && !address_equal(manager, address); i++)
		managers_next(manager, others);
	if (!address_equal(manager, address))
		managers_next(manager, others); /* after a full circle, the manager is as before */
}

bool managers_have(const struct udp_address *manager, const struct manager_backups *others,
		   const struct udp_address *address)
{
	for (unsigned i = 0; i < others->count; i++)
		if (address_equal(&others->all[i], address))
			return true;
	return address_equal(manager, address);
}
