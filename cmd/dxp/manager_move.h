/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxp manager export FILE` and `dxp manager import FILE`. */
#ifndef CMD_DXP_MANAGER_MOVE_H
#define CMD_DXP_MANAGER_MOVE_H

#include "cmd/dxp/folder.h"

/* Where the registry is; NULL: the default, which is the fabric in the folder. */
struct manager_move {
	const char *key, *state, *store, *ca, *certificate, *tls_key;
};

#define MANAGER_MOVE_ROWS(m)                                                                       \
	{"key", "FILE", "export, import: the fabric's key (default: fabric.key in the folder)",    \
	 OPTION_TEXT, &(m).key},                                                                   \
		{"state", "DIR",                                                                   \
		 "export, import: folder of manager.db and manager.key (default: registry in the " \
		 "folder)",                                                                        \
		 OPTION_TEXT, &(m).state},                                                         \
		{"store", "sqlite|etcd://HOST:PORT[,HOST:PORT...][/FABRIC]",                       \
		 "export, import: where the registry is, as for dxp-manager (default sqlite)",     \
		 OPTION_TEXT, &(m).store},                                                         \
		{"store-ca", "FILE", "with etcds://, as for dxp-manager", OPTION_TEXT, &(m).ca},   \
		{"store-cert", "FILE", "with etcds://, as for dxp-manager", OPTION_TEXT,           \
		 &(m).certificate},                                                                \
	{                                                                                          \
		"store-key", "FILE", "with etcds://, as for dxp-manager", OPTION_TEXT,             \
			&(m).tls_key                                                               \
	}

/* Becomes dxp-manager, which does the work. Returns only after an error, which is printed: the exit
 * status. `import`: reads the file; otherwise writes it. */
int manager_move(const struct manager_move *m, const struct folder *folder, bool import,
		 const char *file);

#endif
