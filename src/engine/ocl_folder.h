/* SPDX-License-Identifier: BSD-3-Clause */
/* A program's headers as files for the compiler, in a directory that exists during one build.
 * (clCompileProgram accepts headers too, but PoCL 3.1 then loses the kernels' argument
 * information.) */
#ifndef ENGINE_OCL_FOLDER_H
#define ENGINE_OCL_FOLDER_H

#include <limits.h>

#include "engine/engine.h"

struct ocl_folder {
	char path[PATH_MAX / 2];
};

/* Writes all files except the first, and dxp/device.h. `where`: parent directory. DXP_EBUILD: *log
 * names the invalid file; DXP_EIO: disk error, logged; DXP_ENOMEM. */
int ocl_folder_create(const char *where, const struct engine_source *source, struct ocl_folder *out,
		      char **log);
void ocl_folder_destroy(const struct ocl_folder *f);

/* Returns the compiler's options, which the caller frees. Replaces each -I of a program's folder by
 * the path in `f`, and adds `f`. f NULL: no headers. DXP_EBUILD: *log names a folder that is not in
 * the program. */
int ocl_folder_options(const struct ocl_folder *f, const char *options, char **out, char **log);

/* Removes the directory's path from a log, because the path is private to the node. */
void ocl_folder_hide(const struct ocl_folder *f, char *log);

#endif
