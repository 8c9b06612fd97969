/* SPDX-License-Identifier: BSD-3-Clause */
/* The compiler of engine `rv32`: a clang on this machine, the builtins of libclc, and the runtime
 * of kernels. The runtime is compiled at first use and kept in the cache folder. */
#ifndef ENGINE_RV32_CLANG_H
#define ENGINE_RV32_CLANG_H

#include <limits.h>

#include "engine/engine.h"
#include "engine/ocl_pack.h"
#include "engine/rv32_options.h"

struct scratch;

/* Texts of src/rv32/runtime/ and of include/dxp/rv32.h; the build generates them. */
extern const char rv32_runtime_text[], rv32_support_text[], rv32_header_text[];

struct rv32_clang {
	char path[PATH_MAX / 2];   /* real path of clang */
	char prefix[PATH_MAX / 2]; /* folder in which clang is installed; "": below /usr */
	unsigned major;            /* clang's major version */
	const char *libclc;        /* path of libclc's bitcode for 32-bit pointers */
	/* hash of clang, libclc and runtime; part of each program's key */
	uint8_t sum[OCL_KEY_BYTES];
	/* Folder in which the compilers work. The runtime is loaded from this folder if it is not
	 * loaded yet. */
	char folder[PATH_MAX / 2];
	struct scratch *scratch; /* owner of `folder` if there is no cache folder, otherwise NULL */
	/* path of the runtime's bitcode, which each compilation links; "": not made yet */
	char bitcode[PATH_MAX];
	uint8_t *support; /* object with support functions, which is linked to each program */
	size_t support_bytes;
};

/* Returns true if this machine has a suitable clang and libclc. */
bool rv32_clang_there(void);

/* Finds the compiler, without compiling anything. Always call rv32_clang_close() afterwards.
 * DXP_EUNSUPPORTED: not installed, logged with the packages to install; DXP_ENOMEM, DXP_EIO. */
int rv32_clang_open(const char *cache_folder, struct rv32_clang *out);
void rv32_clang_close(struct rv32_clang *c);
/* Sets the folder in which compilers work; see engine_folders(). If the runtime is already loaded,
 * its path stays. */
void rv32_clang_folder(struct rv32_clang *c, const char *work);

/* Loads the runtime. If the folder has none, compiles it first. DXP_EIO, DXP_EUNSUPPORTED:
 * logged. */
int rv32_clang_ready(struct rv32_clang *c);

/* Compiles a source with its headers to an object, which the caller frees. The caller also frees
 * *log: the messages, or NULL. DXP_EBUILD: *log has the reason; DXP_EIO, DXP_EUNSUPPORTED,
 * DXP_ENOMEM. */
int rv32_clang_compile(struct rv32_clang *c, const struct engine_source *source,
		       const struct rv32_options *options, uint8_t **object, size_t *bytes,
		       char **log);

/* rv32_runtime.c
 * Compiles the runtime. Stores the results in c->folder, in files with the names `bitcode` and
 * `support`. */
int rv32_runtime_make(const struct rv32_clang *c, const char *bitcode, const char *support);
/* rv32_stage.c */
/* Set the first words of a compiler's command line, and return their number. The front stage
 * compiles OpenCL C to LLVM text for wasm32. This 32-bit target passes vectors as libclc's
 * functions expect; clang's riscv32 does not. The back stage compiles any input to riscv32
 * objects. */
unsigned rv32_front_words(const struct rv32_clang *c, const char **words);
unsigned rv32_back_words(const struct rv32_clang *c, const char **words);

/* Read and write files in the folder of a build. */
bool rv32_file_write(const char *folder, const char *name, const void *data, size_t bytes);
/* Returns the content of a file with a zero after it, which the caller frees; NULL: no such
 * file. */
uint8_t *rv32_file_read(const char *folder, const char *name, size_t *bytes);

#endif
