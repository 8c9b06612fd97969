/* SPDX-License-Identifier: BSD-3-Clause */
/* Device memory: allocated by command, accessed by PUT and GET. A transfer has several pieces
 * outstanding, so that the network is never idle. Other requests can be sent between two pieces. */
#include "base/clock.h"
#include "base/util.h"
#include "host/internal.h"
#include "host/mpi.h"

int dxp_mem_alloc(struct dxp_xpu *xpu, uint64_t bytes, uint64_t *address)
{
	struct command c = {.op = COMMAND_ALLOC, .bytes = bytes};
	struct command_reply reply;

	if (bytes == 0)
		return error_set(DXP_EINVAL, "cannot allocate 0 bytes of device memory");
	host_fabric_enter(xpu->fabric);
	int status = request_call(xpu, &c, &reply, HOST_REPLY_NS);
	if (status == DXP_OK) {
		xpu->caps.free_bytes = reply.free_bytes;
		*address = reply.address;
	} else {
		error_xpu(xpu, status, "allocate");
	}
	host_fabric_leave(xpu->fabric);
	return status;
}

int dxp_mem_free(struct dxp_xpu *xpu, uint64_t address)
{
	struct command c = {.op = COMMAND_FREE, .address = address};
	struct command_reply reply;

	host_fabric_enter(xpu->fabric);
	int status = request_call(xpu, &c, &reply, HOST_REPLY_NS);
	if (status == DXP_OK)
		xpu->caps.free_bytes = reply.free_bytes;
	else if (status == DXP_ENOENT)
		error_set(status, "free: this host has no allocation at %#llx of xPU '%s'",
			  (unsigned long long)address, xpu->caps.name);
	else
		error_xpu(xpu, status, "free");
	host_fabric_leave(xpu->fabric);
	if (status == DXP_OK)
		mpi_buffers_forget(xpu, &address);
	return status;
}

struct transfer {
	struct host_op op;
	struct dxp_xpu *xpu;
	enum memory_direction direction;
	uint32_t key; /* key of the host memory */
	uint8_t qp;
	uint64_t address, bytes, posted;
};

static int post_piece(struct transfer *t)
{
	struct dxp_window *w = t->xpu->fabric->window;
	uint32_t bytes = (uint32_t)min_u64(t->bytes - t->posted, HOST_PIECE_BYTES);
	const struct dxp_entry local = {.offset = t->posted, .bytes = bytes, .key = t->key};
	const struct dxp_entry remote = {
		.offset = t->address + t->posted, .bytes = bytes, .key = t->xpu->memory_key};
	const struct nic_lists lists = {
		.local = &local, .remote = &remote, .local_count = 1, .remote_count = 1};
	int status =
		t->direction == MEMORY_WRITE
			? nic_user_put(w, t->qp, &t->xpu->data[t->qp], &lists, (uintptr_t)&t->op)
			: nic_user_get(w, t->qp, &t->xpu->data[t->qp], &lists, (uintptr_t)&t->op);

	if (status == DXP_OK) {
		t->op.pending++;
		t->posted += bytes;
	}
	return status;
}

/* Posts pieces while the window has space. Returns true if no piece is outstanding and the transfer
 * is complete or has failed. */
static bool transferred(void *context)
{
	struct transfer *t = context;

	while (t->op.status == DXP_OK && t->posted < t->bytes && t->op.pending < HOST_PIECES) {
		int status = t->xpu->status != DXP_OK ? t->xpu->status : post_piece(t);
		if (status == DXP_EAGAIN)
			break;
		t->op.status = status;
	}
	return t->op.pending == 0 && (t->posted == t->bytes || t->op.status != DXP_OK);
}

static void transfer_run(struct transfer *t)
{
	struct dxp_fabric *f = t->xpu->fabric;

	while (host_fabric_wait(f, transferred, t, clock_now_ns() + HOST_REPLY_NS) != DXP_OK) {
		/* A transfer has no time limit while it makes progress. */
		uint64_t posted = t->posted;
		uint32_t pending = t->op.pending;
		if (host_fabric_wait(f, transferred, t, clock_now_ns() + 2 * RLTP_DEAD_NS) ==
		    DXP_OK)
			return;
		if (posted == t->posted && pending == t->op.pending)
			nic_peer_reset(node_nic(f->node), t->xpu->node, DXP_ETIMEDOUT);
	}
}

int memory_move(struct dxp_xpu *x, enum memory_direction direction, uint64_t address, void *local,
		uint64_t bytes)
{
	struct nic *nic = node_nic(x->fabric->node);
	struct transfer t = {.xpu = x,
			     .direction = direction,
			     .qp = bytes <= HOST_SHORT_BYTES ? HOST_QP_DATA : HOST_QP_LONG,
			     .address = address,
			     .bytes = bytes};

	if (x->status != DXP_OK)
		return x->status;
	if (bytes == 0)
		return DXP_OK;
	int status = nic_region_register(nic, 0, local, bytes, NIC_LOCAL, &t.key);
	if (status != DXP_OK)
		return status;
	watch_begin(x);
	transfer_run(&t);
	/* The path MTU became smaller, so the transfer starts again from its first byte. Some bytes
	 * are transferred twice. */
	for (int again = 0; t.op.status == DXP_EPATH && again < HOST_NARROWINGS_MAX; again++) {
		t.op.status = DXP_OK;
		t.posted = 0;
		transfer_run(&t);
	}
	watch_end(x);
	nic_region_deregister(nic, t.key);
	return xpu_judge(x, t.op.status);
}

static int move_checked(struct dxp_xpu *x, enum memory_direction direction, uint64_t address,
			void *local, uint64_t bytes)
{
	const char *doing = direction == MEMORY_WRITE ? "write" : "read";

	if (bytes > x->caps.memory_bytes || address > x->caps.memory_bytes - bytes)
		return error_set(DXP_ERANGE,
				 "%s of %llu bytes at %#llx: xPU '%s' has %llu bytes of memory",
				 doing, (unsigned long long)bytes, (unsigned long long)address,
				 x->caps.name, (unsigned long long)x->caps.memory_bytes);
	if (bytes && !local)
		return error_set(DXP_EINVAL, "%s: the host memory is NULL", doing);
	host_fabric_enter(x->fabric);
	uint64_t started_ns = clock_now_ns();
	int status = memory_move(x, direction, address, local, bytes);
	use_moved(x, direction == MEMORY_WRITE, bytes, started_ns, clock_now_ns(), status);
	if (status == DXP_EACCESS)
		error_set(status,
			  "%s of %llu bytes at %#llx: another host has memory there on xPU '%s'; "
			  "use memory of dxp_mem_alloc()",
			  doing, (unsigned long long)bytes, (unsigned long long)address,
			  x->caps.name);
	else if (status != DXP_OK)
		error_xpu(x, status, doing);
	host_fabric_leave(x->fabric);
	return status;
}

int dxp_mem_write(struct dxp_xpu *xpu, uint64_t address, const void *from, uint64_t bytes)
{
	/* The cast removes `const`: a write to the device only reads `from`. */
	return move_checked(xpu, MEMORY_WRITE, address, (void *)(uintptr_t)from, bytes);
}

int dxp_mem_read(struct dxp_xpu *xpu, void *to, uint64_t address, uint64_t bytes)
{
	return move_checked(xpu, MEMORY_READ, address, to, bytes);
}
