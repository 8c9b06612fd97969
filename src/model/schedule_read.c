/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a schedule by line; numbers have limits, and errors name their line. */
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/util.h"
#include "model/schedule.h"

#define WORDS_MAX    8  /* no valid line has more */
#define QUOTED_BYTES 24 /* of a quoted word */
#define NO_RANK      UINT32_MAX

struct word {
	const char *at;
	size_t bytes;
};

struct label {
	struct word name;
	uint32_t rank, op; /* over all ranks */
};

struct reader {
	struct model_text_schedule *out;
	uint32_t line, rank, ops, ops_space;
	/* size of the hash table - 1; rank NO_RANK: a free entry */
	uint32_t labels, labels_mask;
	struct label *label;
	/* required operation, and the one that requires it */
	uint32_t (*pairs)[2];
	uint64_t pair_count, pair_space;
	struct word words[WORDS_MAX];
	uint32_t count;
};

static int wrong(const struct reader *r, const char *reason)
{
	return error_set(DXP_EINVAL, "line %u: %s", r->line, reason);
}

static int wrong_word(const struct reader *r, const struct word *w, const char *reason)
{
	int bytes = (int)min_u64(w->bytes, QUOTED_BYTES);

	for (int i = 0; i < bytes; i++)
		if (w->at[i] < ' ' || w->at[i] > '~')
			return wrong(r, reason);
	return error_set(DXP_EINVAL, "line %u: '%.*s': %s", r->line, bytes, w->at, reason);
}

static bool is(const struct word *w, const char *text)
{
	return w->bytes == strlen(text) && memcmp(w->at, text, w->bytes) == 0;
}

/* Digits and exactly `unit`; false: other text, or above `most`. */
static bool number(const struct word *w, const char *unit, uint64_t most, uint64_t *out)
{
	size_t i = 0;
	uint64_t value = 0;

	for (; i < w->bytes && w->at[i] >= '0' && w->at[i] <= '9'; i++) {
		value = value * 10 + (uint64_t)(w->at[i] - '0');
		if (value > most)
			return false;
	}
	if (i == 0 || w->bytes - i != strlen(unit) || memcmp(w->at + i, unit, w->bytes - i) != 0)
		return false;
	*out = value;
	return true;
}

static bool is_name(const struct word *w)
{
	for (size_t i = 0; i < w->bytes; i++) {
		char c = w->at[i];
		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
		    c != '_')
			return false;
	}
	return w->bytes > 0;
}

/* ---- labels ---- */

static struct label *label_slot(const struct reader *r, const struct word *name)
{
	uint64_t hash = 0xcbf29ce484222325ull ^ r->rank;

	for (size_t i = 0; i < name->bytes; i++)
		hash = (hash ^ (uint8_t)name->at[i]) * 0x100000001b3ull;
	hash ^= hash >> 32;
	for (uint32_t i = (uint32_t)hash & r->labels_mask;; i = (i + 1) & r->labels_mask) {
		struct label *l = &r->label[i];
		if (l->rank == NO_RANK || (l->rank == r->rank && l->name.bytes == name->bytes &&
					   memcmp(l->name.at, name->at, name->bytes) == 0))
			return l;
	}
}

static int labels_grow(struct reader *r)
{
	struct label *before = r->label;
	uint32_t count = r->label ? r->labels_mask + 1 : 0, rank = r->rank;
	uint32_t space = count ? 2 * count : 256;

	r->label = malloc(space * sizeof(*r->label));
	if (!r->label) {
		r->label = before;
		return DXP_ENOMEM;
	}
	memset(r->label, 0xff, space * sizeof(*r->label));
	r->labels_mask = space - 1;
	for (uint32_t i = 0; i < count; i++) {
		if (before[i].rank == NO_RANK)
			continue;
		r->rank = before[i].rank;
		*label_slot(r, &before[i].name) = before[i];
	}
	r->rank = rank;
	free(before);
	return DXP_OK;
}

static int label_add(struct reader *r, const struct word *name)
{
	if (!is_name(name))
		return wrong_word(r, name, "a label has letters, digits and _ only");
	if (!r->label || 2 * r->labels > r->labels_mask) {
		int status = labels_grow(r);
		if (status != DXP_OK)
			return status;
	}
	struct label *l = label_slot(r, name);
	if (l->rank != NO_RANK)
		return wrong_word(r, name, "this rank has such a label already");
	*l = (struct label){*name, r->rank, r->ops};
	r->labels++;
	return DXP_OK;
}

/* ---- lines ---- */

