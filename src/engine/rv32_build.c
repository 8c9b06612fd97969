/* SPDX-License-Identifier: BSD-3-Clause */
/* A program is a list of objects: compiled from source, from linked programs, or from a binary. The
 * loader links those of an executable with the runtime. Programs are on disk under a hash of their
 * input. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include <dxp/status.h>

#include "base/log.h"
#include "engine/ocl_cache.h"
#include "engine/ocl_include.h"
#include "engine/ocl_library.h"
#include "engine/rv32_engine.h"
#include "engine/rv32_objects.h"
#include "engine/rv32_options.h"

#define FORMAT 4u /* of the key and of files on disk */

static bool part_add(EVP_MD_CTX *sum, const void *data, uint64_t bytes)
{
	return EVP_DigestUpdate(sum, &bytes, sizeof(bytes)) == 1 &&
	       (bytes == 0 || EVP_DigestUpdate(sum, data, bytes) == 1);
}

static bool source_add(EVP_MD_CTX *sum, const struct engine_source *s)
{
	const uint32_t head[] = {FORMAT, s->kind, s->file_count, s->input_count};
	bool added = part_add(sum, head, sizeof(head)) &&
		     part_add(sum, s->options, strlen(s->options)) &&
		     part_add(sum, ocl_device_header, strlen(ocl_device_header));

	for (uint32_t i = 0; added && i < s->file_count; i++) {
		const char *name = s->files[i].name ? s->files[i].name : "";
		added = part_add(sum, name, i ? strlen(name) : 0) &&
			part_add(sum, s->files[i].data, s->files[i].bytes);
	}
	for (uint32_t i = 0; added && i < s->input_count; i++)
		added = part_add(sum, s->inputs[i]->key, OCL_KEY_BYTES);
	return added;
}

static bool key_make(const struct engine_rv32 *r, const struct engine_source *s,
		     uint8_t key[OCL_KEY_BYTES])
{
	EVP_MD_CTX *sum = EVP_MD_CTX_new();
	bool made = sum && EVP_DigestInit_ex(sum, EVP_sha256(), NULL) == 1 &&
		    part_add(sum, r->clang.sum, sizeof(r->clang.sum)) && source_add(sum, s) &&
		    EVP_DigestFinal_ex(sum, key, NULL) == 1;

	EVP_MD_CTX_free(sum);
	return made;
}

static int object_add(struct engine_program *p, const uint8_t *object, size_t bytes)
{
	uint8_t *more =
		bytes <= UINT32_MAX ? realloc(p->objects, p->objects_bytes + 4 + bytes) : NULL;

	if (!more)
		return DXP_ENOMEM;
	p->objects = more;
	records_put_le(more + p->objects_bytes, bytes, 4);
	memcpy(more + p->objects_bytes + 4, object, bytes);
	p->objects_bytes += 4 + bytes;
	return DXP_OK;
}

static uint8_t *pack_make(const struct engine_program *p, const char *log, size_t *bytes)
{
	struct ocl_pack pack = {
		.type = p->type,
		.log = log,
		.log_bytes = log ? strlen(log) : 0,
		.binary = p->objects,
		.binary_bytes = p->objects_bytes,
	};

	memcpy(pack.device, rv32_device_kind, sizeof(pack.device));
	return ocl_pack_make(&pack, bytes);
}

/* Returns NULL, or a sentence with the reason. */
static const char *pack_load(const void *data, size_t bytes, struct engine_program *p, char **log)
{
	struct ocl_pack pack;
	struct rv32_object list[RV32_OBJECTS_MAX];
	int count;
	const char *wrong = rv32_objects_open(data, bytes, &pack, list, &count);

	if (wrong)
		return wrong;
	p->objects = malloc(pack.binary_bytes);
	if (!p->objects)
		return "not enough memory for the binary";
	memcpy(p->objects, pack.binary, pack.binary_bytes);
	p->objects_bytes = pack.binary_bytes;
	p->type = pack.type;
	if (pack.log_bytes)
		*log = strndup(pack.log, pack.log_bytes);
	return NULL;
}

static bool disk_load(struct engine_rv32 *r, struct engine_program *p, char **log)
{
	size_t bytes = 0;
	uint8_t *data = r->programs ? ocl_cache_get(r->programs, p->key, &bytes) : NULL;

	if (!data)
		return false;
	const char *wrong = pack_load(data, bytes, p, log);
	free(data);
	if (!wrong)
		return true;
	log_info("cannot use a built program in %s: %s; building it again", r->programs, wrong);
	ocl_cache_drop(r->programs, p->key);
	return false;
}

static void disk_keep(struct engine_rv32 *r, const struct engine_program *p, const char *log)
{
	size_t bytes;
	uint8_t *pack = r->programs ? pack_make(p, log, &bytes) : NULL;

	if (pack)
		ocl_cache_put(r->programs, p->key, pack, bytes);
	free(pack);
}

int rv32_program_binary(struct engine_program *p, uint8_t **out, size_t *bytes)
{
	*out = pack_make(p, NULL, bytes);
	return *out ? DXP_OK : DXP_ENOMEM;
}

static int log_line(char **log, const char *text)
{
	free(*log);
	return asprintf(log, "%s%s", text, strchr(text, '\n') ? "" : "\n") < 0 ? DXP_ENOMEM
									       : DXP_EBUILD;
}

