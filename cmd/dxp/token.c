/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp token`: makes, lists and revokes join tokens. */
#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "cmd/dxp/command.h"
#include "cmd/dxp/control.h"
#include "cmd/dxp/session.h"
#include "cmd/dxp/token.h"

#define DEFAULT_EXPIRES_S (24ull * 3600)
#define EXPIRES_MAX_S     (366ull * 24 * 3600) /* s; the manager accepts no longer time */

static const char *const states[] = {[TOKEN_VALID] = "valid",
				     [TOKEN_USED] = "used",
				     [TOKEN_EXPIRED] = "expired",
				     [TOKEN_REVOKED] = "revoked"};

struct token_command {
	struct session_options o;
	const char *role;
	uint64_t uses, seconds;
};

int token_create(struct control *q, const char *role, uint32_t uses, uint64_t seconds,
		 char out[TOKEN_TEXT_BYTES])
{
	struct token token;
	struct channel *c;

	rng_entropy_kernel(NULL, token.id, sizeof(token.id));
	rng_entropy_kernel(NULL, token.secret, sizeof(token.secret));
	memcpy(token.manager, q->manager_key, sizeof(token.manager));
	q->request = (struct channel_request){.command = CHANNEL_TOKEN_CREATE,
					      .role = (uint8_t)channel_role_parse(role),
					      .uses = uses,
					      .seconds = seconds};
	memcpy(q->request.token, token.id, sizeof(q->request.token));
	int status = token_psk(&token, q->request.psk) ? control_run(q, &c) : DXP_ENOMEM;
	if (status == DXP_OK) {
		token_format(&token, out);
		channel_destroy(c);
	}
	keys_erase(&token, sizeof(token));
	return status;
}

const char *token_expires_parse(const char *text, void *to)
{
	static const char letters[] = "smhd";
	static const uint64_t units[] = {1, 60, 3600, 24 * 3600};
	const size_t digits = strspn(text, "0123456789");
	const char *letter = digits ? strchr(letters, text[digits]) : NULL;
	char number[8];
	uint64_t value = 0;

	snprintf(number, sizeof(number), "%.*s", (int)digits, text);
	if (digits && digits < sizeof(number) && letter && *letter && text[digits + 1] == '\0' &&
	    option_number_parse(number, &value))
		value *= units[letter - letters];
	if (value == 0 || value > EXPIRES_MAX_S)
		return "is a number with s, m, h or d, up to 366d, such as 30m, 1h or 7d";
	*(uint64_t *)to = value;
	return NULL;
}

static int create(const struct token_command *t, struct control *q)
{
	char text[TOKEN_TEXT_BYTES];

	if (channel_role_parse(t->role) == ROLE_NONE) {
		print_fail("--role is host, xpu or operator, not '%s'", t->role);
		return EXIT_USAGE;
	}
	if (token_create(q, t->role, (uint32_t)t->uses, t->seconds, text) != DXP_OK)
		return print_fail("%s", q->text);
	if (t->o.json)
		return print_json_text(json_pack("{s:s, s:s, s:I, s:I}", "token", text, "role",
						 t->role, "uses", (json_int_t)t->uses, "seconds",
						 (json_int_t)t->seconds));
	puts(text);
	return EXIT_DONE;
}

/* Writes a time that is left, such as "23h" or "5m". */
static const char *left_format(uint64_t seconds, char out[24])
{
	static const struct {
		uint64_t seconds;
		char letter;
	} units[] = {{24 * 3600, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};

	for (size_t i = 0; i < ARRAY_COUNT(units); i++)
		if (seconds >= 2 * units[i].seconds || i + 1 == ARRAY_COUNT(units)) {
			snprintf(out, 24, "%llu%c",
				 (unsigned long long)(seconds / units[i].seconds), units[i].letter);
			break;
		}
	return out;
}

static void print_rows(const struct channel_token *rows, size_t count)
{
	char id[TOKEN_ID_TEXT], left[24];

	printf("%-8s  %-8s  %-7s  %6s  %7s  %s\n", "ID", "ROLE", "STATE", "USES", "EXPIRES",
	       "LAST USED BY");
	for (size_t i = 0; i < count; i++)
		printf("%-8s  %-8s  %-7s  %6u  %7s  %s\n", token_id_format(rows[i].id, id),
		       channel_role_text(rows[i].role), states[rows[i].state], rows[i].uses,
		       rows[i].seconds ? left_format(rows[i].seconds, left) : "-", rows[i].used_by);
}

static int list(const struct token_command *t, struct control *q)
{
	const struct channel_token *rows;
	struct channel *c;
	char id[TOKEN_ID_TEXT];
	int status = EXIT_DONE;

	q->request.command = CHANNEL_TOKEN_LIST;
	if (control_run(q, &c) != DXP_OK)
		return print_fail("%s", q->text);
	size_t count = channel_tokens(c, &rows);
	if (t->o.json) {
		json_t *all = json_array();
		for (size_t i = 0; i < count; i++)
			json_array_append_new(all,
					      json_pack("{s:s, s:s, s:s, s:I, s:I, s:s}", "id",
							token_id_format(rows[i].id, id), "role",
							channel_role_text(rows[i].role), "state",
							states[rows[i].state], "uses",
							(json_int_t)rows[i].uses, "seconds",
							(json_int_t)rows[i].seconds, "used_by",
							rows[i].used_by));
		status = print_json_text(all);
	} else {
		print_rows(rows, count);
	}
	channel_destroy(c);
	return status;
}

static int revoke(const struct token_command *t, struct control *q, const char *which)
{
	struct channel *c;
	struct token token;
	char id[TOKEN_ID_TEXT];

	q->request.command = CHANNEL_TOKEN_REVOKE;
	if (token_parse(which, &token)) {
		memcpy(q->request.token, token.id, sizeof(q->request.token));
	} else if (!token_id_parse(which, q->request.token)) {
		print_fail("'%s' is neither a token nor the id of one; `dxp token list` shows ids",
			   which);
		return EXIT_USAGE;
	}
	if (control_run(q, &c) != DXP_OK)
		return print_fail("%s", q->text);
	channel_destroy(c);
	token_id_format(q->request.token, id);
	if (t->o.json)
		return print_json_text(json_pack("{s:s, s:b}", "id", id, "revoked", 1));
	printf("token %s admits no more keys; `dxp node remove` removes those it admitted\n", id);
	return EXIT_DONE;
}

int command_token(int argc, char **argv)
{
	struct token_command t = {.role = "xpu", .uses = 1, .seconds = DEFAULT_EXPIRES_S};
	const struct option_row rows[] = {
		DIRECTORY_ROWS(t.o.fabric.directory),
		COMMON_ROW("manager", "ADDRESS",
			   "the manager, or all managers with commas (default: from the folder)",
			   t.o.fabric.manager),
		{"uses", "N", "create: machines that it admits (default 1)", OPTION_NUMBER, &t.uses,
		 1, 100000},
		{"expires", "TIME",
		 "create: valid for this time, such as 30m, 1h or 7d "
		 "(default 24h)",
		 OPTION_PARSED, &t.seconds, .parse = token_expires_parse, .initial = "24h"},
		{"role", "ROLE",
		 "create: what the machine may do: host: use xPUs; xpu (default): also offer them; "
		 "operator: also make tokens and grants, and remove machines",
		 OPTION_TEXT, &t.role},
		JSON_ROW(t.o.json)};
	const struct usage usage = {
		"token", "create | list | revoke ID",
		"create prints a token for `dxp join`, a secret: who has it can join. list shows "
		"all tokens, without secrets.\n"
		"revoke ends a token. All need a fabric with tokens (`dxp manager init`) and the "
		"role operator.",
		ACCEPTS(rows, 1, 2)};
	struct control q = {0};
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	const char *what = args.at[0], *which = args.at[1];
	const bool revokes = strcmp(what, "revoke") == 0;
	if ((!revokes && strcmp(what, "create") != 0 && strcmp(what, "list") != 0) ||
	    revokes != (which != NULL)) {
		print_fail("write `dxp token create`, `dxp token list` or `dxp token revoke ID`");
		return EXIT_USAGE;
	}
	if (control_find(&t.o.fabric, &q) != DXP_OK)
		return print_fail("%s", q.text);
	int status = revokes                     ? revoke(&t, &q, which)
		     : strcmp(what, "list") == 0 ? list(&t, &q)
						 : create(&t, &q);
	keys_erase(&q, sizeof(q));
	return status;
}
