#pragma once
#include <errno.h>
#include <signal.h>
#include <fcntl.h>
#include <unistd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Starts a program whose standard output and error go to one descriptor. It is in a process group of its own, has no
   signal blocked, and the kernel kills it when the thread that started it ends.
   Returns its process id, or -1 with the reason in errno. */
static inline pid_t liveline_spawn(const char *path, char *const *arguments, char *const *environment, int output) {
    int report[2];
    if (pipe(report) != 0) return -1;
    fcntl(report[0], F_SETFD, FD_CLOEXEC);
    fcntl(report[1], F_SETFD, FD_CLOEXEC);
    pid_t parent = getpid();
    pid_t child = fork();
    if (child == 0) {
        sigset_t none;
        sigemptyset(&none);
        signal(SIGPIPE, SIG_DFL);
        int input = open("/dev/null", O_RDONLY);
        if (setpgid(0, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent && input >= 0
            && dup2(input, 0) >= 0 && dup2(output, 1) >= 0 && dup2(output, 2) >= 0
            && sigprocmask(SIG_SETMASK, &none, NULL) == 0) {
            /* Libraries open descriptors of their own that are not closed by the program's start. */
            for (int other = 3; other < 1024; other++) if (other != report[1]) fcntl(other, F_SETFD, FD_CLOEXEC);
            execve(path, arguments, environment);
        }
        int problem = errno;
        if (write(report[1], &problem, sizeof problem) < 0) _exit(126);
        _exit(127);
    }
    int failed = child < 0 ? errno : 0;
    close(report[1]);
    int problem = 0;
    /* The other end is closed by the program's start. */
    while (child > 0 && read(report[0], &problem, sizeof problem) < 0 && errno == EINTR) {}
    close(report[0]);
    if (problem != 0) waitpid(child, NULL, 0);
    if (problem != 0 || failed != 0) {
        errno = problem != 0 ? problem : failed;
        return -1;
    }
    return child;
}

/* A descriptor that becomes readable when the process ends, or -1. */
static inline int liveline_pidfd_open(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

/* Whether a child has ended; it is forgotten then. `killed` tells whether `code` is a signal or what it returned. */
static inline int liveline_take_exit(pid_t process, int *killed, int *code) {
    int status = 0;
    if (waitpid(process, &status, WNOHANG) != process) return 0;
    *killed = WIFSIGNALED(status);
    *code = *killed ? WTERMSIG(status) : WEXITSTATUS(status);
    return 1;
}

/* Raises how many descriptors the process may open, as far as it may itself, to the wanted number; how many it is now. */
static inline unsigned long liveline_raise_descriptors(unsigned long wanted) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    if (limit.rlim_cur < wanted && limit.rlim_cur < limit.rlim_max) {
        struct rlimit raised = limit;
        raised.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
        if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
    }
    return limit.rlim_cur;
}
