/* Faults of the system for a process that loads this before the C library: calls on files below FAULT_FOLDER are counted,
 * and from number FAULT_AT on FAULT_TIMES of them do what FAULT says; FAULT_CLOCK lets all clocks jump.
 *
 * FAULT          count    nothing; the number of calls is written to FAULT_REPORT at the end
 *                full     what makes a file longer fails with ENOSPC, the first write after half of it; nothing else does
 *                broken   every call fails with EIO
 *                kill     the process is killed by SIGKILL before the call, whose number goes to FAULT_REPORT
 *                short    reads and writes do half of what they are asked to
 *                interrupted   reads and writes fail with EINTR every other time
 *                unlockable    the file system has no locks; nothing else fails
 * FAULT_RANK     the rank that is meant, if only one is
 * FAULT_CLOCK    seconds by which clocks jump 50 readings after a call was counted, back after 50 more, and so on
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum kind { OPEN, READ, WRITE, LONGER, ROOM, OTHER };

static atomic_long calls;
static const char *fault, *folder;
static long at, times;
static int meant;

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

__attribute__((constructor)) static void begin(void)
{
    const char *rank = getenv("FAULT_RANK"), *mine = getenv("OMPI_COMM_WORLD_RANK");
    fault = getenv("FAULT");
    folder = getenv("FAULT_FOLDER");
    at = getenv("FAULT_AT") ? atol(getenv("FAULT_AT")) : 0;
    times = getenv("FAULT_TIMES") ? atol(getenv("FAULT_TIMES")) : 1;
    meant = fault && folder && (!rank || (mine && !strcmp(rank, mine)));
}

/* Not below FAULT_FOLDER. */
static void write_report(long number)
{
    const char *report = getenv("FAULT_REPORT");
    FILE *file = report ? fopen(report, "w") : NULL;
    if (file) {
        fprintf(file, "%ld\n", number);
        fclose(file);
    }
}

__attribute__((destructor)) static void end(void)
{
    /* a helper of MPI's lives longer than this process, and has no such files */
    if (meant && calls > 0)
        write_report(calls);
}

static int below(const char *path)
{
    char from_root[8192], here[4096];
    if (path && path[0] != '/' && getcwd(here, sizeof here)) {
        snprintf(from_root, sizeof from_root, "%s/%s", here, path);
        path = from_root;
    }
    /* the status is written about once a second: with it, numbers of calls would depend on the clock */
    return path && !strncmp(path, folder, strlen(folder)) && !strstr(path + strlen(folder), "status.json");
}

static int is_below(int descriptor)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return below(path);
}

/* What becomes of a call: 0 nothing, -1 it fails with errno, 1 it does half of what it is asked to. */
static int outcome(enum kind kind)
{
    int short_reads = !strcmp(fault, "short"), interrupted = !strcmp(fault, "interrupted");
    if (kind == READ && !short_reads && !interrupted)
        return 0;
    long number = atomic_fetch_add(&calls, 1) + 1, first = -1;
    if (number < at || number - at >= times || !strcmp(fault, "count"))
        return 0;
    if (!strcmp(fault, "kill")) {
        write_report(number);
        raise(SIGKILL);
    }
    if (!strcmp(fault, "broken")) {
        errno = EIO;
        return -1;
    }
    if (!strcmp(fault, "full") && (kind == LONGER || kind == ROOM)) {
        static atomic_long first_failed = -1;
        if (kind == LONGER && atomic_compare_exchange_strong(&first_failed, &first, number))
            return 1;
        errno = ENOSPC;
        return -1;
    }
    if (kind == OTHER || kind == OPEN)
        return 0;
    if (short_reads)
        return kind != ROOM;
    if (interrupted && number % 2) {
        errno = EINTR;
        return -1;
    }
    return 0;
}

/* `place` is where a transfer begins, -1 where the descriptor stands. */
static int judge(int descriptor, enum kind kind, off_t place, size_t size)
{
    struct stat now;
    if (!meant || !is_below(descriptor))
        return 0;
    if (kind == WRITE && !fstat(descriptor, &now)) {
        if (place < 0)
            place = fcntl(descriptor, F_GETFL) & O_APPEND ? now.st_size : lseek(descriptor, 0, SEEK_CUR);
        kind = place + (off_t)size > now.st_size ? LONGER : WRITE;
    }
    return outcome(kind);
}

static size_t half(size_t size, int does) { return does == 1 && size > 1 ? size / 2 : size; }

