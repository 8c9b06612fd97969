/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads and stores; part of execute_steps.h.
 *
 * The first execution finds the pattern of addresses, which later ones check first: one address;
 * consecutive words; one private word; these within each vector (rows of 8 or 16 work-items); any
 * in one segment. Others go lane by lane. */

INLINE const struct span *NAME(span_of)(const struct warp *w, uint32_t address)
{
	return &w->spans[w->page[address / RV32_PAGE_BYTES]];
}

/* Returns true if each lane holds the first lane's value plus `stride` times the lane. */
INLINE bool NAME(regular)(struct warp *w, const vec *a, uint32_t stride)
{
	const unsigned first = FIRST;
	const vec base = splat(((const uint32_t *)(const void *)a)[first] - first * stride);
	vec m = splat(UINT32_MAX);

	EACH m &= HOLDS((vec)(a[k] == base + lanes_of(k) * stride));
	return all_ones(m);
}

/* Computes offsets in the segment. Returns false if `bytes` bytes exceed the limit in some lane. */
INLINE bool NAME(offsets)(struct warp *w, const struct step *s, const struct span *span,
			  uint32_t limit, uint32_t bytes, vec offset[VECTORS])
{
	const vec *a = row(w, s->a);
	const vec shift = splat((uint32_t)s->imm - span->base), most = splat(limit - bytes);
	vec m = splat(UINT32_MAX);

	if (limit < bytes)
		return false;
	EACH
	{
		offset[k] = (a[k] + shift) & ACTIVE(k);
		m &= (vec)(offset[k] <= most);
	}
	return all_ones(m);
}

/* Returns the row of one private word for all lanes, or NULL. */
INLINE vec *NAME(private_row)(struct warp *w, const struct step *s)
{
	const uint32_t offset = w->row[s->a][FIRST] + (uint32_t)s->imm - w->private_base;

	if (offset > w->private_bytes - 4 || offset % 4 || !NAME(regular)(w, row(w, s->a), 0))
		return NULL;
	return (vec *)(void *)(w->private_rows + (size_t)offset * RV32_LANES);
}

INLINE bool NAME(try_load_private)(struct warp *w, const struct step *s)
{
	const vec *from = NAME(private_row)(w, s);
	vec *d = row(w, s->d);

	if (!from)
		return false;
	EACH PUT(d[k], from[k]);
	return true;
}

INLINE bool NAME(try_load_same)(struct warp *w, const struct step *s)
{
	const uint32_t address = w->row[s->a][FIRST] + (uint32_t)s->imm;
	const struct span *span = NAME(span_of)(w, address);
	const uint64_t offset = address - span->base;
	vec *d = row(w, s->d);
	uint32_t word;

	if (offset + sizeof(word) > span->read_limit || !NAME(regular)(w, row(w, s->a), 0))
		return false;
	memcpy(&word, span->host + offset, sizeof(word));
	const vec v = splat(word);
	EACH PUT(d[k], v);
	return true;
}

INLINE bool NAME(try_load_row)(struct warp *w, const struct step *s)
{
	const uint32_t address = w->row[s->a][FIRST] + (uint32_t)s->imm - 4 * FIRST;
	const struct span *span = NAME(span_of)(w, address);
	const uint64_t offset = address - span->base;
	vec *d = row(w, s->d);

	if (offset + 4 * RV32_LANES > span->read_limit || !NAME(regular)(w, row(w, s->a), 4))
		return false;
	const loose *from = (const loose *)(const void *)(span->host + offset);
	EACH PUT(d[k], (vec)from[k]);
	return true;
}

/* Returns true if, within each vector, lanes hold the first lane's value plus `stride` per lane. */
INLINE bool NAME(regular_pieces)(struct warp *w, const struct step *s, uint32_t stride)
{
	const vec *a = row(w, s->a);
	vec m = splat(UINT32_MAX);

	EACH m &= HOLDS((vec)(a[k] == splat(w->row[s->a][WIDTH * k]) + lanes_of(0) * stride));
	return all_ones(m);
}

