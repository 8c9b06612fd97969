/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/options/options.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/options/settings.h"
#include "base/util.h"

/* most options of a command; below 58 and 63, the codes of ':' and '?', which getopt returns */
#define ROWS_MAX      48
#define LEAVE(status) (-1 - (status))

/* Codes of options that no row describes. The code of an option with a row is the row's index. */
enum { CODE_HELP = ROWS_MAX, CODE_VERSION, CODE_CONFIG };

enum { EXIT_DONE = 0, EXIT_USAGE = 2 };

/* Names of options that several commands have; their section is [dxp]. */
static const char *const common_names[] = {"bind", "context", "dir", "key", "manager", "name"};

static struct {
	options_show_fn show; /* NULL: parse command lines */
	void *context;
} showing;

/* A parse in progress. `origin` has one entry for each row. */
struct parse {
	const struct usage *usage;
	char section[64];
	struct option_origin origin[ROWS_MAX];
	char quoted[160]; /* name of an option as the source writes it, for errors */
};

bool option_number_parse(const char *text, uint64_t *out)
{
	char *end;

	errno = 0;
	unsigned long long value = strtoull(text, &end, 0);
	if (errno || !isdigit((unsigned char)*text) || *end)
		return false;
	*out = value;
	return true;
}

bool option_bytes_parse(const char *text, uint64_t *out)
{
	static const char suffixes[] = "KMG";
	char *end;

	errno = 0;
	unsigned long long value = strtoull(text, &end, 0);
	if (errno || !isdigit((unsigned char)*text))
		return false;
	if (*end) {
		const char *suffix = strchr(suffixes, toupper((unsigned char)*end));
		if (!suffix || end[1])
			return false;
		unsigned shift = 10 * (unsigned)(suffix - suffixes + 1);
		if (value > UINT64_MAX >> shift)
			return false;
		value <<= shift;
	}
	*out = value;
	return true;
}

const char *option_bytes_format(uint64_t bytes, char out[24])
{
	static const char suffixes[] = "KMG";
	unsigned shift = 0;

	while (bytes && shift < 30 && (bytes >> shift) % 1024 == 0)
		shift += 10;
	snprintf(out, 24, "%llu%.1s", (unsigned long long)(bytes >> shift),
		 shift ? &suffixes[shift / 10 - 1] : "");
	return out;
}

const char *options_section(const struct usage *u, char out[64])
{
	snprintf(out, 64, "%s%s", u->version ? "" : "dxp ", u->name);
	return out;
}

void options_show(options_show_fn show, void *context)
{
	showing.show = show;
	showing.context = context;
}

/* ---- errors ---- */

static int usage_error(const struct parse *p, const char *what, const char *which)
{
	fprintf(stderr, "%s: error: %s%s; see `%s --help`\n", p->section, what, which, p->section);
	return LEAVE(EXIT_USAGE);
}

static int number_refuse(const struct parse *p, const struct option_row *row, const char *text)
{
	char low[24], high[24];

	if (row->kind == OPTION_BYTES)
		fprintf(stderr, "%s: error: %s needs a size from %s to %s, not '%s'\n", p->section,
			p->quoted, option_bytes_format(row->low, low),
			option_bytes_format(row->high, high), text);
	else
		fprintf(stderr, "%s: error: %s needs a number from %llu to %llu, not '%s'\n",
			p->section, p->quoted, (unsigned long long)row->low,
			(unsigned long long)row->high, text);
	return LEAVE(EXIT_USAGE);
}

static int value_refuse(const struct parse *p, const struct option_row *row, const char *text,
			const char *reason)
{
	if (row->kind == OPTION_NUMBER || row->kind == OPTION_BYTES)
		return number_refuse(p, row, text);
	fprintf(stderr, "%s: error: %s %s\n", p->section, p->quoted, reason);
	return LEAVE(EXIT_USAGE);
}

/* ---- values ---- */

/* Parses "yes" or "no" from a file or the environment. Returns NULL, or a text that explains the
 * error. */
