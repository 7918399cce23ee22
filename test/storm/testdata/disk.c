// A disk that is full or slow, for a program that is started with this library in LD_PRELOAD. The first byte of the file
// DISK_CONTROL says how it is: 'f' has every write to a file fail for want of room, 's' has every flush take its time,
// anything else lets all through.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static volatile char *control;

__attribute__((constructor)) static void begin(void) {
	const char *path = getenv("DISK_CONTROL");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return;
	void *at = mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (at != MAP_FAILED)
		control = at;
}

static char state(void) { return control ? *control : 0; }

static int full(int fd) {
	struct stat s;
	if (state() != 'f' || fstat(fd, &s) != 0 || !S_ISREG(s.st_mode))
		return 0;
	errno = ENOSPC;
	return 1;
}

static void wait_a_little(void) {
	if (state() == 's')
		usleep(40000);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *from, size_t n) { return full(fd) ? -1 : NEXT(write)(fd, from, n); }
ssize_t pwrite(int fd, const void *from, size_t n, off_t at) { return full(fd) ? -1 : NEXT(pwrite)(fd, from, n, at); }
ssize_t pwrite64(int fd, const void *from, size_t n, off64_t at) { return full(fd) ? -1 : NEXT(pwrite64)(fd, from, n, at); }
ssize_t pwritev(int fd, const struct iovec *from, int n, off_t at) { return full(fd) ? -1 : NEXT(pwritev)(fd, from, n, at); }
int posix_fallocate(int fd, off_t at, off_t n) { return full(fd) ? ENOSPC : NEXT(posix_fallocate)(fd, at, n); }

int fsync(int fd) {
	wait_a_little();
	return full(fd) ? -1 : NEXT(fsync)(fd);
}

int fdatasync(int fd) {
	wait_a_little();
	return full(fd) ? -1 : NEXT(fdatasync)(fd);
}
