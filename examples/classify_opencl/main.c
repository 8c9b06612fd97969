/* SPDX-License-Identifier: BSD-3-Clause */
/* classify_opencl: classifies photos with a network split over all devices of an OpenCL platform,
 * as an ordinary OpenCL program.
 *
 *   classify_opencl MODEL.tflite PHOTO...                       the first platform
 *   dxp run -- classify_opencl MODEL.tflite PHOTO...            the xPUs of a fabric
 *
 *   --platform WORD     the platform with this word in its name
 *   --split LAYERS      cut behind these layers; else as many stages as there are devices
 *   --output FILE       write the probabilities of all photos, as floats in order
 *   --labels FILE       names of the classes, one a line; else the file beside the model
 *   --pil               shrink photos as Pillow does */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/program.h"
#include "image.h"
#include "labels.h"
#include "memory.h"
#include "network.h"
#include "options.h"
#include "tflite.h"

#define TOP 3

struct job {
	const char *model_path, *platform, *split, *output_path, *labels_path;
	enum resize resize;
	char *const *photos;
	int photo_count, shown;
	struct model model;
	struct plan plan;
	struct labels labels;
	cl_device_id devices[STAGES_MAX];
	cl_uint device_count;
	struct network *network;
	uint8_t *square;
	float *answer;
	FILE *output;
	struct fault fault;
};

static int usage(struct job *j)
{
	return fault_set(&j->fault, DXP_EINVAL,
			 "usage: classify_opencl [--platform WORD] [--split LAYERS] "
			 "[--output FILE] [--labels FILE] [--pil] MODEL.tflite PHOTO...");
}

static int arguments(struct job *j, int argc, char **argv)
{
	int i = 1;

	for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
		const char **text = strcmp(argv[i], "--platform") == 0 ? &j->platform
				    : strcmp(argv[i], "--split") == 0  ? &j->split
				    : strcmp(argv[i], "--output") == 0 ? &j->output_path
				    : strcmp(argv[i], "--labels") == 0 ? &j->labels_path
								       : NULL;
		if (strcmp(argv[i], "--pil") == 0)
			j->resize = RESIZE_PIL_BILINEAR;
		else if (text && i + 1 < argc)
			*text = argv[++i];
		else
			return usage(j);
	}
	if (argc - i < 2)
		return usage(j);
	j->model_path = argv[i];
	j->photos = argv + i + 1;
	j->photo_count = argc - i - 1;
	return DXP_OK;
}

static int find_devices(struct job *j)
{
	cl_platform_id all[16];
	cl_uint count = 0;

	if (clGetPlatformIDs(16, all, &count) != CL_SUCCESS)
		count = 0;
	for (cl_uint i = 0; i < count && i < 16; i++) {
		char name[256] = "";
		clGetPlatformInfo(all[i], CL_PLATFORM_NAME, sizeof(name) - 1, name, NULL);
		if (j->platform && !strstr(name, j->platform))
			continue;
		if (clGetDeviceIDs(all[i], CL_DEVICE_TYPE_ALL, STAGES_MAX, j->devices,
				   &j->device_count) != CL_SUCCESS)
			continue;
		j->device_count = j->device_count < STAGES_MAX ? j->device_count : STAGES_MAX;
		printf("%s: %u devices\n", name, j->device_count);
		return DXP_OK;
	}
	return fault_set(&j->fault, DXP_ENOENT,
			 "no OpenCL platform%s%s has a device; clinfo -l lists them",
			 j->platform ? " named " : "", j->platform ? j->platform : "");
}

static int read_model(struct job *j)
{
	struct options options = {.labels = j->labels_path};
	char path[4096];
	int status = tflite_read(j->model_path, &j->model, &j->fault);

	if (status == DXP_OK && model_end_in_probabilities(&j->model) != DXP_OK)
		status = fault_set(&j->fault, DXP_ENOMEM, "out of memory");
	if (status != DXP_OK)
		return status;
	options_find_labels(&options, j->model_path, path, sizeof(path));
	if (*path)
		status = labels_read(path, (int32_t)j->model.tensors[j->model.output].elements,
				     &j->labels, &j->fault);
	return status;
}

