/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the checks of `dxp doctor`. Each function fills in checks and returns their number. */
#ifndef CMD_DXP_CHECKS_H
#define CMD_DXP_CHECKS_H

#include "cmd/dxp/session.h"
#include "engine/engine.h"

#define CHECKS_MAX 32

enum check_level { CHECK_OK, CHECK_WARN, CHECK_FAIL };

struct check {
	enum check_level level;
	char name[24];
	char found[512];
	char next[256]; /* next step for the user; empty if none */
};

unsigned checks_machine(struct check *out);
unsigned checks_opencl(struct check *out);
unsigned checks_engines(struct check *out);
unsigned checks_fabric(struct check *out, const struct session_options *options);

/* Opens and closes the engine `name`. Returns false if it does not work; the engine logs the
 * reason. */
bool checks_engine_try(const char *name, struct engine_description *out);
/* Returns "direct" or "bridged". */
const char *checks_memory_kind_text(const struct engine_description *d);

/* Fills in one check; `next` may be NULL. */
void check_set(struct check *c, enum check_level level, const char *name, const char *next,
	       const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
