/* SPDX-License-Identifier: BSD-3-Clause */
/* Many nodes that join, leave, are killed and restart at random, for managers_crowd.sh:
 *
 *   node-crowd KEY MANAGERS COUNT XPUS SEED FOLDER
 *
 * A member always gets the id that it had before, no two members get the same id, and within a run
 * of a manager a member's table only grows newer. After FOLDER/stop exists, all nodes join; then
 * their names and ids are written to FOLDER/ids, and they stay until SIGTERM. Exit status 1: a
 * promise was broken, with the reason on standard error. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/keyfile.h"
#include "base/rng.h"
#include "base/util.h"
#include "bench/members.h"
#include "wire/limits.h"

#define STEP_NS   (25 * MS_NS) /* between two changes of a member */
#define PATH_MOST 512

struct crowd {
	struct members *members;
	struct rng rng;
	unsigned count;
	const char *folder;
	uint16_t *ids; /* of each member; 0: none yet */
	struct manage_progress *seen;
	uint32_t owners[UINT16_MAX + 1]; /* of each id: index + 1; 0: none */
	unsigned starts, leaves, kills;
};

static atomic_bool ended;

static void on_signal(int number)
{
	atomic_store(&ended, true);
}

static bool wrong(unsigned index, const char *what, unsigned long long a, unsigned long long b)
{
	fprintf(stderr, "member %u: %s: %llu, %llu\n", index, what, a, b);
	return false;
}

/* Checks the id of a member that has a lease. */
static bool id_check(struct crowd *c, unsigned index, uint16_t id)
{
	if (c->ids[index] && c->ids[index] != id)
		return wrong(index, "its id changed", c->ids[index], id);
	if (c->owners[id] && c->owners[id] != index + 1)
		return wrong(index, "another member had this id", id, c->owners[id] - 1);
	c->ids[index] = id;
	c->owners[id] = index + 1;
	return true;
}

static bool member_check(struct crowd *c, unsigned index)
{
	struct member *m = members_at(c->members, index);
	struct manage_progress *seen = &c->seen[index];

	if (!m)
		return true;
	if (member_state(m) == MEMBER_FAILED) {
		fprintf(stderr, "member %u: %s\n", index, member_text(m));
		return false;
	}
	if (member_state(m) == MEMBER_JOINED && !id_check(c, index, member_id(m)))
		return false;
	const struct manage_progress now = node_table_progress(member_table(m));
	if (now.epoch == seen->epoch && now.cursor == 0 && seen->cursor == 0 &&
	    now.sequence < seen->sequence)
		return wrong(index, "its table became older", seen->sequence, now.sequence);
	*seen = now;
	return true;
}

/* Starts, ends or kills a member. */
static bool member_change(struct crowd *c)
{
	const unsigned index = (unsigned)rng_below(&c->rng, c->count);
	struct member *m = members_at(c->members, index);

	if (m && member_state(m) == MEMBER_LEFT) {
		members_kill(c->members, index);
		m = NULL;
	}
	c->seen[index] = (struct manage_progress){0};
	if (!m) {
		c->starts++;
		return members_start(c->members, index) == DXP_OK;
	}
	if (rng_below(&c->rng, 2)) {
		c->leaves++;
		member_leave(m, clock_now_ns());
		members_kick(c->members, index);
	} else {
		c->kills++;
		members_kill(c->members, index);
	}
	return true;
}

static bool stopped(const struct crowd *c)
{
	char path[PATH_MOST];

	snprintf(path, sizeof(path), "%s/stop", c->folder);
	return access(path, F_OK) == 0;
}

/* Lets all members do what is due, until a time, and checks them. */
static bool step(struct crowd *c, uint64_t until_ns)
{
	bool good = true;

	while (!atomic_load(&ended) && clock_now_ns() < until_ns)
		members_run(c->members, until_ns);
	for (unsigned i = 0; good && i < c->count; i++)
		good = member_check(c, i);
	return good;
}

static bool all_join(struct crowd *c)
{
	for (unsigned i = 0; i < c->count; i++) {
		struct member *m = members_at(c->members, i);
		if (m && member_state(m) != MEMBER_LEAVING && member_state(m) != MEMBER_LEFT)
			continue;
		if (m)
			members_kill(c->members, i);
		c->seen[i] = (struct manage_progress){0};
		if (members_start(c->members, i) != DXP_OK)
			return false;
	}
	while (!atomic_load(&ended) && members_joined(c->members) < c->count)
		if (!step(c, clock_now_ns() + STEP_NS))
			return false;
	return true;
}

static bool ids_write(const struct crowd *c)
{
	char path[PATH_MOST], part[PATH_MOST + 8];

	snprintf(path, sizeof(path), "%s/ids", c->folder);
	snprintf(part, sizeof(part), "%s.part", path);
	FILE *f = fopen(part, "we");
	if (!f)
		return false;
	for (unsigned i = 0; i < c->count; i++)
		fprintf(f, "c-%u %u\n", i, c->ids[i]);
	printf("%u starts, %u leaves, %u kills\n", c->starts, c->leaves, c->kills);
	fflush(stdout);
	return fclose(f) == 0 && rename(part, path) == 0;
}

static bool run(struct crowd *c)
{
	while (!atomic_load(&ended) && !stopped(c))
		if (!member_change(c) || !step(c, clock_now_ns() + STEP_NS))
			return false;
	if (!all_join(c) || !ids_write(c))
		return false;
	while (!atomic_load(&ended))
		if (!step(c, clock_now_ns() + STEP_NS))
			return false;
	return true;
}

int main(int argc, char **argv)
{
	static struct crowd c;
	struct members_options options = {.name = "c"};

	if (argc != 7 || keyfile_read(argv[1], options.key) != DXP_OK ||
	    managers_parse(argv[2], WIRE_PORT, &options.manager, &options.others) != DXP_OK)
		return 2;
	options.count = c.count = (unsigned)strtoul(argv[3], NULL, 10);
	options.xpus = (unsigned)strtoul(argv[4], NULL, 10);
	c.rng.state = strtoull(argv[5], NULL, 10);
	c.folder = argv[6];
	c.ids = calloc(c.count, sizeof(*c.ids));
	c.seen = calloc(c.count, sizeof(*c.seen));
	signal(SIGTERM, on_signal);
	bool good = c.ids && c.seen && members_open(&options, &c.members) == DXP_OK && run(&c);
	members_close(c.members);
	free(c.ids);
	free(c.seen);
	return good ? 0 : 1;
}