static int requires_line(struct reader *r)
{
	uint32_t ends[2];

	if (r->count != 3)
		return wrong(r, "expected: LABEL requires LABEL");
	for (int i = 0; i < 2; i++) {
		const struct word *name = &r->words[i == 0 ? 2 : 0];
		const struct label *l = r->label ? label_slot(r, name) : NULL;
		if (!l || l->rank == NO_RANK)
			return wrong_word(r, name, "no operation of this rank has this label yet");
		ends[i] = l->op;
	}
	if (ends[0] == ends[1])
		return wrong_word(r, &r->words[0], "an operation cannot require itself");
	if (r->pair_count == r->pair_space) {
		uint64_t space = r->pair_space ? 2 * r->pair_space : 1024;
		void *pairs = realloc(r->pairs, space * sizeof(*r->pairs));
		if (!pairs)
			return DXP_ENOMEM;
		r->pairs = pairs;
		r->pair_space = space;
	}
	r->pairs[r->pair_count][0] = ends[0];
	r->pairs[r->pair_count++][1] = ends[1];
	return DXP_OK;
}

static int op_add(struct reader *r, const struct model_task *op)
{
	struct model_text_schedule *s = r->out;

	if (r->ops == MODEL_TEXT_OPS_MAX)
		return error_set(DXP_EINVAL, "line %u: more than %u operations", r->line,
				 MODEL_TEXT_OPS_MAX);
	if (r->ops == r->ops_space) {
		uint32_t space = r->ops_space ? 2 * r->ops_space : 1024;
		void *ops = realloc(s->ops, space * sizeof(*s->ops));
		if (!ops)
			return DXP_ENOMEM;
		s->ops = ops;
		r->ops_space = space;
	}
	s->ops[r->ops++] = *op;
	return DXP_OK;
}

/* Parses "send 64b to 1 tag 7" or "recv 64b from 1". */
static int message_line(struct reader *r, const struct word *w, uint32_t count)
{
	bool sends = is(w, "send");
	uint64_t bytes, peer, tag = 0;

	if ((count != 4 && count != 6) || !is(&w[2], sends ? "to" : "from") ||
	    (count == 6 && !is(&w[4], "tag")))
		return wrong(r, sends ? "expected: send BYTESb to RANK [tag N]"
				      : "expected: recv BYTESb from RANK [tag N]");
	if (!number(&w[1], "b", MODEL_BYTES_MAX, &bytes))
		return wrong_word(r, &w[1], "not a size such as 64b, of at most 4 GiB");
	if (!number(&w[3], "", r->out->schedule.ranks - 1, &peer))
		return wrong_word(r, &w[3], "not a rank of this schedule");
	if (peer == r->rank)
		return wrong_word(r, &w[3], "a rank sends no messages to itself");
	if (count == 6 && !number(&w[5], "", UINT32_MAX, &tag))
		return wrong_word(r, &w[5], "not a tag of 0 .. 4294967295");
	const struct model_task op = {.kind = sends ? MODEL_SEND : MODEL_RECEIVE,
				      .bytes = bytes,
				      .peer = (uint32_t)peer,
				      .tag = (uint32_t)tag};
	return op_add(r, &op);
}

static int op_line(struct reader *r)
{
	const struct word *w = r->words;
	uint32_t count = r->count;
	uint64_t ns;

	if (w->bytes > 1 && w->at[w->bytes - 1] == ':') {
		const struct word name = {w->at, w->bytes - 1};
		int status = label_add(r, &name);
		if (status != DXP_OK)
			return status;
		w++;
		count--;
	}
	if (count > 0 && (is(w, "send") || is(w, "recv")))
		return message_line(r, w, count);
	if (count != 2 || !is(w, "calc"))
		return wrong(r, "expected: [LABEL:] send ... | recv ... | calc NANOSECONDS, or "
				"LABEL requires LABEL, or }");
	if (!number(&w[1], "", MODEL_CALC_NS_MAX, &ns))
		return wrong_word(r, &w[1], "not a number of nanoseconds of at most 1 s");
	return op_add(r, &(struct model_task){.kind = MODEL_CALC, .bytes = ns * 1000});
}

static int ranks_line(struct reader *r)
{
	struct model_text_schedule *s = r->out;
	uint64_t ranks;

	if (r->count != 2 || !is(&r->words[0], "ranks") ||
	    !number(&r->words[1], "", MODEL_RANKS_MAX, &ranks) || ranks == 0)
		return error_set(DXP_EINVAL, "line %u: expected first: ranks N, with N in 1 .. %u",
				 r->line, MODEL_RANKS_MAX);
	s->schedule.ranks = (uint32_t)ranks;
	s->requirements.first = malloc((ranks + 1) * sizeof(*s->requirements.first));
	return s->requirements.first ? DXP_OK : DXP_ENOMEM;
}

