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

/* Makes the request in q->request. */
static int request(struct control *q, const char *file, struct keys_manager *out)
{
	struct channel *c;
	int status = control_run(q, &c);

	*out = (struct keys_manager){0};
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

bool keys_manager_store(struct keys_manager *m, const char *file)
{
	char text[KEY_TEXT_BYTES + 1];

	key_format(m->key, text);
	strcat(text, "\n");
	m->stored = m->stored || file_replace(file, text, 0644);
	return m->stored;
}

int keys_manager_get(struct control *q, const char *file, struct keys_manager *out)
{
	q->request = (struct channel_request){.command = CHANNEL_MANAGER_SHOW};
	return request(q, file, out);
}

int keys_manager_rotate(struct control *q, const char *file, uint64_t overlap_s, bool force,
			struct keys_manager *out)
{
	q->request = (struct channel_request){.command = CHANNEL_MANAGER_ROTATE,
					      .seconds = overlap_s,
					      .uses = force ? CHANNEL_FORCE : 0};
	int status = request(q, file, out);

	if (status != DXP_OK)
		return status;
	return keys_manager_store(out, file) ? DXP_OK : DXP_EIO;
}

void keys_manager_print(const struct keys_manager *m, const char *file)
{
	char text[KEY_TEXT_BYTES];

	if (!m->known)
		return;
	if (m->state.generation)
		printf("          its key pair has the generation %u, %s, replaced %llu s ago\n",
		       m->state.generation, key_format(m->key, text),
		       (unsigned long long)m->state.age_s);
	if (m->state.former_ms)
		printf("          the manager accepts the former one for another %u s\n",
		       (m->state.former_ms + 999) / 1000);
	if (!m->stored)
		printf("          %s has another key; run `dxp keys fetch`\n", file);
}

json_t *keys_manager_json(const struct keys_manager *m)
{
	char text[KEY_TEXT_BYTES];

	if (!m->known)
		return json_null();
	return json_pack("{s:s, s:I, s:I, s:f, s:b}", "key", key_format(m->key, text), "generation",
			 (json_int_t)m->state.generation, "age_s", (json_int_t)m->state.age_s,
			 "former_s", m->state.former_ms / 1000.0, "stored", m->stored);
}
