/* SPDX-License-Identifier: BSD-3-Clause */
/* Classifies photos with a network split over xPUs: reads and cuts the model, opens the xPUs,
 * uploads constants, submits photos, collects answers. Prints each error once. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dxp/status.h>

#include "base/log.h"
#include "base/program.h"
#include "backend.h"
#include "frames.h"
#include "image.h"
#include "options.h"
#include "photos.h"
#include "report.h"
#include "run.h"
#include "tflite.h"

struct job {
	struct options options;
	struct model model;
	struct plan plan;
	struct photos photos;
	struct backend *backend;
	struct run *run;
	struct report report;
	uint8_t *square; /* the photo at the network's input size */
	FILE *output;
	uint32_t bad_photos; /* skipped as unreadable */
	struct fault fault;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * S_NS + (uint64_t)t.tv_nsec;
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * S_NS + (uint64_t)t.tv_nsec;
}

static int read_model(struct job *j)
{
	char path[PATH_MAX];
	int status = options_find_model(&j->options, path, sizeof(path), &j->fault);

	if (status == DXP_OK)
		status = tflite_read(path, &j->model, &j->fault);
	if (status == DXP_OK && model_end_in_probabilities(&j->model) != DXP_OK)
		status = fault_set(&j->fault, DXP_ENOMEM, "out of memory");
	return status;
}

static int read_labels(struct job *j)
{
	char path[PATH_MAX];
	int32_t classes = (int32_t)j->model.tensors[j->model.output].elements;

	options_find_labels(&j->options, j->model.path, path, sizeof(path));
	if (*path)
		return labels_read(path, classes, &j->report.labels, &j->fault);
	log_warn(
		"no labels beside %s, so classes are printed as numbers; give a file with --labels",
		j->model.path);
	return DXP_OK;
}

/* The layers of --split decide the number of stages. */
static int make_plan(struct job *j, uint32_t xpus)
{
	const char *split = j->options.split;

	if (strcmp(split, "auto") == 0)
		return plan_auto(&j->model, xpus, &j->plan, &j->fault);
	int status = plan_layers(&j->model, split, &j->plan, &j->fault);
	if (status == DXP_OK && xpus && xpus < j->plan.stage_count)
		return fault_set(&j->fault, DXP_EINVAL,
				 "--split %s makes %u stages, more than the %u available xPUs; "
				 "name fewer layers",
				 split, j->plan.stage_count, xpus);
	return status;
}

static int open_local(struct job *j)
{
	bool automatic = strcmp(j->options.split, "auto") == 0;
	uint32_t stages = j->options.local_stages;
	int status = make_plan(j, stages == 0 && automatic ? 1 : stages);

	if (status == DXP_OK)
		status = backend_local_open(j->plan.stage_count, &j->backend, &j->fault);
	return status;
}

static int open_fabric(struct job *j)
{
	char granted[STAGES_MAX][DXP_NAME_BYTES];
	const char *names[STAGES_MAX];
	uint32_t count = j->options.xpu_count;
	int status = backend_mmd_open(&j->backend, &j->fault);

	if (status != DXP_OK)
		return status;
	memcpy(names, j->options.xpus, sizeof(names));
	if (count == 0) {
		int found = backend_mmd_granted(j->backend, granted, &j->fault);
		if (found < 0)
			return found;
		count = (uint32_t)found;
		for (uint32_t i = 0; i < count; i++)
			names[i] = granted[i];
	}
	if (j->options.through_host)
		backend_mmd_through_host(j->backend);
	status = make_plan(j, count);
	if (status == DXP_OK)
		status = backend_mmd_acquire(j->backend, names, j->plan.stage_count, &j->fault);
	return status;
}

static int set_up(struct job *j)
{
	const struct tensor *input = &j->model.tensors[j->model.input];
	uint64_t start = now_ns();
	int status = j->options.local ? open_local(j) : open_fabric(j);

	if (status == DXP_OK)
		status = run_open(
			&j->model, &j->plan, j->backend,
			&(struct run_options){.depth = j->options.depth, .line = j->options.line},
			&j->run, &j->fault);
	if (status != DXP_OK)
		return status;
	j->square = malloc((size_t)input->elements);
	if (!j->square)
		return fault_set(&j->fault, DXP_ENOMEM, "out of memory");
	j->report.out = stdout;
	j->report.json = j->options.json;
	j->report.stream = j->options.stream;
	j->report.top = j->options.top;
	j->report.model = &j->model;
	j->report.plan = &j->plan;
	j->report.backend = j->backend;
	j->report.setup_ns = now_ns() - start;
	return DXP_OK;
}

