/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the checks of `dxp doctor`. Each function fills in checks and returns their number. */
#ifndef CMD_DXP_CHECKS_H
#define CMD_DXP_CHECKS_H

#include "base/address.h"
#include "cmd/dxp/session.h"
#include "engine/engine.h"
#include "wire/manage.h"

#define CHECKS_MAX 32

enum check_level { CHECK_OK, CHECK_WARN, CHECK_FAIL };

struct check {
	enum check_level level;
	char node[FABRIC_NAME_BYTES]; /* the node that the check is about; "": this machine */
	char name[24];
	char found[512];
	char next[256]; /* next step for the user; empty if none */
};

unsigned checks_machine(struct check *out);
unsigned checks_opencl(struct check *out);
unsigned checks_engines(struct check *out);
unsigned checks_fabric(struct check *out, const struct session_options *options);

struct check_list {
	struct check *checks;
	size_t count;
};

/* Checks the network path to the xPU `name`, or to each live xPU if `name` is NULL. The caller
 * frees out->checks. Returns DXP_OK or DXP_ENOMEM. */
int checks_paths(const struct session_options *options, const char *name, struct check_list *out);

/* Checks the interface on the route to `to`. */
void check_interface(struct check *c, const struct udp_address *to);

/* Opens and closes the engine `name`. Returns false if it does not work; the engine logs the
 * reason. */
bool checks_engine_try(const char *name, struct engine_description *out);
/* Returns "direct" or "bridged". */
const char *checks_memory_kind_text(const struct engine_description *d);

/* Fills in one check; `next` may be NULL. */
void check_set(struct check *c, enum check_level level, const char *name, const char *next,
	       const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
