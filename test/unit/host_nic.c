/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests NICs inside this program, polled by calls that wait or by a thread. */
#include "test/unit/host_function.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test/support/fake_xpu.h"

#define POSTERS 4
#define EACH    2000

static struct dxp_nic *nic_open(bool thread)
{
	const struct dxp_nic_options options = {.thread = thread};
	struct dxp_nic *nic;

	ok(dxp_nic_open(&options, &nic));
	return nic;
}

static struct dxp_function *function_open(struct dxp_nic *nic, const char *label)
{
	struct dxp_function *f;

	ok(dxp_nic_function(nic, label, &f));
	return f;
}

static void nic_open__rejects_what_cannot_be(void **state)
{
	static const struct {
		struct dxp_nic_options options;
		int status;
		const char *part;
	} cases[] = {
		{{.name = "a b"}, DXP_EINVAL, "'a b' is not a valid node name"},
		{{.name = ""}, DXP_EINVAL, "is not a valid node name"},
		{{.name = "x/y"}, DXP_EINVAL, "is not a valid node name"},
		{{.manager = "127.0.0.1"}, DXP_EINVAL, "set `join`"},
		{{.bind = "127.0.0.1"}, DXP_EINVAL, "set `join`"},
		{{.key_file = "/x"}, DXP_EINVAL, "set `join`"},
		{{.directory = "/x"}, DXP_EINVAL, "set `join`"},
		{{.join = true, .directory = "/nowhere"}, DXP_ENOENT, "`dxp up`"},
		{{.join = true, .manager = "nobody"}, DXP_EINVAL, "'nobody' is not the address"},
		{{.join = true, .manager = "127.0.0.1:1", .key_file = "/nowhere"},
		 DXP_ENOENT,
		 "no fabric key"},
	};
	struct dxp_nic *nic;

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		fails(dxp_nic_open(&cases[i].options, &nic), cases[i].status, cases[i].part);
	dxp_nic_close(NULL);
}

static void nic_function__hands_out_eight(void **state)
{
	struct dxp_function *all[8], *more;

	for (int thread = 0; thread < 2; thread++) {
		struct dxp_nic *nic = nic_open(thread);
		for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
			all[i] = function_open(nic, NULL);
			assert_int_equal(dxp_function_window(all[i])->function, i);
			fails(dxp_function_window_fd(all[i]), DXP_EUNSUPPORTED, "has no file");
		}
		fails(dxp_nic_function(nic, NULL, &more), DXP_EBUSY, "all 8 functions");
		dxp_function_close(all[3]);
		all[3] = function_open(nic, NULL);
		assert_int_equal(dxp_function_window(all[3])->function, 3);
		/* The node was opened with the first function, which may still close and open
		 * again. */
		dxp_function_close(all[0]);
		all[0] = function_open(nic, NULL);
		assert_int_equal(dxp_function_window(all[0])->function, 0);
		for (size_t i = 0; i < ARRAY_COUNT(all); i++)
			dxp_function_close(all[i]);
		dxp_nic_close(nic);
	}
	dxp_function_close(NULL);
}

static void nic_function__is_found_by_its_label(void **state)
{
	struct dxp_nic *nic = nic_open(true);
	struct dxp_function *a = function_open(nic, "one"), *b = function_open(nic, "two"), *more;
	struct dxp_target t, same;

	ok(dxp_function_find(a, "two", 3, &t));
	same = target_of(b, 3);
	assert_int_equal(t.function, same.function);
	assert_int_equal(t.qp, 3);
	assert_true(t.magic == same.magic && t.magic != 0);
	fails(dxp_function_find(a, "three", 0, &t), DXP_ENOENT, "'three'");
	fails(dxp_function_find(a, "two", 4, &t), DXP_EINVAL, "not 4");
	fails(dxp_function_find(a, "no label", 0, &t), DXP_EINVAL, "'no label'");
	fails(dxp_function_find(a, NULL, 0, &t), DXP_EINVAL, "the label is NULL");
	fails(dxp_function_target(a, 4, &t), DXP_EINVAL, "not 4");
	fails(dxp_nic_function(nic, "two", &more), DXP_EBUSY, "'two'");
	fails(dxp_nic_function(nic, "", &more), DXP_EINVAL, "is not a valid label");
	dxp_function_close(b);
	fails(dxp_function_find(a, "two", 0, &t), DXP_ENOENT, "'two'");
	b = function_open(nic, "two");
	dxp_function_close(a);
	dxp_function_close(b);
	dxp_nic_close(nic);
}

static void function_wait__ends_in_time(void **state)
{
	for (int thread = 0; thread < 2; thread++) {
		struct dxp_nic *nic = nic_open(thread);
		struct dxp_function *f = function_open(nic, NULL);
		fails(dxp_function_wait(f, 0), DXP_ETIMEDOUT, "no event");
		fails(dxp_function_wait(f, 3 * MS_NS), DXP_ETIMEDOUT, "no event");
		dxp_function_close(f);
		dxp_nic_close(nic);
	}
}

