/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds clang and libclc, and compiles in two stages: OpenCL C to LLVM text, which rv32_edit.c
 * edits, then this text to an object. */
#include "engine/rv32_clang.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/evp.h>

#include <dxp/status.h>

#include "base/log.h"
#include "base/scratch.h"
#include "base/util.h"
#include "engine/ocl_folder.h"
#include "engine/rv32_child.h"
#include "engine/rv32_edit.h"
#include "rv32/image.h"

#define MAJOR_FIRST 15 /* oldest clang with untyped pointers in LLVM text */
#define MAJOR_LAST  21
#define WORDS_MAX   (RV32_OPTIONS_MAX + 64)

/* Looks in PATH; *out is the real path. */
static bool program_find(const char *name, char out[PATH_MAX])
{
	const char *list = getenv("PATH");
	char path[PATH_MAX];

	for (const char *at = list ? list : "/usr/bin:/bin"; *at;) {
		size_t letters = strcspn(at, ":");
		int made = snprintf(path, sizeof(path), "%.*s/%s", (int)letters, at, name);
		if (letters > 0 && made < (int)sizeof(path) && access(path, X_OK) == 0 &&
		    realpath(path, out))
			return true;
		at += letters;
		at += *at == ':';
	}
	return false;
}

static bool clang_find(struct rv32_clang *c)
{
	char name[16], path[PATH_MAX];

	for (unsigned major = MAJOR_FIRST; major <= MAJOR_LAST; major++) {
		snprintf(name, sizeof(name), "clang-%u", major);
		if (!program_find(name, path) || strlen(path) >= sizeof(c->path))
			continue;
		c->major = major;
		strcpy(c->path, path);
		if (strncmp(path, "/usr/", 5) == 0)
			return true;
		/* PREFIX/bin/clang: its libraries and headers are in PREFIX. */
		strcpy(c->prefix, path);
		for (int i = 0; i < 2 && strrchr(c->prefix, '/'); i++)
			*strrchr(c->prefix, '/') = '\0';
		return true;
	}
	return false;
}

static const char *libclc_find(void)
{
	static const char *const paths[] = {"/usr/lib/clc/nvptx--.bc", "/usr/share/clc/nvptx--.bc",
					    "/usr/local/share/clc/nvptx--.bc"};

	for (size_t i = 0; i < ARRAY_COUNT(paths); i++)
		if (access(paths[i], R_OK) == 0)
			return paths[i];
	return NULL;
}

bool rv32_clang_there(void)
{
	struct rv32_clang c = {0};

	return clang_find(&c) && libclc_find();
}

/* Path, size and time change when the file's package is updated. */
static void file_sum(EVP_MD_CTX *sum, const char *path)
{
	struct stat s;

	EVP_DigestUpdate(sum, path, strlen(path) + 1);
	if (stat(path, &s) != 0)
		return;
	EVP_DigestUpdate(sum, &s.st_size, sizeof(s.st_size));
	EVP_DigestUpdate(sum, &s.st_mtim, sizeof(s.st_mtim));
}

static bool sum_make(struct rv32_clang *c)
{
	EVP_MD_CTX *sum = EVP_MD_CTX_new();

	if (!sum)
		return false;
	EVP_DigestInit_ex(sum, EVP_sha256(), NULL);
	file_sum(sum, c->path);
	file_sum(sum, c->libclc);
	EVP_DigestUpdate(sum, rv32_runtime_text, strlen(rv32_runtime_text) + 1);
	EVP_DigestUpdate(sum, rv32_support_text, strlen(rv32_support_text) + 1);
	EVP_DigestUpdate(sum, rv32_header_text, strlen(rv32_header_text) + 1);
	bool made = EVP_DigestFinal_ex(sum, c->sum, NULL) == 1;
	EVP_MD_CTX_free(sum);
	return made;
}

static int folder_make(const char *cache_folder, struct rv32_clang *c)
{
	const int most = (int)sizeof(c->folder);

	if (cache_folder) {
		mkdir(cache_folder, 0700);
		if (snprintf(c->folder, sizeof(c->folder), "%s/rv32", cache_folder) < most &&
		    (mkdir(c->folder, 0700) == 0 || errno == EEXIST))
			return DXP_OK;
		log_warn("cannot keep compiled kernels in %s: %s; they are compiled at each start",
			 cache_folder, strerror(errno));
	}
	int status = scratch_open(NULL, &c->scratch);
	if (status != DXP_OK)
		return status;
	return snprintf(c->folder, sizeof(c->folder), "%s", scratch_path(c->scratch)) < most
		       ? DXP_OK
		       : DXP_EIO;
}

int rv32_clang_open(const char *cache_folder, struct rv32_clang *c)
{
	*c = (struct rv32_clang){0};
	c->libclc = libclc_find();
	if (!clang_find(c) || !c->libclc) {
		log_error("engine rv32 has no %s here; apt install clang-15 libclc-15 "
			  "libclc-15-dev",
			  c->path[0] ? "libclc (nvptx--.bc)" : "clang-15 or later");
		return DXP_EUNSUPPORTED;
	}
	if (!sum_make(c))
		return DXP_ENOMEM;
	return folder_make(cache_folder, c);
}

void rv32_clang_folder(struct rv32_clang *c, const char *work)
{
	if (strlen(work) < sizeof(c->folder))
		strcpy(c->folder, work);
}

void rv32_clang_close(struct rv32_clang *c)
{
	free(c->support);
	if (c->scratch)
		scratch_close(c->scratch);
}

