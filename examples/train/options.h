/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of cl_train. */
#ifndef LEARN_OPTIONS_H
#define LEARN_OPTIONS_H

#include <stdint.h>

struct sum_way;

struct options {
	const char *folder;   /* of the files of digits */
	const char *platform; /* a word of its name; NULL: any */
	const char *json;     /* NULL: none */
	const struct sum_way *way;
	uint32_t xpus;  /* 0: all */
	uint32_t drawn; /* samples to draw; 0: read files */
	uint32_t epochs, batch, seed;
	uint32_t bucket; /* bytes of gradients that are added together, at least */
	float rate, momentum;
};

/* Exits after --help, and with status 2 after a usage error. */
void options_parse(struct options *o, int argc, char **argv);

#endif
