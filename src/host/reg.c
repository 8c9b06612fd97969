/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes CFG registers. Consecutive registers: NIC_CFG_WORDS_MAX per request, and
 * only one request is outstanding, so none follows a failed one. A list: one register per request,
 * several requests outstanding. The xPU executes the requests of a queue pair in order. */
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
	const struct dxp_reg_value *list; /* writes of a list, without `values` and `first` */
	uint32_t posted;                  /* number of registers that were requested */
};

static int post_listed(struct access *a)
{
	const struct dxp_reg_value *v = &a->list[a->posted];
	int status = nic_user_cfg_write(a->xpu->fabric->window, HOST_QP_DATA, &a->xpu->target,
					v->index, &v->value, 1, (uintptr_t)&a->op);

	if (status == DXP_OK) {
		a->posted++;
		a->op.pending++;
	}
	return status;
}

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

/* Posts requests while there is space. Returns true when none is outstanding and the access is
 * complete or has failed. */
static bool accessed(void *context)
{
	struct access *a = context;
	const uint32_t depth = a->list ? HOST_REG_WRITES : 1;

	while (a->op.status == DXP_OK && a->posted < a->count && a->op.pending < depth) {
		int status = a->xpu->status != DXP_OK ? a->xpu->status
			     : a->list                ? post_listed(a)
						      : post(a);
		if (status == DXP_EAGAIN)
			break;
		a->op.status = status;
	}
	return a->op.pending == 0 && (a->posted == a->count || a->op.status != DXP_OK);
}

/* Waits for the access. It has no time limit while it advances. */
static void access_wait(struct access *a)
{
	struct dxp_xpu *x = a->xpu;
	uint32_t posted;

	do {
		posted = a->posted;
		if (host_fabric_wait(x->fabric, accessed, a, clock_now_ns() + HOST_REPLY_NS) ==
		    DXP_OK)
			return;
	} while (a->posted != posted);
	nic_peer_reset(node_nic(x->fabric->node), x->node, DXP_ETIMEDOUT);
	host_fabric_wait(x->fabric, accessed, a, UINT64_MAX);
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
	access_wait(a);
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

static int list_error(struct dxp_xpu *x, int status, uint32_t count)
{
	const char *why = status == DXP_ERANGE         ? "does not exist, or rejects its value"
			  : status == DXP_EACCESS      ? "is read-only"
			  : status == DXP_EBUSY        ? "belongs to a task that is still running"
			  : status == DXP_EUNSUPPORTED ? "is not supported by the device"
						       : NULL;

	if (!why)
		return error_xpu(x, status, "register write");
	return error_set(status,
			 "register write: one of the %u registers of xPU '%s' %s; see "
			 "docs/reference/registers.md",
			 count, x->caps.name, why);
}

int dxp_reg_write_list(struct dxp_xpu *xpu, const struct dxp_reg_value *list, uint32_t count)
{
	struct access a = {.xpu = xpu, .write = true, .list = list, .count = count};

	if (count == 0)
		return DXP_OK;
	if (!list)
		return error_set(DXP_EINVAL, "register write: the list is NULL");
	host_fabric_enter(xpu->fabric);
	int status = access_run(&a);
	if (status != DXP_OK)
		list_error(xpu, status, count);
	host_fabric_leave(xpu->fabric);
	return status;
}
