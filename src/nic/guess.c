/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/guess.h"

#include "base/util.h"

static const uint64_t own_ns = NIC_WRONG_OWN_NS, all_ns = NIC_WRONG_ALL_NS;

static uint64_t allowance_wait(const struct guess_allowance *a, uint64_t each_ns, uint32_t burst,
			       uint64_t now_ns)
{
	uint64_t ahead_ns = a->paid_ns > now_ns ? a->paid_ns - now_ns : 0;
	uint64_t free_ns = (burst - 1) * each_ns;

	return ahead_ns > free_ns ? ahead_ns - free_ns : 0;
}

static void allowance_charge(struct guess_allowance *a, uint64_t each_ns, uint64_t now_ns)
{
	a->paid_ns = max_u64(a->paid_ns, now_ns) + each_ns;
}

bool guess_key_search(struct guesses *g, uint32_t key)
{
	for (uint8_t i = 0; key != 0 && i < NIC_KEYS_KNOWN; i++) {
		if (g->keys[i] != key)
			continue;
		g->last = i;
		return true;
	}
	return false;
}

uint64_t guess_wait(const struct guesses *g, const struct guess_allowance *all, uint64_t now_ns)
{
	return max_u64(allowance_wait(&g->own, own_ns, NIC_WRONG_OWN, now_ns),
		       allowance_wait(all, all_ns, NIC_WRONG_ALL, now_ns));
}

void guess_key_right(struct guesses *g, uint32_t key)
{
	if (guess_key_known(g, key))
		return;
	g->keys[g->next] = key;
	g->next = (uint8_t)((g->next + 1) % NIC_KEYS_KNOWN);
}

void guess_magic_right(struct guesses *g, uint32_t stream)
{
	g->magics |= 1u << stream;
}

static void wrong(struct guesses *g, struct guess_allowance *all, uint32_t value, uint32_t *last,
		  uint64_t now_ns)
{
	if (value == 0 || value == *last)
		return; /* 0 is never valid; a repeated value reveals nothing */
	*last = value;
	allowance_charge(&g->own, own_ns, now_ns);
	allowance_charge(all, all_ns, now_ns);
}

void guess_key_wrong(struct guesses *g, struct guess_allowance *all, uint32_t key, uint64_t now_ns)
{
	/* A known key became wrong by revocation, which costs nothing. */
	if (!guess_key_known(g, key))
		wrong(g, all, key, &g->wrong_key, now_ns);
}

void guess_magic_wrong(struct guesses *g, struct guess_allowance *all, uint32_t magic,
		       uint64_t now_ns)
{
	wrong(g, all, magic, &g->wrong_magic, now_ns);
}

void guess_magics_forget(struct guesses *g, uint32_t streams)
{
	g->magics &= ~streams;
}

void guess_forget(struct guesses *g)
{
	*g = (struct guesses){.own = g->own, .node = g->node};
}
