/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp down`: stops a fabric that `dxp up` or `dxp manager init` started. */
#include <stdio.h>

#include "cmd/dxp/command.h"
#include "cmd/dxp/folder.h"
#include "cmd/dxp/session.h"

int command_down(int argc, char **argv)
{
	static struct folder folder;
	const char *directory = NULL;
	bool json = false;
	const struct option_row rows[] = {DIRECTORY_ROWS(directory), JSON_ROW(json)};
	const struct usage usage = {
		"down", "",
		"Stops the processes that `dxp up` started, and no others, and removes its files.",
		ACCEPTS(rows, 0, 0)};
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	if (!process_table_check() || !folder_open(&folder, directory, false))
		return EXIT_FAILED;
	bool loaded = folder_load(&folder);
	unsigned count = folder.count;
	int status = !loaded                 ? print_fail("no fabric is up in %s", folder.folder)
		     : folder_clear(&folder) ? EXIT_DONE
					     : EXIT_FAILED;
	if (status == EXIT_DONE && json)
		status = print_json_text(
			json_pack("{s:s, s:i}", "directory", folder.folder, "processes", count));
	else if (status == EXIT_DONE)
		printf("The fabric in %s is down: %u processes stopped.\n", folder.folder, count);
	folder_close(&folder);
	return status;
}