static const char *flag_parse(const char *text, bool *out)
{
	static const struct {
		const char *text;
		bool value;
	} words[] = {{"yes", true}, {"true", true},   {"on", true},   {"1", true},
		     {"no", false}, {"false", false}, {"off", false}, {"0", false}};

	for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
		if (strcmp(text, words[i].text) == 0) {
			*out = words[i].value;
			return NULL;
		}
	}
	return "is yes or no";
}

static const char *number_set(const struct option_row *row, const char *text)
{
	uint64_t value;

	if (!(row->kind == OPTION_BYTES ? option_bytes_parse : option_number_parse)(text, &value) ||
	    value < row->low || value > row->high)
		return "is out of range";
	*(uint64_t *)row->to = value;
	return NULL;
}

static const char *list_add(struct option_list *list, const char *text)
{
	if (list->count == ARRAY_COUNT(list->values))
		return "is given more than 64 times";
	list->values[list->count++] = text;
	return NULL;
}

/* Copies of the texts of variables. Values of lists point into them until the program exits. */
static struct kept {
	struct kept *next;
	char text[];
} * kept;

/* Adds each of the words in a text such as "A,B,C". */
static const char *list_split(struct option_list *list, const char *text)
{
	const size_t bytes = strlen(text) + 1;
	struct kept *k = malloc(sizeof(*k) + bytes);
	const char *wrong = NULL;
	char *rest = NULL;

	if (!k)
		return "does not fit into memory";
	memcpy(k->text, text, bytes);
	k->next = kept;
	kept = k;
	for (char *word = strtok_r(k->text, ",", &rest); word && !wrong;
	     word = strtok_r(NULL, ",", &rest))
		wrong = list_add(list, word);
	return wrong;
}

/* Sets a value. If `text` is NULL, the option is a flag on the command line. Returns NULL, or a
 * text that explains the error. */
static const char *row_set(const struct option_row *row, const char *text,
			   enum option_source source)
{
	switch (row->kind) {
	case OPTION_FLAG:
		if (text)
			return flag_parse(text, row->to);
		*(bool *)row->to = true;
		return NULL;
	case OPTION_TEXT: *(const char **)row->to = text; return NULL;
	case OPTION_LIST:
		return (source == SOURCE_ENVIRONMENT ? list_split : list_add)(row->to, text);
	case OPTION_NUMBER:
	case OPTION_BYTES: return number_set(row, text);
	case OPTION_PARSED: return row->parse(text, row->to);
	}
	return NULL;
}

/* Sets the value of row `index`, from a source that overrides the earlier sources. p->quoted names
 * the option in errors. Returns 0, or LEAVE(). */
static int value_set(struct parse *p, unsigned index, const char *text,
		     const struct option_origin *origin)
{
	const struct option_row *row = &p->usage->rows[index];

	/* A list replaces the list of a weaker source; the two are not joined. */
	if (row->kind == OPTION_LIST && p->origin[index].source != origin->source)
		((struct option_list *)row->to)->count = 0;
	const char *reason = row_set(row, text, origin->source);
	if (reason)
		return value_refuse(p, row, text, reason);
	p->origin[index] = *origin;
	p->origin[index].text = text ? text : "yes";
	return 0;
}

/* ---- files ---- */

static bool name_is_common(const char *name)
{
	for (size_t i = 0; i < ARRAY_COUNT(common_names); i++)
		if (strcmp(common_names[i], name) == 0)
			return true;
	return false;
}

static int key_refuse(const struct parse *p, const struct setting *s, bool common)
{
	const char *names[ROWS_MAX];
	unsigned count = 0;

	for (unsigned i = 0; i < p->usage->row_count; i++)
		if (p->usage->rows[i].help)
			names[count++] = p->usage->rows[i].name;
	const char *nearest = common || count == 0 ? settings_nearest(s->key, common_names,
								      ARRAY_COUNT(common_names))
						   : settings_nearest(s->key, names, count);
	fprintf(stderr, "%s: error: %s:%u: unknown key '%s' in [%s]; the nearest is '%s'\n",
		p->section, s->file, s->line, s->key, s->section, nearest);
	return LEAVE(EXIT_USAGE);
}

