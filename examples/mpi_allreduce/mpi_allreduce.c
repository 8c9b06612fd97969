/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums vectors in the memory of xPUs by MPI_Allreduce: rank i uses the i-th xPU of the fabric. The
 * data does not pass through the ranks' machines.
 *
 *   dxp up --xpus 2
 *   mpirun -np 2 -x DXP_MPI_DEVICE=1 build/bin/mpi_allreduce
 *   mpicc mpi_allreduce.c $(pkg-config --cflags --libs dxp) */
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

#include <dxp/mpi.h>

static void check(int status, const char *what)
{
	if (status >= 0)
		return;
	fprintf(stderr, "mpi_allreduce: %s: %s\n", what, dxp_fabric_error(NULL));
	MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Opens the xPU number `index` of those that this program may use. */
static struct dxp_xpu *xpu_open(struct dxp_fabric *fabric, int index)
{
	struct dxp_node_info nodes[64];
	struct dxp_xpu *xpu = NULL;
	int count = dxp_fabric_nodes(fabric, nodes, 64);

	check(count, "list nodes");
	for (int i = 0; i < count && i < 64 && !xpu; i++)
		if (nodes[i].kind == DXP_NODE_XPU && nodes[i].alive && nodes[i].granted &&
		    index-- == 0)
			check(dxp_xpu_open(fabric, nodes[i].name, &xpu), "open an xPU");
	if (!xpu) {
		fputs("mpi_allreduce: fewer xPUs than ranks; start more with `dxp up --xpus N`\n",
		      stderr);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	return xpu;
}

static uint64_t traffic(struct dxp_fabric *fabric, struct dxp_xpu *xpu)
{
	struct dxp_link_bytes bytes;
	struct dxp_xpu_caps caps;

	check(dxp_xpu_caps(xpu, &caps), "describe the xPU");
	check(dxp_fabric_traffic(fabric, caps.node, &bytes), "count bytes");
	return bytes.sent_bytes + bytes.received_bytes;
}

/* Sums the vectors of all ranks. Returns the bytes that this program exchanged with its xPU. */
static uint64_t sum(struct dxp_fabric *fabric, struct dxp_xpu *xpu, void *vector, int count)
{
	uint64_t before = traffic(fabric, xpu);

	MPI_Allreduce(MPI_IN_PLACE, vector, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	return traffic(fabric, xpu) - before;
}

int main(int argc, char **argv)
{
	int rank, ranks, count = argc > 1 ? atoi(argv[1]) : 1 << 20, wrong = 0;
	uint64_t bytes = (uint64_t)count * sizeof(int), address, moved;
	int *values = malloc(bytes);
	struct dxp_fabric *fabric;
	void *vector;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	check(count > 0 && values ? 0 : -1, "use a number of elements above 0");
	check(dxp_fabric_open(NULL, &fabric), "join the fabric");
	struct dxp_xpu *xpu = xpu_open(fabric, rank);
	for (int i = 0; i < count; i++)
		values[i] = i * (rank + 1);
	check(dxp_mem_alloc(xpu, bytes, &address), "allocate");
	check(dxp_mem_write(xpu, address, values, bytes), "write");
	check(dxp_mpi_buffer(xpu, address, bytes, &vector), "name the memory for MPI");
	/* The first call builds a kernel. */
	sum(fabric, xpu, vector, 1);
	check(dxp_mem_write(xpu, address, values, bytes), "write");
	moved = sum(fabric, xpu, vector, count);
	check(dxp_mem_read(xpu, values, address, bytes), "read");
	for (int i = 0; i < count; i++)
		wrong += values[i] != (int)((unsigned)i * (unsigned)(ranks * (ranks + 1) / 2));
	printf("rank %d: %d of %d sums are wrong; %llu bytes of %llu passed this program\n", rank,
	       wrong, count, (unsigned long long)moved, (unsigned long long)bytes);
	dxp_mpi_buffer_free(vector);
	dxp_mem_free(xpu, address);
	dxp_xpu_close(xpu);
	dxp_fabric_close(fabric);
	MPI_Finalize();
	free(values);
	return wrong != 0;
}
