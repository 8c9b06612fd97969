/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds published values to the rows of one part. */
#include <string.h>

#include "cmd/dxp/model.h"
#include "model/published.h"

static void row_receive(void *context, const struct model_row *from)
{
	const struct model_attach *a = context;
	struct model_row row = *from;

	model_published_attach(&row);
	model_emit(a->to, &row);
}

const struct model_sink *model_attach(struct model_attach *a, const struct model_run *run)
{
	struct model_parameters source;

	model_parameters_default(&source);
	*a = (struct model_attach){.sink = {row_receive, a}, .to = run->sink};
	return memcmp(run->parameters, &source, sizeof(source)) == 0 ? &a->sink : run->sink;
}
