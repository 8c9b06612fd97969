/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "cmd/dxp/command.h"
#include "cmd/dxp/session.h"
#include "nic/window.h"
#include "wire/frame.h"

int command_version(int argc, char **argv)
{
	bool json = false;
	const struct option_row rows[] = {JSON_ROW(json)};
	const struct usage usage = {"version", "",
				    "Prints the versions of the program, of the wire format and of "
				    "the function window.",
				    ACCEPTS(rows, 0, 0)};
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	if (json)
		return print_json_text(json_pack("{s:s, s:i, s:i}", "version", DXP_VERSION, "wire",
						 WIRE_VERSION, "window", DXP_WINDOW_VERSION));
	printf("dxp %s (wire %d, window %d)\n", DXP_VERSION, WIRE_VERSION, DXP_WINDOW_VERSION);
	return EXIT_DONE;
}
