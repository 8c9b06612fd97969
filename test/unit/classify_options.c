/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the command line, lists of photos, names of classes, and error messages. */
#include "classify_support.h"

#include <sys/stat.h>

#include "labels.h"
#include "options.h"
#include "photos.h"

/* The cast is safe: getopt reorders the pointers, but leaves the strings unchanged. */
static int read_all(const char **argv, struct options *o, struct fault *fault)
{
	int argc = 0;
	while (argv[argc])
		argc++;
	return options_read(argc, (char **)argv, o, fault);
}

static void options_read__all(void **state)
{
	const char *argv[] = {"classify",     "--xpus", "a,b,3",    "--split", "x,y",
			      "--top",        "7",      "--repeat", "2",       "--resize",
			      "pil_bilinear", "--json", "--depth",  "4",       "--input-scale",
			      "0.5",          "photo",  NULL};
	struct options o;
	struct fault fault;

	assert_int_equal(read_all(argv, &o, &fault), DXP_OK);
	assert_int_equal(o.xpu_count, 3);
	assert_string_equal(o.xpus[2], "3");
	assert_string_equal(o.split, "x,y");
	assert_int_equal(o.top, 7);
	assert_int_equal(o.repeat, 2);
	assert_int_equal(o.depth, 4);
	assert_int_equal(o.resize, RESIZE_PIL_BILINEAR);
	assert_true(o.json && !o.local && o.line.scale == 0.5f);
	assert_int_equal(o.photo_count, 1);
	assert_string_equal(o.photos[0], "photo");
	options_release(&o);
}

/* The next argument counts only if it is a number of stages. */
static void options_read__local(void **state)
{
	struct options o;
	struct fault fault;
	const char *counted[] = {"classify", "--local", "3", "photo", NULL};
	const char *plain[] = {"classify", "--local", "photo", NULL};

	assert_int_equal(read_all(counted, &o, &fault), DXP_OK);
	assert_int_equal(o.local_stages, 3);
	assert_int_equal(o.photo_count, 1);
	assert_int_equal(read_all(plain, &o, &fault), DXP_OK);
	assert_true(o.local && o.local_stages == 0);
	assert_string_equal(o.photos[0], "photo");
}

static void options_read__stream(void **state)
{
	const char *stream[] = {"classify", "--through-host", "-", NULL};
	const char *file[] = {"classify", "./-", NULL};
	struct options o;
	struct fault fault;

	assert_int_equal(read_all(stream, &o, &fault), DXP_OK);
	assert_true(o.stream && o.through_host);
	options_release(&o);
	assert_int_equal(read_all(file, &o, &fault), DXP_OK);
	assert_false(o.stream || o.through_host);
	options_release(&o);
}

static void options_read__errors(void **state)
{
	const char *cases[][5] = {
		{"classify", NULL},
		{"classify", "--xpus", "a,,b", "photo", NULL},
		{"classify", "--top", "0", "photo", NULL},
		{"classify", "--top", "five", "photo", NULL},
		{"classify", "--repeat", "-1", "photo", NULL},
		{"classify", "--resize", "nearest", "photo", NULL},
		{"classify", "--xpus=a", "--local", "photo", NULL},
		{"classify", "--depth", "33", "photo", NULL},
		{"classify", "--through-host", "--local", "photo", NULL},
		{"classify", "photo", "-", NULL},
		{"classify", "--frobnicate", "photo", NULL},
		{"classify", "photo", "--model", NULL},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct options o;
		struct fault fault = {""};
		assert_int_equal(read_all(cases[i], &o, &fault), DXP_EINVAL);
		assert_true(fault.text[0] != '\0');
	}
}

static void options_find_model__missing(void **state)
{
	struct options o = {.model = "no-such-model.tflite"};
	struct fault fault;
	char path[256];

	assert_int_equal(options_find_model(&o, path, sizeof(path), &fault), DXP_ENOENT);
	assert_non_null(strstr(fault.text, "no-such-model.tflite"));
	assert_non_null(strstr(fault.text, "tools/model"));
}

/* The folder also holds another file. */
static void photos_find__folder(void **state)
{
	char folder[] = "classify-photos-XXXXXX", path[3][64];
	struct photos p;
	struct fault fault;

	assert_non_null(mkdtemp(folder));
	char *argument = folder;
	assert_int_equal(photos_find(&argument, 1, &p, &fault), DXP_ENOENT);
	assert_non_null(strstr(fault.text, "no photos"));
	for (int i = 0; i < 3; i++) {
		static const char *const names[] = {"b.JPG", "a.png", "notes.txt"};
		snprintf(path[i], sizeof(path[i]), "%s/%s", folder, names[i]);
		assert_int_equal(file_write(path[i], "x", 1, &fault), DXP_OK);
	}
	assert_int_equal(photos_find(&argument, 1, &p, &fault), DXP_OK);
	assert_int_equal(p.count, 2);
	assert_string_equal(p.paths[0], path[1]);
	assert_string_equal(p.paths[1], path[0]);
	photos_release(&p);
	char *both[] = {path[2], (char *)"no-such-photo"};
	assert_int_equal(photos_find(both, 2, &p, &fault), DXP_ENOENT);
	for (int i = 0; i < 3; i++)
		unlink(path[i]);
	rmdir(folder);
}

static void labels_read__counts(void **state)
{
	char path[] = "classify-labels-XXXXXX", name[LABEL_BYTES_MAX];
	struct labels l;
	struct fault fault;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(file_write(path, "tench\r\ngoldfish\nshark", 21, &fault), DXP_OK);
	assert_int_equal(labels_read(path, 3, &l, &fault), DXP_OK);
	labels_name(&l, 0, name, sizeof(name));
	assert_string_equal(name, "tench");
	labels_name(&l, 2, name, sizeof(name));
	assert_string_equal(name, "shark");
	labels_release(&l);
	/* no line for class 0 */
	assert_int_equal(labels_read(path, 4, &l, &fault), DXP_OK);
	labels_name(&l, 0, name, sizeof(name));
	assert_string_equal(name, "background");
	labels_name(&l, 3, name, sizeof(name));
	assert_string_equal(name, "shark");
	labels_release(&l);
	assert_int_equal(labels_read(path, 5, &l, &fault), DXP_EINVAL);
	assert_non_null(strstr(fault.text, "3 names"));
	unlink(path);
	assert_int_equal(labels_read(path, 3, &l, &fault), DXP_ENOENT);
}

static void labels_top__order(void **state)
{
	static const float values[] = {0.1f, 0.4f, 0.4f, 0.05f, 0.3f};
	int32_t top[6];

	assert_int_equal(labels_top(values, 5, 3, top), 3);
	assert_int_equal(top[0], 1);
	assert_int_equal(top[1], 2);
	assert_int_equal(top[2], 4);
	assert_int_equal(labels_top(values, 5, 6, top), 5);
	assert_int_equal(top[4], 3);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_read__all),
		cmocka_unit_test(options_read__local),
		cmocka_unit_test(options_read__stream),
		cmocka_unit_test(options_read__errors),
		cmocka_unit_test(options_find_model__missing),
		cmocka_unit_test(photos_find__folder),
		cmocka_unit_test(labels_read__counts),
		cmocka_unit_test(labels_top__order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
