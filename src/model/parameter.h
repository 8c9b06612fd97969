/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters of the hardware model; one list defines names, units, defaults, ranges and marks. The
 * source is the publication about the NIC (row.h). Failures set error_text(), with the permitted
 * range. */
#ifndef MODEL_PARAMETER_H
#define MODEL_PARAMETER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/parameter_list.h"
#include "model/parameter_list_net.h"

#define MODEL_PARAMETER_LIST(N, S)       \
	MODEL_NIC_PARAMETERS(N, S)       \
	MODEL_CROSSBAR_PARAMETERS(N, S)  \
	MODEL_SHARE_PARAMETERS(N, S)     \
	MODEL_LOGGP_PARAMETERS(N, S)     \
	MODEL_TOPOLOGY_PARAMETERS(N, S)  \
	MODEL_ALLREDUCE_PARAMETERS(N, S) \
	MODEL_BRIDGE_PARAMETERS(N, S)    \
	MODEL_LOSS_PARAMETERS(N, S)

/* The values of one run, in the units that their names state. A switch holds the index of its
 * choice. */
struct model_parameters {
#define MODEL_FIELD_N(group, name, unit, value, low, high, mark, item, text) int64_t name;
#define MODEL_FIELD_S(group, name, choices, value, mark, item, text)         int64_t name;
	MODEL_PARAMETER_LIST(MODEL_FIELD_N, MODEL_FIELD_S)
#undef MODEL_FIELD_N
#undef MODEL_FIELD_S
};

enum { MODEL_BASE_VALUE, MODEL_BASE_ROW };
enum { MODEL_NAP_PIECES, MODEL_NAP_WHOLE, MODEL_NAP_SERIAL };
enum { MODEL_FORWARD_BEATS, MODEL_FORWARD_PACKETS };
enum { MODEL_WAIT_BYTE, MODEL_WAIT_EVENT };
enum { MODEL_COMPLETION_12, MODEL_COMPLETION_16 };
enum { MODEL_ALLOCATE_OUTPUTS, MODEL_ALLOCATE_ISLIP, MODEL_ALLOCATE_MAXIMAL };
enum { MODEL_SOURCE_IN_ORDER, MODEL_SOURCE_ANY_ORDER };
enum { MODEL_ARRIVAL_RANDOM, MODEL_ARRIVAL_SATURATED };
enum { MODEL_SPINE_ALWAYS, MODEL_SPINE_NEEDED };
enum { MODEL_SERVICE_SUM, MODEL_SERVICE_MAX };
enum { MODEL_FIGURE_MEAN, MODEL_FIGURE_LAST };
enum {
	MODEL_SHARE_MESSAGE,
	MODEL_SHARE_PACKET,
	MODEL_SHARE_BYTES,
	MODEL_SHARE_WEIGHTS,
	MODEL_SHARE_NONE
};

/* choices: "a|b|c" of a switch; NULL: a number. */
struct model_parameter {
	const char *group, *name, *unit, *choices, *item, *text;
	int64_t value, low, high;
	size_t offset; /* in struct model_parameters */
	char mark;     /* T, D, A or F, see parameter_list.h */
};

/* Returns NULL past the last row. */
const struct model_parameter *model_parameter_at(unsigned index);

/* Finds a full name (clock_mhz), or one without unit (clock), for which *bare is true. NULL: no
 * such row. */
const struct model_parameter *model_parameter_find(const char *name, size_t name_bytes, bool *bare);

/* Sets error_text() to a sentence with the nearest known parameter. Returns DXP_ENOENT. */
int model_parameter_unknown(const char *name, size_t name_bytes);

int64_t model_parameter_get(const struct model_parameters *p, const struct model_parameter *row);

/* DXP_EINVAL: out of range. */
int model_parameter_put(struct model_parameters *p, const struct model_parameter *row,
			int64_t value);

/* Writes a value as model_parameters_set() reads it. Returns `out`. */
const char *model_parameter_print(const struct model_parameter *row, int64_t value, char *out,
				  size_t out_bytes);

/* `bare`: the value must have a unit. */
int model_parameter_parse(const struct model_parameter *row, bool bare, const char *text,
			  int64_t *out);

/* Sets the preset "source". */
void model_parameters_default(struct model_parameters *p);

/* Sets source, gen3, gen4-512 or gen5-1024. DXP_ENOENT: none of these. */
int model_parameters_preset(struct model_parameters *p, const char *name);

/* Returns start and length of the name in "name=value", without blanks. */
const char *model_assignment_name(const char *assignment, size_t *bytes);

/* Applies "name=value", with or without blanks; `pcie=4x16` sets generation and lanes. */
int model_parameters_set(struct model_parameters *p, const char *assignment);

/* Lines `name = value`; # starts a comment; errors name the line. DXP_EINVAL also if no line has a
 * value. */
int model_parameters_config(struct model_parameters *p, const char *text);

/* Rejects what hardware cannot have. */
int model_parameters_check(const struct model_parameters *p);

/* Compares all of the listed groups ("nic pcie"). */
bool model_parameters_are_source(const struct model_parameters *p, const char *groups);

/* Parameters with mark A or F in the groups ("nic crossbar"), with commas. Returns `out`. */
const char *model_assumptions(const char *groups, char *out, size_t out_bytes);

/* Returns the rate after coding, in 10^6 bytes/s. */
int64_t model_pcie_rate(const struct model_parameters *p);

static inline int64_t model_cycle_ps(const struct model_parameters *p)
{
	return 1000000 / p->clock_mhz;
}

#endif
