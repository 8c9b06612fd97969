/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes --xpus and GRES lists of the Slurm plugin: a parsed value keeps its meaning when written
 * again. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/slurm/gres.h"
#include "plugins/slurm/xpus.h"
#include "test/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text = malloc(bytes + 1), again[160], why[XPUS_WHY_BYTES];
	struct xpus x, y;

	assert(text);
	memcpy(text, data, bytes);
	text[bytes] = '\0';
	assert(gres_count(text, "xpu") <= 1000000);
	if (xpus_parse(text, &x, why) == 0) {
		assert(x.count >= 1 && x.count <= XPUS_MAX);
		snprintf(again, sizeof(again), "%u%s%s%s%s", x.count, *x.engine ? ":engine=" : "",
			 x.engine, *x.memory ? ":mem=" : "", x.memory);
		int status = xpus_parse(again, &y, why);
		assert(status == 0 && y.count == x.count);
		assert(strcmp(x.engine, y.engine) == 0 && strcmp(x.memory, y.memory) == 0);
	}
	free(text);
	return 0;
}
