/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests programs on PoCL: headers, compile and link, binaries, disk cache, rejections. */
#include "ocl_rig.h"

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/ocl_cache.h"
#include "engine/ocl_library.h"
#include "test/unit/ocl_watch.h"

static const char one[] = "kernel void put(global uint *out, uint n) { out[0] = n; }\n";

/* Returns what kernel `put` writes. */
static uint32_t put(struct engine_program *p)
{
	const uint32_t n = 77;
	struct engine_launch l = rig_launch(p, "put");

	l.argument_count = 2;
	l.arguments[0] = rig_buffer(0, 4096);
	l.arguments[1] = (struct engine_argument){.bytes = 4, .value = &n};
	memset(rig_memory(0), 0, 4);
	rig_run(&l);
	uint32_t out;
	memcpy(&out, rig_memory(0), 4);
	return out;
}

static unsigned files_in(const char *folder, const char *end)
{
	unsigned count = 0;
	struct dirent *e;
	DIR *d = opendir(folder);

	while (d && (e = readdir(d)))
		count += strstr(e->d_name, end) != NULL;
	if (d)
		closedir(d);
	return count;
}

static void fabric_programs_folder(char out[128])
{
	snprintf(out, 128, "%s/programs", cache_folder);
}

#define FILE_OF(file_name, content)                     \
	{                                               \
		file_name, content, sizeof(content) - 1 \
	}

static void engine_build__headers(void **state)
{
	const struct engine_file files[] = {
		FILE_OF("main.cl", "#include \"a/b.h\"\n#include <sys.h>\n#include <dxp/device.h>\n"
				   "kernel void put(global uint *out, uint n) { out[0] = n + A + S "
				   "+ DEFINED + (DXP_EAGAIN < 0); }\n"),
		FILE_OF("a/b.h", "#include \"c.h\"\n#include <dxp/device.h>\n"),
		FILE_OF("a/c.h", "#define A 100\n"),
		FILE_OF("dxp-host/in c/sys.h", "#define S 1000\n"),
	};
	struct engine_program *p;
	char *log;

	if (rig_build_log(DXP_PROGRAM_SOURCE, "-DDEFINED=10000 -I \"dxp-host/in c\"", files, 4, &p,
			  &log) != DXP_OK)
		fail_msg("%s", log ? log : "no log");
	free(log);
	assert_int_equal(put(p), 11178);
	engine_release(engine, p);
	assert_int_equal(files_in(cache_folder, "dxp-build-"), 0);
}

/* The log has the host's file names and no path of the node. */
static void engine_build__log_of_headers(void **state)
{
	const struct engine_file files[] = {
		FILE_OF("main.cl", "#include \"h/x.h\"\nkernel void k() {}\n"),
		FILE_OF("h/x.h", "int f( { }\n"),
	};
	struct engine_program *p;
	char *log;

	assert_int_equal(rig_build_log(DXP_PROGRAM_SOURCE, "", files, 2, &p, &log), DXP_EBUILD);
	assert_non_null(strstr(log, "h/x.h:1"));
	assert_null(strstr(log, "dxp-build-"));
	free(log);
	assert_int_equal(files_in(cache_folder, "dxp-build-"), 0);
}

static void refused(const char *options, const char *name, const char *words)
{
	const struct engine_file files[] = {FILE_OF("m", "kernel void k() {}\n"),
					    {name, "int a;", 6}};
	struct engine_program *p;
	char *log;

	assert_int_equal(rig_build_log(DXP_PROGRAM_SOURCE, options, files, name ? 2 : 1, &p, &log),
			 DXP_EBUILD);
	if (!log || !strstr(log, words))
		fail_msg("'%s' for '%s' '%s'", log ? log : "", options, name ? name : "");
	free(log);
}

