/* SPDX-License-Identifier: BSD-3-Clause */
/* A process with a socket for one function attacks the program that runs the NIC; other processes
 * must not be affected. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/userfaultfd.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "node/limits.h"
#include "test/unit/offer_rig.h"

#define LINGER_S  30
#define PROMPT_NS (10 * S_NS) /* well below LINGER_S */
/* descriptors of the test itself, and some more */
#define OTHERS 20
/* messages, each with four descriptors whose close blocks */
#define SLOW       40
#define MUCH       (256u << 20)
#define HUGE_BYTES (1ull << 40)
#define SERVED     2 /* function of the hostile process */

/* A close blocks for LINGER_S, because *peer reads less than is sent. */
static int slow_to_close(int *peer)
{
	const struct linger linger = {.l_onoff = 1, .l_linger = LINGER_S};
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t bytes = sizeof(at);
	static const char data[65536];
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(listener, (struct sockaddr *)&at, bytes), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &bytes), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&at, bytes), 0);
	*peer = accept(listener, NULL, NULL);
	assert_true(*peer >= 0);
	close(listener);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	while (send(fd, data, sizeof(data), MSG_DONTWAIT) > 0)
		;
	return fd;
}

static void others_are_served(const struct rig *r)
{
	uint64_t begin_ns = clock_now_ns();
	struct user other;

	assert_true(attach(r, "", &other));
	user_close(&other);
	assert_true(freed(r, 1));
	assert_true(clock_now_ns() - begin_ns < PROMPT_NS);
}

static void hostile_open(const struct rig *r, struct user *u)
{
	assert_true(user_connect(r, SERVED, u));
	assert_int_equal(user_open(u, 0, ""), DXP_OK);
}

/* Closes `fd` before the node reads the message, so that the node closes the last copy. */
static void pass(struct rig *r, struct user *u, const void *bytes, size_t length, int fd)
{
	node_hold(r);
	assert_int_equal(local_send(u->socket, bytes, length, &fd, 1), (int)length);
	close(fd);
	node_release(r);
}

static int register_and_close(struct rig *r, struct user *u, int fd)
{
	const struct attach_request reg = {.type = ATTACH_REGISTER, .bytes = 4096};
	uint8_t bytes[ATTACH_BYTES_MAX];
	size_t length = attach_request_encode(&reg, bytes);

	pass(r, u, bytes, length, fd);
	return answer_decode(u);
}

/* Closes that block must not delay other clients: of descriptors passed as memory, in a malformed
 * request, inside a socket, or in unread messages. */
static void hostile__passed_descriptors_close_at_no_other_cost(void **state)
{
	struct rig *r = *state;
	unsigned open_before = descriptors();
	int peers[6], fd, pair[2];
	struct user u;

	hostile_open(r, &u);
	fd = slow_to_close(&peers[0]);
	assert_int_equal(register_and_close(r, &u, fd), DXP_EINVAL);
	others_are_served(r);

	pass(r, &u, "?", 1, slow_to_close(&peers[1]));
	assert_int_equal(answer_decode(&u), DXP_EMALFORMED);
	others_are_served(r);

	fd = slow_to_close(&peers[2]);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(local_send(pair[0], "x", 1, &fd, 1), 1);
	close(fd);
	close(pair[0]);
	assert_int_equal(register_and_close(r, &u, pair[1]), DXP_EINVAL);
	others_are_served(r);

	node_hold(r);
	for (int i = 3; i < 6; i++) {
		fd = slow_to_close(&peers[i]);
		assert_int_equal(local_send(u.socket, "?", 1, &fd, 1), 1);
		close(fd);
	}
	user_close(&u);
	node_release(r);
	others_are_served(r);
	assert_true(freed(r, SERVED));
	for (int i = 0; i < 6; i++)
		close(peers[i]); /* ends the blocked close */
	assert_true(all_back(mappings(), open_before));
}

static uint64_t node_cpu_ns(const struct rig *r)
{
	struct timespec t;
	clockid_t clock;

	assert_int_equal(pthread_getcpuclockid(r->thread, &clock), 0);
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * S_NS + (uint64_t)t.tv_nsec;
}

/* A client that passes more such descriptors than the node accepts must wait; the node uses no
 * processor time meanwhile. */
