/* SPDX-License-Identifier: BSD-3-Clause */
#include "manager/store_internal.h"

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

int store_check(struct store *s, struct registry *r)
{
	return s->ops->check(s, r);
}

int store_save(struct store *s, struct registry *r)
{
	return s->ops->save(s, r);
}
