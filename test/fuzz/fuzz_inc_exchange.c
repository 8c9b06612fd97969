/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes the checks of the messages that members exchange while they create a group. Accepted
 * hellos have addresses and ids that packets can carry; every failure has a reason. */
#define FUZZ_NAME "fuzz_inc_exchange"

#include <string.h>

#include <dxp/status.h>

#include "inc/endpoint.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/input.h"
#include "wire/inc_compat.h"

#define COUNT_MAX 8

static struct input in;

static void bytes_read(void *out, size_t bytes)
{
	uint8_t *to = out;

	for (size_t i = 0; i < bytes; i++)
		to[i] = take8(&in);
}

static void text_check(const char why[DXP_INC_WHY_BYTES])
{
	if (!why[0] || !memchr(why, 0, DXP_INC_WHY_BYTES))
		die("a failure without a reason");
}

static void hello_use(const struct hello *h, const struct hello *first)
{
	const uint32_t id_end = h->framing == DXP_INC_COMPAT ? INC_COMPAT_COMM : INC_COMM_CONTROL;

	if (h->ip == 0 || h->port < ROCE_SOURCE_PORT || h->switch_ip == 0 || h->able != 1 ||
	    h->framing > DXP_INC_COMPAT || h->framing != first->framing || h->id == 0 ||
	    h->id >= id_end)
		die("a hello out of range is accepted");
}

static void hellos_fuzz(uint32_t count, uint32_t member, bool honest)
{
	char why[DXP_INC_WHY_BYTES] = "";
	struct hello own, hellos[COUNT_MAX];

	bytes_read(&own, sizeof(own));
	bytes_read(hellos, count * sizeof(hellos[0]));
	if (honest)
		hellos[member] = own;
	int status = exchange_hellos_check(hellos, count, member, &own, why);
	if (status != DXP_OK)
		text_check(why);
	for (uint32_t i = 0; i < count && status == DXP_OK; i++)
		hello_use(&hellos[i], &hellos[0]);
}

static void outcomes_fuzz(uint32_t count, uint32_t member, bool honest)
{
	static const struct inc_member members[COUNT_MAX];
	static const uint32_t switches[COUNT_MAX];
	char why[DXP_INC_WHY_BYTES] = "";
	struct outcome own, outcomes[COUNT_MAX];
	uint32_t sender;

	bytes_read(&own, sizeof(own));
	bytes_read(outcomes, count * sizeof(outcomes[0]));
	if (honest)
		outcomes[member] = own;
	int status = exchange_outcomes_judge(outcomes, count, member, &own, &sender, why);
	if (status > 0 || (status == DXP_OK && sender != count))
		die("a status without meaning");
	if (sender < count)
		why_text(&outcomes[sender], sender, members, switches, why);
	if (status != DXP_OK)
		text_check(why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	in = (struct input){data, data + bytes};
	uint8_t how = take8(&in);
	uint32_t count = 1 + how % COUNT_MAX, member = take8(&in) % count;

	if (how & 0x10)
		hellos_fuzz(count, member, how & 0x20);
	else
		outcomes_fuzz(count, member, how & 0x20);
	return 0;
}