static void hostile__more_than_is_closed_makes_the_client_wait(void **state)
{
	const struct attach_request reg = {.type = ATTACH_REGISTER, .bytes = 4096};
	uint8_t bytes[ATTACH_BYTES_MAX];
	size_t length = attach_request_encode(&reg, bytes);
	struct rig *r = *state;
	unsigned open_before = descriptors();
	struct user u;
	int peer, four[4];

	hostile_open(r, &u);
	four[0] = slow_to_close(&peer);
	for (int i = 1; i < 4; i++)
		four[i] = dup(four[0]);
	node_hold(r);
	for (int i = 0; i < SLOW; i++) {
		assert_int_equal(local_send(u.socket, bytes, length, four, 4), (int)length);
	}
	for (int i = 0; i < 4; i++)
		close(four[i]);
	node_release(r);
	others_are_served(r);
	assert_true(descriptors() < open_before + LOCAL_DROPS_MAX + OTHERS);
	uint64_t used_ns = UINT64_MAX;
	for (int looks = 0; looks < 10 && used_ns >= 30 * MS_NS; looks++) {
		uint64_t begin_ns = node_cpu_ns(r);
		nanosleep(&(struct timespec){.tv_nsec = 300 * MS_NS}, NULL);
		used_ns = node_cpu_ns(r) - begin_ns;
	}
	assert_true(used_ns < 30 * MS_NS);
	close(peer);
	user_close(&u);
	assert_true(freed(r, SERVED));
	assert_true(all_back(mappings(), open_before));
}

/* ---- a read that never ends ---- */

struct reading {
	int fd;
	void *into;
};

static void *read_main(void *context)
{
	const struct reading *reading = context;

	return (void *)(intptr_t)read(reading->fd, reading->into, 64);
}

/* Access to the page blocks until the test provides it. Returns the userfaultfd, or -1 if the
 * process may not create one. */
static int page_withhold(void **page)
{
	struct uffdio_api api = {.api = UFFD_API};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -1;
	*page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register range = {.range = {(uintptr_t)*page, 4096},
					.mode = UFFDIO_REGISTER_MODE_MISSING};
	assert_int_equal(ioctl(fd, UFFDIO_API, &api), 0);
	assert_int_equal(ioctl(fd, UFFDIO_REGISTER, &range), 0);
	return fd;
}

/* Marks the user as sleeping, then sends it a NAP. */
static void wake_provoke(struct user *u, uint32_t number)
{
	struct dxp_target self = {.function = SERVED, .qp = 1, .magic = u->w->qp_magic[1]};

	__atomic_store_n(&u->w->user_waits, number, __ATOMIC_SEQ_CST);
	assert_int_equal(dxp_post_nap(u->w, 0, &self, NULL, 0, number, 0), DXP_OK);
	kick(u);
}

static void hostile__a_read_that_hangs_holds_up_no_other(void **state)
{
	struct rig *r = *state;
	struct user u;
	struct reading reading;
	struct uffd_msg fault;
	pthread_t reader;
	int pages = page_withhold(&reading.into);

	if (pages < 0) {
		print_message("skipped: userfaultfd: %s\n", strerror(errno));
		skip();
	}
	hostile_open(r, &u);
	wake_provoke(&u, 1);
	reading.fd = u.fds[2];
	struct pollfd reported = {.fd = u.fds[2], .events = POLLIN};
	assert_int_equal(poll(&reported, 1, PROMPT_NS / MS_NS), 1);
	assert_int_equal(pthread_create(&reader, NULL, read_main, &reading), 0);
	struct pollfd faults = {.fd = pages, .events = POLLIN};
	assert_int_equal(poll(&faults, 1, PROMPT_NS / MS_NS), 1);
	assert_int_equal(read(pages, &fault, sizeof(fault)), sizeof(fault));
	/* the read is blocked, and may hold locks in the kernel */
	wake_provoke(&u, 2);
	others_are_served(r);
	struct uffdio_zeropage zero = {.range = {(uintptr_t)reading.into, 4096}};
	assert_int_equal(ioctl(pages, UFFDIO_ZEROPAGE, &zero), 0);
	pthread_join(reader, NULL);
	close(pages);
	user_close(&u);
	assert_true(freed(r, SERVED));
	munmap(reading.into, 4096);
}

/* ---- objects that are no memory ---- */