static int options_judge(struct engine_rv32 *r, uint8_t kind, int status, const char *text,
			 char **log)
{
	if (status != DXP_EINVAL)
		return status;
	r->engine.native = kind == DXP_PROGRAM_LINK      ? CL_INVALID_LINKER_OPTIONS
			   : kind == DXP_PROGRAM_COMPILE ? CL_INVALID_COMPILER_OPTIONS
							 : CL_INVALID_BUILD_OPTIONS;
	return log_line(log, text);
}

static int compile(struct engine_rv32 *r, const struct engine_source *s, struct engine_program *p,
		   char **log)
{
	struct rv32_options options;
	char text[ENGINE_TEXT_BYTES];
	uint8_t *object;
	size_t bytes;
	int status = rv32_options_read(s->options, false, &options, text);

	if (status == DXP_OK)
		status = rv32_clang_compile(&r->clang, s, &options, &object, &bytes, log);
	else
		status = options_judge(r, s->kind, status, text, log);
	rv32_options_release(&options);
	if (status != DXP_OK)
		return status;
	status = object_add(p, object, bytes);
	free(object);
	p->type = s->kind == DXP_PROGRAM_COMPILE ? CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT
						 : CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
	return status;
}

static int inputs_join(const struct engine_source *s, struct engine_program *p, char **log)
{
	char text[ENGINE_TEXT_BYTES];

	for (uint32_t i = 0; i < s->input_count; i++) {
		const struct engine_program *input = s->inputs[i];
		if (input->type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE) {
			snprintf(
				text, sizeof(text),
				"input %u is an executable; link compiled programs and libraries\n",
				i);
			return log_line(log, text);
		}
		uint8_t *more = realloc(p->objects, p->objects_bytes + input->objects_bytes + 1);
		if (!more)
			return DXP_ENOMEM;
		memcpy(more + p->objects_bytes, input->objects, input->objects_bytes);
		p->objects = more;
		p->objects_bytes += input->objects_bytes;
	}
	return DXP_OK;
}

static int link_inputs(struct engine_rv32 *r, const struct engine_source *s,
		       struct engine_program *p, char **log)
{
	struct rv32_options options;
	char text[ENGINE_TEXT_BYTES];
	int status = rv32_options_read(s->options, true, &options, text);

	p->type = options.library ? CL_PROGRAM_BINARY_TYPE_LIBRARY
				  : CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
	rv32_options_release(&options);
	return status == DXP_OK ? inputs_join(s, p, log)
				: options_judge(r, s->kind, status, text, log);
}

static int binary_load(const struct engine_source *s, struct engine_program *p, char **log)
{
	const char *wrong = s->file_count == 1
				    ? pack_load(s->files[0].data, s->files[0].bytes, p, log)
				    : "a binary is one file; pass one";

	return wrong ? log_line(log, wrong) : DXP_OK;
}

static int image_make(struct engine_rv32 *r, struct engine_program *p, char **log)
{
	struct rv32_object list[RV32_OBJECTS_MAX + 1];
	char text[RV32_IMAGE_TEXT_BYTES];

	if (p->type != CL_PROGRAM_BINARY_TYPE_EXECUTABLE)
		return DXP_OK;
	int status = rv32_clang_ready(&r->clang);
	if (status != DXP_OK)
		return status;
	int count = rv32_objects_list(p->objects, p->objects_bytes, list);
	if (count < 0) {
		snprintf(text, sizeof(text), "a program has %d objects at most; link fewer",
			 RV32_OBJECTS_MAX);
		return log_line(log, text);
	}
	list[count++] = (struct rv32_object){r->clang.support, r->clang.support_bytes};
	status = rv32_image_link(list, (size_t)count, &p->image, text);
	return status == DXP_OK || status == DXP_ENOMEM ? status : log_line(log, text);
}

static int program_make(struct engine_rv32 *r, const struct engine_source *s,
			struct engine_program *p, char **log)
{
	int status = s->kind == DXP_PROGRAM_BINARY ? binary_load(s, p, log)
		     : disk_load(r, p, log)        ? DXP_OK
						   : DXP_ENOENT;
	const bool fresh = status == DXP_ENOENT;

	if (fresh)
		status = s->kind == DXP_PROGRAM_LINK ? link_inputs(r, s, p, log)
						     : compile(r, s, p, log);
	if (status == DXP_OK)
		status = image_make(r, p, log);
	if (status == DXP_OK && fresh)
		disk_keep(r, p, *log);
	return status;
}

int rv32_program_build(struct engine *e, const struct engine_source *s, struct engine_program **out,
		       char **log)
{
	struct engine_rv32 *r = rv32_of(e);
	struct engine_program *p = calloc(1, sizeof(*p));

	*log = NULL;
	if (!p || !key_make(r, s, p->key)) {
		free(p);
		return DXP_ENOMEM;
	}
	int status = program_make(r, s, p, log);
	if (status == DXP_OK) {
		*out = p;
		return DXP_OK;
	}
	if (status == DXP_EBUILD && e->native == 0 && s->kind != DXP_PROGRAM_BINARY)
		e->native = s->kind == DXP_PROGRAM_LINK      ? CL_LINK_PROGRAM_FAILURE
			    : s->kind == DXP_PROGRAM_COMPILE ? CL_COMPILE_PROGRAM_FAILURE
							     : CL_BUILD_PROGRAM_FAILURE;
	rv32_program_release(e, p);
	return status;
}

void rv32_program_release(struct engine *e, struct engine_program *p)
{
	for (uint32_t i = 0; i < RV32_CORES_MAX; i++) {
		rv32_code_destroy(p->codes[i]);
		free(p->counts[i]);
	}
	rv32_image_destroy(p->image);
	free(p->objects);
	free(p);
}
