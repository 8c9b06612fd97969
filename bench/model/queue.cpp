/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the model's event queue with the priority queue of the C++ standard library. Uses the
 * hold model: each event that leaves the queue adds one event at a random later time. */
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <queue>
#include <vector>

extern "C" {
#include "base/rng.h"
#include "model/queue.h"
}

/* events of a round; the slower queue needs a second for them */
static const uint32_t EVENTS = 2000000;
/* the best round counts, because other programs use this machine too */
static const uint32_t ROUNDS = 3;
/* ps; largest distance of a new event from the current time */
static const uint64_t LATEST = 1000000;

static double seconds()
{
	using namespace std::chrono;
	return duration<double>(steady_clock::now().time_since_epoch()).count();
}

struct peer_event {
	uint64_t at_ps, order;
	uint32_t kind, subject;
	bool operator<(const peer_event &other) const
	{
		return at_ps != other.at_ps ? at_ps > other.at_ps : order > other.order;
	}
};

/* Runs the hold model with `size` events in the queue. Returns events per second. Mixes the
 * subjects of all events into *check, so that both queues can be compared. */
static double run_model(uint32_t size, uint64_t *check)
{
	struct model_queue q;
	struct model_event e;
	struct rng rng = {1};

	if (model_queue_create(&q, size) != 0)
		return 0;
	for (uint32_t i = 0; i < size; i++)
		model_queue_add(&q, rng_below(&rng, LATEST), 0, i);
	double begin = seconds();
	for (uint32_t i = 0; i < EVENTS && model_queue_next(&q, &e); i++) {
		*check = *check * 31 + e.subject;
		model_queue_add(&q, e.at_ps + rng_below(&rng, LATEST), 0, e.subject);
	}
	double rate = EVENTS / (seconds() - begin);
	model_queue_destroy(&q);
	return rate;
}

static double run_peer(uint32_t size, uint64_t *check)
{
	std::priority_queue<peer_event> q;
	struct rng rng = {1};
	uint64_t order = 0;

	for (uint32_t i = 0; i < size; i++)
		q.push({rng_below(&rng, LATEST), order++, 0, i});
	double begin = seconds();
	for (uint32_t i = 0; i < EVENTS; i++) {
		peer_event e = q.top();
		q.pop();
		*check = *check * 31 + e.subject;
		q.push({e.at_ps + rng_below(&rng, LATEST), order++, 0, e.subject});
	}
	return EVENTS / (seconds() - begin);
}

int main()
{
	printf("%8s %12s %18s %6s\n", "events", "model M/s", "std::priority M/s", "ratio");
	for (uint32_t size = 64; size <= 262144; size *= 16) {
		double model = 0, peer = 0;
		for (uint32_t i = 0; i < ROUNDS; i++) {
			uint64_t a = 0, b = 0;
			double m = run_model(size, &a), s = run_peer(size, &b);
			model = m > model ? m : model;
			peer = s > peer ? s : peer;
			if (a != b) {
				fprintf(stderr, "the two queues have different orders\n");
				return 1;
			}
		}
		printf("%8u %12.2f %18.2f %6.2f\n", size, model / 1e6, peer / 1e6, model / peer);
	}
	return 0;
}
