/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/keys_manager.h"

#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "base/file_replace.h"

static bool stored(const char *file, const uint8_t key[KEYS_BYTES])
{
	char own[KEY_TEXT_BYTES], text[KEY_TEXT_BYTES] = "";
	FILE *f = fopen(file, "r");

	if (!f)
		return false;
	const size_t bytes = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[bytes] = '\0';
	return strcmp(text, key_format(key, own)) == 0;
}

static int request(struct control *q, const char *file, struct key_state *out)
{
	int status = key_state_request(q, out);

	if (status == DXP_OK)
		out->stored = stored(file, out->key);
	return status;
}

bool keys_manager_store(struct key_state *m, const char *file)
{
	char text[KEY_TEXT_BYTES + 1];

	key_format(m->key, text);
	strcat(text, "\n");
	m->stored = m->stored || file_replace(file, text, 0644);
	return m->stored;
}

int keys_manager_get(struct control *q, const char *file, struct key_state *out)
{
	q->request = (struct channel_request){.command = CHANNEL_MANAGER_SHOW};
	return request(q, file, out);
}

int keys_manager_rotate(struct control *q, const char *file, uint64_t overlap_s, bool force,
			struct key_state *out)
{
	q->request = key_state_rotation(CHANNEL_MANAGER_ROTATE, overlap_s, force);
	int status = request(q, file, out);

	if (status != DXP_OK)
		return status;
	return keys_manager_store(out, file) ? DXP_OK : DXP_EIO;
}

void keys_manager_print(const struct key_state *m, const char *file)
{
	char text[KEY_TEXT_BYTES];

	if (!m->known)
		return;
	if (m->state.generation)
		printf("          its key pair has the generation %u, %s, replaced %llu s ago\n",
		       m->state.generation, key_format(m->key, text),
		       (unsigned long long)m->state.age_s);
	key_state_print(m, "the manager accepts the former one", file);
}

json_t *keys_manager_json(const struct key_state *m)
{
	char text[KEY_TEXT_BYTES];

	return key_state_json(m, "key", key_format(m->key, text));
}
