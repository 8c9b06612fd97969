/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration files, as a list of keys with file and line. docs/guide/configure.md describes
 * the format. Reads /etc/dxp/dxp.conf, then $XDG_CONFIG_HOME/dxp/dxp.conf (without this variable,
 * $HOME/.config/dxp/dxp.conf). Later values replace earlier ones. */
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

/* Reads the files at the first call. Later calls return the same list, and its strings stay valid.
 * If `given` is not NULL, reads only this file. Otherwise reads the file that DXP_CONFIG names; an
 * empty DXP_CONFIG means no file. If DXP_CONFIG is not set either, reads both files. If error[0] is
 * not 0, the files are unusable. */
const struct settings *settings_load(const char *given);

/* Returns the name that is nearest to `name`; `count` is at least 1. */
const char *settings_nearest(const char *name, const char *const *names, size_t count);

#endif
