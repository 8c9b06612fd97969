/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <assert.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dxp/status.h>

const char options_help[] =
	"usage: classify [options] PHOTO|FOLDER...|-\n"
	"\n"
	"Classifies photos (JPEG, PNG, PPM) with a TFLite network split over the xPUs of a\n"
	"fabric. Activations move from xPU to xPU; only the photo and the result cross this host.\n"
	"Several photos are pipelined over the stages; a folder means all photos in it.\n"
	"-: frames of a video or camera from standard input, as binary PPM:\n"
	"   ffmpeg -i VIDEO -c:v ppm -f image2pipe - | classify -\n"
	"\n"
	"Network\n"
	"  --model FILE       TFLite file; default: $DXP_MODEL, else models/inception_v3.tflite\n"
	"                     (`tools/model` fetches it)\n"
	"  --labels FILE      names of the classes, one a line; default: MODEL.labels.txt or\n"
	"                     labels.txt beside the model\n"
	"  --input-scale S    networks with float input get byte * S + O; default 1\n"
	"  --input-offset O   default 0. MobileNet in float wants 0.007843 and -1\n"
	"  --list-layers      print the layers, their cost and the tensors after them, and exit\n"
	"\n"
	"Where it runs\n"
	"  --xpus A,B,..      names or numbers, in the order of the stages; default: all xPUs "
	"that\n"
	"                     this host may use, in the order of the node table\n"
	"  --local [N]        no fabric: N stages on the first OpenCL CPU here "
	"(POCL_DEVICES=basic\n"
	"                     unless set), the same kernels without the network\n"
	"  --through-host     activations pass through this host, for comparison\n"
	"  --split auto       as many stages as xPUs, the multiply-adds balanced (default)\n"
	"  --split L[,L..]    a new stage starts after each layer L: the name of a tensor, the\n"
	"                     number of an operator, or a part of a name that matches one cut\n"
	"\n"
	"Photos and results\n"
	"  --resize HOW       bilinear (default) or pil_bilinear, of the centred square\n"
	"  --top N            best classes to print; default 5\n"
	"  --repeat N         send each photo N times; default 1\n"
	"  --depth N          outstanding photos; default two for each stage, 1: one by one\n"
	"  --json             one object for each result, then one for the run\n"
	"  --output FILE      all probabilities as float32, little-endian, photo after photo\n"
	"  --help             this text\n"
	"\n"
	"The fabric is the one that `dxp up` started; $DXP_DIR names its folder if it is not the "
	"default.\n";

enum {
	OPTION_MODEL = 1,
	OPTION_LABELS,
	OPTION_SCALE,
	OPTION_OFFSET,
	OPTION_LIST,
	OPTION_XPUS,
	OPTION_LOCAL,
	OPTION_SPLIT,
	OPTION_RESIZE,
	OPTION_TOP,
	OPTION_REPEAT,
	OPTION_DEPTH,
	OPTION_JSON,
	OPTION_OUTPUT,
	OPTION_HELP,
	OPTION_THROUGH,
};

static const struct option names[] = {
	{"model", required_argument, NULL, OPTION_MODEL},
	{"labels", required_argument, NULL, OPTION_LABELS},
	{"input-scale", required_argument, NULL, OPTION_SCALE},
	{"input-offset", required_argument, NULL, OPTION_OFFSET},
	{"list-layers", no_argument, NULL, OPTION_LIST},
	{"xpus", required_argument, NULL, OPTION_XPUS},
	{"local", no_argument, NULL, OPTION_LOCAL},
	{"split", required_argument, NULL, OPTION_SPLIT},
	{"resize", required_argument, NULL, OPTION_RESIZE},
	{"top", required_argument, NULL, OPTION_TOP},
	{"repeat", required_argument, NULL, OPTION_REPEAT},
	{"depth", required_argument, NULL, OPTION_DEPTH},
	{"json", no_argument, NULL, OPTION_JSON},
	{"output", required_argument, NULL, OPTION_OUTPUT},
	{"help", no_argument, NULL, OPTION_HELP},
	{"through-host", no_argument, NULL, OPTION_THROUGH},
	{0},
};

static bool number(const char *text, long least, long most, uint32_t *out)
{
	char *end;
	long v = strtol(text, &end, 10);

	if (end == text || *end || v < least || v > most)
		return false;
	*out = (uint32_t)v;
	return true;
}

static bool real(const char *text, float *out)
{
	char *end;

	*out = strtof(text, &end);
	return end != text && !*end;
}

static int bad(struct fault *fault, const char *option, const char *value, const char *wanted)
{
	return fault_set(fault, DXP_EINVAL, "%s %s: %s", option, value, wanted);
}

static int read_xpus(struct options *o, const char *value, struct fault *fault)
{
	char *rest, *name;

	free(o->xpu_list);
	o->xpu_list = rest = strdup(value);
	o->xpu_count = 0;
	while ((name = strsep(&rest, ","))) {
		if (!*name)
			return bad(fault, "--xpus", value, "an empty name");
		if (o->xpu_count == STAGES_MAX)
			return bad(fault, "--xpus", value, "more than 16 xPUs");
		o->xpus[o->xpu_count++] = name;
	}
	return DXP_OK;
}

/* --local takes the next argument only if it is a number */
static void read_local(struct options *o, int argc, char **argv)
{
	o->local = true;
	if (optind < argc && number(argv[optind], 1, STAGES_MAX, &o->local_stages))
		optind++;
}