static void function_arm__is_counted(void **state)
{
	struct dxp_nic *nic = nic_open(true);
	struct dxp_function *f = function_open(nic, NULL);

	fails(dxp_function_disarm(f), DXP_EINVAL, "without a matching arm");
	ok(dxp_function_arm(f));
	ok(dxp_function_arm(f));
	ok(dxp_function_disarm(f));
	ok(dxp_function_disarm(f));
	fails(dxp_function_disarm(f), DXP_EINVAL, "without a matching arm");
	ok(dxp_function_arm(f)); /* a close disarms it */
	dxp_function_close(f);
	dxp_nic_close(nic);
}

static void memory__rejects_what_cannot_be(void **state)
{
	struct dxp_nic *nic = nic_open(true);
	struct dxp_function *f = function_open(nic, NULL);
	struct dxp_memory m;
	uint32_t key;
	int growing = memfd_create("growing", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	static uint8_t own[64];

	assert_int_equal(ftruncate(growing, 8192), 0);
	fails(dxp_memory_create(f, 0, 0, &m), DXP_EINVAL, "0 bytes");
	fails(dxp_memory_create(f, UINT64_MAX, 0, &m), DXP_EINVAL, "bytes");
	fails(dxp_memory_create(f, 64, 8, &m), DXP_EINVAL, "rights 0x8");
	fails(dxp_memory_register(f, -1, 0, 64, 0, &key), DXP_EINVAL, "-1");
	fails(dxp_memory_register(f, 0, 17, 64, 0, &key), DXP_EINVAL, "page");
	fails(dxp_memory_register(f, growing, 0, 64, 0, &key), DXP_EINVAL, "F_SEAL_SHRINK");
	fails(dxp_memory_register_at(f, NULL, 64, 0, &key), DXP_EINVAL, "no memory is mapped");
	fails(dxp_memory_register_at(f, own, UINT64_MAX, 0, &key), DXP_EINVAL, "bytes");
	fails(dxp_memory_revoke(f, 77), DXP_ENOENT, "0x4d");
	fails(dxp_lookup_add(f, 0x1000, 0, 1, 0), DXP_EINVAL, "empty");
	fails(dxp_lookup_add(f, UINT64_MAX, 2, 1, 0), DXP_EINVAL, "2^64");
	close(growing);
	dxp_function_close(f);
	dxp_nic_close(nic);
}

static void memory__opens_nothing_once_revoked(void **state)
{
	for (int thread = 0; thread < 2; thread++) {
		struct dxp_nic *nic = nic_open(thread);
		struct dxp_function *a = function_open(nic, NULL), *b = function_open(nic, NULL);
		const struct dxp_target to = target_of(b, 0);
		static uint8_t from[4096], into[4096];
		struct dxp_memory m;
		uint32_t own, theirs, third;

		ok(dxp_memory_create(b, 4096, DXP_REMOTE_WRITE, &m));
		ok(dxp_memory_register(b, m.fd, 0, 4096, DXP_REMOTE_WRITE, &third));
		ok(dxp_memory_register_at(a, from, sizeof(from), DXP_LOCAL, &own));
		ok(dxp_memory_register_at(b, into, sizeof(into), DXP_REMOTE_WRITE, &theirs));
		const uint32_t keys[] = {m.key, third, theirs};
		for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
			const struct dxp_entry local = {0, 4096, own}, remote = {0, 4096, keys[i]};
			struct dxp_window *w = dxp_function_window(a);
			posted(a, dxp_post_put(w, 0, &to, &local, &remote, 0, 0, 0));
			done(a);
			ok(dxp_memory_revoke(b, keys[i]));
			posted(a, dxp_post_put(w, 0, &to, &local, &remote, 0, 0, 0));
			assert_int_equal(completion(a).status, DXP_EACCESS);
			fails(dxp_memory_revoke(b, keys[i]), DXP_ENOENT, "key");
		}
		/* only the keys are revoked so far */
		memset(m.base, 1, 4096);
		dxp_memory_destroy(b, &m);
		dxp_memory_destroy(b, &m); /* no effect */
		dxp_function_close(a);
		dxp_function_close(b);
		dxp_nic_close(nic);
	}
}

static void nic__lets_its_functions_talk(void **state)
{
	for (int thread = 0; thread < 2; thread++) {
		struct dxp_nic *nic = nic_open(thread);
		struct dxp_function *a = function_open(nic, NULL), *b = function_open(nic, NULL);
		talk(a, b);
		talk(b, a);
		dxp_function_close(a);
		dxp_function_close(b);
		dxp_nic_close(nic);
	}
}

