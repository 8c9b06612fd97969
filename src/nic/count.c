/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums and publishes counters of a function and its queue pairs. The engine never reads back the
 * copy in the window. */
#include <assert.h>

#include "nic/internal.h"

static void counters_sum(const struct nic_function *f, struct dxp_function_counters *out)
{
	*out = f->counts;
	out->rate_waits = limit_waits(f);
	for (int q = 0; q < NIC_QPS_PER_FUNCTION; q++) {
		const struct nic_qp_counters *c = &f->counters[q];
		out->sent_messages += c->sent_messages;
		out->sent_bytes += c->sent_bytes;
		out->failed += c->failed;
		out->received_messages += c->received_messages;
		out->received_bytes += c->received_bytes;
		out->credit_waits += c->waits_for_credit;
	}
}

void nic_function_counters(const struct nic *n, uint32_t function,
			   struct dxp_function_counters *out)
{
	assert(function < NIC_FUNCTIONS);
	counters_sum(&n->functions[function], out);
}

void nic_placed_count(struct nic_function *f, uint32_t bytes)
{
	f->total_bytes += bytes;
	dxp_store_release64(&f->window->total_bytes, f->total_bytes);
}

void nic_counters_publish(struct nic_function *f)
{
	struct dxp_function_counters sum;

	counters_sum(f, &sum);
#define STORE(name) dxp_store_release64(&f->window->counters.name, sum.name);
	DXP_COUNTER_LIST(STORE)
#undef STORE
	f->counted = false;
}