static int read_option(struct options *o, int option, struct fault *fault)
{
	uint32_t top;

	switch (option) {
	case OPTION_MODEL: o->model = optarg; break;
	case OPTION_LABELS: o->labels = optarg; break;
	case OPTION_SCALE:
		if (!real(optarg, &o->line.scale))
			return bad(fault, "--input-scale", optarg, "not a number");
		break;
	case OPTION_OFFSET:
		if (!real(optarg, &o->line.offset))
			return bad(fault, "--input-offset", optarg, "not a number");
		break;
	case OPTION_LIST: o->list_layers = true; break;
	case OPTION_XPUS: return read_xpus(o, optarg, fault);
	case OPTION_SPLIT: o->split = optarg; break;
	case OPTION_RESIZE:
		if (strcmp(optarg, "bilinear") != 0 && strcmp(optarg, "pil_bilinear") != 0)
			return bad(fault, "--resize", optarg, "bilinear or pil_bilinear");
		o->resize = *optarg == 'p' ? RESIZE_PIL_BILINEAR : RESIZE_BILINEAR;
		break;
	case OPTION_TOP:
		if (!number(optarg, 1, TOP_MAX, &top))
			return bad(fault, "--top", optarg, "1 to 100");
		o->top = (int32_t)top;
		break;
	case OPTION_REPEAT:
		if (!number(optarg, 1, 1000000, &o->repeat))
			return bad(fault, "--repeat", optarg, "1 to 1000000");
		break;
	case OPTION_DEPTH:
		if (!number(optarg, 1, DEPTH_MAX, &o->depth))
			return bad(fault, "--depth", optarg, "1 to 32");
		break;
	case OPTION_JSON: o->json = true; break;
	case OPTION_OUTPUT: o->output = optarg; break;
	case OPTION_HELP: o->help = true; break;
	case OPTION_THROUGH: o->through_host = true; break;
	default: assert(!"an option without a case");
	}
	return DXP_OK;
}

int options_read(int argc, char **argv, struct options *out, struct fault *fault)
{
	struct options o = {.split = "auto", .top = 5, .repeat = 1, .line = {1, 0}};
	int status = DXP_OK, option;

	optind = 0; /* restarts getopt: this may run more than once */
	while (status == DXP_OK && (option = getopt_long(argc, argv, ":", names, NULL)) != -1) {
		if (option == '?' || option == ':')
			status = fault_set(fault, DXP_EINVAL,
					   "%s: %s; `classify --help` lists all options",
					   argv[optind - 1],
					   option == '?' ? "unknown option" : "lacks its value");
		else if (option == OPTION_LOCAL)
			read_local(&o, argc, argv);
		else
			status = read_option(&o, option, fault);
	}
	o.photos = argv + optind;
	o.photo_count = (uint32_t)(argc - optind);
	for (uint32_t i = 0; i < o.photo_count; i++)
		o.stream |= strcmp(o.photos[i], "-") == 0;
	if (status == DXP_OK && o.stream && o.photo_count > 1)
		status = fault_set(fault, DXP_EINVAL,
				   "- (standard input) excludes other photos; leave them out");
	if (status == DXP_OK && o.local && o.xpu_count)
		status = fault_set(fault, DXP_EINVAL, "either --xpus or --local");
	if (status == DXP_OK && o.local && o.through_host)
		status = fault_set(fault, DXP_EINVAL,
				   "--through-host needs xPUs; leave out --local");
	if (status == DXP_OK && !o.photo_count && !o.help && !o.list_layers)
		status = fault_set(fault, DXP_EINVAL, "no photo is given; see `classify --help`");
	if (status != DXP_OK) {
		options_release(&o);
		return status;
	}
	*out = o;
	return DXP_OK;
}

void options_release(struct options *o)
{
	free(o->xpu_list);
	o->xpu_list = NULL;
}

/* Writes the folder above the build folder, or "." if unknown. */
static void source_folder(char *path, size_t size)
{
	ssize_t bytes = readlink("/proc/self/exe", path, size - 1);

	path[bytes > 0 ? bytes : 0] = '\0';
	for (int up = 0; up < 3; up++) {
		char *slash = strrchr(path, '/');
		if (!slash) {
			snprintf(path, size, ".");
			return;
		}
		*slash = '\0';
	}
}

int options_find_model(const struct options *o, char *path, size_t size, struct fault *fault)
{
	static const char file[] = "models/inception_v3.tflite";
	const char *reported = o->model ? o->model : getenv("DXP_MODEL");
	char root[PATH_MAX];

	if (reported && *reported) {
		snprintf(path, size, "%s", reported);
		if (access(path, R_OK) == 0)
			return DXP_OK;
		return fault_set(
			fault, DXP_ENOENT,
			"%s: the model does not exist; `tools/model` fetches the default one",
			reported);
	}
	source_folder(root, sizeof(root));
	if (snprintf(path, size, "%s/%s", root, file) < (int)size && access(path, R_OK) == 0)
		return DXP_OK;
	snprintf(path, size, "%s", file);
	if (access(path, R_OK) == 0)
		return DXP_OK;
	return fault_set(fault, DXP_ENOENT, "no model at %s; run `tools/model`, which fetches it",
			 file);
}

void options_find_labels(const struct options *o, const char *model, char *path, size_t size)
{
	const char *slash = strrchr(model, '/'), *dot = strrchr(model, '.');
	int folder = slash ? (int)(slash + 1 - model) : 0;
	int stem = dot && dot > model + folder ? (int)(dot - model) : (int)strlen(model);

	if (o->labels) {
		snprintf(path, size, "%s", o->labels);
		return;
	}
	if (snprintf(path, size, "%.*s.labels.txt", stem, model) < (int)size &&
	    access(path, R_OK) == 0)
		return;
	if (snprintf(path, size, "%.*slabels.txt", folder, model) < (int)size &&
	    access(path, R_OK) == 0)
		return;
	path[0] = '\0';
}