static int collect(struct job *j)
{
	struct run_result result;
	int status = run_collect(j->run, &result, &j->fault);

	if (status != DXP_OK)
		return status;
	char frame[32];
	snprintf(frame, sizeof(frame), "frame %llu", (unsigned long long)result.tag);
	report_photo(&j->report, j->options.stream ? frame : j->photos.paths[result.tag], &result);
	if (j->output && fwrite(result.answer, sizeof(float), (size_t)result.answer_count,
				j->output) != (size_t)result.answer_count)
		return fault_set(&j->fault, DXP_EIO, "%s: cannot write", j->options.output);
	return DXP_OK;
}

static int submit(struct job *j, uint32_t photo)
{
	for (uint32_t i = 0; i < j->options.repeat; i++) {
		int status = DXP_OK;
		if (run_pending(j->run) == run_depth(j->run))
			status = collect(j);
		if (status == DXP_OK)
			status = run_submit(j->run, j->square, photo, &j->fault);
		if (status != DXP_OK)
			return status;
	}
	return DXP_OK;
}

static int square_make(struct job *j, struct image *image)
{
	uint32_t side = (uint32_t)j->model.tensors[j->model.input].shape[1];
	int status = image_square(image, side, j->options.resize, j->square);

	image_release(image);
	return status == DXP_OK ? status : fault_set(&j->fault, status, "out of memory");
}

static int stream_submit(struct job *j)
{
	struct image image;
	int status;

	for (uint32_t frame = 0; (status = frames_next(stdin, &image, &j->fault)) == DXP_OK;
	     frame++) {
		status = square_make(j, &image);
		if (status == DXP_OK)
			status = submit(j, frame);
		if (status != DXP_OK)
			return status;
	}
	return status == DXP_ENOENT ? DXP_OK : status;
}

static bool prepare(struct job *j, uint32_t photo)
{
	struct image image;
	int status = image_read(j->photos.paths[photo], &image, &j->fault);

	if (status == DXP_OK)
		status = square_make(j, &image);
	if (status == DXP_OK)
		return true;
	log_error("%s", j->fault.text);
	j->bad_photos++;
	return false;
}

static uint64_t nic_bytes(const struct job *j)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < j->plan.stage_count; i++) {
		struct dxp_link_bytes one;
		j->backend->ops->traffic(j->backend, i, &one);
		sum += one.sent_bytes + one.received_bytes;
	}
	return sum;
}

static int classify(struct job *j)
{
	uint64_t start = now_ns(), cpu = cpu_ns(), bytes = nic_bytes(j);
	int status = j->options.stream ? stream_submit(j) : DXP_OK;

	for (uint32_t i = 0; status == DXP_OK && i < j->photos.count; i++)
		if (prepare(j, i))
			status = submit(j, i);
	while (status == DXP_OK && run_pending(j->run) > 0)
		status = collect(j);
	j->report.run_ns = now_ns() - start;
	j->report.run_cpu_ns = cpu_ns() - cpu;
	j->report.run_nic_bytes = nic_bytes(j) - bytes;
	if (status == DXP_OK && j->report.photos > 0)
		report_summary(&j->report, run_bytes(j->run));
	return status;
}

static int open_output(struct job *j)
{
	if (!j->options.output)
		return DXP_OK;
	j->output = fopen(j->options.output, "wb");
	return j->output
		       ? DXP_OK
		       : fault_set(&j->fault, DXP_EIO, "%s: cannot be written", j->options.output);
}

static int work(struct job *j)
{
	int status = read_model(j);

	if (status == DXP_OK && j->options.list_layers) {
		report_layers(stdout, &j->model);
		return DXP_OK;
	}
	if (status == DXP_OK)
		status = read_labels(j);
	if (status == DXP_OK && !j->options.stream)
		status = photos_find(j->options.photos, j->options.photo_count, &j->photos,
				     &j->fault);
	if (status == DXP_OK)
		status = open_output(j);
	if (status == DXP_OK)
		status = set_up(j);
	if (status == DXP_OK)
		status = classify(j);
	if (j->output && fclose(j->output) != 0 && status == DXP_OK)
		status = fault_set(&j->fault, DXP_EIO, "%s: cannot write: %s", j->options.output,
				   strerror(errno));
	return status;
}

static void tear_down(struct job *j)
{
	run_close(j->run);
	if (j->backend)
		j->backend->ops->close(j->backend);
	free(j->square);
	labels_release(&j->report.labels);
	photos_release(&j->photos);
	model_release(&j->model);
	options_release(&j->options);
}

int main(int argc, char **argv)
{
	struct job *j = calloc(1, sizeof(*j));

	program_begin("classify");
	if (!j)
		return EXIT_FAILURE;
	int status = options_read(argc, argv, &j->options, &j->fault);
	if (status == DXP_OK && j->options.help) {
		fputs(options_help, stdout);
	} else {
		if (status == DXP_OK)
			status = work(j);
		if (status != DXP_OK)
			log_error("%s", j->fault.text);
	}
	bool good = status == DXP_OK && j->bad_photos == 0;
	tear_down(j);
	free(j);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
