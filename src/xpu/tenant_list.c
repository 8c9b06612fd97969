/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "xpu/slot_internal.h"

#define COMPLAINTS_MAX 20 /* log lines about one host */

void tenant_complain(struct tenant *t, const char *format, ...)
{
	char text[ENGINE_TEXT_BYTES];
	va_list list;

	if (t->complaints >= COMPLAINTS_MAX)
		return;
	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	text_clean(text, strlen(text), TEXT_LINE, NULL);
	log_warn("host node %u: %s%s", t->host, text,
		 ++t->complaints == COMPLAINTS_MAX
			 ? "; further messages about this host are not logged"
			 : "");
}

struct tenant *tenant_find(const struct slot *s, uint16_t host)
{
	struct tenant *t = s->by_host[host];

	return t && !t->leaving ? t : NULL;
}

void tenant_bulks_add(struct tenant *t, int more)
{
	t->bulks += (uint32_t)more;
	t->slot->bulks += (uint32_t)more;
}

bool tenant_may_bulk(const struct tenant *t)
{
	return t->bulks < XPU_BULKS_MAX && t->slot->bulks < XPU_BULKS_SLOT_MAX;
}

uint32_t slot_hosts(const struct slot *s)
{
	uint32_t count = 0;

	for (const struct tenant *t = s->tenants; t; t = t->next)
		count += !t->leaving;
	return count;
}

struct switch_member *tenant_switches_find(const struct tenant *t, uint32_t number)
{
	struct switch_member *m = t->slot->switch_members;

	while (m && (m->tenant != t || m->number != number || m->leaving))
		m = m->next;
	return m;
}
