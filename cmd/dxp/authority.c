/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/authority.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "cmd/dxp/command.h"

#define READY_NS (30 * S_NS)
#define LOOK_NS  (10 * MS_NS)

static bool folder_has(const struct folder *p, const char *name)
{
	char path[PATH_BYTES];

	return folder_path(p, name, path) && access(path, F_OK) == 0;
}

bool authority_exists(const struct folder *p)
{
	return folder_has(p, "manager.pub") && folder_has(p, "registry");
}

bool authority_acquire(struct folder *p)
{
	char path[PATH_BYTES];
	const bool joined = folder_has(p, "manager.pub");

	if (joined && !authority_exists(p)) {
		print_fail("%s belongs to the fabric of another manager; choose another folder "
			   "with --dir",
			   p->folder);
		return false;
	}
	if (folder_load(p) && folder_alive(p)) {
		print_fail("a fabric is already up in %s; stop it with `dxp down`, or choose "
			   "another folder with --dir",
			   p->folder);
		return false;
	}
	if (joined && folder_path(p, "manager", path))
		unlink(path);
	p->count = 0;
	return folder_vacant(p) && folder_acquire(p);
}

/* Waits until the manager listens, and sets the address. Returns false after a message if the
 * manager exits or is not ready in time. */
static bool listening_wait(struct authority *a, const struct process *process, const char *log)
{
	const uint64_t deadline_ns = clock_now_ns() + READY_NS;
	const struct timespec look = {.tv_nsec = LOOK_NS};
	char text[2048] = "";

	while (!folder_manager_listens(a->folder, a->address)) {
		if (process_alive(process) && clock_now_ns() < deadline_ns) {
			nanosleep(&look, NULL);
			continue;
		}
		file_tail(log, text, sizeof(text));
		print_fail("the manager %s; last lines of its log:\n%s",
			   process_alive(process) ? "is not ready"
						  : "exited before the fabric was up",
			   text);
		return false;
	}
	return true;
}

static bool manager_start(struct authority *a)
{
	struct folder *p = a->folder;
	struct process *process = &p->processes[0];
	char state[PATH_BYTES], key[PATH_BYTES], log[PATH_BYTES], program[PATH_BYTES];

	if (!folder_path(p, "registry", state) || !folder_path(p, "fabric.key", key) ||
	    !folder_path(p, "run/manager.log", log))
		return false;
	process_program("dxp-manager", program, sizeof(program));
	const char *argv[] = {program,   "--key",  key,     "--new-key", "--state",
			      state,     "--bind", a->bind, "--grants",  a->grants,
			      "--admit", "token",  NULL};
	snprintf(process->name, sizeof(process->name), "manager");
	if (!process_start(argv, log, process))
		return false;
	p->count = 1;
	return folder_save(p) && listening_wait(a, process, log);
}

/* Reads the operator token that the manager wrote at its first start. */
static bool operator_token_read(const struct authority *a, struct token *out)
{
	char path[PATH_BYTES], text[TOKEN_TEXT_BYTES + 1];

	if (!folder_path(a->folder, "registry/operator.token", path))
		return false;
	if (!file_head(path, text, sizeof(text))) {
		print_fail("cannot read %s: %s", path, strerror(errno));
		return false;
	}
	text[strcspn(text, "\n")] = '\0';
	bool good = token_parse(text, out);
	keys_erase(text, sizeof(text));
	if (!good)
		print_fail("%s does not hold a token; restart the manager with --operator-token",
			   path);
	return good;
}

static bool operator_ensure(struct authority *a)
{
	struct joining j = {.folder = a->folder->folder, .host = a->address, .name = a->name};

	if (folder_has(a->folder, "manager.pub"))
		return folder_manager_write(a->folder, a->address);
	bool joined = operator_token_read(a, &j.token) && join_run(&j);
	keys_erase(&j.token, sizeof(j.token));
	return joined;
}

bool authority_start(struct authority *a)
{
	if (!manager_start(a) || !operator_ensure(a))
		return false;
	/* From now on the key stays after `dxp down`, because other machines may get it. */
	a->folder->key_created = false;
	return folder_save(a->folder);
}

bool authority_grant_own(const struct authority *a, char name[FABRIC_NAME_BYTES])
{
	const struct dxp_fabric_options fabric = {.directory = a->folder->folder};
	struct control q = {0};
	struct channel *c;
	int status = control_find(&fabric, &q);

	/* With a key that is admitted already, the answer contains its name. */
	q.request.command = CHANNEL_ADMIT;
	if (status == DXP_OK)
		status = control_run(&q, &c);
	if (status == DXP_OK) {
		snprintf(name, FABRIC_NAME_BYTES, "%.*s", FABRIC_NAME_BYTES - 1, channel_text(c));
		channel_destroy(c);
		q.request = (struct channel_request){.command = CHANNEL_GRANT, .xpu = "*"};
		snprintf(q.request.name, sizeof(q.request.name), "%s", name);
		status = control_run(&q, &c);
	}
	if (status == DXP_OK)
		channel_destroy(c);
	else
		print_fail("cannot permit this user to use its xPUs: %s", q.text);
	keys_erase(&q, sizeof(q));
	return status == DXP_OK;
}
