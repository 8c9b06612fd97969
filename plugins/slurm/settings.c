/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugins/slurm/settings.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define TIMEOUT_DEFAULT_S 20  /* s; `srun` then reports the reason before its user gives up */
#define TIMEOUT_MAX_S     300 /* s; longer waits belong to the queue of Slurm */

static bool timeout_parse(const char *value, unsigned *out)
{
	const size_t length = strspn(value, "0123456789");

	if (length == 0 || length > 3 || value[length])
		return false;
	*out = (unsigned)strtoul(value, NULL, 10);
	return *out >= 1 && *out <= TIMEOUT_MAX_S;
}

int settings_parse(int argc, char *const argv[], struct settings *out, char why[SETTINGS_WHY_BYTES])
{
	*out = (struct settings){.directory = "/etc/dxp/slurm",
				 .run = "/run/dxp-slurm",
				 .program = DXP_PROGRAM,
				 .driver = DXP_DRIVER,
				 .timeout_s = TIMEOUT_DEFAULT_S};
	const struct {
		const char *name;
		const char **to;
		bool path;
	} rows[] = {{"dir=", &out->directory, true},    {"run=", &out->run, true},
		    {"dxp=", &out->program, true},      {"driver=", &out->driver, true},
		    {"switch=", &out->switches, false}, {"gres=", &out->gres, false}};

	for (int i = 0; i < argc; i++) {
		bool good = strncmp(argv[i], "timeout=", 8) == 0 &&
			    timeout_parse(argv[i] + 8, &out->timeout_s);
		for (size_t row = 0; row < ARRAY_COUNT(rows); row++) {
			const size_t length = strlen(rows[row].name);
			const char *value = argv[i] + length;
			if (strncmp(argv[i], rows[row].name, length) != 0 || !*value ||
			    (rows[row].path && *value != '/'))
				continue;
			*rows[row].to = value;
			good = true;
		}
		if (!good) {
			snprintf(why, SETTINGS_WHY_BYTES,
				 "plugstack.conf: '%.60s' is not one of dir=, run=, dxp=, driver= "
				 "with an absolute path, switch=IP, gres=NAME, timeout=1..%d",
				 argv[i], TIMEOUT_MAX_S);
			return -1;
		}
	}
	return 0;
}
