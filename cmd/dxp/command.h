/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the commands of `dxp`. Each parses its own arguments (argv[0] is its name) and returns
 * an exit status: 0 success, 1 failure, 2 wrong usage. The function that detects an error prints
 * it, once. */
#ifndef CMD_DXP_COMMAND_H
#define CMD_DXP_COMMAND_H

#include <stdbool.h>

#include <jansson.h>

#include "base/util.h"

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

int command_bench(int argc, char **argv);
int command_config(int argc, char **argv);
int command_bridge(int argc, char **argv);
int command_paths(int argc, char **argv);
int command_doctor(int argc, char **argv);
int command_down(int argc, char **argv);
int command_get(int argc, char **argv);
int command_grant(int argc, char **argv);
int command_grants(int argc, char **argv);
int command_events(int argc, char **argv);
int command_inc(int argc, char **argv);
int command_join(int argc, char **argv);
int command_manager(int argc, char **argv);
int command_metrics(int argc, char **argv);
int command_model(int argc, char **argv);
int command_nodes(int argc, char **argv);
int command_node(int argc, char **argv);
int command_ping(int argc, char **argv);
int command_put(int argc, char **argv);
int command_reg(int argc, char **argv);
int command_revoke(int argc, char **argv);
int command_run(int argc, char **argv);
int command_rv32(int argc, char **argv);
int command_token(int argc, char **argv);
int command_top(int argc, char **argv);
int command_trace(int argc, char **argv);
int command_up(int argc, char **argv);
int command_vf(int argc, char **argv);
int command_version(int argc, char **argv);
int command_web(int argc, char **argv);

/* Runs each command that begins by reading its options, as `dxp COMMAND` does, and each part of
 * `dxp model`. Used with options_show(). Returns the first exit status that is not EXIT_DONE. */
int command_each(void);
/* Returns whether command_each runs the command `name`, for example "ping" or "model nic". */
bool command_has_options(const char *name);

/* Do what command_each and command_has_options do, but only for the parts of `dxp model`. */
int command_model_each(void);
bool command_model_has(const char *part);

/* Prints "dxp: error: ..." on standard error; returns EXIT_FAILED. */
int print_fail(const char *format, ...) PRINTF_LIKE(1, 2);

/* Prints a value and releases it. Returns EXIT_DONE, or EXIT_FAILED if writing failed. */
int print_json_text(json_t *value);

#endif
