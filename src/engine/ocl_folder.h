/* SPDX-License-Identifier: BSD-3-Clause */
/* A program's headers as the compiler finds them: files of a folder that is made for one build and
 * removed behind it. (clCompileProgram takes headers too, but PoCL 3.1 then forgets what the
 * arguments of kernels are.) */
#ifndef ENGINE_OCL_FOLDER_H
#define ENGINE_OCL_FOLDER_H

#include <limits.h>

#include "engine/engine.h"

struct ocl_folder {
	char path[PATH_MAX / 2];
};

/* All files but the first, and dxp/device.h. `where`: an existing folder to make it in. DXP_EBUILD:
 * *log says which name is wrong; DXP_EIO: the disk, logged; DXP_ENOMEM. */
int ocl_folder_create(const char *where, const struct engine_source *source, struct ocl_folder *out,
		      char **log);
void ocl_folder_destroy(const struct ocl_folder *f);

/* Options as the compiler gets them, for the caller to free: -I of the program's own folders become
 * -I of `f`, which is searched too; f is NULL: there are no headers. DXP_EBUILD: *log says which
 * folder is none of the program's. */
int ocl_folder_options(const struct ocl_folder *f, const char *options, char **out, char **log);

/* Where the folder is, is nobody's business: takes its path out of a log. */
void ocl_folder_hide(const struct ocl_folder *f, char *log);

#endif
