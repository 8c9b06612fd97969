/* SPDX-License-Identifier: BSD-3-Clause */
/* Begins a job. The manager has no request for exclusive grants, so two jobs may choose an xPU at
 * the same moment. Each job grants first, and then reads all grants: at least one of two jobs with
 * the same xPU sees the other's grant. That job revokes its grants and chooses again after a random
 * time. So no two jobs keep an xPU. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/rng.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/file.h"
#include "cmd/dxp/inquiry.h"
#include "cmd/dxp/job.h"
#include "cmd/dxp/join.h"
#include "cmd/dxp/owner.h"
#include "cmd/dxp/token.h"
#include "cmd/options/options.h"

#define TOKEN_S 60 /* s; the token of a job is used at once */
/* shortest pause between two choices: a few round trips of the other jobs */
#define PAUSE_LEAST_NS (50 * MS_NS)
#define PAUSE_RANGE_NS (350 * MS_NS)

/* A snapshot of the fabric. snapshot_end() releases it. */
struct snapshot {
	struct query *nodes, *grants;
	struct job_fabric fabric;
};

static void snapshot_end(struct snapshot *s)
{
	query_destroy(s->nodes);
	query_destroy(s->grants);
	*s = (struct snapshot){0};
}

static bool snapshot_read(struct job *j, struct snapshot *out)
{
	struct inquiry nodes = {.fabric = &j->fabric, .kind = QUERY_NODES};
	struct inquiry grants = {.fabric = &j->fabric, .kind = QUERY_GRANTS};

	*out = (struct snapshot){0};
	if (inquiry_run(&nodes, &out->nodes) != DXP_OK)
		return print_fail("%s", nodes.text) == EXIT_DONE;
	if (inquiry_run(&grants, &out->grants) != DXP_OK) {
		snapshot_end(out);
		return print_fail("%s", grants.text) == EXIT_DONE;
	}
	out->fabric.node_count = query_nodes(out->nodes, &out->fabric.nodes);
	out->fabric.grant_count = query_grants(out->grants, &out->fabric.grants);
	if (query_explicit(out->grants))
		return true;
	snapshot_end(out);
	return print_fail("this manager permits any host to use any xPU, so jobs would share them; "
			  "start it with --grants explicit") == EXIT_DONE;
}

/* Grants or revokes the chosen xPUs. Returns false after it has printed the reason. */
static bool assign(struct job *j, uint8_t command, const struct job_choice *choice)
{
	struct control *q = &j->operator_keys;

	for (size_t i = 0; i < choice->count; i++) {
		q->token = NULL;
		q->request = (struct channel_request){.command = command};
		snprintf(q->request.name, sizeof(q->request.name), "%s", j->name);
		snprintf(q->request.xpu, sizeof(q->request.xpu), "%s", choice->names[i]);
		if (control_request(q) != DXP_OK)
			return print_fail("cannot grant %s to job %s: %s", choice->names[i],
					  j->name, q->text) == EXIT_DONE;
	}
	return true;
}

static void wish_format(const struct job_wish *wish, char out[96])
{
	char bytes[24];

	int length = snprintf(out, 96, "%llu xPU%s", (unsigned long long)wish->count,
			      wish->count == 1 ? "" : "s");
	if (wish->engine)
		length += snprintf(out + length, 96 - (size_t)length, " with engine %.20s",
				   wish->engine);
	if (wish->memory)
		snprintf(out + length, 96 - (size_t)length, " with %s of memory",
			 option_bytes_format(wish->memory, bytes));
}

static bool lacking(const struct job *j, const struct job_choice *choice)
{
	char wish[96];

	wish_format(&j->wish, wish);
	if (choice->fitting < j->wish.count)
		print_fail("job %s requests %s; the fabric has %zu such xPUs that are alive; `dxp "
			   "nodes` lists all",
			   j->name, wish, choice->fitting);
	else
		print_fail("job %s requests %s; %zu of %zu such xPUs are free, %s has another; "
			   "`dxp grants` lists the holders",
			   j->name, wish, choice->vacant, choice->fitting, choice->holder);
	return false;
}

static void pause_random(void)
{
	uint64_t random;

	rng_entropy_kernel(NULL, &random, sizeof(random));
	uint64_t pause_ns = PAUSE_LEAST_NS + random % PAUSE_RANGE_NS;
	nanosleep(&(struct timespec){.tv_nsec = (long)pause_ns}, NULL);
}

/* Chooses and grants once. Sets *again if another choice may succeed; otherwise returns false after
 * it has printed the reason. */
