/* SPDX-License-Identifier: BSD-3-Clause */
/* An id names a program on the xPU. A short package is sent in the command, a longer one through
 * device memory. */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "host/fetch.h"
#include "host/internal.h"
#include "wire/package.h"

static int build_riding(struct dxp_xpu *x, const uint8_t *package, uint64_t bytes,
			struct command_reply *reply)
{
	struct command c;

	command_begin(&c, COMMAND_BUILD);
	c.bytes = bytes;
	c.data = package;
	c.data_bytes = (uint32_t)bytes;
	return request_call(x, &c, reply, HOST_BUILD_NS);
}

static int build_there(struct dxp_xpu *x, uint8_t *package, uint64_t bytes,
		       struct command_reply *reply)
{
	struct command c;
	uint64_t address;
	int status = fetch_scratch_acquire(x, bytes, &address);

	if (status != DXP_OK)
		return status;
	status = memory_move(x, MEMORY_WRITE, address, package, bytes);
	if (status == DXP_OK) {
		command_begin(&c, COMMAND_BUILD);
		c.address = address;
		c.bytes = bytes;
		status = request_call(x, &c, reply, HOST_BUILD_NS);
	}
	fetch_scratch_give(x);
	return status;
}

static void release(struct dxp_xpu *x, uint32_t program)
{
	struct command c;
	struct command_reply reply;

	command_begin(&c, COMMAND_RELEASE);
	c.program = program;
	request_call(x, &c, &reply, HOST_REPLY_NS);
}

static int build_error(const struct dxp_xpu *x, int status)
{
	if (status != DXP_EUNSUPPORTED)
		return error_xpu(x, status, "build");
	return error_set(status,
			 "build: xPU '%s' cannot run such kernels (engine '%s'%s%s); use an xPU "
			 "with engine ocl, or a board without `compute = none`",
			 x->caps.name, x->caps.engine, x->caps.device[0] ? ", " : "",
			 x->caps.device);
}

/* Reads the build log and the records about kernels. Short ones are in the reply; longer ones are
 * fetched. */
static int results_read(struct dxp_program *p, const struct command_reply *reply)
{
	struct dxp_xpu *x = p->xpu;
	size_t log_bytes = (size_t)min_u64(reply->log_bytes, HOST_LOG_BYTES);
	void *log = NULL;
	int status = DXP_OK;

	if (reply->part_bytes) {
		log = malloc((size_t)reply->log_bytes + 1);
		p->about = malloc((size_t)reply->about_bytes + 1);
		if (log && p->about) {
			memcpy(log, reply->part, reply->log_bytes);
			memcpy(p->about, reply->part + reply->log_bytes, reply->about_bytes);
			p->about_bytes = reply->about_bytes;
		} else {
			status = DXP_ENOMEM;
		}
	} else {
		status = fetch_whole(x, p->id, FETCH_LOG, log_bytes, &log, &log_bytes);
		if (status == DXP_OK && reply->about_bytes)
			status = fetch_whole(x, p->id, FETCH_ABOUT, reply->about_bytes, &p->about,
					     &p->about_bytes);
	}
	p->log = log;
	if (p->log)
		p->log[log_bytes] = '\0';
	return status;
}

static void program_free(struct dxp_program *p)
{
	free(p->log);
	free(p->about);
	free(p);
}

static int create_locked(struct dxp_xpu *x, uint8_t *package, uint64_t bytes,
			 struct dxp_program **out)
{
	struct command_reply reply;
	struct dxp_program *p = calloc(1, sizeof(*p));

	if (!p)
		return error_set(DXP_ENOMEM, "out of memory");
	p->xpu = x;
	int status = bytes <= COMMAND_PACKAGE_BYTES ? build_riding(x, package, bytes, &reply)
						    : build_there(x, package, bytes, &reply);
	if (status != DXP_OK && status != DXP_EBUILD) {
		free(p);
		return build_error(x, status);
	}
	p->id = reply.program;
	p->native = reply.native;
	int fetched = results_read(p, &reply);
	if (fetched != DXP_OK) {
		release(x, p->id);
		program_free(p);
		return error_xpu(x, fetched, "fetch of the build log");
	}
	*out = p;
	if (status == DXP_EBUILD)
		error_set(status, "the program does not build on xPU '%s' (%s); see the build log",
			  x->caps.name, x->caps.device);
	return status;
}