/* At once with what it stands for: the calls with 64 in their names are other entries of the same function. */
#define TRANSFER(name, buffer, kind)                                                                                   \
    ssize_t name(int descriptor, buffer, size_t size)                                                                  \
    {                                                                                                                  \
        int does = judge(descriptor, kind, -1, size);                                                                  \
        if (does < 0)                                                                                                  \
            return -1;                                                                                                 \
        return ((ssize_t(*)(int, const void *, size_t))real(#name))(descriptor, data, half(size, does));               \
    }
#define TRANSFER_AT(name, buffer, kind)                                                                                \
    ssize_t name(int descriptor, buffer, size_t size, off_t place)                                                     \
    {                                                                                                                  \
        int does = judge(descriptor, kind, place, size);                                                               \
        if (does < 0)                                                                                                  \
            return -1;                                                                                                 \
        return ((ssize_t(*)(int, const void *, size_t, off_t))real(#name))(descriptor, data, half(size, does), place); \
    }
TRANSFER(read, void *data, READ)
TRANSFER(write, const void *data, WRITE)
TRANSFER_AT(pread, void *data, READ)
TRANSFER_AT(pread64, void *data, READ)
TRANSFER_AT(pwrite, const void *data, WRITE)
TRANSFER_AT(pwrite64, const void *data, WRITE)

static size_t size_of(const struct iovec *pieces, int count)
{
    size_t size = 0;
    for (int k = 0; k < count; k++)
        size += pieces[k].iov_len;
    return size;
}

/* Of several pieces the first alone is done where half is. */
#define TRANSFER_PIECES(name, kind)                                                                                    \
    ssize_t name(int descriptor, const struct iovec *pieces, int count, off_t place)                                   \
    {                                                                                                                  \
        int does = judge(descriptor, kind, place, size_of(pieces, count));                                             \
        if (does < 0)                                                                                                  \
            return -1;                                                                                                 \
        count = does == 1 ? 1 : count;                                                                                 \
        return ((ssize_t(*)(int, const struct iovec *, int, off_t))real(#name))(descriptor, pieces, count, place);     \
    }
TRANSFER_PIECES(preadv, READ)
TRANSFER_PIECES(preadv64, READ)
TRANSFER_PIECES(pwritev, WRITE)
TRANSFER_PIECES(pwritev64, WRITE)

ssize_t writev(int descriptor, const struct iovec *pieces, int count)
{
    int does = judge(descriptor, WRITE, -1, size_of(pieces, count));
    if (does < 0)
        return -1;
    return ((ssize_t(*)(int, const struct iovec *, int))real("writev"))(descriptor, pieces, does == 1 ? 1 : count);
}

#define ON_DESCRIPTOR(name, ...)                                                                                       \
    {                                                                                                                  \
        if (judge(descriptor, OTHER, 0, 0) < 0)                                                                              \
            return -1;                                                                                                 \
        return ((int (*)(int, ...))real(#name))(__VA_ARGS__);                                                          \
    }
int fsync(int descriptor) ON_DESCRIPTOR(fsync, descriptor)
int fdatasync(int descriptor) ON_DESCRIPTOR(fdatasync, descriptor)
int ftruncate(int descriptor, off_t size) ON_DESCRIPTOR(ftruncate, descriptor, size)
int ftruncate64(int descriptor, off_t size) ON_DESCRIPTOR(ftruncate64, descriptor, size)

/* These give the error instead of setting it. */
#define TAKING_ROOM(name)                                                                                              \
    int name(int descriptor, off_t from, off_t size)                                                                   \
    {                                                                                                                  \
        if (meant && is_below(descriptor) && outcome(ROOM) < 0)                                                        \
            return errno;                                                                                              \
        return ((int (*)(int, off_t, off_t))real(#name))(descriptor, from, size);                                      \
    }
TAKING_ROOM(posix_fallocate)
TAKING_ROOM(posix_fallocate64)

int rename(const char *from, const char *to)
{
    if (meant && below(from) && outcome(OTHER) < 0)
        return -1;
    return ((int (*)(const char *, const char *))real("rename"))(from, to);
}

int unlink(const char *path)
{
    if (meant && below(path) && outcome(OTHER) < 0)
        return -1;
    return ((int (*)(const char *))real("unlink"))(path);
}

int flock(int descriptor, int operation)
{
    if (meant && !strcmp(fault, "unlockable") && is_below(descriptor)) {
        errno = ENOLCK;
        return -1;
    }
    return ((int (*)(int, int))real("flock"))(descriptor, operation);
}

/* Opening to read is no call that is counted. */
#define OPENING(name)                                                                                                  \
    int name(const char *path, int flags, ...)                                                                         \
    {                                                                                                                  \
        va_list more;                                                                                                  \
        va_start(more, flags);                                                                                         \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;                                        \
        va_end(more);                                                                                                  \
        if (meant && below(path) && (flags & O_ACCMODE) != O_RDONLY && outcome(OPEN) < 0)                              \
            return -1;                                                                                                 \
        return ((int (*)(const char *, int, ...))real(#name))(path, flags, mode);                                      \
    }
OPENING(open)
OPENING(open64)

int clock_gettime(clockid_t clock, struct timespec *time)
{
    static atomic_long readings;
    static int (*ask)(clockid_t, struct timespec *);
    if (!ask)
        ask = (int (*)(clockid_t, struct timespec *))real("clock_gettime");
    int status = ask(clock, time);
    const char *jump = getenv("FAULT_CLOCK");
    if (jump && calls > 0 && atomic_fetch_add(&readings, 1) / 50 % 2)
        time->tv_sec += atol(jump);
    return status;
}
