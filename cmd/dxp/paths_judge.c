/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/median.h"
#include "base/util.h"
#include "node/limits.h"

#define LOSSY_SENT  20 /* short probes from which on loss is judged */
#define LOSSY_SHARE 20 /* lossy: more than 1/20 of the probes lost */

bool paths_judge(struct paths *p)
{
	size_t count = 0;

	for (uint32_t i = 0; i < p->list.count; i++)
		count += p->list.views[i].path_count;
	uint64_t *all = malloc((count + 1) * sizeof(*all));
	if (!all)
		return false;
	count = 0;
	for (uint32_t i = 0; i < p->list.count; i++)
		for (uint32_t k = 0; k < p->list.views[i].path_count; k++)
			if (p->list.views[i].paths[k].min_rtt_ns)
				all[count++] = p->list.views[i].paths[k].min_rtt_ns;
	p->median_ns = median_lower(all, count);
	free(all);
	return true;
}

const char *paths_verdict(const struct paths *p, const struct stats_path *path)
{
	const uint64_t lost = path->sent - min_u64(path->sent, path->answered);

	if (path->state == STATS_PATH_BLOCKED)
		return "blocked";
	if (path->sent >= LOSSY_SENT && lost * LOSSY_SHARE > path->sent)
		return "lossy";
	if (path->min_rtt_ns > PROBE_SLOW_NS && path->min_rtt_ns > PROBE_SLOW_FACTOR * p->median_ns)
		return "slow";
	if (path->answered_bytes && path->answered_bytes < path->limit_bytes)
		return "short";
	return NULL;
}

void paths_trouble(const struct paths *p, const struct stats_path *path, char *out, size_t bytes)
{
	const char *bad = paths_verdict(p, path);

	if (!bad)
		snprintf(out, bytes, "%s", "");
	else if (path->state == STATS_PATH_BLOCKED && path->age_ns == 0)
		snprintf(out, bytes, "no answer yet; check %s with `dxp doctor --to %s`",
			 path->peer, path->peer);
	else if (path->state == STATS_PATH_BLOCKED)
		snprintf(out, bytes,
			 "the last answer is %.0f s old; check %s with `dxp doctor --to %s`",
			 (double)path->age_ns / S_NS, path->peer, path->peer);
	else if (strcmp(bad, "lossy") == 0)
		snprintf(out, bytes, "%llu of the last %llu short probes are lost",
			 (unsigned long long)(path->sent - path->answered),
			 (unsigned long long)path->sent);
	else if (strcmp(bad, "slow") == 0)
		snprintf(out, bytes, "at least %.0f us; the median of all paths is %.0f us",
			 (double)path->min_rtt_ns / US_NS, (double)p->median_ns / US_NS);
	else
		snprintf(out, bytes,
			 "packets of %llu bytes arrive, those of %llu, the interface's MTU, do not",
			 (unsigned long long)path->answered_bytes + PATH_HEADER_BYTES,
			 (unsigned long long)path->limit_bytes + PATH_HEADER_BYTES);
}

static json_t *path_json(const struct paths *p, size_t from, const struct stats_path *path)
{
	static const char *const states[] = {"unknown", "open", "blocked"};
	const char *bad = paths_verdict(p, path);
	char text[PATH_TEXT_BYTES];
	json_t *out = json_pack(
		"{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I}", "from", p->nodes[from].name, "to",
		path->peer, "state", states[path->state], "sent", (json_int_t)path->sent,
		"answered", (json_int_t)path->answered, "rtt_ns", (json_int_t)path->srtt_ns,
		"min_rtt_ns", (json_int_t)path->min_rtt_ns, "mtu_bytes",
		(json_int_t)(path->answered_bytes ? path->answered_bytes + PATH_HEADER_BYTES : 0),
		"interface_mtu_bytes", (json_int_t)(path->limit_bytes + PATH_HEADER_BYTES));

	if (path->age_ns)
		json_object_set_new(out, "answer_age_ns", json_integer((json_int_t)path->age_ns));
	if (bad) {
		paths_trouble(p, path, text, sizeof(text));
		json_object_set_new(out, "verdict", json_string(bad));
		json_object_set_new(out, "verdict_text", json_string(text));
	}
	return out;
}

json_t *paths_json(const struct paths *p)
{
	json_t *paths = json_array(), *missing = json_array();

	for (size_t i = 0; i < p->count; i++) {
		const struct stats_view *v = &p->list.views[i];
		if (v->missing)
			json_array_append_new(missing,
					      json_pack("{s:s, s:s}", "from", p->nodes[i].name,
							"why", v->missing));
		for (uint32_t k = 0; k < v->path_count; k++)
			json_array_append_new(paths, path_json(p, i, &v->paths[k]));
	}
	return json_pack("{s:o, s:o}", "paths", paths, "missing", missing);
}
