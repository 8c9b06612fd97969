/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/fabric_keys.h"

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/keyfile.h"
#include "base/log.h"
#include "base/util.h"
#include "keys/fabric_key.h"
#include "wire/manage.h"

int fabric_keys_start(struct fabric_keys *k, const uint8_t key[FABRIC_KEY_BYTES], const char *file)
{
	memcpy(k->key, key, sizeof(k->key));
	k->use_ns = k->former_until_ns = UINT64_MAX;
	k->file = file && *file ? strdup(file) : NULL;
	if (file && *file && !k->file)
		return DXP_ENOMEM;
	return mac_create(key, &k->present);
}

void fabric_keys_end(struct fabric_keys *k)
{
	mac_destroy(k->present);
	mac_destroy(k->former);
	free(k->file);
	keys_erase(k, sizeof(*k));
}

static void file_write(const struct fabric_keys *k, const char *name)
{
	uint8_t stored[FABRIC_KEY_BYTES];
	char why[256];

	if (!k->file)
		return;
	log_divert(why, sizeof(why));
	int status = keyfile_read(k->file, stored);
	if (status != DXP_OK || memcmp(stored, k->key, sizeof(stored)) != 0)
		status = keyfile_write(k->file, k->key);
	log_divert(NULL, 0);
	keys_erase(stored, sizeof(stored));
	/* DXP_EEXIST: another node of this process writes it now */
	if (status != DXP_OK && status != DXP_EEXIST)
		log_warn("%s: cannot store the new fabric key: %s; run `dxp keys fetch` as the "
			 "owner of that file",
			 name, why);
}

int fabric_keys_rekey(struct fabric_keys *k, struct seal *seal, const struct member_rekey *rekey,
		      const char *name, uint64_t now_ns)
{
	const bool overlap = now_ns < rekey->former_until_ns;
	char print[FABRIC_PRINT_TEXT];
	struct mac *mac = NULL;

	if (memcmp(k->key, rekey->key, sizeof(k->key)) == 0)
		return DXP_OK; /* it was read from the file */
	int status = mac_create(rekey->key, &mac);
	if (status == DXP_OK)
		status = seal_rekey(seal, rekey->key, overlap ? k->key : NULL, overlap);
	if (status != DXP_OK) {
		mac_destroy(mac);
		return status;
	}
	mac_destroy(k->former);
	k->former = k->present;
	k->present = mac;
	memcpy(k->former_key, k->key, sizeof(k->former_key));
	memcpy(k->key, rekey->key, sizeof(k->key));
	k->send_former = true;
	k->use_ns = rekey->use_ns;
	k->former_until_ns = rekey->former_until_ns;
	log_info("event=rekeyed subject=%s: the fabric key has the generation %u, fingerprint %s",
		 name, rekey->generation, fabric_key_fingerprint(k->key, print));
	file_write(k, name);
	return DXP_OK;
}

void fabric_keys_advance(struct fabric_keys *k, struct seal *seal, uint64_t now_ns)
{
	/* If memory is short, a step remains due, and the next call tries again. */
	if (now_ns >= k->use_ns && seal_rekey(seal, k->key, k->former_key, false) == DXP_OK) {
		k->use_ns = UINT64_MAX;
		k->send_former = false;
	}
	if (now_ns >= k->former_until_ns && seal_rekey(seal, k->key, NULL, false) == DXP_OK) {
		k->former_until_ns = k->use_ns = UINT64_MAX;
		k->send_former = false;
		mac_destroy(k->former);
		k->former = NULL;
		keys_erase(k->former_key, sizeof(k->former_key));
	}
}

uint64_t fabric_keys_deadline(const struct fabric_keys *k)
{
	return min_u64(k->use_ns, k->former_until_ns);
}

struct mac *fabric_keys_mac(const struct fabric_keys *k, enum rltp_key which)
{
	switch (which) {
	case RLTP_KEY_SEND: return k->send_former ? k->former : k->present;
	case RLTP_KEY_FORMER: return k->former;
	default: return k->present;
	}
}

struct mac *fabric_keys_match(const struct fabric_keys *k, const struct datagram_arrival *a)
{
	struct wire_header header;
	struct manage_body body;

	if (k->former && manage_open(a->data, a->bytes, k->former, &header, &body) == DXP_OK)
		return k->former;
	return k->present;
}
