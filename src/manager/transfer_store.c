/* SPDX-License-Identifier: BSD-3-Clause */
/* The stores of an export and of an import. */
#include "manager/transfer.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/file_replace.h"
#include "base/keyfile.h"
#include "base/log.h"
#include "manager/etcd_events.h"
#include "manager/limits.h"
#include "manager/secrets.h"

#define LEAD_NS  (6 * S_NS) /* the lease of a manager that was killed ends earlier */
#define PAUSE_NS (50 * MS_NS)
/* bytes; a full registry with as many events of the longest texts has fewer, each byte escaped */
#define FILE_MAX (2l * ETCD_EVENTS_LINE * FABRIC_EVENTS_MAX + (64l << 20))
#define NOT_EMPTY                                                                             \
	"the target is not empty, so nothing was imported; name an empty --state folder, or " \
	"another fabric in --store etcd://HOST:PORT/NAME"

static int registry_open(const struct server_options *o, struct transfer *t)
{
	struct registry_options options = {
		.policy = o->policy, .events = FABRIC_EVENTS_MAX, .entropy = rng_entropy_kernel};

	*t = (struct transfer){0};
	memcpy(options.key, o->key, sizeof(options.key));
	int status = registry_create(&options, &t->registry);
	keys_erase(&options, sizeof(options));
	return status;
}

static void registry_close(struct transfer *t, int status)
{
	registry_destroy(t->registry);
	t->registry = NULL;
	if (status != DXP_OK)
		keys_erase(t->private_key, sizeof(t->private_key));
}

/* Becomes the active manager of the store, so that no other one works on it. */
static int lead(struct store *s)
{
	const uint64_t until_ns = clock_now_ns() + LEAD_NS;

	while (!store_term(s)) {
		store_step(s);
		if (store_term(s) || clock_now_ns() < until_ns) {
			nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
			continue;
		}
		if (*store_other(s))
			log_error("the manager at %s is active; stop all managers of this fabric, "
				  "then run this again",
				  store_other(s));
		else
			log_error("etcd lets no manager act; check etcd, then run this again");
		return DXP_EBUSY;
	}
	return DXP_OK;
}

static int etcd_store_get(const struct server_options *o, struct store_import *import,
			  struct store **out)
{
	struct store_etcd_options options = {.place = *o->etcd,
					     .address = "an export or import",
					     .import = import,
					     .must_exist = import == NULL};

	int status = secrets_store_key(o->state_folder, o->key, options.fabric_key);
	if (status == DXP_OK)
		status = etcd_http_open(&options.place, &o->tls, &options.transport);
	if (status == DXP_OK)
		status = store_etcd_open(&options, out);
	if (status == DXP_OK)
		status = secrets_store_key_keep(o->state_folder, options.fabric_key);
	keys_erase(&options, sizeof(options));
	return status;
}

static bool state_path(const struct server_options *o, const char *name, char out[PATH_MAX])
{
	return snprintf(out, PATH_MAX, "%s/%s", o->state_folder, name) < PATH_MAX;
}

/* Opens a database that exists, beside the private key of its managers. */
static int sqlite_get(const struct server_options *o, struct store **out)
{
	char path[PATH_MAX];

	if (!state_path(o, "manager.db", path) || access(path, F_OK) != 0) {
		log_error(
			"there is no registry in %s: no file manager.db; correct --state, or name "
			"--store",
			o->state_folder);
		return DXP_ENOENT;
	}
	if (!state_path(o, "manager.key", path) || access(path, F_OK) != 0) {
		log_error("%s has no manager.key, by which machines know their managers: copy it "
			  "from the folder of which this is a copy; if it is lost, start a manager "
			  "here once, which makes a new one, and let all machines join again",
			  o->state_folder);
		return DXP_ENOENT;
	}
	return store_open(o->state_folder, out);
}

/* Checks manager.key, and writes it if it does not exist. */
static int key_put(const struct server_options *o, const struct transfer *t)
{
	uint8_t key[KEYS_BYTES];
	char path[PATH_MAX];

	if (!state_path(o, "manager.key", path))
		return DXP_EIO;
	if (access(path, F_OK) != 0)
		return keyfile_write(path, t->private_key);
	int status = keyfile_read(path, key);
	if (status == DXP_OK && memcmp(key, t->private_key, sizeof(key)) != 0) {
		log_error("%s is of another fabric; " NOT_EMPTY, path);
		status = DXP_EEXIST;
	}
	keys_erase(key, sizeof(key));
	return status;
}

