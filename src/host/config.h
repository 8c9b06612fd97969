/* SPDX-License-Identifier: BSD-3-Clause */
/* How to find the fabric, and this node's name and address. */
#ifndef HOST_CONFIG_H
#define HOST_CONFIG_H

#include <stddef.h>

#include <dxp/mmd.h>

#include "base/address.h"
#include "base/limits.h"
#include "host/limits.h"
#include "keys/identity.h"
#include "node/managers.h"

#define CONFIG_PATH_BYTES 4096
#define CONFIG_SERVICES   "/var/lib/dxp" /* folder of the fabric that services have joined */

struct config {
	struct udp_address manager;
	struct manager_backups other_managers;
	uint8_t key[FABRIC_KEY_BYTES];
	bool keyed; /* true: `dxp join` admitted this user or machine, so `identity` is valid */
	struct identity identity;
	char identity_file[CONFIG_PATH_BYTES]; /* valid if `keyed`: the file of its private key */
	char key_file[CONFIG_PATH_BYTES];      /* the file of `key` */
	struct udp_address bind;
	char name[FABRIC_NAME_BYTES];
};

/* Finds the fabric's directory: `given`, otherwise $DXP_DIR, otherwise the folder of the selected
 * context (host/context.h). The directory need not exist, unless a context other than "default" is
 * selected. */
int config_directory(const char *given, char *out, size_t bytes);

/* Finds the directory for programs that use a fabric. It is the directory of config_directory(),
 * with one exception. It is CONFIG_SERVICES if three conditions hold: neither `given`, $DXP_DIR nor
 * a context is set, the default directory has no fabric, and services of this machine have joined
 * one. */
int config_directory_find(const char *given, char *out, size_t bytes);

/* Reads the key pair that `dxp join` has written to the directory; sets `keyed` and `identity`. If
 * there is no key pair, the fabric uses only a shared key. Sets the error text; DXP_EACCESS,
 * DXP_EIO, DXP_EMALFORMED. */
int config_identity(const char *directory, struct config *c);

/* Makes a node name from the name of this machine, without its domain; "machine" if that is no node
 * name. */
void config_host_name(char out[FABRIC_NAME_BYTES]);

/* Makes a node name from the program's name and its process id. */
void config_default_name(char out[FABRIC_NAME_BYTES]);

/* Finds all values that joining a fabric needs. Sets the error text; errors of
 * dxp_fabric_open(). */
int config_resolve(const struct dxp_fabric_options *options, struct config *out);

#endif