static void engine_build__bad_names(void **state)
{
	refused("", "/etc/x", "relative");
	refused("", "../x", "relative");
	refused("", "a/../../x", "relative");
	refused("", "a//x", "relative");
	refused("", "./x", "relative");
	refused("", "", "relative");
	refused("", "a/", "relative");
	refused("-I /etc", NULL, "only the folders");
	refused("-I/etc", "x.h", "only the folders");
	refused("-I ..", "x.h", "only the folders");
	refused("-I nowhere", "x.h", "only the folders");
	refused("-I", NULL, "lacks its folder");
	assert_int_equal(files_in(cache_folder, "dxp-build-"), 0);
}

static void engine_build__options_pass(void **state)
{
	struct engine_program *p =
		rig_build(DXP_PROGRAM_SOURCE,
			  " -cl-std=CL2.0 -cl-fast-relaxed-math  -cl-mad-enable -DN=5 -D M=6 -w ",
			  "kernel void put(global uint *out, uint n) { out[0] = n + N + M; }\n");

	assert_int_equal(put(p), 88);
	engine_release(engine, p);
}

static struct engine_program *link_two(const char *options, int *status, char **log)
{
	struct engine_program *inputs[] = {
		rig_build(DXP_PROGRAM_COMPILE, "",
			  "uint twice(uint n);\n"
			  "kernel void put(global uint *out, uint n) { out[0] = twice(n); }\n"),
		rig_build(DXP_PROGRAM_COMPILE, "", "uint twice(uint n) { return 2 * n; }\n")};
	const struct engine_source s = {
		.kind = DXP_PROGRAM_LINK, .options = options, .inputs = inputs, .input_count = 2};
	struct engine_program *out = NULL;

	*log = NULL;
	*status = engine_build(engine, &s, &out, log);
	engine_release(engine, inputs[0]);
	engine_release(engine, inputs[1]);
	return out;
}

static void engine_build__compile_and_link(void **state)
{
	static const char *const options[] = {"", "-cl-fast-relaxed-math -cl-no-signed-zeroes"};
	int status;
	char *log;

	for (size_t i = 0; i < ARRAY_COUNT(options); i++) {
		struct engine_program *p = link_two(options[i], &status, &log);
		if (status != DXP_OK)
			fail_msg("%s: %s", options[i], log ? log : "no log");
		free(log);
		/* no second build, as the kernel information is known */
		assert_int_equal(put(p), 154);
		engine_release(engine, p);
	}
	assert_null(link_two("-no-such-option", &status, &log));
	assert_int_equal(status, DXP_EBUILD);
	assert_non_null(log);
	free(log);
}

static void engine_build__library(void **state)
{
	struct engine_program *part =
		rig_build(DXP_PROGRAM_COMPILE, "", "uint twice(uint n) { return 2 * n; }\n");
	struct engine_source s = {.kind = DXP_PROGRAM_LINK,
				  .options = "-create-library -enable-link-options",
				  .inputs = &part,
				  .input_count = 1};
	struct engine_program *library, *linked;
	char *log = NULL;

	assert_int_equal(engine_build(engine, &s, &library, &log), DXP_OK);
	free(log);
	struct engine_program *both[] = {
		library, rig_build(DXP_PROGRAM_COMPILE, "",
				   "uint twice(uint n);\n"
				   "kernel void put(global uint *out, uint n) { out[0] = "
				   "twice(n) + 1; }\n")};
	s = (struct engine_source){
		.kind = DXP_PROGRAM_LINK, .options = "", .inputs = both, .input_count = 2};
	log = NULL;
	if (engine_build(engine, &s, &linked, &log) != DXP_OK)
		fail_msg("%s", log ? log : "no log");
	free(log);
	assert_int_equal(put(linked), 155);
	/* a link accepts no built program */
	struct engine_program *none;
	both[0] = linked;
	assert_int_equal(engine_build(engine, &s, &none, &log), DXP_EBUILD);
	assert_non_null(strstr(log, "input 0 is neither"));
	free(log);
	engine_release(engine, linked);
	engine_release(engine, both[1]);
	engine_release(engine, library);
	engine_release(engine, part);
}

