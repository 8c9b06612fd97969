/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs: the source goes into device memory, is built there, and its memory is given back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "host/internal.h"
#include "wire/package.h"

/* Builds from a package that lies in device memory. */
static int build_at(struct dxp_xpu *x, uint64_t address, uint64_t bytes,
		    struct command_reply *reply)
{
	struct command c = {.op = COMMAND_BUILD, .address = address, .bytes = bytes};

	return request_call(x, &c, reply, HOST_BUILD_NS);
}

static int build_package(struct dxp_xpu *x, uint8_t *package, uint64_t bytes,
			 struct command_reply *reply)
{
	struct command c = {.op = COMMAND_ALLOC, .bytes = bytes};
	int status = request_call(x, &c, reply, HOST_REPLY_NS);

	if (status != DXP_OK)
		return status;
	uint64_t address = reply->address;
	struct command_reply freed;
	status = memory_move(x, MEMORY_WRITE, address, package, bytes);
	if (status == DXP_OK)
		status = build_at(x, address, bytes, reply);
	c = (struct command){.op = COMMAND_FREE, .address = address};
	int free_status = request_call(x, &c, &freed, HOST_REPLY_NS);
	return status == DXP_OK ? free_status : status;
}

static int build_source(struct dxp_xpu *x, const char *source, const char *options,
			struct command_reply *reply)
{
	const struct dxp_file file = {.data = source, .bytes = strlen(source)};
	const struct package_source s = {
		.kind = DXP_PROGRAM_SOURCE, .options = options, .files = &file, .file_count = 1};
	uint64_t bytes = package_bytes(&s);
	uint8_t *package = malloc(bytes);

	if (!package)
		return DXP_ENOMEM;
	package_encode(&s, package);
	int status = build_package(x, package, bytes, reply);
	free(package);
	return status;
}

static int log_fetch(struct dxp_xpu *x, uint32_t program, uint32_t bytes, char **out)
{
	uint32_t wanted = (uint32_t)min_u64(bytes, HOST_LOG_BYTES);
	uint32_t have = 0;
	char *log = malloc((size_t)wanted + 1);
	struct command_reply part;

	if (!log)
		return DXP_ENOMEM;
	while (have < wanted) {
		struct command c = {.op = COMMAND_FETCH,
				    .what = FETCH_LOG,
				    .program = program,
				    .skip = have,
				    .bytes = wanted - have,
				    .address = COMMAND_NO_ADDRESS};
		int status = request_call(x, &c, &part, HOST_REPLY_NS);
		if (status != DXP_OK) {
			free(log);
			return status;
		}
		if (part.part_bytes == 0)
			break;
		uint32_t take = (uint32_t)min_u64(part.part_bytes, wanted - have);
		memcpy(log + have, part.part, take);
		have += take;
	}
	log[have] = '\0';
	*out = log;
	return DXP_OK;
}

static void release(struct dxp_xpu *x, uint32_t program)
{
	struct command c = {.op = COMMAND_RELEASE, .program = program};
	struct command_reply reply;

	request_call(x, &c, &reply, HOST_REPLY_NS);
}

static int build_locked(struct dxp_xpu *x, const char *source, const char *options,
			struct dxp_program **out)
{
	struct dxp_program *p = calloc(1, sizeof(*p));
	struct command_reply reply;

	if (!p)
		return error_set(DXP_ENOMEM, "out of memory");
	int status = build_source(x, source, options, &reply);
	if (status == DXP_EUNSUPPORTED) {
		free(p);
		return error_set(status,
				 "build: xPU '%s' runs no kernels (engine '%s'%s%s); use one that "
				 "does, as `dxp up` starts, or a board without `compute = none`",
				 x->caps.name, x->caps.engine, x->caps.device[0] ? ", " : "",
				 x->caps.device);
	}
	if (status != DXP_OK && status != DXP_EBUILD) {
		free(p);
		return error_xpu(x, status, "build");
	}
	p->xpu = x;
	p->id = reply.program;
	int log_status = log_fetch(x, p->id, reply.log_bytes, &p->log);
	if (log_status != DXP_OK) {
		release(x, p->id);
		free(p);
		return error_xpu(x, log_status, "fetch the build log");
	}
	*out = p;
	if (status == DXP_EBUILD)
		error_set(status, "the program does not build on xPU '%s' (%s); its log says why",
			  x->caps.name, x->caps.device);
	return status;
}

int dxp_program_build(struct dxp_xpu *xpu, const char *source, const char *options,
		      struct dxp_program **out)
{
	if (!source || !*source)
		return error_set(DXP_EINVAL, "build: the source is empty");
	if (strlen(source) > HOST_SOURCE_BYTES)
		return error_set(DXP_EINVAL, "build: the source is longer than %u bytes; split it",
				 HOST_SOURCE_BYTES);
	if (options && strlen(options) >= PACKAGE_OPTIONS_BYTES)
		return error_set(DXP_EINVAL, "build: the options are longer than %d bytes",
				 PACKAGE_OPTIONS_BYTES - 1);
	fabric_enter(xpu->fabric);
	int status = build_locked(xpu, source, options ? options : "", out);
	fabric_leave(xpu->fabric);
	return status;
}

const char *dxp_program_log(const struct dxp_program *program)
{
	return program->log;
}

void dxp_program_release(struct dxp_program *program)
{
	if (!program)
		return;
	struct dxp_fabric *f = program->xpu->fabric;
	fabric_enter(f);
	release(program->xpu, program->id);
	fabric_leave(f);
	free(program->log);
	free(program);
}
