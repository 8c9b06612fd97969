/* SPDX-License-Identifier: BSD-3-Clause */
#include "manager/store_internal.h"

#include <dxp/status.h>

int store_open(const char *folder, struct store **out)
{
	return store_sqlite_open(folder, out);
}

void store_close(struct store *s)
{
	if (s)
		s->ops->close(s);
}

int store_load(struct store *s, struct registry *r)
{
	return s->ops->load(s, r);
}

int store_load_all(struct store *s, struct registry *r)
{
	int status = store_load(s, r);

	while (status == DXP_OK && registry_events(r)->older)
		store_log_save(s, r, false);
	return status;
}

int store_check(struct store *s, struct registry *r)
{
	return s->ops->check(s, r);
}

int store_save(struct store *s, struct registry *r)
{
	return s->ops->save(s, r);
}

int store_save_all(struct store *s, struct registry *r)
{
	const struct event_journal *l = registry_events(r);
	int status = s->ops->save_all ? s->ops->save_all(s, r) : s->ops->save(s, r);

	if (status == DXP_OK)
		store_log_save(s, r, true);
	return status == DXP_OK && l->unsaved < l->next ? DXP_EIO : status;
}

uint64_t store_log_save(struct store *s, struct registry *r, bool at_once)
{
	return s->ops->log_save ? s->ops->log_save(s, r, at_once) : UINT64_MAX;
}

uint64_t store_version(const struct store *s)
{
	return s->ops->version ? s->ops->version(s) : 0;
}

int store_import_mark(struct store *s, const char *digest)
{
	return s->ops->import_mark ? s->ops->import_mark(s, digest) : DXP_OK;
}

int store_private_key(struct store *s, uint8_t key[KEYS_BYTES])
{
	return s->ops->private_key(s, key);
}

uint64_t store_step(struct store *s)
{
	return s->ops->step ? s->ops->step(s) : UINT64_MAX;
}

uint64_t store_term(const struct store *s)
{
	return s->ops->term ? s->ops->term(s) : 1;
}

const char *store_other(const struct store *s)
{
	return s->ops->other ? s->ops->other(s) : "";
}

void store_resign(struct store *s)
{
	if (s->ops->resign)
		s->ops->resign(s);
}
