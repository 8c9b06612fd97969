/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodes and decodes the body of RUN: name, index space, arguments. */
#include "wire/command_codec.h"

/* Only on the wire: an image whose description equals that of an earlier argument, whose index
 * follows. The descriptions of a kernel's 128 images would not fit in one message. */
#define ARG_IMAGE_LIKE 6
/* Only on the wire: a buffer with its size. */
#define ARG_BUFFER_SIZED 7

static bool argument_valid(const struct command_argument *a)
{
	switch (a->kind) {
	case COMMAND_ARG_BYTES: return a->value && a->bytes >= 1 && a->bytes <= COMMAND_VALUE_BYTES;
	case COMMAND_ARG_BUFFER: return true;
	case COMMAND_ARG_LOCAL: return a->bytes >= 1;
	case COMMAND_ARG_NIC: return true;
	case COMMAND_ARG_IMAGE: return a->value && a->bytes == COMMAND_IMAGE_BYTES;
	case COMMAND_ARG_SAMPLER: return a->value && a->bytes == COMMAND_SAMPLER_BYTES;
	default: return false;
	}
}

bool command_run_valid(const struct command *c)
{
	if (c->text[0] == '\0' || !command_text_valid(c->text, COMMAND_NAME_BYTES))
		return false;
	if (c->dimensions < 1 || c->dimensions > 3 || c->argument_count > COMMAND_ARGS_MAX)
		return false;
	for (uint8_t d = 0; d < c->dimensions; d++)
		if (c->global[d] == 0)
			return false;
	for (uint8_t i = 0; i < c->argument_count; i++)
		if (!argument_valid(&c->arguments[i]))
			return false;
	return true;
}

static void get_name(struct get_cursor *g, char *to)
{
	size_t bytes = get_16(g);
	const uint8_t *at = get_raw(g, bytes);

	if (!at || bytes >= COMMAND_NAME_BYTES || memchr(at, '\0', bytes)) {
		g->bad = true;
		return;
	}
	memcpy(to, at, bytes);
	to[bytes] = '\0';
}

/* Index of the first image with argument i's description. */
static uint8_t image_like(const struct command *c, uint8_t i)
{
	const struct command_argument *a = c->arguments;
	uint8_t first = 0;

	while (a[first].kind != COMMAND_ARG_IMAGE ||
	       (first != i && memcmp(a[first].value, a[i].value, COMMAND_IMAGE_BYTES) != 0))
		first++;
	return first;
}

static void put_image(struct put_cursor *p, const struct command *c, uint8_t i)
{
	const struct command_argument *a = &c->arguments[i];
	uint8_t like = image_like(c, i);

	put_8(p, like == i ? COMMAND_ARG_IMAGE : ARG_IMAGE_LIKE);
	put_64(p, a->address);
	if (like == i)
		put_bytes(p, a->value, a->bytes);
	else
		put_8(p, like);
}

static void put_buffer(struct put_cursor *p, const struct command_argument *a, bool sized)
{
	sized = sized && a->bytes > 0;
	put_8(p, sized ? ARG_BUFFER_SIZED : COMMAND_ARG_BUFFER);
	put_64(p, a->address);
	if (sized)
		put_32(p, a->bytes);
}

static void put_argument(struct put_cursor *p, const struct command *c, uint8_t i, bool sized)
{
	const struct command_argument *a = &c->arguments[i];

	if (a->kind == COMMAND_ARG_IMAGE) {
		put_image(p, c, i);
		return;
	}
	if (a->kind == COMMAND_ARG_BUFFER) {
		put_buffer(p, a, sized);
		return;
	}
	put_8(p, a->kind);
	switch (a->kind) {
	case COMMAND_ARG_BYTES:
		put_16(p, (uint16_t)a->bytes);
		put_bytes(p, a->value, a->bytes);
		break;
	case COMMAND_ARG_LOCAL: put_32(p, a->bytes); break;
	case COMMAND_ARG_SAMPLER: put_bytes(p, a->value, a->bytes); break;
	}
}

static void get_image_like(struct get_cursor *g, struct command *c, uint8_t i)
{
	struct command_argument *a = &c->arguments[i];

	a->kind = COMMAND_ARG_IMAGE;
	a->address = get_64(g);
	uint8_t like = get_8(g);
	if (like >= i || c->arguments[like].kind != COMMAND_ARG_IMAGE) {
		g->bad = true;
		return;
	}
	a->bytes = COMMAND_IMAGE_BYTES;
	a->value = c->arguments[like].value;
}

