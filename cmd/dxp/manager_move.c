/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/manager_move.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/process.h"

#define ARGUMENTS_MAX 20

struct words {
	const char *all[ARGUMENTS_MAX];
	size_t count;
};

static void add(struct words *a, const char *option, const char *value)
{
	if (!value)
		return;
	a->all[a->count++] = option;
	a->all[a->count++] = value;
}

int manager_move(const struct manager_move *m, const struct folder *folder, bool import,
		 const char *file)
{
	char program[PATH_MAX], key[PATH_BYTES], state[PATH_BYTES];
	struct words a = {{program}, 1};

	if (!folder_path(folder, "fabric.key", key) || !folder_path(folder, "registry", state))
		return EXIT_FAILED;
	process_program("dxp-manager", program, sizeof(program));
	add(&a, "--key", m->key ? m->key : key);
	add(&a, "--state", m->state ? m->state : state);
	add(&a, "--store", m->store);
	add(&a, "--store-ca", m->ca);
	add(&a, "--store-cert", m->certificate);
	add(&a, "--store-key", m->tls_key);
	add(&a, import ? "--import" : "--export", file);
	execvp(program, (char *const *)a.all);
	return print_fail("cannot start %s: %s; install the package dxp-manager", program,
			  strerror(errno));
}
