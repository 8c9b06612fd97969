/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements the calls of dxp/function.h. Steps that differ by the kind of function are in struct
 * function_ops. */
#include "host/function.h"

#include "base/util.h"
#include "host/internal.h"
#include "nic/limits.h"
#include "wire/manage.h"

#define TIMEOUT_MAX_MS (24u * 3600 * 1000)

const char *dxp_function_error(void)
{
	return error_text();
}

void function_init(struct dxp_function *f, const struct function_ops *ops, uint32_t timeout_ms,
		   uint32_t spin_us)
{
	f->ops = ops;
	f->timeout_ns = min_u64(timeout_ms ? timeout_ms : HOST_TIMEOUT_MS, TIMEOUT_MAX_MS) * MS_NS;
	spin_init(&f->spin, function_spin_ns(spin_us));
}

int function_label_check(const char *label)
{
	if (!label || manage_name_valid(label))
		return DXP_OK;
	return error_set(DXP_EINVAL,
			 "'%.64s' is not a valid label; use 1 to %d of A-Z a-z 0-9 . _ -", label,
			 FABRIC_NAME_BYTES - 1);
}

void dxp_function_close(struct dxp_function *f)
{
	if (f)
		f->ops->close(f);
}

struct dxp_window *dxp_function_window(const struct dxp_function *f)
{
	return f->window;
}

int dxp_function_window_fd(const struct dxp_function *f)
{
	if (f->ops->window_fd)
		return f->ops->window_fd(f);
	return error_set(DXP_EUNSUPPORTED,
			 "the window of a NIC inside this program has no file; attach to a NIC of "
			 "another program");
}

static int qp_check(uint8_t qp)
{
	if (qp < DXP_QPS)
		return DXP_OK;
	return error_set(DXP_EINVAL, "a function has queue pairs 0 to %d, not %d", DXP_QPS - 1, qp);
}

int dxp_function_target(const struct dxp_function *f, uint8_t qp, struct dxp_target *out)
{
	uint32_t node = dxp_load_acquire(&f->window->node);

	if (qp >= f->window->qp_count)
		return error_set(DXP_EINVAL, "this function has queue pairs 0 to %u, not %d",
				 f->window->qp_count - 1, qp);
	*out = (struct dxp_target){.node = node < WIRE_NODE_NONE ? (uint16_t)node : 0,
				   .function = (uint8_t)f->window->function,
				   .qp = (uint8_t)(f->window->first_qp + qp),
				   .magic = f->window->qp_magic[qp]};
	return DXP_OK;
}

int dxp_function_find(struct dxp_function *f, const char *label, uint8_t qp, struct dxp_target *out)
{
	int status = qp_check(qp);

	if (status == DXP_OK && !label)
		status = error_set(
			DXP_EINVAL,
			"the label is NULL; give the label of a function or the name of a node");
	if (status == DXP_OK)
		status = function_label_check(label);
	return status == DXP_OK ? f->ops->find(f, label, qp, out) : status;
}

void dxp_function_kick(struct dxp_function *f)
{
	/* Pairs with the engine's fence after it announces sleep: either the engine sees the
	 * doorbell, or this thread sees the announcement and wakes the engine. */
	dxp_fence();
	if (dxp_load_acquire(&f->window->need_wakeup))
		f->ops->ring(f);
}

int dxp_function_arm(struct dxp_function *f)
{
	int status = f->armed == 0 ? f->ops->arm(f, true) : DXP_OK;

	f->armed += status == DXP_OK;
	return status;
}

int dxp_function_disarm(struct dxp_function *f)
{
	if (f->armed == 0)
		return error_set(DXP_EINVAL, "dxp_function_disarm() without a matching arm");
	int status = f->armed == 1 ? f->ops->arm(f, false) : DXP_OK;
	f->armed -= status == DXP_OK;
	return status;
}

int dxp_lookup_add(struct dxp_function *f, uint64_t vaddr, uint64_t bytes, uint32_t key,
		   uint64_t offset)
{
	const struct nic_area area = {vaddr, bytes, offset, key};

	if (bytes == 0 || vaddr + bytes < vaddr || offset + bytes < offset)
		return error_set(DXP_EINVAL,
				 "an area of %llu bytes at %#llx is not possible; it must not be "
				 "empty, and must end below 2^64",
				 (unsigned long long)bytes, (unsigned long long)vaddr);
	return f->ops->area_add(f, &area);
}

int function_area_error(int status, const struct nic_area *area)
{
	switch (status) {
	case DXP_OK: return status;
	case DXP_EEXIST:
		return error_set(status, "the area of %llu bytes at %#llx overlaps another one",
				 (unsigned long long)area->bytes, (unsigned long long)area->vaddr);
	case DXP_EBUSY:
		return error_set(status, "the lookup table already has %d areas; clear it first",
				 NIC_AREAS_MAX);
	default:
		return error_set(
			status,
			"the area of %llu bytes at %#llx is not inside region %#x of this function",
			(unsigned long long)area->bytes, (unsigned long long)area->vaddr,
			area->key);
	}
}

int function_find_error(int status, const char *label)
{
	switch (status) {
	case DXP_OK: return status;
	case DXP_ENOENT:
		return error_set(status,
				 "'%s' is neither the label of a function of this NIC nor the name "
				 "of a node that this one may use; check that its program has "
				 "started, or see `dxp grant`",
				 label);
	case DXP_EACCESS:
		return error_set(status, "node '%s' is not granted to this node; see `dxp grant`",
				 label);
	case DXP_EPEERLOST:
		return error_set(status, "node '%s' does not answer; see `dxp nodes`", label);
	default: return error_set(status, "cannot find '%s': %s", label, dxp_status_text(status));
	}
}