/* ---- binaries ---- */

static void engine_build__binary(void **state)
{
	struct engine_program *p = rig_build(DXP_PROGRAM_SOURCE, "", one), *q;
	struct engine_file file = {0};
	uint8_t *binary, *about, *again;
	size_t bytes, about_bytes, again_bytes;
	char *log;

	put(p);
	assert_int_equal(engine_fetch(engine, p, FETCH_BINARY, &binary, &bytes), DXP_OK);
	assert_int_equal(engine_fetch(engine, p, FETCH_ABOUT, &about, &about_bytes), DXP_OK);
	file.data = binary;
	file.bytes = bytes;
	assert_int_equal(rig_build_log(DXP_PROGRAM_BINARY, "", &file, 1, &q, &log), DXP_OK);
	free(log);
	assert_int_equal(put(q), 77);
	assert_int_equal(engine_fetch(engine, q, FETCH_ABOUT, &again, &again_bytes), DXP_OK);
	assert_int_equal(again_bytes, about_bytes);
	assert_memory_equal(again, about, about_bytes);
	engine_release(engine, q);
	/* detected before a device gets the binary */
	for (size_t i = 0; i < bytes; i += 1 + bytes / 50) {
		binary[i] ^= 0x40;
		assert_int_equal(rig_build_log(DXP_PROGRAM_BINARY, "", &file, 1, &q, &log),
				 DXP_EBUILD);
		assert_non_null(strstr(log, "binary"));
		free(log);
		binary[i] ^= 0x40;
	}
	for (file.bytes = 0; file.bytes < bytes; file.bytes += 1 + bytes / 20) {
		assert_int_equal(rig_build_log(DXP_PROGRAM_BINARY, "", &file, 1, &q, &log),
				 DXP_EBUILD);
		free(log);
	}
	free(binary);
	free(about);
	free(again);
	engine_release(engine, p);
}

static void engine_build__binary_of_a_compiled_one(void **state)
{
	struct engine_program *p = rig_build(DXP_PROGRAM_COMPILE, "", one), *q, *linked;
	uint8_t *binary, *again;
	size_t bytes, again_bytes;
	char *log;

	assert_int_equal(engine_fetch(engine, p, FETCH_BINARY, &binary, &bytes), DXP_OK);
	const struct engine_file file = {.data = binary, .bytes = bytes};
	assert_int_equal(rig_build_log(DXP_PROGRAM_BINARY, "", &file, 1, &q, &log), DXP_OK);
	free(log);
	assert_int_equal(engine_fetch(engine, q, FETCH_BINARY, &again, &again_bytes), DXP_OK);
	assert_int_equal(again_bytes, bytes);
	assert_memory_equal(again, binary, bytes);
	free(again);
	const struct engine_source s = {
		.kind = DXP_PROGRAM_LINK, .options = "", .inputs = &q, .input_count = 1};
	log = NULL;
	if (engine_build(engine, &s, &linked, &log) != DXP_OK)
		fail_msg("%s", log ? log : "no log");
	free(log);
	assert_int_equal(put(linked), 77);
	engine_release(engine, linked);
	engine_release(engine, q);
	engine_release(engine, p);
	free(binary);
}

/* ---- the cache ---- */

