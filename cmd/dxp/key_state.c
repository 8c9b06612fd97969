/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/key_state.h"

#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

int key_state_request(struct control *q, struct key_state *out)
{
	struct channel *c;
	int status = control_run(q, &c);

	*out = (struct key_state){0};
	if (status != DXP_OK)
		return status;
	const struct channel_answer *answer = channel_last(c);
	out->known = answer->fabric.present;
	out->state = answer->fabric;
	memcpy(out->key, answer->fabric_key, sizeof(out->key));
	channel_destroy(c);
	return DXP_OK;
}

struct channel_request key_state_rotation(enum channel_command command, uint64_t overlap_s,
					  bool force)
{
	return (struct channel_request){.command = (uint8_t)command,
					.seconds = overlap_s,
					.uses = force ? CHANNEL_FORCE : 0};
}

void key_state_print(const struct key_state *k, const char *use, const char *file)
{
	if (k->state.former_ms)
		printf("          %s for another %u s\n", use, (k->state.former_ms + 999) / 1000);
	if (!k->stored)
		printf("          %s has another key; run `dxp keys fetch`\n", file);
}

json_t *key_state_json(const struct key_state *k, const char *name, const char *text)
{
	if (!k->known)
		return json_null();
	return json_pack("{s:s, s:I, s:I, s:f, s:b}", name, text, "generation",
			 (json_int_t)k->state.generation, "age_s", (json_int_t)k->state.age_s,
			 "former_s", k->state.former_ms / 1000.0, "stored", k->stored);
}
