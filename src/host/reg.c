/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes CFG registers, NIC_CFG_WORDS_MAX per request. Only one request is
 * outstanding, so registers are accessed in order. */
#include "base/util.h"
#include "base/clock.h"
#include "host/internal.h"
#include "nic/limits.h"

struct access {
	struct host_op op;
	struct dxp_xpu *xpu;
	bool write;
	uint32_t key; /* key of the memory that receives the values of a read */
	uint32_t *values;
	uint32_t first, count;
	uint32_t posted; /* number of registers that were requested */
};

static int post(struct access *a)
{
	struct dxp_window *w = a->xpu->fabric->window;
	uint32_t count = (uint32_t)min_u64(a->count - a->posted, NIC_CFG_WORDS_MAX);
	const struct dxp_entry local = {
		.offset = a->posted * 4ull, .bytes = count * 4, .key = a->key};
	uint64_t context = (uintptr_t)&a->op;
	int status = a->write ? nic_user_cfg_write(w, HOST_QP_DATA, &a->xpu->target,
						   a->first + a->posted, a->values + a->posted,
						   count, context)
			      : nic_user_cfg_read(w, HOST_QP_DATA, &a->xpu->target,
						  a->first + a->posted, &local, context);

	if (status == DXP_OK) {
		a->posted += count;
		a->op.pending++;
	}
	return status;
}

static bool accessed(void *context)
{
	struct access *a = context;

	if (a->op.pending)
		return false;
	if (a->op.status != DXP_OK || a->posted == a->count)
		return true;
	int status = a->xpu->status != DXP_OK ? a->xpu->status : post(a);
	if (status != DXP_OK && status != DXP_EAGAIN)
		a->op.status = status;
	return a->op.status != DXP_OK;
}

static int access_run(struct access *a)
{
	struct dxp_xpu *x = a->xpu;
	struct nic *nic = node_nic(x->fabric->node);

	if (x->status != DXP_OK)
		return x->status;
	if (!a->write) {
		int status =
			nic_region_register(nic, 0, a->values, a->count * 4ull, NIC_LOCAL, &a->key);
		if (status != DXP_OK)
			return status;
	}
	watch_begin(x);
	if (host_fabric_wait(x->fabric, accessed, a, clock_now_ns() + HOST_REPLY_NS) != DXP_OK) {
		nic_peer_reset(nic, x->node, DXP_ETIMEDOUT);
		host_fabric_wait(x->fabric, accessed, a, UINT64_MAX);
	}
	watch_end(x);
	if (!a->write)
		nic_region_deregister(nic, a->key);
	return xpu_judge(x, a->op.status);
}

static int access_checked(struct access *a)
{
	struct dxp_xpu *x = a->xpu;
	const char *doing = a->write ? "register write" : "register read";

	if (a->count == 0)
		return DXP_OK;
	if (!a->values)
		return error_set(DXP_EINVAL, "%s: the values are NULL", doing);
	host_fabric_enter(x->fabric);
	int status = access_run(a);
	if (status == DXP_ERANGE && a->write)
		error_set(status,
			  "%s: xPU '%s' has no register %u .. %u, or rejects this value; see "
			  "docs/reference/registers.md",
			  doing, x->caps.name, a->first, a->first + a->count - 1);
	else if (status == DXP_EUNSUPPORTED && a->write)
		error_set(status,
			  "%s: the device of xPU '%s' (%s) does not support this register; see "
			  "docs/reference/registers.md",
			  doing, x->caps.name, x->caps.device);
	else if (status == DXP_ERANGE)
		error_set(status,
			  "%s: xPU '%s' has no register %u .. %u, or it is not readable; see "
			  "docs/reference/registers.md",
			  doing, x->caps.name, a->first, a->first + a->count - 1);
	else if (status == DXP_EACCESS && a->write)
		error_set(status,
			  "%s: some of the registers %u .. %u of xPU '%s' are read-only; see "
			  "docs/reference/registers.md",
			  doing, a->first, a->first + a->count - 1, x->caps.name);
	else if (status == DXP_EBUSY)
		error_set(
			status,
			"%s: the previous task of xPU '%s' is still running; wait for TASK_STATUS",
			doing, x->caps.name);
	else if (status != DXP_OK)
		error_xpu(x, status, doing);
	host_fabric_leave(x->fabric);
	return status;
}

int dxp_reg_read(struct dxp_xpu *xpu, uint32_t first, uint32_t *values, uint32_t count)
{
	struct access a = {.xpu = xpu, .values = values, .first = first, .count = count};

	return access_checked(&a);
}

int dxp_reg_write(struct dxp_xpu *xpu, uint32_t first, const uint32_t *values, uint32_t count)
{
	struct access a = {.xpu = xpu, .write = true, .first = first, .count = count};

	a.values = (uint32_t *)(uintptr_t)values; /* a write only reads the values */
	return access_checked(&a);
}
