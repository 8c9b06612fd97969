/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/keys_fabric.h"

#include <string.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/keyfile.h"
#include "base/log.h"

static bool stored(const char *file, const uint8_t key[FABRIC_KEY_BYTES])
{
	uint8_t own[FABRIC_KEY_BYTES];
	char why[CONTROL_TEXT_BYTES];

	log_divert(why, sizeof(why));
	const bool same = keyfile_read(file, own) == DXP_OK && memcmp(own, key, sizeof(own)) == 0;
	log_divert(NULL, 0);
	keys_erase(own, sizeof(own));
	return same;
}

/* Makes the request in q->request. */
static int request(struct control *q, const char *file, struct keys_fabric *out)
{
	struct channel *c;
	int status = control_run(q, &c);

	*out = (struct keys_fabric){0};
	if (status != DXP_OK)
		return status;
	const struct channel_answer *answer = channel_last(c);
	out->known = answer->fabric.present;
	out->state = answer->fabric;
	memcpy(out->key, answer->fabric_key, sizeof(out->key));
	out->stored = stored(file, out->key);
	channel_destroy(c);
	return DXP_OK;
}

int keys_fabric_get(struct control *q, const char *file, struct keys_fabric *out)
{
	q->request = (struct channel_request){.command = CHANNEL_FABRIC_SHOW};
	return request(q, file, out);
}

int keys_fabric_rotate(struct control *q, const char *file, uint64_t overlap_s, bool force,
		       struct keys_fabric *out)
{
	q->request = (struct channel_request){.command = CHANNEL_FABRIC_ROTATE,
					      .seconds = overlap_s,
					      .uses = force ? CHANNEL_FORCE : 0};
	int status = request(q, file, out);

	if (status != DXP_OK || out->stored)
		return status;
	out->stored = keyfile_write(file, out->key) == DXP_OK;
	return out->stored ? DXP_OK : DXP_EIO;
}

void keys_fabric_print(const struct keys_fabric *f, const char *file)
{
	char print[FABRIC_PRINT_TEXT];

	if (!f->known)
		return;
	printf("fabric    %s, ", fabric_key_fingerprint(f->key, print));
	if (f->state.generation)
		printf("generation %u, rotated %llu s ago\n", f->state.generation,
		       (unsigned long long)f->state.age_s);
	else
		printf("never rotated\n");
	if (f->state.former_ms)
		printf("          nodes accept the former key for another %u s\n",
		       (f->state.former_ms + 999) / 1000);
	if (!f->stored)
		printf("          %s has another key; run `dxp keys fetch`\n", file);
}

json_t *keys_fabric_json(const struct keys_fabric *f)
{
	char print[FABRIC_PRINT_TEXT];

	if (!f->known)
		return json_null();
	return json_pack("{s:s, s:I, s:I, s:f, s:b}", "fingerprint",
			 fabric_key_fingerprint(f->key, print), "generation",
			 (json_int_t)f->state.generation, "age_s", (json_int_t)f->state.age_s,
			 "former_s", f->state.former_ms / 1000.0, "stored", f->stored);
}
