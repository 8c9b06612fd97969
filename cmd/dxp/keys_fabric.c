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

_Static_assert(FABRIC_KEY_BYTES == KEYS_BYTES, "struct key_state has both kinds of keys");

static int request(struct control *q, const char *file, struct key_state *out)
{
	int status = key_state_request(q, out);

	if (status == DXP_OK)
		out->stored = stored(file, out->key);
	return status;
}

int keys_fabric_get(struct control *q, const char *file, struct key_state *out)
{
	q->request = (struct channel_request){.command = CHANNEL_FABRIC_SHOW};
	return request(q, file, out);
}

int keys_fabric_rotate(struct control *q, const char *file, uint64_t overlap_s, bool force,
		       struct key_state *out)
{
	q->request = key_state_rotation(CHANNEL_FABRIC_ROTATE, overlap_s, force);
	int status = request(q, file, out);

	if (status != DXP_OK || out->stored)
		return status;
	out->stored = keyfile_write(file, out->key) == DXP_OK;
	return out->stored ? DXP_OK : DXP_EIO;
}

void keys_fabric_print(const struct key_state *f, const char *file)
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
	key_state_print(f, "nodes accept the former key", file);
}

json_t *keys_fabric_json(const struct key_state *f)
{
	char print[FABRIC_PRINT_TEXT];

	return key_state_json(f, "fingerprint", fabric_key_fingerprint(f->key, print));
}