/* Computes the offset of each vector's first word. Returns false if `bytes` bytes there exceed the
 * limit. */
INLINE bool NAME(piece_offsets)(struct warp *w, const struct step *s, const struct span *span,
				uint32_t limit, uint32_t bytes, uint32_t offset[VECTORS])
{
	const vec *a = row(w, s->a);
	bool fits = true;

	EACH
	{
		offset[k] = a[k][0] + (uint32_t)s->imm - span->base;
		fits &= (uint64_t)offset[k] + bytes <= limit;
	}
	return fits;
}

INLINE bool NAME(try_load_pieces)(struct warp *w, const struct step *s, uint32_t stride)
{
	const uint32_t bytes = stride ? 4 * WIDTH : 4;
	const struct span *span = NAME(span_of)(w, w->row[s->a][FIRST] + (uint32_t)s->imm);
	uint32_t offset[VECTORS], word;
	vec *d = row(w, s->d);

	if (!NAME(piece_offsets)(w, s, span, span->read_limit, bytes, offset) ||
	    !NAME(regular_pieces)(w, s, stride))
		return false;
	EACH
	{
		const uint8_t *from = span->host + offset[k];

		memcpy(&word, from, sizeof(word));
		PUT(d[k], stride ? (vec) * (const loose *)(const void *)from : splat(word));
	}
	return true;
}

INLINE bool NAME(try_load_pieces_same)(struct warp *w, const struct step *s)
{
	return NAME(try_load_pieces)(w, s, 0);
}

INLINE bool NAME(try_load_pieces_row)(struct warp *w, const struct step *s)
{
	return NAME(try_load_pieces)(w, s, 4);
}

INLINE bool NAME(try_load_gather)(struct warp *w, const struct step *s)
{
	const struct span *span = NAME(span_of)(w, w->row[s->a][FIRST] + (uint32_t)s->imm);
	vec offset[VECTORS], *d = row(w, s->d);

	if (!NAME(offsets)(w, s, span, span->read_limit, 4, offset))
		return false;
	EACH PUT(d[k], vector_gather(span->host, offset[k], ACTIVE(k)));
	return true;
}

HANDLER(load);

