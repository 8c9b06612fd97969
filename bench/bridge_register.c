/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures memory registration (S-08): why a bridge registers its rings once (S-05), and what the
 * naive way spends in each transfer.
 *
 *   pinned          dxp_dma_pin and dxp_dma_unpin: the memory of a transfer in place
 *   pages locked    mlock and munlock: what a NIC or board with its own page tables needs besides
 *   pages made      mmap and munmap of memory that is touched: what an allocation costs */
#include <stdio.h>
#include <sys/mman.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/util.h"
#include "bench/bridge.h"
#include "bench/report.h"
#include "bench/table.h"

#define TIMES 5 /* the shortest of a round counts */

static const uint64_t sizes[] = {4096, 65536, 1 << 20, 16 << 20, 256 << 20};

static void *pages_make(uint64_t bytes)
{
	void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return base == MAP_FAILED ? NULL : base;
}

static bool pinned_once(struct bridge_setup *p, void *base, uint64_t bytes)
{
	return dxp_dma_pin(p->dma, base, bytes) == DXP_OK && dxp_dma_unpin(p->dma, base) == DXP_OK;
}

static bool locked_once(struct bridge_setup *p, void *base, uint64_t bytes)
{
	return mlock(base, bytes) == 0 && munlock(base, bytes) == 0;
}

static bool made_once(struct bridge_setup *p, void *base, uint64_t bytes)
{
	void *other = pages_make(bytes);

	return other && munmap(other, bytes) == 0;
}

static const struct registering {
	const char *name;
	bool (*once)(struct bridge_setup *p, void *base, uint64_t bytes);
} ways[] = {{"pinned", pinned_once}, {"pages locked", locked_once}, {"pages made", made_once}};

static double shortest_us(struct bridge_setup *p, const struct registering *w, void *base,
			  uint64_t bytes)
{
	uint64_t least_ns = UINT64_MAX;

	for (int i = 0; i < TIMES; i++) {
		uint64_t begin_ns = clock_now_ns();
		if (!w->once(p, base, bytes))
			return -1;
		least_ns = min_u64(least_ns, clock_now_ns() - begin_ns);
	}
	return (double)least_ns / 1000;
}

static void row_print(const struct bridge_setup *p, const struct registering *w, uint64_t bytes,
		      double *us)
{
	char name[64], size[TABLE_BYTES_TEXT];
	bool failed = us[0] < 0;

	snprintf(name, sizeof(name), "registration %s", table_bytes(bytes, size));
	report_row(&(struct report_row){
		.bench = "bridge",
		.lab = "local",
		.name = name,
		.contender = w->name,
		.metric = "registration",
		.unit = "us",
		.x_name = "bytes",
		.x = (double)bytes,
		.value = failed ? 0 : report_median(us, p->options->rounds),
		.samples = p->options->rounds,
		.note = failed ? "not permitted: raise the limit of locked memory (ulimit -l)"
			       : NULL,
	});
}

int bridge_registration(struct bridge_setup *p)
{
	double us[ARRAY_COUNT(ways)][ROUNDS_MAX];
	char name[64], size[TABLE_BYTES_TEXT];

	for (size_t i = 0; i < ARRAY_COUNT(sizes) && sizes[i] <= p->largest; i++) {
		snprintf(name, sizeof(name), "registration %s", table_bytes(sizes[i], size));
		if (!bench_wanted(p->options->only_case, name))
			continue;
		void *base = pages_make(sizes[i]);
		if (!base)
			return 1;
		for (unsigned r = 0; r < p->options->rounds; r++)
			for (size_t w = 0; w < ARRAY_COUNT(ways); w++)
				us[w][r] = shortest_us(p, &ways[w], base, sizes[i]);
		munmap(base, sizes[i]);
		for (size_t w = 0; w < ARRAY_COUNT(ways); w++)
			row_print(p, &ways[w], sizes[i], us[w]);
	}
	return 0;
}
