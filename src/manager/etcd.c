/* SPDX-License-Identifier: BSD-3-Clause */
#include "manager/etcd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/log.h"

#define PAUSE_MS 30

static const char name_letters[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

/* Copies one HOST:PORT. Returns false if it has another form. */
static bool endpoint_copy(struct etcd_place *p, const char *text, size_t bytes)
{
	char *to = p->endpoints[p->count];

	if (p->count == ETCD_ENDPOINTS_MAX || bytes == 0 || bytes >= ETCD_HOST_BYTES)
		return false;
	memcpy(to, text, bytes);
	to[bytes] = '\0';
	const char *colon = strrchr(to, ':');
	if (!colon || colon == to || strspn(colon + 1, "0123456789") != strlen(colon + 1) ||
	    !colon[1] || to[strcspn(to, " @?#%")])
		return false;
	p->count++;
	return true;
}

int etcd_place_parse(const char *text, struct etcd_place *out)
{
	struct etcd_place p = {.fabric = "dxp"};

	if (strncmp(text, "etcds://", 8) == 0)
		p.tls = true;
	else if (strncmp(text, "etcd://", 7) != 0)
		return DXP_EINVAL;
	text += p.tls ? 8 : 7;
	const size_t hosts = strcspn(text, "/");
	const char *fabric = text[hosts] ? text + hosts + 1 : p.fabric;
	if (!*fabric || strlen(fabric) >= ETCD_NAME_BYTES ||
	    strspn(fabric, name_letters) != strlen(fabric))
		return DXP_EINVAL;
	for (size_t at = 0; at <= hosts;) {
		const size_t bytes = strcspn(text + at, ",/");
		if (!endpoint_copy(&p, text + at, bytes))
			return DXP_EINVAL;
		at += bytes + 1;
	}
	if (fabric != p.fabric)
		memcpy(p.fabric, fabric, strlen(fabric) + 1);
	*out = p;
	return DXP_OK;
}

static void fail(struct etcd *e, const char *reason)
{
	snprintf(e->reason, sizeof(e->reason), "%s", reason);
	if (!e->failing)
		log_warn("etcd at %s: %s", e->place->endpoints[e->current], reason);
	e->failing = true;
	e->current = (e->current + 1) % e->endpoints;
}

/* Returns NULL, or the reason why this answer is unusable. */
static const char *answer_wrong(struct etcd *e, const struct etcd_answer *a)
{
	if (*a->error)
		return a->error;
	if (e->cluster && a->cluster != e->cluster)
		return "belongs to another etcd cluster than the other endpoints; correct --store";
	e->cluster = a->cluster;
	return NULL;
}

int etcd_call(struct etcd *e, const char *path, char *body, struct etcd_answer *out)
{
	char *text = NULL, reason[ETCD_ERROR_BYTES] = "";
	size_t bytes = 0;

	*out = (struct etcd_answer){0};
	if (!body)
		return DXP_ENOMEM;
	int status = e->transport.post(e->transport.context, e->current, path, body, &text, &bytes,
				       reason);
	free(body);
	if (status != DXP_OK) {
		fail(e, reason);
		return DXP_EIO;
	}
	status = etcd_answer_decode(text, bytes, out);
	free(text);
	const char *wrong = status == DXP_OK ? answer_wrong(e, out) : "this is no answer of etcd";
	if (wrong) {
		fail(e, wrong);
		etcd_answer_free(out);
		return DXP_EIO;
	}
	if (e->failing)
		log_info("etcd at %s answers", e->place->endpoints[e->current]);
	e->failing = false;
	return DXP_OK;
}

void etcd_pause(struct etcd *e)
{
	e->transport.pause(e->transport.context, PAUSE_MS);
}
