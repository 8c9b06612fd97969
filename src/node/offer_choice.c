/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the function and the queue pairs that a client opens. */
#include <dxp/status.h>

#include "node/offer_internal.h"

static bool qp_is_free(const struct offer *o, uint32_t function, uint32_t qp)
{
	uint32_t user = NIC_USER(function, qp);

	return o->users[user].state == OFFER_FREE &&
	       nic_qp_magic(o->options.nic, function, qp) == 0 &&
	       nic_user_state(o->options.nic, user) == 0;
}

static uint32_t qps_free(const struct offer *o, uint32_t function)
{
	uint32_t count = 0;

	for (uint32_t q = 0; q < NIC_QPS_PER_FUNCTION; q++)
		count += qp_is_free(o, function, q);
	return count;
}

/* Returns the user to open in one function; NIC_USERS: the requested queue pairs are in use.
 * Function 0 belongs to the NIC's own program. Other programs can use only those queue pairs of
 * function 0 that this program has not opened. */
static uint32_t function_choose(const struct offer *o, uint32_t function, uint32_t qp)
{
	uint32_t count = qps_free(o, function);

	if (function == 0 && count == NIC_QPS_PER_FUNCTION)
		return NIC_USERS;
	if (qp == ATTACH_QP_ALL)
		return count == NIC_QPS_PER_FUNCTION ? NIC_USER(function, 0) : NIC_USERS;
	for (uint32_t q = 0; q < NIC_QPS_PER_FUNCTION; q++)
		if (qp_is_free(o, function, q) && (qp == ATTACH_QP_ANY || qp == ATTACH_QP(q)))
			return NIC_USER(function, q);
	return NIC_USERS;
}

/* Chooses a user among all functions. A request for one queue pair prefers a function that is
 * partly in use already, so that whole functions stay free. */
static uint32_t user_choose(const struct offer *o, uint32_t qp)
{
	for (int whole = qp == ATTACH_QP_ALL; whole < 2; whole++) {
		for (uint32_t i = 0; i <= o->options.functions; i++) {
			uint32_t user = function_choose(o, i, qp);
			bool used = qps_free(o, i) < NIC_QPS_PER_FUNCTION;
			if (user < NIC_USERS && used != (bool)whole)
				return user;
		}
	}
	return NIC_USERS;
}

/* Restricts a request to the scope of its socket: fills in the function and queue pair that the
 * scope has. Returns false if the request names others. */
static bool scope_apply(const struct offer_scope *scope, uint32_t *function, uint32_t *qp)
{
	if (!scope->only)
		return true;
	if (*function && *function != scope->function)
		return false;
	*function = scope->function;
	if (scope->qp == ATTACH_QP_ALL)
		return true;
	if (*qp != ATTACH_QP_ALL && *qp != ATTACH_QP_ANY && *qp != scope->qp)
		return false;
	*qp = scope->qp;
	return true;
}

int offer_choose(const struct offer *o, const struct offer_client *client,
		 const struct attach_request *r, uint32_t *user, uint32_t *qps)
{
	uint32_t function = r->function, qp = r->qp;

	if (function > o->options.functions)
		return DXP_ENOENT;
	if (!scope_apply(&client->scope, &function, &qp))
		return DXP_EACCESS;
	*user = !client->scope.only && function == 0 ? user_choose(o, qp)
						     : function_choose(o, function, qp);
	*qps = qp == ATTACH_QP_ALL ? NIC_QPS_PER_FUNCTION : 1;
	return *user < NIC_USERS ? DXP_OK : DXP_EBUSY;
}
