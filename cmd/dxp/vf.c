/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp vf`: lists and manages the functions of the NICs on this machine. */
#include "cmd/dxp/vf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dxp/status.h>

#include "cmd/dxp/command.h"
#include "cmd/options/options.h"
#include "link/local.h"
#include "rltp/limits.h"

#define NICS_MAX 256

#define ARGUMENTS_MAX   100000
#define VF_MEMORY_BYTES (16ull << 20)
#define VF_MEMORY_MIN   (64ull << 10)
#define VF_MEMORY_MAX   (64ull << 30) /* bytes; the NIC maps at most this for one process */

static const struct offer_scope any_scope = {.only = false};

/* Prints the NICs whose programs still run. */
static void others_name(const struct offer_folder *folders, uint32_t count)
{
	bool some = false;

	for (uint32_t i = 0; i < count; i++) {
		char path[OFFER_PATH_BYTES];
		int fd;
		if (!offer_socket_path(folders[i].folder, any_scope, path) ||
		    local_connect(path, S_NS, &fd) != DXP_OK)
			continue;
		close(fd);
		fprintf(stderr, "%s%s",
			some ? ", " : "dxp: NICs on this machine: ", folders[i].name);
		some = true;
	}
	fputs(some ? "\n"
		   : "dxp: no NIC on this machine offers functions; start some with `dxp up`, or "
		     "see `dxp doctor`\n",
	      stderr);
}

static struct offer_folder *folders_find(uint32_t *count)
{
	struct offer_folder *folders = calloc(NICS_MAX, sizeof(*folders));

	*count = folders ? offer_folders(folders, NICS_MAX) : 0;
	if (!folders)
		print_fail("out of memory");
	return folders;
}

/* Finds a NIC by its node's name or its socket's path. */
static bool nic_find(const char *given, struct offer_folder *out, char path[OFFER_PATH_BYTES])
{
	uint32_t count, i = 0;

	if (strchr(given, '/')) {
		*out = (struct offer_folder){.name = "-"};
		struct stat st;
		bool folder = stat(given, &st) == 0 && S_ISDIR(st.st_mode);
		if (snprintf(path, OFFER_PATH_BYTES, folder ? "%s/" OFFER_SOCKET : "%s", given) <
			    OFFER_PATH_BYTES &&
		    snprintf(out->folder, sizeof(out->folder), "%s", given) < OFFER_PATH_BYTES)
			return true;
		print_fail(
			"the path has more than %d bytes; use the name of the NIC's node instead",
			OFFER_PATH_BYTES - 1);
		return false;
	}
	struct offer_folder *folders = folders_find(&count);
	while (i < count && strcmp(folders[i].name, given) != 0)
		i++;
	bool found = i < count && offer_socket_path(folders[i].folder, any_scope, path);
	if (found) {
		*out = folders[i];
	} else if (folders) {
		print_fail("no NIC named '%s' on this machine", given);
		others_name(folders, count);
	}
	free(folders);
	return found;
}

static bool connect_to(const char *name, const char *path, int *fd)
{
	int status = local_connect(path, VF_ANSWER_NS, fd);

	switch (status) {
	case DXP_OK: return true;
	case DXP_ENOENT:
		if (*name == '-')
			print_fail("no NIC listens at %s; `dxp vf` lists the NICs of this machine",
				   path);
		else
			print_fail("the program of %s has exited (%s); start it again", name, path);
		break;
	case DXP_EACCESS:
		print_fail("%s belongs to another user; run `dxp vf` as that user or as root",
			   path);
		break;
	default: print_fail("cannot connect to %s: %s", path, dxp_status_text(status));
	}
	return false;
}

static bool request_send(int fd, const struct attach_request *request, struct attach_answer *answer)
{
	switch (vf_request(fd, request, answer)) {
	case DXP_OK: return true;
	case DXP_ECLOSED: print_fail("the NIC's program has exited; start it again"); break;
	case DXP_ETIMEDOUT:
		print_fail(
			"the NIC's program does not answer; check that it is not stopped (SIGSTOP, "
			"debugger)");
		break;
	case DXP_EBUSY: print_fail("this NIC has too many requests now; try again"); break;
	default:
		print_fail(
			"the answer of the NIC's program does not parse; use the `dxp` of the same "
			"version");
	}
	return false;
}

/* ---- requests ---- */

static int refused_print(const struct attach_request *r, int status)
{
	switch (status) {
	case DXP_EACCESS:
		return print_fail(
			"only the user of the NIC's program, or root, may manage this NIC, by "
			"its name or its socket `%s`",
			OFFER_SOCKET);
	case DXP_ENOENT:
		return r->qp ? print_fail("queue pair %u.%u has no user", r->function, r->qp)
			     : print_fail("function %u has no user", r->function);
	case DXP_EUNSUPPORTED:
		return print_fail("function %u belongs to the NIC's own program; close it there",
				  r->function);
	case DXP_EINVAL:
		return r->type == ATTACH_WEIGHT
			       ? print_fail("a weight is 1 to 64")
			       : print_fail("the NIC rejects that value; see `dxp vf --help`");
	default: return print_fail("the NIC rejects the request: %s", dxp_status_text(status));
	}
}

static int change(int fd, const struct attach_request *r, bool json)
{
	struct attach_answer a;

	if (!request_send(fd, r, &a))
		return EXIT_FAILED;
	if (a.status != DXP_OK)
		return refused_print(r, a.status);
	if (r->type != ATTACH_AREAS)
		return EXIT_DONE;
	if (json)
		return print_json_text(vf_registers_json(&a));
	vf_registers(&a);
	return EXIT_DONE;
}

static bool rows_get(int fd, struct vf_nic *nic)
{
	struct attach_request next = {.type = ATTACH_LIST};
	struct attach_answer a;

	nic->row_count = 0;
	do {
		if (!request_send(fd, &next, &a))
			return false;
		if (a.status != DXP_OK) {
			refused_print(&next, a.status);
			return false;
		}
	} while (vf_rows_add(nic, &a, &next));
	return true;
}

static bool listed; /* a NIC was listed, so the table has its heading */

/* Lists one NIC. With `quiet`, skips a NIC whose program has exited. */
static bool nic_list(const struct offer_folder *offered, const char *path, bool quiet, json_t *all)
{
	struct vf_nic *nic = calloc(1, sizeof(*nic));
	int fd = -1;
	bool gone = quiet && local_connect(path, VF_ANSWER_NS, &fd) == DXP_ENOENT;

	bool good = gone ||
		    (nic && (fd >= 0 || connect_to(offered->name, path, &fd)) && rows_get(fd, nic));
	if (good && !gone) {
		nic->offered = *offered;
		if (!all && !listed)
			vf_table_head();
		listed = true;
		if (all)
			json_array_append_new(all, vf_json(nic));
		else
			vf_table(nic);
	}
	if (fd >= 0)
		close(fd);
	free(nic);
	return good;
}

static int list_all(json_t *all)
{
	uint32_t count;
	struct offer_folder *folders = folders_find(&count);
	bool good = folders != NULL;

	for (uint32_t i = 0; i < count; i++) {
		char path[OFFER_PATH_BYTES];
		if (offer_socket_path(folders[i].folder, any_scope, path))
			good &= nic_list(&folders[i], path, true, all);
	}
	free(folders);
	if (good && !all && !listed)
		return print_fail(
			"no NIC on this machine offers functions; start some with `dxp up`, or "
			"see `dxp doctor`");
	return good ? EXIT_DONE : EXIT_FAILED;
}

static int list(const char *given, bool json)
{
	struct offer_folder *offered = calloc(1, sizeof(*offered));
	char path[OFFER_PATH_BYTES];
	json_t *all = json ? json_array() : NULL;
	int status = EXIT_FAILED;

	if (!given)
		status = list_all(all);
	else if (offered && nic_find(given, offered, path))
		status = nic_list(offered, path, false, all) ? EXIT_DONE : EXIT_FAILED;
	free(offered);
	if (!json)
		return status;
	if (status == EXIT_DONE)
		return print_json_text(json_pack("{s:o}", "nics", all));
	json_decref(all);
	return status;
}

/* ---- the command line ---- */

static const struct verb {
	const char *name;
	int arguments; /* number of arguments, including NIC and FUNCTION */
	uint8_t type;
	const char *value; /* text about the value's range, or NULL */
} verbs[] = {
	{"weight", 3, ATTACH_WEIGHT, "a weight is 1 to 64"},
	{"priority", 3, ATTACH_PRIORITY, "a priority is `high` or `normal`"},
	{"limit", 3, ATTACH_LIMIT, "a limit is bytes per second such as 100M, or `none`"},
	{"reset", 2, ATTACH_RESET, NULL},
	{"registers", 2, ATTACH_AREAS, NULL},
};

static bool value_parse(const struct verb *v, const char *text, uint64_t *out)
{
	if (v->type == ATTACH_WEIGHT)
		return option_number_parse(text, out) && *out >= 1 && *out <= RLTP_WEIGHT_MAX;
	if (v->type == ATTACH_PRIORITY) {
		*out = strcmp(text, "high") == 0;
		return *out || strcmp(text, "normal") == 0;
	}
	if (strcmp(text, "none") == 0) {
		*out = 0;
		return true;
	}
	return option_bytes_parse(text, out);
}

/* Parses `F`, or `F.Q` if the verb accepts a queue pair. Prints errors. */
static bool function_parse(const struct verb *v, const char *text, struct attach_request *r)
{
	char function_text[8];
	uint64_t function, qp = 0;
	size_t length = strcspn(text, ".");
	bool dotted = text[length] == '.';

	if (length >= sizeof(function_text))
		length = sizeof(function_text) - 1;
	memcpy(function_text, text, length);
	function_text[length] = '\0';
	if (option_number_parse(function_text, &function) && function < NIC_FUNCTIONS &&
	    (!dotted || (option_number_parse(text + length + 1, &qp) && qp < DXP_QPS))) {
		r->function = (uint8_t)function;
		r->qp = (uint8_t)qp;
		if (!dotted || v->type == ATTACH_AREAS)
			return true;
		print_fail("`dxp vf %s` is for a whole function: %u, not %s", v->name, r->function,
			   text);
		return false;
	}
	if (dotted)
		print_fail("a queue pair is 0.0 to %d.%d, not '%s'", NIC_FUNCTIONS - 1, DXP_QPS - 1,
			   text);
	else
		print_fail("a function is 0 to %d, not '%s'", NIC_FUNCTIONS - 1, text);
	return false;
}

static int verb_run(const struct verb *v, int count, char **arguments, bool json)
{
	struct attach_request r = {.type = v->type};
	struct offer_folder *offered;
	char path[OFFER_PATH_BYTES];
	int fd, status = EXIT_FAILED;

	if (count != v->arguments) {
		print_fail("`dxp vf %s` needs a NIC%s; see `dxp vf --help`", v->name,
			   v->value ? ", a function and a value" : " and a function");
		return EXIT_USAGE;
	}
	if (!function_parse(v, arguments[1], &r))
		return EXIT_USAGE;
	if (v->value && !value_parse(v, arguments[2], &r.value)) {
		print_fail("%s, not '%s'", v->value, arguments[2]);
		return EXIT_USAGE;
	}
	offered = calloc(1, sizeof(*offered));
	if (offered && nic_find(arguments[0], offered, path) &&
	    connect_to(offered->name, path, &fd)) {
		status = change(fd, &r, json);
		close(fd);
	}
	free(offered);
	return status;
}

static int export_run(int count, char **arguments, uint64_t memory)
{
	if (count < 2) {
		print_fail("`dxp vf export` needs a NIC, `--` and the command of QEMU; see "
			   "`dxp vf --help`");
		return EXIT_USAGE;
	}
	if (memory & (memory - 1)) {
		print_fail("--memory needs a power of two, such as 16M");
		return EXIT_USAGE;
	}
	return vf_export(arguments[0], memory, arguments + 1);
}

int command_vf(int argc, char **argv)
{
	bool json = false;
	uint64_t memory = VF_MEMORY_BYTES;
	const struct option_row rows[] = {
		{"memory", "SIZE", "export: memory of each function, a power of two", OPTION_BYTES,
		 &memory, VF_MEMORY_MIN, VF_MEMORY_MAX},
		{"json", NULL, "print JSON, with all counters", OPTION_FLAG, &json, 0, 0},
	};
	const struct usage usage = {
		"vf",
		"[NIC] | weight NIC F W | priority NIC F CLASS | limit NIC F RATE | reset NIC F | "
		"registers NIC F[.Q] | export NIC,NIC... -- QEMU...",
		"Lists the NIC functions that processes on this machine can use, or manages one of "
		"them. A process has\n"
		"a whole function, or one queue pair Q of it, which is listed as F.Q.\n"
		"  weight     share of the NIC's bandwidth, 1 (default) to 64\n"
		"  priority   `high`: served before functions that are `normal` (default), which "
		"keep 1/16;\n"
		"             weights count within a class\n"
		"  limit      maximum of bytes per second, such as 100M, or `none`\n"
		"  reset      closes the function for its users (status DXP_ECLOSED); other "
		"processes may open it then\n"
		"  registers  shows its lookup table and registers, for devices in register mode\n"
		"  export     runs a virtual machine that has a free function of each NIC as PCI "
		"devices\n"
		"NIC is the name of a node, or the path of its socket. F is 0 to 7; 0 is the "
		"physical function, which\n"
		"belongs to the NIC's own program. Weight, priority and limit stay with F when its "
		"user "
		"changes. REJECTED\n"
		"counts rejected requests of peers, and invalid descriptors of the function "
		"itself.",
		ACCEPTS(rows, 0, ARGUMENTS_MAX)};
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	if (args.count > 0 && strcmp(args.at[0], "export") == 0)
		return export_run(args.count - 1, args.at + 1, memory);
	for (size_t i = 0; args.count > 0 && i < ARRAY_COUNT(verbs); i++)
		if (strcmp(args.at[0], verbs[i].name) == 0)
			return verb_run(&verbs[i], args.count - 1, args.at + 1, json);
	if (args.count > 1) {
		print_fail("unknown command `dxp vf %s`; see `dxp vf --help`", args.at[0]);
		return EXIT_USAGE;
	}
	return list(args.count > 0 ? args.at[0] : NULL, json);
}
