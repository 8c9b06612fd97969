/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/rotation.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/file_replace.h"
#include "base/keyfile.h"
#include "base/log.h"
#include "keys/token.h"
#include "node/limits.h"

int rotation_start(struct rotation *r, const struct identity *identity, const char *path)
{
	r->path = path ? strdup(path) : NULL;
	memcpy(r->private_key, identity->private_key, sizeof(r->private_key));
	memcpy(r->public_key, identity->public_key, sizeof(r->public_key));
	memcpy(r->manager, identity->manager, sizeof(r->manager));
	return r->path || !path ? DXP_OK : DXP_ENOMEM;
}

void rotation_end(struct rotation *r)
{
	free(r->path);
	keys_erase(r, sizeof(*r));
}

/* The first check always reads the file, because it may have changed since the identity was
 * read. */
static bool file_changed(struct rotation *r)
{
	struct stat now;

	if (stat(r->path, &now) != 0 ||
	    (now.st_ino == r->seen.st_ino && now.st_dev == r->seen.st_dev &&
	     now.st_ctim.tv_sec == r->seen.st_ctim.tv_sec &&
	     now.st_ctim.tv_nsec == r->seen.st_ctim.tv_nsec))
		return false;
	r->seen = now;
	return true;
}

void rotation_look(struct rotation *r, struct member *m, struct seal *seal, const char *name,
		   uint64_t now_ns)
{
	uint8_t key[KEYS_BYTES];
	struct identity identity;

	if (!r->path || now_ns < r->look_ns)
		return;
	r->look_ns = now_ns + NODE_LOOK_NS;
	if (!file_changed(r))
		return;
	if (keyfile_read(r->path, key) != DXP_OK) {
		r->seen = (struct stat){0}; /* so the next check reads the file again */
		return;
	}
	bool other = identity_make(key, r->manager, &identity) &&
		     memcmp(identity.public_key, r->public_key, KEYS_BYTES) != 0;
	if (other && seal_identity(seal, key) == DXP_OK &&
	    member_identity_set(m, &identity, now_ns) == DXP_OK) {
		memcpy(r->private_key, key, sizeof(r->private_key));
		memcpy(r->public_key, identity.public_key, sizeof(r->public_key));
		log_info("%s: uses the new key of %s", name, r->path);
	} else if (other) {
		r->seen = (struct stat){0}; /* there was no memory; the next check tries again */
	}
	keys_erase(key, sizeof(key));
	keys_erase(&identity, sizeof(identity));
}

/* Writes manager.pub beside the file of the private key. */
static void pin_write(const struct rotation *r, const char *name)
{
	const char *slash = r->path ? strrchr(r->path, '/') : NULL;
	char path[PATH_MAX], text[KEY_TEXT_BYTES + 1];

	if (!r->path)
		return;
	if (snprintf(path, sizeof(path), "%.*smanager.pub", slash ? (int)(slash + 1 - r->path) : 0,
		     r->path) >= PATH_MAX)
		return;
	key_format(r->manager, text);
	strcat(text, "\n");
	if (!file_replace(path, text, 0644))
		log_warn("%s: cannot write the new key of the manager to %s: %s%s; run `dxp keys "
			 "fetch` as the owner of that folder",
			 name, path, strerror(errno), file_write_hint(errno));
}

void rotation_repin(struct rotation *r, struct member *m, const uint8_t manager[KEYS_BYTES],
		    const char *name, uint64_t now_ns)
{
	struct identity identity;
	char print[KEY_TEXT_BYTES];

	/* without memory, the next LEASE brings the key again */
	if (identity_make(r->private_key, manager, &identity) &&
	    member_identity_set(m, &identity, now_ns) == DXP_OK) {
		memcpy(r->manager, manager, KEYS_BYTES);
		log_info("event=repinned subject=%s: the manager has a new key, fingerprint %s",
			 name, key_format(manager, print));
		pin_write(r, name);
	}
	keys_erase(&identity, sizeof(identity));
}
