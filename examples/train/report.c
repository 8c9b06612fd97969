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

void report_epoch(const struct network *n, const struct epoch *e, FILE *json)
{
	const double accuracy = 100.0 * (double)e->test.hits / e->held;

	printf("epoch %u: loss %.6f, accuracy %.2f %%, %.2f s\n", e->number,
	       loss_of(e->training, e->learned), accuracy, e->seconds);
	fflush(stdout);
	if (!json)
		return;
	/* 17 digits: equal texts are equal bits */
	fprintf(json,
		"{\"way\":\"%s\",\"xpus\":%u,\"epoch\":%u,\"loss\":%.17g,"
		"\"test_loss\":%.17g,\"accuracy\":%.4f,\"seconds\":%.6f,"
		"\"seconds_all\":%.6f,\"host_bytes\":%" PRIu64 ",\"weights\":\"%016" PRIx64 "\"}\n",
		n->options->way->name, n->replica_count, e->number,
		loss_of(e->training, e->learned), loss_of(e->test, e->held), accuracy, e->seconds,
		e->seconds_all, e->host_bytes, e->weights);
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