static void ocl_cache__get_put_trim(void **state)
{
	char folder[160];
	uint8_t key[OCL_KEY_BYTES] = {0}, data[1000] = {1, 2, 3};
	size_t bytes;

	snprintf(folder, sizeof(folder), "%s/trim", cache_folder);
	assert_null(ocl_cache_get(folder, key, &bytes));
	for (key[0] = 0; key[0] < 10; key[0]++) {
		ocl_cache_put(folder, key, data, sizeof(data));
		usleep(2000);
	}
	key[0] = 0; /* so that it is the newest */
	uint8_t *got = ocl_cache_get(folder, key, &bytes);
	assert_non_null(got);
	assert_int_equal(bytes, sizeof(data));
	assert_memory_equal(got, data, sizeof(data));
	free(got);
	ocl_cache_trim(folder, 3 * 4096);
	assert_int_equal(files_in(folder, ".program"), 3);
	for (uint8_t i = 0; i < 10; i++) {
		key[0] = i;
		got = ocl_cache_get(folder, key, &bytes);
		assert_int_equal(got != NULL, i == 0 || i >= 8);
		free(got);
	}
	ocl_cache_drop(folder, key);
	assert_false(ocl_cache_seen(folder, key));
	assert_true(ocl_cache_seen(folder, key));
	assert_null(ocl_cache_get(folder, key, &bytes));
	ocl_cache_drop(folder, key);
	assert_int_equal(files_in(folder, ".program"), 2);
	assert_int_equal(files_in(folder, ".part"), 0);
}

static const char cached_text[] =
	"kernel void put(global uint *out, uint n) { out[0] = n + 40000; }\n"
	"kernel void second(global float4 *p, float f) { p[get_global_id(0)] *= f; }\n";

static void build_in_another_process(void)
{
	pid_t child = fork();

	if (child == 0) {
		struct engine_program *p;
		if (rig_engine() != DXP_OK)
			_exit(2);
		p = rig_build(DXP_PROGRAM_SOURCE, "", cached_text);
		_exit(put(p) == 40077 ? 0 : 3);
	}
	int how = -1;
	assert_int_equal(waitpid(child, &how, 0), child);
	assert_int_equal(how, 0);
}

/* Other processes have built it, so no source goes to the compiler. */
static void engine_build__from_disk(void **state)
{
	build_in_another_process();
	build_in_another_process();
	/* only on disk */
	for (int i = 0; i < 3; i++) {
		engine_close(engine);
		assert_int_equal(rig_engine(), DXP_OK);
		struct ocl_library *cl = compiler_watch();
		struct engine_program *p = rig_build(DXP_PROGRAM_SOURCE, "", cached_text);
		*cl = watched.real;
		assert_int_equal(watched.sources, 0);
		assert_int_equal(watched.binaries, 1);
		assert_int_equal(put(p), 40077);
		engine_release(engine, p);
	}
}

static void engine_build__damaged_on_disk(void **state)
{
	char folder[128], path[400];
	struct dirent *e;

	engine_release(engine, rig_build(DXP_PROGRAM_SOURCE, "", cached_text));
	fabric_programs_folder(folder);
	DIR *d = opendir(folder);
	assert_non_null(d);
	while ((e = readdir(d))) {
		if (!strstr(e->d_name, ".program"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		FILE *file = fopen(path, "r+e");
		assert_non_null(file);
		fseek(file, 500, SEEK_SET);
		fwrite("damage", 1, 6, file);
		fclose(file);
	}
	closedir(d);
	engine_close(engine);
	assert_int_equal(rig_engine(), DXP_OK);
	struct engine_program *p = rig_build(DXP_PROGRAM_SOURCE, "", cached_text);
	assert_int_equal(put(p), 40077);
	engine_release(engine, p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* must be first, as it forks */
		cmocka_unit_test(engine_build__from_disk),
		cmocka_unit_test(engine_build__damaged_on_disk),
		cmocka_unit_test(ocl_cache__get_put_trim),
		cmocka_unit_test(engine_build__headers),
		cmocka_unit_test(engine_build__log_of_headers),
		cmocka_unit_test(engine_build__bad_names),
		cmocka_unit_test(engine_build__options_pass),
		cmocka_unit_test(engine_build__compile_and_link),
		cmocka_unit_test(engine_build__library),
		cmocka_unit_test(engine_build__binary),
		cmocka_unit_test(engine_build__binary_of_a_compiled_one),
	};
	int failed = rig_open();

	if (failed)
		return failed;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rig_close();
	return failed;
}
