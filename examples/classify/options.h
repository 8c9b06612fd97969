/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the options of the command line. */
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
	const char *labels; /* NULL: the file beside the model */
	const char *split;  /* "auto" or names of layers */
	const char *output; /* file for the probabilities; NULL: none */
	char *xpu_list;     /* owns the texts of `xpus` */
	const char *xpus[STAGES_MAX];
	uint32_t xpu_count; /* 0: all granted xPUs */
	bool local;
	uint32_t local_stages; /* 0: as many as the split needs */
	bool through_host;     /* activations pass through this host */
	int32_t top;
	uint32_t repeat;
	uint32_t depth; /* photos in progress; 0: two for each stage */
	enum resize resize;
	struct photo_line line; /* for float inputs: real = byte * scale + offset */
	bool json;
	bool list_layers;
	bool help;
	bool stream;         /* classify frames from standard input instead of photos */
	char *const *photos; /* names of files and folders */
	uint32_t photo_count;
};

/* Parses the arguments. *out contains pointers into argv. Free it with options_release. Error:
 * DXP_EINVAL. */
int options_read(int argc, char **argv, struct options *out, struct fault *fault);
void options_release(struct options *o);

extern const char options_help[];

/* Find the model and its labels. The model is the first of these that exists: the option,
 * $DXP_MODEL, models/inception_v3.tflite in the build's source folder, the same path in the current
 * folder. If there is none, returns DXP_ENOENT with the command that fetches one. The labels are
 * the first of: the option, model.labels.txt or labels.txt in the model's folder, "". */
int options_find_model(const struct options *o, char *path, size_t size, struct fault *fault);
void options_find_labels(const struct options *o, const char *model, char *path, size_t size);

#endif