static int memfd_sealed(int64_t bytes, unsigned flags, int seals)
{
	int fd = memfd_create("hostile", MFD_ALLOW_SEALING | flags);

	if (fd >= 0 && (ftruncate(fd, bytes) != 0 || fcntl(fd, F_ADD_SEALS, seals) != 0)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int read_only(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	int again = open(path, O_RDONLY | O_CLOEXEC);
	close(fd);
	return again;
}

static void hostile__only_memory_that_stays_is_mapped(void **state)
{
	const struct attach_request reg = {.type = ATTACH_REGISTER, .bytes = 4096};
	struct rig *r = *state;
	unsigned maps_before = mappings(), open_before = descriptors();
	struct user u;
	int fifo[2], seals = F_SEAL_SHRINK;

	hostile_open(r, &u);
	unsigned maps_open = mappings();
	assert_int_equal(pipe(fifo), 0);
	int strange[] = {
		fifo[0],
		fifo[1],
		open("/", O_RDONLY | O_DIRECTORY),
		open("/dev/zero", O_RDWR),
		open("/proc/self/mem", O_RDWR),
		open("/dev/shm", O_RDWR | O_TMPFILE, 0600),
		eventfd(0, 0),
		epoll_create1(0),
		dup(u.socket),
		dup(u.fds[0]), /* its own window: too short at this offset */
		memfd_sealed(1 << 20, 0, 0),
		memfd_sealed(1 << 20, 0, F_SEAL_GROW),
		memfd_sealed(1 << 20, 0, seals | F_SEAL_WRITE),
		memfd_sealed(1 << 20, 0, seals | F_SEAL_FUTURE_WRITE),
		memfd_sealed(2 << 20, MFD_HUGETLB, seals),
		read_only(memfd_sealed(1 << 20, 0, seals)),
		memfd_sealed(0, 0, seals),
	};
	for (size_t i = 0; i < ARRAY_COUNT(strange); i++) {
		struct attach_request request = reg;
		if (strange[i] < 0) {
			print_message("skipped: descriptor %zu: not to be had here\n", i);
			continue;
		}
		if (i == 9)
			request.offset = DXP_WINDOW_FILE_BYTES;
		assert_int_equal(request_send(&u, &request, strange[i]), DXP_EINVAL);
		close(strange[i]);
	}
	/* no pages in use, but the limit counts mapped bytes */
	struct attach_request huge = {.type = ATTACH_REGISTER, .bytes = HUGE_BYTES};
	int fd = memfd_sealed(HUGE_BYTES, 0, seals);
	assert_int_equal(request_send(&u, &huge, fd), DXP_EBUSY);
	huge.bytes = OFFER_BYTES_MAX;
	assert_int_equal(request_send(&u, &huge, fd), DXP_OK);
	assert_int_equal(request_send(&u, &reg, fd), DXP_EBUSY);
	close(fd);
	assert_int_equal(mappings(), maps_open + 1);
	assert_int_equal(request_send(&u, &reg, -1), DXP_EINVAL);
	user_close(&u);
	assert_true(freed(r, SERVED));
	assert_true(all_back(maps_before, open_before));
}

/* Returns 0 if the machine does not have MUCH bytes of memory. */
static uint64_t freeing_ns(void)
{
	int fd = memfd_sealed(MUCH, 0, F_SEAL_SHRINK);
	struct timespec before, after;
	bool there = fallocate(fd, 0, 0, MUCH) == 0;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
	close(fd);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
	return there ? (uint64_t)(after.tv_sec - before.tv_sec) * S_NS + (uint64_t)after.tv_nsec -
			       (uint64_t)before.tv_nsec
		     : 0;
}

/* Freeing many pages takes long, so the node does not do it for a client that exits. */
static void hostile__much_memory_goes_at_nobodys_cost(void **state)
{
	const struct attach_request reg = {.type = ATTACH_REGISTER, .bytes = MUCH};
	struct rig *r = *state;
	unsigned maps_before = mappings();
	struct user u;
	int fd = memfd_sealed(MUCH, 0, F_SEAL_SHRINK);

	uint64_t cost_ns = freeing_ns();
	hostile_open(r, &u);
	if (cost_ns == 0 || fallocate(fd, 0, 0, MUCH) != 0) {
		print_message("skipped: no %u MiB of memory\n", MUCH >> 20);
		skip();
	}
	assert_int_equal(request_send(&u, &reg, fd), DXP_OK);
	node_hold(r);
	close(fd);
	user_close(&u);
	uint64_t begin_ns = node_cpu_ns(r);
	node_release(r);
	others_are_served(r);
	assert_true(freed(r, SERVED));
	uint64_t used_ns = node_cpu_ns(r) - begin_ns;
	print_message("%.1f ms of the node; freeing takes %.1f\n", (double)used_ns / 1e6,
		      (double)cost_ns / 1e6);
	assert_true(used_ns < cost_ns / 2);
	assert_true(all_back(maps_before, 1024));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, rig_open, rig_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(hostile__passed_descriptors_close_at_no_other_cost),
		CASE(hostile__more_than_is_closed_makes_the_client_wait),
		CASE(hostile__a_read_that_hangs_holds_up_no_other),
		CASE(hostile__only_memory_that_stays_is_mapped),
		CASE(hostile__much_memory_goes_at_nobodys_cost),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
