/* SPDX-License-Identifier: BSD-3-Clause */
/* Headers of a program as files, in a directory that exists during one build. (With headers of
 * clCompileProgram(), PoCL 3.1 loses the information about kernel arguments.) */
#ifndef ENGINE_OCL_FOLDER_H
#define ENGINE_OCL_FOLDER_H

#include <limits.h>

#include "engine/engine.h"

struct ocl_folder {
	char path[PATH_MAX / 2];
};

/* Writes all files of `source` after the first, and dxp/device.h if it is missing. DXP_EBUILD: *log
 * names the invalid file; DXP_EIO: logged; DXP_ENOMEM. */
int ocl_folder_create(const char *where, const struct engine_source *source, struct ocl_folder *out,
		      char **log);
void ocl_folder_destroy(const struct ocl_folder *f);

/* Options for the compiler, which the caller frees: folders after -I are replaced by their paths in
 * `f`, and `f` is added. NULL `f`: no headers. DXP_EBUILD: *log names a folder that is not in the
 * program; DXP_ENOMEM. */
int ocl_folder_options(const struct ocl_folder *f, const char *options, char **out, char **log);

/* Removes the directory's path, which is private to the node, from a log. */
void ocl_folder_hide(const struct ocl_folder *f, char *log);

#endif
