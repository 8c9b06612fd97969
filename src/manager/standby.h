/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers of a manager that stands by while another one is active. It answers REFUSE with
 * DXP_EAGAIN and epoch 0, and the node then tries the next manager. Pure. */
#ifndef MANAGER_STANDBY_H
#define MANAGER_STANDBY_H

#include "base/mac.h"
#include "link/udp.h"
#include "manager/limits.h"
#include "keys/primitives.h"

struct standby {
	struct mac *mac; /* computes MACs with the fabric key */
	uint8_t private_key[KEYS_BYTES], public_key[KEYS_BYTES];
	/* answers that may be sent now, in units of 10^-9; time of the last refill */
	uint64_t allowance, allowance_ns;
};

/* Prepares the answers; release them with standby_close. DXP_ENOMEM; DXP_EIO. */
int standby_open(const uint8_t fabric_key[FABRIC_KEY_BYTES], const uint8_t private_key[KEYS_BYTES],
		 struct standby *out);
void standby_close(struct standby *s);

/* Writes the answer to a datagram. The answer names `other`, the active manager ("": unknown).
 * Returns the answer's length in bytes, at most that of the datagram; 0: no answer. */
size_t standby_answer(struct standby *s, const uint8_t *data, size_t bytes, const char *other,
		      uint64_t now_ns, uint8_t out[FABRIC_DATAGRAM_BYTES]);

#endif
