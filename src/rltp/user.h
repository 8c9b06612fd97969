/* SPDX-License-Identifier: BSD-3-Clause */
/* Default callbacks for a layer above that needs only `fill`, `done` and `deliver`. */
#ifndef RLTP_USER_H
#define RLTP_USER_H

#include "rltp/message.h"

bool rltp_user_aborted(void *user, struct rltp_session *s, const struct wire_header *header);
void rltp_user_reset(void *user, struct rltp_session *s, int status);
void rltp_user_rest(void *user, struct rltp_session *s);
uint32_t rltp_user_no_credits(void *user, struct rltp_session *s, struct wire_credit_entry *out,
			      uint32_t count);
void rltp_user_credit(void *user, struct rltp_session *s, const struct wire_credit_entry *credit);

#endif
