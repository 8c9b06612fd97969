/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration files, as a list of keys with their places. docs/guide/configure.md describes
 * the format. Reads /etc/dxp/dxp.conf, then $XDG_CONFIG_HOME/dxp/dxp.conf (or .config of HOME);
 * later values replace earlier ones. */
#ifndef CMD_OPTIONS_SETTINGS_H
#define CMD_OPTIONS_SETTINGS_H

#include <stddef.h>

#define SETTINGS_SYSTEM "/etc/dxp/dxp.conf"

struct setting {
	const char *file;
	unsigned line;
	char *section, *key, *value;
};

struct settings {
	struct setting *all; /* in the order of the files */
	size_t count;
	char *files[2]; /* files that were read; NULL: none */
	unsigned file_count;
	char error[512]; /* "FILE:LINE: reason" */
};

/* Reads the files at the first call, and returns the same list later, whose strings stay valid.
 * `given`: read only this file; NULL: the file that DXP_CONFIG names (none if it is empty), else
 * both. If error[0] is not 0, the files are unusable. */
const struct settings *settings_load(const char *given);

/* Returns the name that is nearest to `name`; `count` is at least 1. */
const char *settings_nearest(const char *name, const char *const *names, size_t count);

#endif
