/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "fail.h"
#include "shape.h"
#include "sum.h"

static double loss_of(struct totals t, uint32_t samples)
{
	return (double)t.loss / (double)GRADIENT_ONE / samples;
}

FILE *report_open(const struct options *o)
{
	FILE *json = o->json ? fopen(o->json, "w") : NULL;

	if (o->json && !json)
		fail("%s: %s; give --json a file that can be written", o->json, strerror(errno));
	return json;
}

static void sums_print(const struct sum_totals *t)
{
	const struct {
		const char *way;
		uint64_t count;
	} rows[] = {{"switches", t->by_switch}, {"ring", t->by_ring}, {"tree", t->by_tree}};
	const char *before = ", sums:";

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (rows[i].count == 0)
			continue;
		printf("%s %" PRIu64 " by %s", before, rows[i].count, rows[i].way);
		before = ",";
	}
	printf("\n");
}

void report_epoch(const struct network *n, const struct epoch *e, FILE *json)
{
	const double accuracy = 100.0 * (double)e->test.hits / e->held;

	printf("epoch %u: loss %.6f, accuracy %.2f %%, %.2f s", e->number,
	       loss_of(e->training, e->learned), accuracy, e->seconds);
	sums_print(&e->sums);
	fflush(stdout);
	if (!json)
		return;
	/* 17 digits: equal texts are equal bits */
	fprintf(json,
		"{\"way\":\"%s\",\"xpus\":%u,\"epoch\":%u,\"steps\":%u,\"loss\":%.17g,"
		"\"test_loss\":%.17g,\"accuracy\":%.4f,\"seconds\":%.6f,"
		"\"seconds_all\":%.6f,\"host_bytes\":%" PRIu64 ",\"by_switch\":%" PRIu64
		",\"by_ring\":%" PRIu64 ",\"by_tree\":%" PRIu64 ",\"weights\":\"%016" PRIx64
		"\"}\n",
		n->options->way->name, n->replica_count, e->number, e->steps,
		loss_of(e->training, e->learned), loss_of(e->test, e->held), accuracy, e->seconds,
		e->seconds_all, e->sums.host_bytes, e->sums.by_switch, e->sums.by_ring,
		e->sums.by_tree, e->weights);
	fflush(json);
}

void report_close(const struct options *o, FILE *json)
{
	bool failed = json && ferror(json) != 0;
	if (json && fclose(json) != 0)
		failed = true;
	if (failed)
		fail("%s cannot be written; is the disk full?", o->json);
	if (fflush(stdout) != 0 || ferror(stdout))
		fail("standard output: %s", strerror(errno));
}
