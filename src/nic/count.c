/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums counters into the window. That copy is never read back, because the user may change it. */
#include <assert.h>

#include "nic/internal.h"

static inline void qps_add(const struct nic_qp_counters *c, uint32_t count,
			   struct dxp_function_counters *out)
{
	for (uint32_t q = 0; q < count; q++, c++) {
		out->sent_messages += c->sent_messages;
		out->sent_bytes += c->sent_bytes;
		out->failed += c->failed;
		out->received_messages += c->received_messages;
		out->received_bytes += c->received_bytes;
		out->credit_waits += c->waits_for_credit;
	}
}

static void user_sum(const struct nic_user *u, struct dxp_function_counters *out)
{
	const struct nic_function *f = u->function;

	*out = u->counts;
	out->rate_waits = limit_waits(f);
	if (u->qp_count == NIC_QPS_PER_FUNCTION)
		/* A constant count lets the compiler unroll this loop, which runs at each poll. */
		qps_add(f->counters, NIC_QPS_PER_FUNCTION, out);
	else
		qps_add(&f->counters[u->first_qp], u->qp_count, out);
}

void nic_user_counters(const struct nic *n, uint32_t user, struct dxp_function_counters *out)
{
	assert(user < NIC_USERS);
	user_sum(&n->users[user], out);
}

void nic_function_counters(const struct nic *n, uint32_t function,
			   struct dxp_function_counters *out)
{
	assert(function < NIC_FUNCTIONS);
	const struct nic_function *f = &n->functions[function];
	struct dxp_function_counters part;

	*out = (struct dxp_function_counters){0};
	for (uint32_t open = f->open; open; open &= open - 1) {
		user_sum(f->user_of[__builtin_ctz(open)], &part);
#define ADD(name) out->name += part.name;
		DXP_COUNTER_LIST(ADD)
#undef ADD
	}
	out->rate_waits = limit_waits(f);
}

void nic_placed_count(struct nic_user *u, uint32_t bytes)
{
	u->total_bytes += bytes;
	dxp_store_release64(&u->window->total_bytes, u->total_bytes);
}

void nic_counters_publish(struct nic_user *u)
{
	struct dxp_function_counters sum;

	user_sum(u, &sum);
#define STORE(name) dxp_store_release64(&u->window->counters.name, sum.name);
	DXP_COUNTER_LIST(STORE)
#undef STORE
	u->counted = false;
}
