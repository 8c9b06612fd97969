/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the code that all commands that join a fabric share. */
#ifndef CMD_DXP_SESSION_H
#define CMD_DXP_SESSION_H

#include <stdbool.h>

#include <dxp/mmd.h>

#include "cmd/options/context.h"
#include "cmd/options/options.h"
#include "cmd/options/payload_crc.h"
#include "cmd/options/protect.h"

struct session_options {
	struct dxp_fabric_options fabric;
	bool json;
};

/* Rows of options that several commands have: keys of section [dxp]. */
#define COMMON_ROW(name, value, help, to)                                    \
	{                                                                    \
		name, value, help, OPTION_TEXT, &(to), 0, 0, .common = true, \
	}
#define CONTEXT_ROW(to, function, help)                                                      \
	{                                                                                    \
		"context", "NAME", help, OPTION_PARSED, &(to),                               \
			.parse = (function), .common = true, .replaces = {"manager", "key"}, \
	}
#define FOLDER_ROW(to)                                                                       \
	{                                                                                    \
		"dir", "FOLDER",                                                             \
			"the fabric's folder (default: $DXP_DIR, else that of the context, " \
			"else /var/lib/dxp)",                                                \
			OPTION_TEXT, &(to), .common = true, .replaces = {"manager", "key"},  \
	}
/* Two rows that set the same folder. The stronger source wins; of equal ones, the last. */
#define DIRECTORY_ROWS(to)                                                                 \
	CONTEXT_ROW(to, option_context_parse,                                              \
		    "a fabric of `dxp context list` (default: $DXP_CONTEXT, else that of " \
		    "`dxp context use`)"),                                                 \
		FOLDER_ROW(to)
/* Do what DIRECTORY_ROWS do, for commands that make a fabric's folder. */
#define DIRECTORY_NEW_ROWS(to)                                                          \
	CONTEXT_ROW(to, option_context_new_parse,                                       \
		    "name of the fabric in `dxp context list`, new or known (default: " \
		    "$DXP_CONTEXT, else that of `dxp context use`)"),                   \
		FOLDER_ROW(to)
#define JSON_ROW(to)                                                 \
	{                                                            \
		"json", NULL, "print JSON", OPTION_FLAG, &(to), 0, 0 \
	}
#define MANAGER_ROWS(o)                                                                           \
	DIRECTORY_ROWS((o).fabric.directory),                                                     \
		COMMON_ROW("manager", "ADDRESS",                                                  \
			   "the manager, or all managers with commas (default: from the folder)", \
			   (o).fabric.manager),                                                   \
		COMMON_ROW("key", "FILE", "the fabric key (default: from the folder)",            \
			   (o).fabric.key_file)
#define BIND_ROW(o)                                                                         \
	COMMON_ROW("bind", "ADDRESS", "own address (default: the one towards the manager)", \
		   (o).fabric.bind)
/* Switches whose counters a command reads with --fabric. */
#define SWITCH_ROW(to)                                                                   \
	{                                                                                \
		"switch", "IP",                                                          \
			"with --fabric, also this switch, if its dxp-switch has --key; " \
			"IP or IP:PORT; may be repeated",                                \
			OPTION_LIST, &(to), 0, 0                                         \
	}
#define PROTECT_ROW                                                                           \
	{                                                                                     \
		"protect", "MODE",                                                            \
			"protection of packets: auto (default), none, integrity or encrypt; " \
			"the same as dxpd's",                                                 \
			OPTION_PARSED, NULL, .parse = option_protect_set, .initial = "auto",  \
					     .common = true,                                  \
	}
#define PEER_KEYS_ROW                                                                          \
	{                                                                                      \
		"peer-keys", "MODE",                                                           \
			"nodes that prove no key pair: auto (default), require or allow; see " \
			"dxpd",                                                                \
			OPTION_PARSED, NULL, .parse = option_peer_keys_set, .initial = "auto", \
					     .common = true,                                   \
	}
#define PAYLOAD_CRC_ROW                                                                          \
	{                                                                                        \
		"payload-crc", "MODE",                                                           \
			"checksum over the payload of sent packets: auto (default), always or "  \
			"never; see dxpd",                                                       \
			OPTION_PARSED, NULL, .parse = option_payload_crc_set, .initial = "auto", \
					     .common = true,                                     \
	}
/* Options of commands that join a fabric. */
#define SESSION_ROWS(o)                                                            \
	MANAGER_ROWS(o), BIND_ROW(o), PROTECT_ROW, PEER_KEYS_ROW, PAYLOAD_CRC_ROW, \
		COMMON_ROW("name", "NAME", "own name (default: dxp-PID)", (o).fabric.name)

struct session {
	struct dxp_fabric *fabric;
	struct dxp_xpu *xpu;
	struct dxp_xpu_caps caps;
};

/* Joins the fabric, and opens the xPU unless `xpu` is NULL. Returns the status of the first
 * failure; out->fabric is NULL if joining failed. The caller calls session_close in any case. */
int session_begin(const struct session_options *options, const char *xpu, struct session *out);

/* Joins and opens like session_begin(). On failure prints the reason, closes everything and returns
 * false. */
bool session_open(const struct session_options *options, const char *xpu, struct session *out);
void session_close(struct session *s);

/* Prints dxp_fabric_error; returns EXIT_FAILED. */
int session_fail(void);

#endif