int transfer_export(const struct server_options *o, const char *path, struct transfer *t)
{
	struct store *s = NULL;

	if (access(path, F_OK) == 0) {
		log_error("%s exists; name another file", path);
		return DXP_EEXIST;
	}
	int status = registry_open(o, t);
	if (status == DXP_OK)
		status = o->etcd ? etcd_store_get(o, NULL, &s) : sqlite_get(o, &s);
	if (status == DXP_OK)
		status = lead(s);
	if (status == DXP_OK)
		status = store_private_key(s, t->private_key);
	if (status == DXP_OK)
		status = store_load_all(s, t->registry);
	if (status == DXP_OK) {
		t->version = store_version(s);
		char *text = transfer_write(t, o->key);
		status = text ? DXP_OK : DXP_ENOMEM;
		if (text && !file_replace(path, text, 0600)) {
			log_error("cannot write %s: %s", path, strerror(errno));
			status = DXP_EIO;
		}
		if (text)
			keys_erase(text, strlen(text));
		free(text);
	}
	store_close(s);
	registry_close(t, status);
	return status;
}

/* Returns the text of the file; free() it. */
static int file_read(const char *path, char **out)
{
	FILE *f = descriptor_fopen(path, "re");
	struct stat st;
	int status = DXP_EIO;

	*out = NULL;
	if (f && fstat(fileno(f), &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= FILE_MAX) {
		const size_t bytes = (size_t)st.st_size;
		*out = malloc(bytes + 1);
		if (!*out)
			status = DXP_ENOMEM;
		else if (fread(*out, 1, bytes, f) == bytes)
			status = DXP_OK;
		if (*out)
			(*out)[status == DXP_OK ? bytes : 0] = '\0';
	}
	if (status != DXP_OK)
		log_error("cannot read %s: %s; name a file of `dxp manager export`", path,
			  f ? "it is no regular file, or too long" : strerror(errno));
	if (f)
		fclose(f);
	return !f && status == DXP_EIO ? DXP_ENOENT : status;
}

int transfer_empty(struct store *s, const struct store_import *import)
{
	struct transfer found;
	struct server_options options = {.policy = GRANTS_EXPLICIT};
	struct store_op op;
	int status = registry_open(&options, &found);

	if (status == DXP_OK)
		status = store_load(s, found.registry);
	if (status == DXP_OK && !(import && import->resumed)) {
		registry_store_again(found.registry);
		const bool rows = registry_next_store(found.registry, &op);
		keys_erase(&op, sizeof(op));
		if (rows || event_journal_next(registry_events(found.registry), 0)) {
			log_error(NOT_EMPTY);
			status = DXP_EEXIST;
		}
	}
	registry_close(&found, DXP_EEXIST);
	return status;
}

int transfer_save(struct transfer *t, struct store *s, const struct store_import *import)
{
	const struct event_journal *l = registry_events(t->registry);
	int status = import ? store_import_mark(s, import->digest) : DXP_OK;

	if (status == DXP_OK)
		status = store_save_all(s, t->registry);
	if (status == DXP_OK && import)
		status = store_import_mark(s, NULL);
	t->events_left_out = min_u64(l->lost, t->events);
	return status;
}

static int digest_make(const struct server_options *o, const char *text, struct store_import *out)
{
	uint8_t digest[KEYS_BYTES];

	if (!keys_hmac(o->key, text, strlen(text), "", 0, digest))
		return DXP_ENOMEM;
	key_format(digest, out->digest);
	return DXP_OK;
}

/* Checks that a fabric which exists in etcd has the same private key. */
static int identity_check(const struct transfer *t, struct store *s)
{
	uint8_t key[KEYS_BYTES];
	int status = store_private_key(s, key);

	if (status == DXP_OK && memcmp(key, t->private_key, sizeof(key)) != 0) {
		log_error(NOT_EMPTY);
		status = DXP_EEXIST;
	}
	keys_erase(key, sizeof(key));
	return status;
}

int transfer_import(const struct server_options *o, const char *path, struct transfer *t)
{
	struct store_import import = {.private_key = t->private_key};
	struct store *s = NULL;
	char *text = NULL;
	int status = registry_open(o, t);

	if (status == DXP_OK)
		status = file_read(path, &text);
	if (status == DXP_OK)
		status = transfer_read(text, o->key, t);
	if (status == DXP_OK)
		status = digest_make(o, text, &import);
	import.version = t->version;
	if (status == DXP_OK)
		status = o->etcd ? etcd_store_get(o, &import, &s) : store_open(o->state_folder, &s);
	if (status == DXP_OK && o->etcd)
		status = identity_check(t, s);
	if (status == DXP_OK)
		status = lead(s);
	if (status == DXP_OK)
		status = transfer_empty(s, o->etcd ? &import : NULL);
	if (status == DXP_OK && !o->etcd)
		status = key_put(o, t);
	if (status == DXP_OK)
		status = transfer_save(t, s, o->etcd ? &import : NULL);
	if (status == DXP_EIO && o->etcd)
		log_error("the import was interrupted; check etcd, then run it again");
	else if (status == DXP_EIO)
		log_error("nothing was imported; free space or repair the disk, then run it again");
	store_close(s);
	registry_close(t, status);
	if (text)
		keys_erase(text, strlen(text));
	free(text);
	return status;
}
