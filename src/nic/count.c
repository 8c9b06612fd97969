/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums and publishes counters of users and functions. The engine never reads back the
 * copy in the window. */
#include <assert.h>

#include "nic/internal.h"

/* Adds the counters of a user and its queue pairs to *out. */
static void user_add(const struct nic_user *u, struct dxp_function_counters *out)
{
#define ADD(name) out->name += u->counts.name;
	DXP_COUNTER_LIST(ADD)
#undef ADD
	for (uint32_t q = u->first_qp; q < (uint32_t)u->first_qp + u->qp_count; q++) {
		const struct nic_qp_counters *c = &u->function->counters[q];
		out->sent_messages += c->sent_messages;
		out->sent_bytes += c->sent_bytes;
		out->failed += c->failed;
		out->received_messages += c->received_messages;
		out->received_bytes += c->received_bytes;
		out->credit_waits += c->waits_for_credit;
	}
}

void nic_user_counters(const struct nic *n, uint32_t user, struct dxp_function_counters *out)
{
	assert(user < NIC_USERS);
	const struct nic_user *u = &n->users[user];

	*out = (struct dxp_function_counters){.rate_waits = limit_waits(u->function)};
	if (u->window)
		user_add(u, out);
}

void nic_function_counters(const struct nic *n, uint32_t function,
			   struct dxp_function_counters *out)
{
	assert(function < NIC_FUNCTIONS);
	const struct nic_function *f = &n->functions[function];

	*out = (struct dxp_function_counters){.rate_waits = limit_waits(f)};
	for (uint32_t open = f->open; open; open &= open - 1)
		user_add(f->user_of[__builtin_ctz(open)], out);
}

void nic_placed_count(struct nic_user *u, uint32_t bytes)
{
	u->total_bytes += bytes;
	dxp_store_release64(&u->window->total_bytes, u->total_bytes);
}

void nic_counters_publish(struct nic_user *u)
{
	struct dxp_function_counters sum = {.rate_waits = limit_waits(u->function)};

	user_add(u, &sum);
#define STORE(name) dxp_store_release64(&u->window->counters.name, sum.name);
	DXP_COUNTER_LIST(STORE)
#undef STORE
	u->counted = false;
}
