/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes options as text: parsed ones are within their header's bounds, and a fault injector with
 * them passes datagrams without error. */
#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/util.h"
#include "link/fault.h"
#include "rltp/session.h"
#include "test/fuzz/fuzz.h"

#define DATAGRAMS 64

/* Parses without logging, because a million runs would print all rejections. */
static int fault_parse_quietly(const char *text, struct fault_options *options)
{
	static int nowhere = -1, kept = -1;

	if (kept < 0) {
		nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
		kept = dup(STDERR_FILENO);
		assert(nowhere >= 0 && kept >= 0);
	}
	dup2(nowhere, STDERR_FILENO);
	int status = fault_parse(text, options);
	dup2(kept, STDERR_FILENO);
	return status;
}

static void faults_try(const struct fault_options *options)
{
	const struct datagram *out[FAULT_OUT_MAX];
	struct datagram in = {.header_bytes = 40};
	uint64_t now_ns = S_NS;
	struct fault *f;

	if (fault_open(options, &f) != DXP_OK)
		return;
	for (int i = 0; i < DATAGRAMS; i++, now_ns += 10 * US_NS) {
		size_t count = fault_pass(f, &in, now_ns, out);
		assert(count <= FAULT_OUT_MAX);
		for (size_t k = 0; k < count; k++)
			assert(out[k]->header_bytes + (size_t)out[k]->slice_count > 0);
		fault_settle(f, NULL, 0);
	}
	fault_close(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text = malloc(bytes + 1);
	struct fault_options options;
	enum rltp_recovery recovery;
	enum cc_kind cc;

	assert(text);
	memcpy(text, data, bytes);
	text[bytes] = '\0';
	if (fault_parse_quietly(text, &options) == DXP_OK) {
		assert(options.loss_ppm <= 1000000 && options.dup_ppm <= 1000000);
		assert(options.corrupt_ppm <= 1000000 && options.reorder_ppm <= 1000000);
		faults_try(&options);
	}
	if (rltp_recovery_parse(text, &recovery))
		assert(strcmp(rltp_recovery_name(recovery), text) == 0);
	if (cc_parse(text, &cc))
		assert(strlen(text) < 16);
	free(text);
	return 0;
}