static void get_buffer(struct get_cursor *g, struct command_argument *a)
{
	a->kind = COMMAND_ARG_BUFFER;
	a->address = get_64(g);
	a->bytes = get_32(g);
	if (a->bytes == 0)
		g->bad = true;
}

static void get_argument(struct get_cursor *g, struct command *c, uint8_t i)
{
	struct command_argument *a = &c->arguments[i];

	*a = (struct command_argument){.kind = get_8(g)};
	switch (a->kind) {
	case COMMAND_ARG_BYTES:
		a->bytes = get_16(g);
		a->value = get_raw(g, a->bytes);
		break;
	case COMMAND_ARG_BUFFER: a->address = get_64(g); break;
	case ARG_BUFFER_SIZED: get_buffer(g, a); break;
	case COMMAND_ARG_LOCAL: a->bytes = get_32(g); break;
	case COMMAND_ARG_NIC: break;
	case COMMAND_ARG_IMAGE:
		a->address = get_64(g);
		a->bytes = COMMAND_IMAGE_BYTES;
		a->value = get_raw(g, a->bytes);
		break;
	case COMMAND_ARG_SAMPLER:
		a->bytes = COMMAND_SAMPLER_BYTES;
		a->value = get_raw(g, a->bytes);
		break;
	case ARG_IMAGE_LIKE: get_image_like(g, c, i); break;
	default: g->bad = true;
	}
}

static void put_arguments(struct put_cursor *p, const struct command *c, bool sized)
{
	for (uint8_t i = 0; i < c->argument_count; i++)
		put_argument(p, c, i, sized);
}

void command_run_put(struct put_cursor *p, const struct command *c)
{
	size_t name_bytes = strlen(c->text);

	put_32(p, c->program);
	put_16(p, (uint16_t)name_bytes);
	put_bytes(p, c->text, name_bytes);
	put_8(p, c->dimensions);
	for (uint8_t d = 0; d < c->dimensions; d++) {
		put_64(p, c->global[d]);
		put_64(p, c->local[d]);
		put_64(p, c->offset[d]);
	}
	put_8(p, c->argument_count);
	const struct put_cursor before = *p;
	put_arguments(p, c, true);
	if (!p->bad || before.bad)
		return;
	/* without space: again, without sizes of buffers */
	*p = before;
	put_arguments(p, c, false);
}

void command_run_get(struct get_cursor *g, struct command *c)
{
	c->program = get_32(g);
	get_name(g, c->text);
	c->dimensions = get_8(g);
	for (uint8_t d = 0; d < 3; d++)
		c->global[d] = 1;
	for (uint8_t d = 0; d < c->dimensions && d < 3; d++) {
		c->global[d] = get_64(g);
		c->local[d] = get_64(g);
		c->offset[d] = get_64(g);
	}
	c->argument_count = get_8(g);
	for (uint8_t i = 0; i < c->argument_count && i < COMMAND_ARGS_MAX && !g->bad; i++)
		get_argument(g, c, i);
}

void command_image_put(const struct dxp_image *image, uint8_t out[COMMAND_IMAGE_BYTES])
{
	const uint32_t words[] = {image->order, image->type,   image->object, image->access,
				  image->width, image->height, image->depth,  image->layers};

	for (size_t i = 0; i < 8; i++)
		put_be32(out + 4 * i, words[i]);
	put_be64(out + 32, image->row_pitch);
	put_be64(out + 40, image->slice_pitch);
}

void command_image_get(const uint8_t value[COMMAND_IMAGE_BYTES], struct dxp_image *out)
{
	*out = (struct dxp_image){
		.order = get_be32(value),
		.type = get_be32(value + 4),
		.object = get_be32(value + 8),
		.access = get_be32(value + 12),
		.width = get_be32(value + 16),
		.height = get_be32(value + 20),
		.depth = get_be32(value + 24),
		.layers = get_be32(value + 28),
		.row_pitch = get_be64(value + 32),
		.slice_pitch = get_be64(value + 40),
	};
}

void command_sampler_put(const struct dxp_sampler *sampler, uint8_t out[COMMAND_SAMPLER_BYTES])
{
	put_be32(out, sampler->normalized);
	put_be32(out + 4, sampler->addressing);
	put_be32(out + 8, sampler->filter);
}

void command_sampler_get(const uint8_t value[COMMAND_SAMPLER_BYTES], struct dxp_sampler *out)
{
	*out = (struct dxp_sampler){.normalized = get_be32(value),
				    .addressing = get_be32(value + 4),
				    .filter = get_be32(value + 8)};
}