static int child_run(const struct rv32_clang *c, const char *folder, const char **words, char **log)
{
	const struct rv32_child child = {.folder = folder,
					 .words = words,
					 .reads = {c->libclc, c->bitcode[0] ? c->bitcode : NULL,
						   c->prefix[0] ? c->prefix : NULL}};

	return rv32_child_run(&child, log);
}

/* clang 15 writes lines about the target of some libclc functions. */
static void log_clean(char *log)
{
	static const char part[] = "is not a recognized feature for this target";
	char *out = log, *line = log;

	while (line && *line) {
		char *next = strchr(line, '\n');
		size_t letters = next ? (size_t)(next + 1 - line) : strlen(line);
		if (!memmem(line, letters, part, sizeof(part) - 1)) {
			memmove(out, line, letters);
			out += letters;
		}
		line += letters;
	}
	if (out)
		*out = '\0';
}

static int first_stage(struct rv32_clang *c, const char *folder, const struct rv32_options *options,
		       char **log)
{
	const char *words[WORDS_MAX];
	unsigned count = rv32_front_words(c, words);
	const char *const more[] = {"-cl-kernel-arg-info", "-Wno-linker-warnings", "-Wno-format",
				    /* for messages; src/rv32/image_lines.c reads version 4 */
				    "-gline-tables-only", "-gdwarf-4",
				    /* no optimization before rv32_edit.c has changed the text */
				    "-Xclang", "-disable-llvm-passes", "-Xclang",
				    "-mlink-builtin-bitcode", "-Xclang", c->bitcode, "-Xclang",
				    "-mlink-builtin-bitcode", "-Xclang", c->libclc};
	const char *const last[] = {"-I.", "-S",         "-emit-llvm", RV32_PROGRAM_FILE,
				    "-o",  "program.ll", NULL};

	memcpy(words + count, more, sizeof(more));
	count += ARRAY_COUNT(more);
	for (unsigned i = 0; i < options->count; i++)
		words[count++] = options->words[i];
	memcpy(words + count, last, sizeof(last));
	int status = child_run(c, folder, words, log);
	if (*log)
		log_clean(*log);
	return status;
}

static int edit(const char *folder, char **log)
{
	char text[ENGINE_TEXT_BYTES];
	size_t bytes, edited_bytes;
	char *ir = (char *)rv32_file_read(folder, "program.ll", &bytes);
	char *edited = ir ? rv32_edit(ir, bytes, &edited_bytes, text) : NULL;

	free(ir);
	if (!edited) {
		free(*log);
		*log = ir && text[0] ? strdup(text) : NULL;
		return *log ? DXP_EBUILD : DXP_ENOMEM;
	}
	bool written = rv32_file_write(folder, "edited.ll", edited, edited_bytes);
	free(edited);
	return written ? DXP_OK : DXP_EIO;
}

/* Compiles the edited text to an object. If this fails, *log becomes the messages of this stage. */
static int second_stage(struct rv32_clang *c, const char *folder, char **log)
{
	const char *words[WORDS_MAX];
	char *second = NULL;
	unsigned count = rv32_back_words(c, words);
	const char *const more[] = {
		"-x", "ir", "-Wno-override-module", "-c", "edited.ll", "-o", "program.o", NULL};

	memcpy(words + count, more, sizeof(more));
	int status = child_run(c, folder, words, &second);
	if (status == DXP_OK) {
		free(second);
		return DXP_OK;
	}
	free(*log);
	*log = second;
	return status;
}

/* Writes the program's text, and the header that declares the NIC's instructions, as files. */
static int sources_write(const char *folder, const struct engine_source *s)
{
	const char *text = s->files[0].data;
	size_t bytes = s->files[0].bytes;
	char path[PATH_MAX];

	if (bytes > 0 && text[bytes - 1] == '\0')
		bytes--;
	if (snprintf(path, sizeof(path), "%s/dxp/rv32.h", folder) >= (int)sizeof(path))
		return DXP_EIO;
	/* The program's own header has precedence. */
	if (access(path, F_OK) != 0 &&
	    !rv32_file_write(folder, "dxp/rv32.h", rv32_header_text, strlen(rv32_header_text)))
		return DXP_EIO;
	return rv32_file_write(folder, RV32_PROGRAM_FILE, text, bytes) ? DXP_OK : DXP_EIO;
}

static int compile_in(struct rv32_clang *c, const char *folder, const struct engine_source *s,
		      const struct rv32_options *options, char **log)
{
	int status = sources_write(folder, s);

	if (status == DXP_OK)
		status = first_stage(c, folder, options, log);
	if (status == DXP_OK)
		status = edit(folder, log);
	if (status == DXP_OK)
		status = second_stage(c, folder, log);
	return status;
}

int rv32_clang_compile(struct rv32_clang *c, const struct engine_source *s,
		       const struct rv32_options *options, uint8_t **object, size_t *bytes,
		       char **log)
{
	struct ocl_folder folder;
	int status = rv32_clang_ready(c);

	*log = NULL;
	if (status == DXP_OK && s->file_count == 0) {
		*log = strdup("a program without a text\n");
		status = DXP_EBUILD;
	}
	if (status == DXP_OK)
		status = ocl_folder_create(c->folder, s, &folder, log);
	if (status != DXP_OK)
		return status;
	status = compile_in(c, folder.path, s, options, log);
	if (status == DXP_OK) {
		*object = rv32_file_read(folder.path, "program.o", bytes);
		status = *object ? DXP_OK : DXP_EIO;
	}
	ocl_folder_destroy(&folder);
	return status;
}
