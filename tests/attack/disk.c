/*
 * Writes down what a process does to the files of a folder, so that the loss of power can be played:
 * what was not synced may be gone. Preloaded (`LD_PRELOAD`) into the processes that `power` kills.
 *
 * ATTACK_DISK_FOLDER  the folder, an absolute path
 * ATTACK_DISK_LOG     where to write
 * ATTACK_DISK_CUT     after how many records the process is killed, in the midst of a commit; 0 for never
 *
 * A record is four numbers of 64 bits (kind, length of the name, offset or size, length of the data), the
 * name, and the data. Changes are written down before they happen and syncs after, all in one order. The
 * index of the write-ahead log (`-shm`) is left out: it is rebuilt when no process has the file open.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { CREATED = 1, WRITTEN = 2, CUT = 3, SYNCED = 4, REMOVED = 5, FOLDER_SYNCED = 6 };

#define FILES 4096
#define NAME 256

static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
static char names[FILES][NAME];
static const char *folder;
static int log_file = -1;
static long left;

static int (*real_open)(const char *, int, ...);
static int (*real_close)(int);
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static int (*real_ftruncate)(int, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_unlink)(const char *);

__attribute__((constructor)) static void begin(void) {
    real_open = dlsym(RTLD_NEXT, "open");
    real_close = dlsym(RTLD_NEXT, "close");
    real_write = dlsym(RTLD_NEXT, "write");
    real_pwrite = dlsym(RTLD_NEXT, "pwrite");
    real_ftruncate = dlsym(RTLD_NEXT, "ftruncate");
    real_fsync = dlsym(RTLD_NEXT, "fsync");
    real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
    real_unlink = dlsym(RTLD_NEXT, "unlink");
    const char *log = getenv("ATTACK_DISK_LOG");
    const char *cut = getenv("ATTACK_DISK_CUT");
    left = cut ? atol(cut) : 0;
    folder = getenv("ATTACK_DISK_FOLDER");
    if (folder && log) {
        log_file = real_open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    }
}

/* The name of a file of the folder, "" for the folder itself; NULL for all else. */
static const char *name_of(const char *path) {
    size_t length = folder ? strlen(folder) : 0;
    if (log_file < 0 || !path || strncmp(path, folder, length) != 0) return NULL;
    if (path[length] == 0) return "";
    if (path[length] != '/') return NULL;
    const char *name = path + length + 1;
    size_t end = strlen(name);
    if (end >= NAME || strchr(name, '/')) return NULL;
    if (end >= 4 && strcmp(name + end - 4, "-shm") == 0) return NULL;
    return name;
}

static const char *open_name(int fd) {
    return fd >= 0 && fd < FILES && names[fd][0] ? names[fd] : NULL;
}

/* One record. Without it the play would be another one, so the process ends if it cannot be written. */
static void put(uint64_t kind, const char *name, uint64_t at, const void *data, size_t length) {
    uint64_t head[4] = {kind, strlen(name), at, length};
    struct iovec parts[3] = {
        {head, sizeof head}, {(void *)name, strlen(name)}, {(void *)data, length}};
    ssize_t all = (ssize_t)(sizeof head + strlen(name) + length);
    if (writev(log_file, parts, 3) != all) abort();
    if (left > 0 && --left == 0) raise(SIGKILL);
}

static int opened(const char *path, int flags, mode_t mode) {
    const char *name = name_of(path);
    if (!name) return real_open(path, flags, mode);
    pthread_mutex_lock(&order);
    int creates = (flags & O_CREAT) && name[0] && access(path, F_OK) != 0;
    if (creates) put(CREATED, name, 0, NULL, 0);
    int fd = real_open(path, flags, mode);
    if (fd >= 0 && fd < FILES) strcpy(names[fd], name[0] ? name : "/");
    if (fd >= 0 && (flags & O_TRUNC) && name[0] && !creates) put(CUT, name, 0, NULL, 0);
    pthread_mutex_unlock(&order);
    return fd;
}

#define MODE_OF(flags, mode)                \
    mode_t mode = 0;                        \
    if ((flags) & O_CREAT) {                \
        va_list rest;                       \
        va_start(rest, flags);              \
        mode = (mode_t)va_arg(rest, int);   \
        va_end(rest);                       \
    }

int open(const char *path, int flags, ...) {
    MODE_OF(flags, mode)
    return opened(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    MODE_OF(flags, mode)
    return opened(path, flags, mode);
}

int close(int fd) {
    pthread_mutex_lock(&order);
    if (fd >= 0 && fd < FILES) names[fd][0] = 0;
    int closed = real_close(fd);
    pthread_mutex_unlock(&order);
    return closed;
}

ssize_t write(int fd, const void *data, size_t length) {
    const char *name = open_name(fd);
    if (!name) return real_write(fd, data, length);
    pthread_mutex_lock(&order);
    put(WRITTEN, name, (uint64_t)lseek(fd, 0, SEEK_CUR), data, length);
    ssize_t written = real_write(fd, data, length);
    pthread_mutex_unlock(&order);
    return written;
}

ssize_t pwrite(int fd, const void *data, size_t length, off_t at) {
    const char *name = open_name(fd);
    if (!name) return real_pwrite(fd, data, length, at);
    pthread_mutex_lock(&order);
    put(WRITTEN, name, (uint64_t)at, data, length);
    ssize_t written = real_pwrite(fd, data, length, at);
    pthread_mutex_unlock(&order);
    return written;
}

ssize_t pwrite64(int fd, const void *data, size_t length, off64_t at) {
    return pwrite(fd, data, length, (off_t)at);
}

int ftruncate(int fd, off_t size) {
    const char *name = open_name(fd);
    if (!name) return real_ftruncate(fd, size);
    pthread_mutex_lock(&order);
    put(CUT, name, (uint64_t)size, NULL, 0);
    int cut = real_ftruncate(fd, size);
    pthread_mutex_unlock(&order);
    return cut;
}

int ftruncate64(int fd, off64_t size) {
    return ftruncate(fd, (off_t)size);
}

static int synced(int fd, int (*sync)(int)) {
    const char *name = open_name(fd);
    if (!name) return sync(fd);
    pthread_mutex_lock(&order);
    int done = sync(fd);
    if (done == 0) put(name[0] == '/' ? FOLDER_SYNCED : SYNCED, name, 0, NULL, 0);
    pthread_mutex_unlock(&order);
    return done;
}

int fsync(int fd) {
    return synced(fd, real_fsync);
}

int fdatasync(int fd) {
    return synced(fd, real_fdatasync);
}

int unlink(const char *path) {
    const char *name = name_of(path);
    if (!name || !name[0]) return real_unlink(path);
    pthread_mutex_lock(&order);
    put(REMOVED, name, 0, NULL, 0);
    int removed = real_unlink(path);
    pthread_mutex_unlock(&order);
    return removed;
}
