/* SPDX-License-Identifier: BSD-3-Clause */
/* The fabric keys of a node: the present one, and while the key is being replaced the former one.
 * Only one thread uses it. */
#ifndef NODE_FABRIC_KEYS_H
#define NODE_FABRIC_KEYS_H

#include "base/mac.h"
#include "link/datagram.h"
#include "node/member.h"
#include "rltp/endpoint.h"
#include "seal/seal.h"

struct fabric_keys {
	uint8_t key[FABRIC_KEY_BYTES], former_key[FABRIC_KEY_BYTES];
	struct mac *present;
	struct mac *former; /* NULL: it is not accepted any more */
	/* Times from which this node sends with the present key, and refuses the former one. */
	uint64_t use_ns, former_until_ns;
	bool send_former;
	char *file; /* where a new key is stored, or NULL */
};

/* `file`: copied; NULL: the key is stored nowhere. DXP_ENOMEM, DXP_EIO. */
int fabric_keys_start(struct fabric_keys *k, const uint8_t key[FABRIC_KEY_BYTES], const char *file);
void fabric_keys_end(struct fabric_keys *k);

/* Takes a key that the manager has sent, and writes it to the file. The present key becomes the
 * former one. `name` is the name of the node, for the log. DXP_ENOMEM, DXP_EIO: nothing has
 * changed. */
int fabric_keys_rekey(struct fabric_keys *k, struct seal *seal, const struct member_rekey *rekey,
		      const char *name, uint64_t now_ns);
/* Performs the steps of a rotation that are due. Handshakes begin anew if their key is refused from
 * now on. */
void fabric_keys_advance(struct fabric_keys *k, struct seal *seal, uint64_t now_ns);
/* Returns when to call fabric_keys_advance; UINT64_MAX: never. */
uint64_t fabric_keys_deadline(const struct fabric_keys *k);

/* Returns the MAC state of a key; NULL: there is none. */
struct mac *fabric_keys_mac(const struct fabric_keys *k, enum rltp_key which);
/* Returns the MAC state of the key that authenticates this management frame; the present one if
 * none does. */
struct mac *fabric_keys_match(const struct fabric_keys *k, const struct datagram_arrival *a);

#endif
