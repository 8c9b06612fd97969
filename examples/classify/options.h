/* SPDX-License-Identifier: BSD-3-Clause */
/* Command line options. */
#ifndef CLASSIFY_OPTIONS_H
#define CLASSIFY_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "fault.h"
#include "image.h"
#include "bounds.h"
#include "steps.h"

struct options {
	const char *model;  /* NULL: the default model */
	const char *labels; /* NULL: beside the model */
	const char *split;  /* "auto" or names of layers */
	const char *output; /* for the probabilities; NULL: none */
	char *xpu_list;     /* owns the texts of `xpus` */
	const char *xpus[STAGES_MAX];
	uint32_t xpu_count; /* 0: all granted xPUs */
	bool local;
	uint32_t local_stages; /* 0: as many as the split needs */
	bool through_host;     /* activations pass through this host */
	int32_t top;
	uint32_t repeat;
	uint32_t depth; /* photos in progress; 0: two per stage */
	enum resize resize;
	struct photo_line line; /* float inputs: real = byte * scale + offset */
	bool json;
	bool list_layers;
	bool help;
	bool stream;         /* frames from standard input instead of photos */
	char *const *photos; /* names of files and folders */
	uint32_t photo_count;
};

/* *out points into argv; free it with options_release. Error: DXP_EINVAL. */
int options_read(int argc, char **argv, struct options *out, struct fault *fault);
void options_release(struct options *o);

extern const char options_help[];

/* The model is the first of: the option, $DXP_MODEL, models/inception_v3.tflite in the build's
 * source folder, the same in the current folder. Otherwise returns DXP_ENOENT with the command that
 * fetches one. Labels are the first of: the option, model.labels.txt or labels.txt beside the
 * model, "". */
int options_find_model(const struct options *o, char *path, size_t size, struct fault *fault);
void options_find_labels(const struct options *o, const char *model, char *path, size_t size);

#endif