/* Opens a rank; *next: lowest rank that may be opened. */
static int rank_line(struct reader *r, uint32_t *next)
{
	struct model_text_schedule *s = r->out;
	uint64_t rank;

	if (r->count != 3 || !is(&r->words[0], "rank") || !is(&r->words[2], "{"))
		return wrong(r, "expected: rank N {");
	if (!number(&r->words[1], "", s->schedule.ranks - 1, &rank))
		return wrong_word(r, &r->words[1], "not a rank of this schedule");
	if (rank < *next)
		return wrong_word(r, &r->words[1], "ranks come once and in ascending order");
	while (*next <= rank)
		s->requirements.first[(*next)++] = r->ops;
	r->rank = (uint32_t)rank;
	return DXP_OK;
}

static int line_read(struct reader *r, uint32_t *next)
{
	if (r->count == 0)
		return DXP_OK;
	if (r->out->schedule.ranks == 0)
		return ranks_line(r);
	if (r->rank == NO_RANK)
		return rank_line(r, next);
	if (r->count == 1 && is(&r->words[0], "}")) {
		r->rank = NO_RANK;
		return DXP_OK;
	}
	if (r->count >= 2 && is(&r->words[1], "requires"))
		return requires_line(r);
	return op_line(r);
}

/* Splits a line without its comment. */
static int words_split(struct reader *r, const char *at, const char *end)
{
	r->count = 0;
	for (;;) {
		while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
			at++;
		if (at == end || *at == '#')
			return DXP_OK;
		if (r->count == WORDS_MAX)
			return wrong(r, "too many words");
		struct word *w = &r->words[r->count++];
		w->at = at;
		while (at < end && *at != ' ' && *at != '\t' && *at != '\r' && *at != '#')
			at++;
		w->bytes = (size_t)(at - w->at);
	}
}

/* Sorts by the required operation. */
static int pairs_sort(struct reader *r)
{
	struct model_requirements *q = &r->out->requirements;

	q->unmet = calloc(max_u32(r->ops, 1), sizeof(*q->unmet));
	q->next = calloc((size_t)r->ops + 2, sizeof(*q->next));
	q->after = malloc(max_u64(r->pair_count, 1) * sizeof(*q->after));
	if (!q->unmet || !q->next || !q->after)
		return DXP_ENOMEM;
	uint32_t *fill = q->next + 1;
	for (uint64_t i = 0; i < r->pair_count; i++)
		fill[r->pairs[i][0] + 1]++;
	for (uint32_t i = 0; i < r->ops; i++)
		fill[i + 1] += fill[i];
	for (uint64_t i = 0; i < r->pair_count; i++) {
		q->after[fill[r->pairs[i][0]]++] = r->pairs[i][1];
		q->unmet[r->pairs[i][1]]++;
	}
	return DXP_OK;
}

static int text_read(struct reader *r, const char *text, size_t text_bytes)
{
	const char *at = text, *end = text + text_bytes;
	uint32_t next = 0;
	int status = DXP_OK;

	while (status == DXP_OK && at < end) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));
		line_end = line_end ? line_end : end;
		r->line++;
		status = words_split(r, at, line_end);
		if (status == DXP_OK)
			status = line_read(r, &next);
		at = line_end + 1;
	}
	if (status != DXP_OK)
		return status;
	if (r->out->schedule.ranks == 0)
		return wrong(r, "the text is empty; expected: ranks N");
	if (r->rank != NO_RANK)
		return error_set(DXP_EINVAL, "line %u: rank %u has no }", r->line, r->rank);
	while (next <= r->out->schedule.ranks)
		r->out->requirements.first[next++] = r->ops;
	return pairs_sort(r);
}

static uint32_t text_count(const struct model_schedule *s, uint32_t rank)
{
	return s->requirements->first[rank + 1] - s->requirements->first[rank];
}

static void text_op(const struct model_schedule *s, uint32_t rank, uint32_t index,
		    struct model_task *out)
{
	*out = CONTAINER_OF(s, const struct model_text_schedule, schedule)
		       ->ops[s->requirements->first[rank] + index];
}

int model_schedule_read(const char *text, size_t text_bytes, struct model_text_schedule **out)
{
	struct model_text_schedule *s = calloc(1, sizeof(*s));
	struct reader r = {.out = s, .rank = NO_RANK};

	if (!s)
		return DXP_ENOMEM;
	int status = text_read(&r, text, text_bytes);
	free(r.label);
	free(r.pairs);
	if (status != DXP_OK) {
		model_schedule_destroy(s);
		return status;
	}
	s->schedule.count = text_count;
	s->schedule.op = text_op;
	s->schedule.requirements = &s->requirements;
	*out = s;
	return DXP_OK;
}

void model_schedule_destroy(struct model_text_schedule *s)
{
	if (!s)
		return;
	free(s->requirements.first);
	free(s->requirements.unmet);
	free(s->requirements.next);
	free(s->requirements.after);
	free(s->ops);
	free(s);
}