/* Applies a key of a file, if its section belongs to this command. Returns 0, or LEAVE(). */
static int setting_apply(struct parse *p, const struct setting *s)
{
	const bool own = strcmp(s->section, p->section) == 0;
	const bool common = !p->usage->version && strcmp(s->section, "dxp") == 0;
	const struct option_origin origin = {
		.source = SOURCE_FILE, .file = s->file, .line = s->line, .common = common};

	if (!own && !common)
		return 0;
	snprintf(p->quoted, sizeof(p->quoted), "%.100s:%u: %.40s", s->file, s->line, s->key);
	for (unsigned i = 0; i < p->usage->row_count; i++) {
		const struct option_row *row = &p->usage->rows[i];
		if (strcmp(row->name, s->key) == 0 && (own || row->common))
			return value_set(p, i, s->value, &origin);
	}
	if (common && name_is_common(s->key))
		return 0; /* another command has this key */
	return key_refuse(p, s, common);
}

/* Applies section [dxp], then the command's own section. Returns 0, or LEAVE(). */
static int files_apply(struct parse *p, const char *given)
{
	const struct settings *files = settings_load(given);
	int status = 0;

	if (files->error[0]) {
		fprintf(stderr, "%s: error: %s\n", p->section, files->error);
		return LEAVE(EXIT_USAGE);
	}
	for (int own = 0; own < 2; own++)
		for (size_t i = 0; status == 0 && i < files->count; i++)
			if ((strcmp(files->all[i].section, p->section) == 0) == own)
				status = setting_apply(p, &files->all[i]);
	return status;
}

/* ---- environment ---- */

void options_variable(const char *section, const char *option, char out[64])
{
	snprintf(out, 64, "%s_%s", section, option);
	for (char *c = out; *c; c++)
		*c = *c == '-' || *c == ' ' ? '_' : (char)toupper((unsigned char)*c);
}

/* Applies the environment variable of a row for this section, unless it is unset or empty. Returns
 * 0, or LEAVE(). */
static int variable_apply(struct parse *p, unsigned index, const char *section)
{
	struct option_origin origin = {.source = SOURCE_ENVIRONMENT,
				       .common = section != p->section};

	options_variable(section, p->usage->rows[index].name, origin.variable);
	const char *text = getenv(origin.variable);
	if (!text || !*text)
		return 0;
	snprintf(p->quoted, sizeof(p->quoted), "%s", origin.variable);
	return value_set(p, index, text, &origin);
}

static int environment_apply(struct parse *p)
{
	int status = 0;

	for (unsigned i = 0; status == 0 && i < p->usage->row_count; i++) {
		if (p->usage->rows[i].common)
			status = variable_apply(p, i, "dxp");
		if (status == 0)
			status = variable_apply(p, i, p->section);
	}
	return status;
}

/* ---- command line ---- */

struct flags {
	struct option list[ROWS_MAX + 4];
	char letters[2 * ROWS_MAX + 4];
};

static void flags_build(const struct usage *u, struct flags *out)
{
	char *letter = out->letters;
	unsigned count = 0;

	assert(u->row_count <= ROWS_MAX);
	*letter++ = ':';
	*letter++ = 'h';
	for (; count < u->row_count; count++) {
		const struct option_row *row = &u->rows[count];
		out->list[count] =
			(struct option){.name = row->name,
					.has_arg = row->value ? required_argument : no_argument,
					.val = (int)count};
		if (row->letter)
			*letter++ = row->letter;
	}
	out->list[count++] = (struct option){.name = "help", .val = CODE_HELP};
	if (u->version) {
		out->list[count++] = (struct option){.name = "version", .val = CODE_VERSION};
		out->list[count++] = (struct option){
			.name = "config", .has_arg = required_argument, .val = CODE_CONFIG};
	}
	*letter = '\0';
	out->list[count] = (struct option){0};
}

/* Returns the code of the next option; -1: none; -2: unknown option; -3: missing value. */
static int flag_next(const struct usage *u, const struct flags *flags, int argc, char **argv)
{
	const int which = getopt_long(argc, argv, flags->letters, flags->list, NULL);

	if (which == 'h')
		return CODE_HELP;
	if (which == '?' || which == ':' || which < 0)
		return which == '?' ? -2 : which == ':' ? -3 : -1;
	for (unsigned i = 0; i < u->row_count; i++)
		if (u->rows[i].letter && which == u->rows[i].letter)
			return (int)i;
	return which;
}

