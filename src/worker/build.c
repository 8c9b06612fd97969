/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of a worker: build, release, fetch. */
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "wire/package.h"
#include "worker/server_internal.h"

static struct worker_built **program_link(struct worker_server *s, uint32_t id)
{
	struct worker_built **at = &s->programs[id % WORKER_BUCKETS];

	while (*at && (*at)->id != id)
		at = &(*at)->next;
	return at;
}

struct engine_program *worker_program_find(const struct worker_server *s, uint32_t id)
{
	const struct worker_built *b = s->programs[id % WORKER_BUCKETS];

	while (b && b->id != id)
		b = b->next;
	return b ? b->handle : NULL;
}

static int program_keep(struct worker_server *s, uint32_t id, struct engine_program *handle)
{
	struct worker_built *b = malloc(sizeof(*b)), **at = &s->programs[id % WORKER_BUCKETS];

	if (!b)
		return DXP_ENOMEM;
	*b = (struct worker_built){.next = *at, .id = id, .handle = handle};
	*at = b;
	return DXP_OK;
}

int worker_build_part(struct worker_server *s, const void *bytes, uint32_t count)
{
	uint8_t *package = realloc(s->package, s->package_bytes + count);

	if (!package)
		return DXP_ENOMEM;
	memcpy(package + s->package_bytes, bytes, count);
	s->package = package;
	s->package_bytes += count;
	return DXP_OK;
}

/* A program's source in the form that the engine takes. Its texts point into the package. */
struct opened {
	struct package package;
	struct engine_source source;
	struct engine_file *files;
	struct engine_program **inputs;
};

static int inputs_find(const struct worker_server *s, struct opened *o)
{
	for (uint32_t i = 0; i < o->package.input_count; i++) {
		o->inputs[i] = worker_program_find(s, package_input(&o->package, i));
		if (!o->inputs[i])
			return DXP_ENOENT;
	}
	return DXP_OK;
}

static int package_open(const struct worker_server *s, uint64_t bytes, struct opened *o)
{
	struct package *p = &o->package;
	const uint8_t *at = NULL;
	struct dxp_file file;

	/* Bytes are missing only if the worker had no memory for a PART: the xPU checks
	 * packages. */
	if (bytes == 0 || bytes != s->package_bytes)
		return DXP_ENOMEM;
	if (package_decode(s->package, bytes, p) != DXP_OK)
		return DXP_EMALFORMED;
	o->files = calloc(p->file_count + 1, sizeof(*o->files));
	o->inputs = calloc(p->input_count + 1, sizeof(struct engine_program *));
	if (!o->files || !o->inputs)
		return DXP_ENOMEM;
	for (uint32_t i = 0; package_file(p, &at, &file); i++)
		o->files[i] = (struct engine_file){file.name, file.data, file.bytes};
	o->source = (struct engine_source){
		.kind = p->kind,
		.options = p->options,
		.files = o->files,
		.file_count = p->file_count,
		.inputs = o->inputs,
		.input_count = p->input_count,
	};
	return inputs_find(s, o);
}

static void opened_close(struct worker_server *s, struct opened *o)
{
	free(o->files);
	free(o->inputs);
	free(s->package);
	s->package = NULL;
	s->package_bytes = 0;
}

/* An engine without such records is no error. */
static void about_report(struct worker_server *s, struct engine_program *program)
{
	uint8_t *about;
	size_t bytes;

	if (engine_fetch(s->options.engine, program, FETCH_ABOUT, &about, &bytes) != DXP_OK)
		return;
	server_answer_data(s, WORKER_DATA, about, bytes);
	free(about);
}

int worker_build(struct worker_server *s, const struct worker_build *b)
{
	struct engine *e = s->options.engine;
	struct opened o = {0};
	struct engine_program *program = NULL;
	char *log = NULL;
	int status = package_open(s, b->package_bytes, &o);

	if (status == DXP_OK)
		status = engine_build(e, &o.source, &program, &log);
	if (log)
		server_answer_data(s, WORKER_LOG, log, strlen(log));
	free(log);
	opened_close(s, &o);
	if (status != DXP_OK)
		return status;
	status = program_keep(s, b->program, program);
	if (status == DXP_OK)
		about_report(s, program);
	else
		engine_release(e, program);
	return status;
}

int worker_release(struct worker_server *s, const struct worker_program *p)
{
	struct worker_built **at = program_link(s, p->program), *b = *at;

	if (!b)
		return DXP_ENOENT;
	*at = b->next;
	engine_release(s->options.engine, b->handle);
	free(b);
	return DXP_OK;
}

int worker_fetch(struct worker_server *s, const struct worker_fetch *f)
{
	struct engine_program *program = f->program ? worker_program_find(s, f->program) : NULL;
	uint8_t *data;
	size_t bytes;

	if (f->program && !program)
		return DXP_ENOENT;
	int status = engine_fetch(s->options.engine, program, (uint8_t)f->what, &data, &bytes);
	if (status != DXP_OK)
		return status;
	server_answer_data(s, WORKER_DATA, data, bytes);
	free(data);
	return DXP_OK;
}

void worker_programs_free(struct worker_server *s)
{
	struct worker_built *b;

	for (uint32_t i = 0; i < WORKER_BUCKETS; i++)
		while ((b = s->programs[i])) {
			s->programs[i] = b->next;
			engine_release(s->options.engine, b->handle);
			free(b);
		}
	free(s->package);
}
