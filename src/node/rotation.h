/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a node's key again after `dxp keys rotate` has replaced the file, and follows rotations of
 * the manager's key pair. */
#ifndef NODE_ROTATION_H
#define NODE_ROTATION_H

#include <sys/stat.h>

#include "keys/identity.h"
#include "node/member.h"
#include "seal/seal.h"

struct rotation {
	char *path;       /* file of the private key; NULL: there is no file to check */
	struct stat seen; /* state of the file when it was read last; all zero: not read */
	uint64_t look_ns; /* time in ns of the next check */
	uint8_t private_key[KEYS_BYTES], public_key[KEYS_BYTES], manager[KEYS_BYTES];
};

/* Copies the path; NULL: there is no file. DXP_ENOMEM. */
int rotation_start(struct rotation *r, const struct identity *identity, const char *path);
void rotation_end(struct rotation *r);

/* Checks the file if the time has come, and gives a new key to the member and to the handshakes of
 * sessions. `name` is the name of the node, for the log. */
void rotation_look(struct rotation *r, struct member *m, struct seal *seal, const char *name,
		   uint64_t now_ns);

/* Uses a new public key of the manager, and writes it to manager.pub beside the file of the private
 * key. */
void rotation_repin(struct rotation *r, struct member *m, const uint8_t manager[KEYS_BYTES],
		    const char *name, uint64_t now_ns);

#endif