#define PATTERN(name, next)                      \
	HANDLER(name)                            \
	{                                        \
		if (!NAME(try_##name)(w, s))     \
			return NAME(next)(w, s); \
		return CONTINUE;                 \
	}

PATTERN(load_private, load)
PATTERN(load_same, load)
PATTERN(load_row, load)
PATTERN(load_pieces_same, load)
PATTERN(load_pieces_row, load)
PATTERN(load_gather, load)

/* Selects the handler of the pattern for the next execution. */
HANDLER(load)
{
	if (NAME(try_load_same)(w, s))
		s->fn = NAME(load_same);
	else if (NAME(try_load_row)(w, s))
		s->fn = NAME(load_row);
	else if (NAME(try_load_private)(w, s))
		s->fn = NAME(load_private);
	else if (NAME(try_load_pieces_same)(w, s))
		s->fn = NAME(load_pieces_same);
	else if (NAME(try_load_pieces_row)(w, s))
		s->fn = NAME(load_pieces_row);
	else if (NAME(try_load_gather)(w, s))
		s->fn = NAME(load_gather);
	else
		return rv32_lane_load(w, s, RV32_LW);
	return CONTINUE;
}

INLINE bool NAME(try_store_private)(struct warp *w, const struct step *s)
{
	vec *to = NAME(private_row)(w, s);
	const vec *b = row(w, s->b);

	if (!to)
		return false;
	uint32_t offset = (uint32_t)((uint8_t *)to - w->private_rows) / RV32_LANES;
	if (offset < w->private_low)
		w->private_low = offset;
	EACH PUT(to[k], b[k]);
	return true;
}

INLINE bool NAME(try_store_row)(struct warp *w, const struct step *s)
{
	const uint32_t address = w->row[s->a][FIRST] + (uint32_t)s->imm - 4 * FIRST;
	const struct span *span = NAME(span_of)(w, address);
	const uint64_t offset = address - span->base;
	const vec *b = row(w, s->b);

	if (offset + 4 * RV32_LANES > span->write_limit || !NAME(regular)(w, row(w, s->a), 4))
		return false;
	uint8_t *to = span->host + offset;
#if MASKED
	for (uint32_t m = w->mask; m; m &= m - 1) {
		const uint32_t i = first_lane(m);

		memcpy(to + 4 * (size_t)i, &w->row[s->b][i], 4);
	}
	(void)b;
#else
	EACH((loose *)(void *)to)[k] = (loose)b[k];
#endif
	return true;
}

/* Stores in lane order. Returns false if an access is not permitted. */
INLINE bool NAME(scatter)(struct warp *w, const struct step *s, uint32_t bytes)
{
	const struct span *span = NAME(span_of)(w, w->row[s->a][FIRST] + (uint32_t)s->imm);
	const uint32_t *from = w->row[s->b];
	vec offset[VECTORS];
	const uint32_t *at = (const uint32_t *)(const void *)offset;

	if (!NAME(offsets)(w, s, span, span->write_limit, bytes, offset))
		return false;
#if MASKED
	for (uint32_t m = w->mask; m; m &= m - 1)
		memcpy(span->host + at[first_lane(m)], &from[first_lane(m)], bytes);
#else
	for (int i = 0; i < RV32_LANES; i++)
		memcpy(span->host + at[i], &from[i], bytes);
#endif
	return true;
}

INLINE bool NAME(try_store_scatter)(struct warp *w, const struct step *s)
{
	return NAME(scatter)(w, s, 4);
}

HANDLER(store);
PATTERN(store_private, store)
PATTERN(store_row, store)
PATTERN(store_scatter, store)

/* Selects the handler of the pattern for the next execution. */
HANDLER(store)
{
	if (NAME(try_store_row)(w, s))
		s->fn = NAME(store_row);
	else if (NAME(try_store_private)(w, s))
		s->fn = NAME(store_private);
	else if (NAME(try_store_scatter)(w, s))
		s->fn = NAME(store_scatter);
	else
		return rv32_lane_store(w, s, RV32_SW);
	return CONTINUE;
}

/* Extends `type` to a word. Lanes that do not run read the segment's first bytes, which are not
 * used. */
#define LOAD_PART(name, type, opcode)                                                   \
	HANDLER(name)                                                                   \
	{                                                                               \
		const uint32_t address = w->row[s->a][FIRST] + (uint32_t)s->imm;        \
		const struct span *span = NAME(span_of)(w, address);                    \
		alignas(32) uint32_t t[RV32_LANES];                                     \
		vec offset[VECTORS], *d = row(w, s->d);                                 \
		const uint32_t *at = (const uint32_t *)(const void *)offset;            \
                                                                                        \
		if (!NAME(offsets)(w, s, span, span->read_limit, sizeof(type), offset)) \
			return rv32_lane_load(w, s, opcode);                            \
		for (int i = 0; i < RV32_LANES; i++) {                                  \
			type v;                                                         \
                                                                                        \
			memcpy(&v, span->host + at[i], sizeof(v));                      \
			t[i] = (uint32_t)(int32_t)v;                                    \
		}                                                                       \
		EACH PUT(d[k], ((const vec *)(const void *)t)[k]);                      \
		return s + 1;                                                           \
	}

LOAD_PART(lb, int8_t, RV32_LB)
LOAD_PART(lh, int16_t, RV32_LH)
LOAD_PART(lbu, uint8_t, RV32_LBU)
LOAD_PART(lhu, uint16_t, RV32_LHU)

HANDLER(sb)
{
	return NAME(scatter)(w, s, 1) ? s + 1 : rv32_lane_store(w, s, RV32_SB);
}

HANDLER(sh)
{
	return NAME(scatter)(w, s, 2) ? s + 1 : rv32_lane_store(w, s, RV32_SH);
}

#undef PATTERN
#undef LOAD_PART