static int cut(struct job *j)
{
	int status = j->split ? plan_layers(&j->model, j->split, &j->plan, &j->fault)
			      : plan_auto(&j->model, j->device_count, &j->plan, &j->fault);

	if (status == DXP_OK && j->plan.stage_count > j->device_count)
		status = fault_set(&j->fault, DXP_EINVAL,
				   "--split makes %u stages, but there are %u devices",
				   j->plan.stage_count, j->device_count);
	return status;
}

static int set_up(struct job *j)
{
	const struct photo_line line = {1, 0};
	int status = cut(j);

	if (status == DXP_OK)
		status = network_open(&j->model, &j->plan, j->devices, &line, &j->network,
				      &j->fault);
	if (status != DXP_OK)
		return status;
	j->square = malloc((size_t)j->model.tensors[j->model.input].elements);
	j->answer = malloc((size_t)tensor_float_bytes(&j->model.tensors[j->model.output]));
	if (!j->square || !j->answer)
		return fault_set(&j->fault, DXP_ENOMEM, "out of memory");
	if (j->output_path && !(j->output = fopen(j->output_path, "wb")))
		return fault_set(&j->fault, DXP_EIO, "%s: cannot be written", j->output_path);
	return DXP_OK;
}

static int show(struct job *j)
{
	int32_t count = (int32_t)j->model.tensors[j->model.output].elements, top[TOP];
	int status = network_collect(j->network, j->answer, &j->fault);

	if (status != DXP_OK)
		return status;
	printf("%s:", j->photos[j->shown++]);
	int32_t found = labels_top(j->answer, count, TOP, top);
	for (int32_t i = 0; i < found; i++) {
		char name[LABEL_BYTES_MAX];
		labels_name(&j->labels, top[i], name, sizeof(name));
		printf("%s %s %.2f %%", i ? "," : "", name, 100.0 * (double)j->answer[top[i]]);
	}
	printf("\n");
	if (j->output &&
	    fwrite(j->answer, sizeof(float), (size_t)count, j->output) != (size_t)count)
		return fault_set(&j->fault, DXP_EIO, "%s: cannot be written", j->output_path);
	return DXP_OK;
}

static int classify(struct job *j)
{
	uint32_t side = (uint32_t)j->model.tensors[j->model.input].shape[1];
	int status = DXP_OK;

	for (int i = 0; status == DXP_OK && i < j->photo_count; i++) {
		struct image image;
		status = image_read(j->photos[i], &image, &j->fault);
		if (status != DXP_OK)
			break;
		status = image_square(&image, side, j->resize, j->square);
		image_release(&image);
		if (status != DXP_OK)
			return fault_set(&j->fault, status, "out of memory");
		if (network_pending(j->network) == NETWORK_PHOTOS)
			status = show(j);
		if (status == DXP_OK)
			status = network_submit(j->network, j->square, &j->fault);
	}
	while (status == DXP_OK && network_pending(j->network) > 0)
		status = show(j);
	return status;
}

int main(int argc, char **argv)
{
	static struct job job;
	struct job *j = &job;
	int status;

	program_begin("classify_opencl");
	status = arguments(j, argc, argv);

	if (status == DXP_OK)
		status = read_model(j);
	if (status == DXP_OK)
		status = find_devices(j);
	if (status == DXP_OK)
		status = set_up(j);
	if (status == DXP_OK)
		status = classify(j);
	if (j->output && fclose(j->output) != 0 && status == DXP_OK)
		status = fault_set(&j->fault, DXP_EIO, "%s: cannot be written", j->output_path);
	if (j->network)
		network_close(j->network);
	free(j->square);
	free(j->answer);
	labels_release(&j->labels);
	model_release(&j->model);
	if (status != DXP_OK)
		fprintf(stderr, "classify_opencl: %s\n", j->fault.text);
	return status == DXP_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