static int inputs_check(struct dxp_xpu *x, const struct dxp_program_source *source, uint32_t *ids)
{
	for (uint32_t i = 0; i < source->input_count; i++) {
		if (!source->inputs[i] || source->inputs[i]->xpu != x)
			return error_set(DXP_EINVAL,
					 "program: input %u was not compiled on xPU '%s'", i,
					 x->caps.name);
		ids[i] = source->inputs[i]->id;
	}
	return DXP_OK;
}

static int create(struct dxp_xpu *x, const struct package_source *s, struct dxp_program **out)
{
	uint64_t bytes = package_bytes(s);

	if (bytes > HOST_SOURCE_BYTES)
		return error_set(DXP_EINVAL, "build: the source is longer than %u bytes; split it",
				 HOST_SOURCE_BYTES);
	uint8_t *package = malloc(bytes);
	if (!package)
		return error_set(DXP_ENOMEM, "out of memory");
	package_encode(s, package);
	host_fabric_enter(x->fabric);
	int status = create_locked(x, package, bytes, out);
	host_fabric_leave(x->fabric);
	free(package);
	return status;
}

int dxp_program_create(struct dxp_xpu *xpu, const struct dxp_program_source *source,
		       struct dxp_program **out)
{
	struct package_source s = {.kind = (uint8_t)source->kind,
				   .options = source->options,
				   .files = source->files,
				   .file_count = source->file_count,
				   .input_count = source->input_count};
	const char *fault =
		source->kind > DXP_PROGRAM_LINK ? "unknown kind of program" : package_fault(&s);

	if (fault)
		return error_set(DXP_EINVAL, "program: %s", fault);
	uint32_t *ids = calloc(s.input_count + 1, sizeof(*ids));
	if (!ids)
		return error_set(DXP_ENOMEM, "out of memory");
	s.inputs = ids;
	int status = inputs_check(xpu, source, ids);
	if (status == DXP_OK)
		status = create(xpu, &s, out);
	free(ids);
	return status;
}

int dxp_program_build(struct dxp_xpu *xpu, const char *source, const char *options,
		      struct dxp_program **out)
{
	if (!source || !*source)
		return error_set(DXP_EINVAL, "build: the source is empty");
	const struct dxp_file file = {.data = source, .bytes = strlen(source)};
	const struct dxp_program_source s = {
		.kind = DXP_PROGRAM_SOURCE, .options = options, .files = &file, .file_count = 1};
	return dxp_program_create(xpu, &s, out);
}

const char *dxp_program_log(const struct dxp_program *program)
{
	return program->log;
}

int32_t dxp_program_native(const struct dxp_program *program)
{
	return program->native;
}

const void *dxp_program_about(const struct dxp_program *program, size_t *bytes)
{
	*bytes = program->about_bytes;
	return program->about;
}

int dxp_program_binary(const struct dxp_program *program, void **out, size_t *bytes)
{
	struct dxp_xpu *x = program->xpu;

	host_fabric_enter(x->fabric);
	int status = fetch_whole(x, program->id, FETCH_BINARY, 0, out, bytes);
	if (status == DXP_EUNSUPPORTED)
		error_set(status, "binary: the engine '%s' of xPU '%s' has no program binaries",
			  x->caps.engine, x->caps.name);
	else if (status != DXP_OK)
		error_xpu(x, status, "fetch of the binary");
	host_fabric_leave(x->fabric);
	return status;
}

int dxp_program_profile(const struct dxp_program *program, void **out, size_t *bytes)
{
	struct dxp_xpu *x = program->xpu;

	host_fabric_enter(x->fabric);
	int status = fetch_whole(x, program->id, FETCH_PROFILE, 0, out, bytes);
	if (status == DXP_EUNSUPPORTED)
		error_set(status,
			  "profile: the engine '%s' of xPU '%s' does not count instructions; use "
			  "engine rv32",
			  x->caps.engine, x->caps.name);
	else if (status != DXP_OK)
		error_xpu(x, status, "fetch of the profile");
	host_fabric_leave(x->fabric);
	return status;
}

void dxp_program_release(struct dxp_program *program)
{
	if (!program)
		return;
	struct dxp_fabric *f = program->xpu->fabric;
	host_fabric_enter(f);
	release(program->xpu, program->id);
	host_fabric_leave(f);
	program_free(program);
}
