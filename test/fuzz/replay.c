/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a fuzz target without libFuzzer: every named file and folder, then seeded mutations up to a
 * number or time limit. Prints the seed; DXP_SEED=n repeats it without time limit, DXP_MUTATIONS=n
 * sets the number. Inputs have blocks of exact size, so a sanitizer detects an access past the
 * end. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/rng.h"
#include "base/util.h"
#include "test/fuzz/fuzz.h"

#define INPUT_BYTES_MAX   65536 /* more than any datagram */
#define INPUTS_MAX        4096  /* files of one corpus */
#define MUTATIONS_DEFAULT 200000
/* run even if a busy machine exceeds the time limit */
#define MUTATIONS_MIN 200
#define SECONDS_MAX   3 /* for all mutations without a given seed */
#define EDITS_MAX     8 /* most changes of one input */

struct input {
	uint8_t *data;
	size_t bytes;
};

static struct input inputs[INPUTS_MAX];
static size_t input_count;

static void die(const char *what, const char *name)
{
	fprintf(stderr, "replay: %s %s: %s\n", what, name, strerror(errno));
	exit(2);
}

static void run(const uint8_t *data, size_t bytes)
{
	uint8_t *exact = malloc(bytes ? bytes : 1);

	if (!exact)
		die("no memory for", "an input");
	memcpy(exact, data, bytes);
	LLVMFuzzerTestOneInput(exact, bytes);
	free(exact);
}

static void input_add(const char *path)
{
	struct input *in = &inputs[input_count];
	FILE *file = fopen(path, "rb");

	if (!file)
		die("cannot open", path);
	in->data = malloc(INPUT_BYTES_MAX);
	if (!in->data)
		die("no memory for", path);
	in->bytes = fread(in->data, 1, INPUT_BYTES_MAX, file);
	if (ferror(file))
		die("cannot read", path);
	fclose(file);
	input_count++;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Adds the files of a folder in name order, so that a seed gives the same run everywhere. */
static void folder_add(const char *path)
{
	char *names[INPUTS_MAX];
	size_t count = 0;
	DIR *folder = opendir(path);
	struct dirent *entry;

	if (!folder)
		die("cannot open", path);
	while ((entry = readdir(folder)) && count < ARRAY_COUNT(names) - input_count) {
		if (entry->d_name[0] != '.' &&
		    asprintf(&names[count], "%s/%s", path, entry->d_name) > 0)
			count++;
	}
	closedir(folder);
	qsort(names, count, sizeof(names[0]), by_name);
	for (size_t i = 0; i < count; i++) {
		input_add(names[i]);
		free(names[i]);
	}
}

/* Returns a byte close to an edge value, or any byte. */
static uint8_t byte_draw(struct rng *r)
{
	static const uint8_t edges[] = {0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff};

	return rng_below(r, 2) ? edges[rng_below(r, sizeof(edges))] : (uint8_t)rng_next(r);
}

/* Changes `data` once; it has space for INPUT_BYTES_MAX. */
static void edit(struct rng *r, uint8_t *data, size_t *bytes)
{
	size_t at = rng_below(r, *bytes + 1);
	size_t run_bytes = 1 + rng_below(r, 16);

	switch (rng_below(r, 5)) {
	case 0: /* flips one bit */
		if (at < *bytes)
			data[at] ^= (uint8_t)(1u << rng_below(r, 8));
		break;
	case 1: /* replaces one byte */
		if (at < *bytes)
			data[at] = byte_draw(r);
		break;
	case 2: /* cuts off the end */ *bytes = at; break;
	case 3: /* removes a run of bytes */
		run_bytes = min_u64(run_bytes, *bytes - at);
		memmove(data + at, data + at + run_bytes, *bytes - at - run_bytes);
		*bytes -= run_bytes;
		break;
	default: /* inserts a run of bytes */
		run_bytes = min_u64(run_bytes, INPUT_BYTES_MAX - *bytes);
		memmove(data + at + run_bytes, data + at, *bytes - at);
		for (size_t i = 0; i < run_bytes; i++)
			data[at + i] = byte_draw(r);
		*bytes += run_bytes;
		break;
	}
}

static void mutation_run(struct rng *r)
{
	static uint8_t data[INPUT_BYTES_MAX];
	size_t bytes = 0;

	if (input_count > 0) {
		const struct input *in = &inputs[rng_below(r, input_count)];
		bytes = in->bytes;
		memcpy(data, in->data, bytes);
	}
	for (uint64_t edits = 1 + rng_below(r, EDITS_MAX); edits > 0; edits--)
		edit(r, data, &bytes);
	run(data, bytes);
}

static uint64_t seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec;
}

/* Returns how many ran, at most `count`. */
static uint64_t mutations_run(struct rng *r, uint64_t count)
{
	uint64_t start = seconds_now();
	uint64_t done = 0;

	while (done < count && (getenv("DXP_SEED") || done < MUTATIONS_MIN ||
				seconds_now() - start < SECONDS_MAX)) {
		mutation_run(r);
		done++;
	}
	return done;
}

static uint64_t number_from(const char *name, uint64_t fallback)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : fallback;
}

int main(int argc, char **argv)
{
	struct rng seed_source;
	struct stat st;

	rng_entropy_kernel(NULL, &seed_source, sizeof(seed_source));
	struct rng r = {.state = number_from("DXP_SEED", rng_below(&seed_source, 1000000))};
	uint64_t mutations = number_from("DXP_MUTATIONS", MUTATIONS_DEFAULT);

	printf("replay: seed %llu; the same again: DXP_SEED=%llu %s", (unsigned long long)r.state,
	       (unsigned long long)r.state, argv[0]);
	for (int i = 1; i < argc; i++)
		printf(" %s", argv[i]);
	printf("\n");
	fflush(stdout);

	for (int i = 1; i < argc; i++) {
		if (stat(argv[i], &st) != 0)
			die("cannot find", argv[i]);
		if (S_ISDIR(st.st_mode))
			folder_add(argv[i]);
		else if (input_count < INPUTS_MAX)
			input_add(argv[i]);
	}
	if (argc > 1 && input_count == 0) {
		fprintf(stderr, "replay: %s holds no inputs\n", argv[1]);
		return 2;
	}
	for (size_t i = 0; i < input_count; i++)
		run(inputs[i].data, inputs[i].bytes);
	mutations = mutations_run(&r, mutations);
	printf("replay: %zu inputs, %llu mutations\n", input_count, (unsigned long long)mutations);
	for (size_t i = 0; i < input_count; i++)
		free(inputs[i].data);
	return 0;
}