/* Finds --help, --version, --config and errors on the command line, before any file is read.
 * Returns 0, or LEAVE(). */
static int flags_look(const struct parse *p, const struct flags *flags, int argc, char **argv,
		      const char **config)
{
	int which;

	optind = 0;
	opterr = 0;
	while ((which = flag_next(p->usage, flags, argc, argv)) != -1) {
		switch (which) {
		case -2: return usage_error(p, "unknown option ", argv[optind - 1]);
		case -3: return usage_error(p, "missing value of option ", argv[optind - 1]);
		case CODE_HELP: options_help(p->usage); return LEAVE(EXIT_DONE);
		case CODE_VERSION:
			printf("%s %s\n", p->section, p->usage->version);
			return LEAVE(EXIT_DONE);
		case CODE_CONFIG: *config = optarg; break;
		default: break;
		}
	}
	return 0;
}

static int flags_apply(struct parse *p, const struct flags *flags, int argc, char **argv)
{
	const struct option_origin origin = {.source = SOURCE_FLAG};
	int which, status = 0;

	optind = 0;
	while (status == 0 && (which = flag_next(p->usage, flags, argc, argv)) != -1) {
		if (which >= ROWS_MAX)
			continue;
		snprintf(p->quoted, sizeof(p->quoted), "--%s", p->usage->rows[which].name);
		status = value_set(p, (unsigned)which, optarg, &origin);
	}
	return status;
}

static int arguments_check(const struct parse *p, int argc, char **argv)
{
	const struct usage *u = p->usage;

	if (argc - optind < u->least)
		return usage_error(p, "missing argument: ", u->arguments);
	if (argc - optind > u->most && u->most == 0 && u->version)
		return usage_error(p, "only options are accepted, not ", argv[optind]);
	if (argc - optind > u->most)
		return usage_error(p, "too many arguments, starting with ", argv[optind + u->most]);
	return optind;
}

/* Drops the values of the options that option `index` replaces, if they come from a weaker
 * source. */
static void replaced_drop(struct parse *p, unsigned index)
{
	const struct option_row *row = &p->usage->rows[index];

	for (unsigned i = 0; i < p->usage->row_count; i++) {
		for (size_t k = 0; k < ARRAY_COUNT(row->replaces) && row->replaces[k]; k++) {
			if (strcmp(p->usage->rows[i].name, row->replaces[k]) != 0 ||
			    p->origin[i].source >= p->origin[index].source)
				continue;
			*(const char **)p->usage->rows[i].to = NULL;
			p->origin[i] = (struct option_origin){0};
		}
	}
}

static void all_replaced_drop(struct parse *p)
{
	for (unsigned i = 0; i < p->usage->row_count; i++)
		replaced_drop(p, i);
}

static int values_show(const struct parse *p)
{
	for (unsigned i = 0; i < p->usage->row_count; i++)
		if (p->usage->rows[i].help)
			showing.show(showing.context, p->usage, &p->usage->rows[i], &p->origin[i]);
	return LEAVE(EXIT_DONE);
}

int options_parse(int argc, char **argv, const struct usage *usage)
{
	struct parse p = {.usage = usage};
	const char *config = NULL;
	struct flags flags;

	options_section(usage, p.section);
	flags_build(usage, &flags);
	int status = flags_look(&p, &flags, argc, argv, &config);
	if (status == 0)
		status = files_apply(&p, config);
	if (status == 0)
		status = environment_apply(&p);
	if (status == 0 && !showing.show)
		status = flags_apply(&p, &flags, argc, argv);
	all_replaced_drop(&p);
	if (status == 0 && showing.show)
		return values_show(&p);
	return status == 0 ? arguments_check(&p, argc, argv) : status;
}

bool options_read(int argc, char **argv, const struct usage *usage, struct arguments *out)
{
	const int first = options_parse(argc, argv, usage);

	if (first < 0) {
		*out = (struct arguments){.status = -1 - first};
		return false;
	}
	*out = (struct arguments){.count = argc - first, .at = argv + first};
	return true;
}
