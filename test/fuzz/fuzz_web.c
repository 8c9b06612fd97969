/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes requests with arbitrary text to dxp-web: lines of method, path, host, authorization,
 * cookie, token, event. Where a login is required, none may read anything. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/web/api.h"
#include "cmd/web/stream.h"
#include "test/unit/web_rig.h"

#define FIELDS 7

struct target {
	struct web_state *state;
	struct web_login login;
	struct web_api *open, *closed;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void target_open(struct target *t)
{
	static const struct web_rig_node nodes[] = {{.id = 1, .name = "xpu1"},
						    {.id = 2, .name = "xpu2", .dead = true}};

	t->state = web_rig_state(nodes, ARRAY_COUNT(nodes));
	struct web_api_options options = {.state = t->state};
	t->open = web_api_create(&options);
	t->login.entropy = rng_entropy_kernel;
	options.login = &t->login;
	options.scrape_token = "a secret that no input has";
	t->closed = web_api_create(&options);
}

/* The last field gets the rest. */
static void fields_split(char *text, const char *fields[FIELDS])
{
	for (unsigned i = 0; i < FIELDS; i++) {
		fields[i] = text;
		char *end = text && i < FIELDS - 1 ? strchr(text, '\n') : NULL;
		if (end)
			*end++ = '\0';
		text = end;
	}
}

static void answer_check(const struct web_answer *a)
{
	assert(a->status >= 200 && a->status < 600 && a->type);
	assert(a->text || a->page || a->location || a->stream);
	if (a->text && strcmp(a->type, "application/json") == 0) {
		json_t *value = json_loadb(a->text->data, a->text->bytes, 0, NULL);
		assert(value);
		json_decref(value);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct target t;
	const char *fields[FIELDS];
	char *text = malloc(bytes + 1);
	struct web_stream stream;
	struct web_answer a;

	if (!t.state)
		target_open(&t);
	memcpy(text, data, bytes);
	text[bytes] = '\0';
	fields_split(text, fields);
	const struct web_request r = {.method = fields[0],
				      .path = fields[1] ? fields[1] : "",
				      .host = fields[2],
				      .authorization = fields[3],
				      .session = fields[4],
				      .token = fields[5],
				      .after = fields[6]};
	web_api_answer(t.open, &r, 1000, 1000, &a);
	answer_check(&a);
	web_text_release(a.text);
	web_api_answer(t.closed, &r, 1000, 1000, &a);
	answer_check(&a);
	assert(a.status >= 400 && !a.stream && !a.cookie[0]);
	web_text_release(a.text);
	web_stream_begin(&stream, t.state, r.after);
	free(text);
	return 0;
}