static void nic__closes_with_events_unread(void **state)
{
	for (int thread = 0; thread < 2; thread++) {
		struct dxp_nic *nic = nic_open(thread);
		struct dxp_function *a = function_open(nic, NULL), *b = function_open(nic, NULL);
		const struct dxp_target to = target_of(b, 0);
		for (int i = 0; i < 20; i++)
			posted(a, dxp_post_nap(dxp_function_window(a), 0, &to, "x", 1, 0, 0));
		received(b);
		dxp_function_close(b);
		for (int i = 0; i < 20; i++)
			completion(a); /* with success or failure */
		dxp_function_close(a);
		dxp_nic_close(nic);
	}
}

struct poster {
	pthread_t thread;
	struct dxp_function *from;
	struct dxp_target to;
};

static void *post_many(void *context)
{
	struct poster *p = context;
	struct dxp_window *w = dxp_function_window(p->from);

	for (uint64_t i = 0; i < EACH;) {
		int status = dxp_post_nap(w, 0, &p->to, &i, sizeof(i), i, 0);
		dxp_function_kick(p->from);
		i += status == DXP_OK;
		if (status == DXP_EAGAIN)
			usleep(50);
		else
			assert_int_equal(status, DXP_OK);
	}
	return NULL;
}

static void nic__accepts_posts_of_many_threads(void **state)
{
	for (int thread = 0; thread < 2; thread++) {
		struct dxp_nic *nic = nic_open(thread);
		struct dxp_function *a = function_open(nic, NULL), *b = function_open(nic, NULL);
		struct poster posters[POSTERS];
		uint64_t sum = 0, ended = 0, came = 0;
		struct dxp_nic_event event;

		for (int i = 0; i < POSTERS; i++) {
			posters[i] = (struct poster){.from = a, .to = target_of(b, 0)};
			pthread_create(&posters[i].thread, NULL, post_many, &posters[i]);
		}
		while (ended < POSTERS * EACH || came < POSTERS * EACH) {
			struct dxp_window *w = dxp_function_window(b);
			while (dxp_sent_dequeue(dxp_function_window(a), &event)) {
				assert_int_equal(event.status, DXP_OK);
				ended++;
			}
			for (; dxp_received_peek(w); came++) {
				sum += dxp_received_peek(w)->imm;
				dxp_received_release(w);
			}
			int status = dxp_function_wait(came < POSTERS * EACH ? b : a, 5 * MS_NS);
			if (status != DXP_ETIMEDOUT)
				ok(status);
		}
		for (int i = 0; i < POSTERS; i++)
			pthread_join(posters[i].thread, NULL);
		assert_int_equal(sum, (uint64_t)POSTERS * EACH * (EACH - 1) / 2);
		dxp_function_close(a);
		dxp_function_close(b);
		dxp_nic_close(nic);
	}
}

/* A NIC joins a fabric as a host. It can reach the xPUs of the fabric by name, but not other
 * hosts. */
static void nic__joins_a_fabric(void **state)
{
	struct fake_fabric *fabric = fake_fabric_open(1);
	struct dxp_nic_options options = {
		.join = true, .directory = fake_fabric_folder(fabric), .name = "left"};
	struct dxp_nic *left, *right;
	struct dxp_target t;

	for (int thread = 0; thread < 2; thread++) {
		options.thread = thread;
		ok(dxp_nic_open(&options, &left));
		if (thread) /* its thread renews the lease, so the name stays in use */
			fails(dxp_nic_open(&options, &right), DXP_EBUSY, "left");
		struct dxp_function *f = function_open(left, NULL), *g;
		fails(dxp_nic_function(left, "xpu1", &g), DXP_EBUSY, "'xpu1'");
		assert_int_not_equal(target_of(f, 0).node, 0);
		/* A node's name leads to its service queue pair, whatever number is requested. */
		ok(dxp_function_find(f, "xpu1", 1, &t));
		assert_int_equal(t.function, 0);
		assert_int_equal(t.qp, 0);
		posted(f, dxp_post_nap(dxp_function_window(f), 0, &t, "no command", 10, 0, 0));
		done(f);
		t.magic ^= 1;
		posted(f, dxp_post_nap(dxp_function_window(f), 0, &t, "no command", 10, 0, 0));
		assert_int_equal(completion(f).status, DXP_EACCESS);
		dxp_function_close(f);
		dxp_nic_close(left);
	}
	fake_fabric_close(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nic_open__rejects_what_cannot_be),
		cmocka_unit_test(nic_function__hands_out_eight),
		cmocka_unit_test(nic_function__is_found_by_its_label),
		cmocka_unit_test(function_wait__ends_in_time),
		cmocka_unit_test(function_arm__is_counted),
		cmocka_unit_test(memory__rejects_what_cannot_be),
		cmocka_unit_test(memory__opens_nothing_once_revoked),
		cmocka_unit_test(nic__lets_its_functions_talk),
		cmocka_unit_test(nic__closes_with_events_unread),
		cmocka_unit_test(nic__accepts_posts_of_many_threads),
		cmocka_unit_test(nic__joins_a_fabric),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
