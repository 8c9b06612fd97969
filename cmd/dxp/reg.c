/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp reg`: accesses CFG registers of an xPU by name or index
 * (docs/reference/registers.md). */
#include <stdio.h>
#include <strings.h>

#include "cmd/dxp/command.h"
#include "cmd/dxp/session.h"
#include "xpu/cfg.h"

static const char *const accesses[] = {
	[CFG_ACCESS_RO] = "ro", [CFG_ACCESS_RW] = "rw", [CFG_ACCESS_WO] = "wo"};

/* Parses a register. Accepts unknown indices, since the xPU may be newer than this program. */
static bool register_parse(const char *text, uint32_t *out)
{
	uint64_t index;

	for (uint32_t i = 0; i < CFG_COUNT; i++) {
		if (strcasecmp(cfg_info[i].name, text) == 0) {
			*out = i;
			return true;
		}
	}
	if (!option_number_parse(text, &index) || index > UINT32_MAX) {
		print_fail("unknown register '%s'; `dxp reg XPU` lists them", text);
		return false;
	}
	*out = (uint32_t)index;
	return true;
}

static json_t *describe(uint32_t index, uint32_t value)
{
	bool known = index < CFG_COUNT;

	return json_pack("{s:I, s:s, s:s, s:I}", "index", (json_int_t)index, "name",
			 known ? cfg_info[index].name : "", "access",
			 known ? accesses[cfg_info[index].access] : "", "value", (json_int_t)value);
}

static int print_all(const uint32_t *values, uint32_t count, bool json)
{
	json_t *all = json ? json_array() : NULL;

	for (uint32_t i = 0; i < count; i++) {
		if (json)
			json_array_append_new(all, describe(i, values[i]));
		else
			printf("%3u  %-17s %s  0x%08x  %-10u  %s\n", i, cfg_info[i].name,
			       accesses[cfg_info[i].access], values[i], values[i],
			       cfg_info[i].text);
	}
	return json ? print_json_text(all) : EXIT_DONE;
}

static int read_all(struct dxp_xpu *xpu, bool json)
{
	uint32_t values[CFG_COUNT], count = CFG_COUNT;
	int status;

	/* Reads all registers by one access, so that both halves of a 64-bit value match. A node of
	 * an earlier release has fewer. */
	while ((status = dxp_reg_read(xpu, 0, values, count)) == DXP_ERANGE && count > 1)
		count--;
	return status == DXP_OK ? print_all(values, count, json) : session_fail();
}

static int read_one(struct dxp_xpu *xpu, uint32_t index, bool json)
{
	uint32_t value;

	if (dxp_reg_read(xpu, index, &value, 1) != DXP_OK)
		return session_fail();
	if (json)
		return print_json_text(describe(index, value));
	printf("0x%08x\n", value);
	return EXIT_DONE;
}

static int write_one(struct dxp_xpu *xpu, uint32_t index, uint32_t value, bool json)
{
	if (dxp_reg_write(xpu, index, &value, 1) != DXP_OK)
		return session_fail();
	return json ? print_json_text(describe(index, value)) : EXIT_DONE;
}

int command_reg(int argc, char **argv)
{
	struct session_options o = {0};
	struct session s;
	uint32_t index = 0;
	uint64_t value = 0;
	const struct option_row rows[] = {SESSION_ROWS(o), JSON_ROW(o.json)};
	const struct usage usage = {
		"reg", "XPU [NAME|INDEX [VALUE]]",
		"Shows all registers of an xPU, or one, or writes one. Names are those of "
		"docs/reference/registers.md, in any case.",
		ACCEPTS(rows, 1, 3)};
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	if (args.count > 1 && !register_parse(args.at[1], &index))
		return EXIT_USAGE;
	if (args.count > 2 && (!option_number_parse(args.at[2], &value) || value > UINT32_MAX)) {
		print_fail("'%s' is not a register value; write a number up to 0xffffffff",
			   args.at[2]);
		return EXIT_USAGE;
	}
	if (!session_open(&o, args.at[0], &s))
		return EXIT_FAILED;
	int status = args.count == 1   ? read_all(s.xpu, o.json)
		     : args.count == 2 ? read_one(s.xpu, index, o.json)
				       : write_one(s.xpu, index, (uint32_t)value, o.json);
	session_close(&s);
	return status;
}