static bool grants_try(struct job *j, bool last, struct job_choice *choice, bool *again)
{
	struct snapshot s;
	uint64_t start;
	bool shared = false;

	*again = false;
	rng_entropy_kernel(NULL, &start, sizeof(start));
	if (!snapshot_read(j, &s))
		return false;
	job_choose(&s.fabric, j->name, &j->wish, start >> 32, choice);
	snapshot_end(&s);
	if (choice->count < j->wish.count) {
		*again = choice->fitting >= j->wish.count && !last;
		return *again || lacking(j, choice);
	}
	if (!assign(j, CHANNEL_GRANT, choice) || !snapshot_read(j, &s))
		return false;
	for (size_t i = 0; i < choice->count; i++)
		shared |= job_holder(&s.fabric, j->name, choice->names[i]) != NULL;
	snapshot_end(&s);
	if (!shared)
		return true;
	*again = !last;
	if (last)
		return print_fail("other jobs chose the xPUs of job %s at the same time; run this "
				  "again",
				  j->name) == EXIT_DONE;
	return assign(j, CHANNEL_REVOKE, choice);
}

static bool grants_make(struct job *j, struct job_choice *choice)
{
	const uint64_t until_ns = clock_now_ns() + j->wait_s * S_NS;
	bool again = true;

	while (grants_try(j, clock_now_ns() >= until_ns, choice, &again)) {
		if (!again)
			return true;
		pause_random();
	}
	return false;
}

/* Writes the addresses of all managers, with commas. */
static void managers_format(const struct control *q,
			    char out[MANAGERS_MAX * UDP_ADDRESS_TEXT_BYTES])
{
	char address[UDP_ADDRESS_TEXT_BYTES];
	size_t used = 0;

	address_format(&q->manager, address);
	for (unsigned i = 0;; i++) {
		used += (size_t)snprintf(out + used, UDP_ADDRESS_TEXT_BYTES + 1, "%s%s",
					 i ? "," : "", address);
		if (i == q->others.count)
			return;
		address_format(&q->others.all[i], address);
	}
}

static bool key_make(struct job *j)
{
	struct joining joining = {.folder = j->folder, .name = j->name};
	char token[TOKEN_TEXT_BYTES], hosts[MANAGERS_MAX * UDP_ADDRESS_TEXT_BYTES];
	struct control *q = &j->operator_keys;

	if (token_create(q, "host", 1, TOKEN_S, token) != DXP_OK)
		return print_fail("cannot make a token for job %s: %s", j->name, q->text) ==
		       EXIT_DONE;
	token_parse(token, &joining.token);
	keys_erase(token, sizeof(token));
	managers_format(q, hosts);
	joining.host = hosts;
	bool good = join_run(&joining);
	keys_erase(&joining.token, sizeof(joining.token));
	return good;
}

/* Gives the keys to the job's user. The folder stays this user's, so that no other user adds files
 * or links. */
static bool keys_give(const struct job *j)
{
	static const char *const files[] = {"fabric.key", "node.key"};
	const uid_t user = (uid_t)j->user;
	char path[PATH_BYTES];
	bool good = true;

	if (j->user == UINT64_MAX)
		return true;
	for (size_t i = 0; good && i < ARRAY_COUNT(files); i++) {
		int length = snprintf(path, sizeof(path), "%s/%s", j->folder, files[i]);
		good = length < (int)sizeof(path) && lchown(path, user, (gid_t)-1) == 0;
	}
	snprintf(path, sizeof(path), "%s/manager.pub", j->folder);
	good = good && chmod(path, 0644) == 0;
	snprintf(path, sizeof(path), "%s/manager", j->folder);
	good = good && chmod(path, 0644) == 0 && chmod(j->folder, 0711) == 0;
	return good || print_fail("cannot give the files in %s to user %u: %s", j->folder,
				  (unsigned)user, strerror(errno)) == EXIT_DONE;
}

static bool folder_make(const struct job *j)
{
	if (j->user == UINT64_MAX && !owner_become(j->folder))
		return false;
	if (mkdir(j->folder, 0700) == 0)
		return true;
	return print_fail("cannot create the folder %s: %s; choose a new name in a folder that "
			  "exists",
			  j->folder, strerror(errno)) == EXIT_DONE;
}

bool job_begin(struct job *j, struct job_choice *out)
{
	if (j->replaces && !job_end(j))
		return false;
	if (!folder_make(j))
		return false;
	if (!key_make(j)) {
		job_folder_remove(j->folder);
		return false;
	}
	if (keys_give(j) && grants_make(j, out))
		return true;
	job_end(j);
	return false;
}
