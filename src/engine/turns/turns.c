/* Preloaded into QEMU: its main loop and its vCPU thread take turns, so that instruction counting
 * repeats.
 *
 * With -icount sleep=off the main loop skips idle time: once the vCPU is halted it moves the
 * virtual clock forward to the next timer (accel/tcg/icount-common.c, icount_start_warp_timer). It
 * runs beside the vCPU thread, and that one marks itself halted a moment before it has added the
 * instructions of its last stretch to the count (accel/tcg/tcg-accel-ops-rr.c: tcg_cpu_exec, then
 * icount_process_data, both without the big lock). A main loop that looks in between takes a clock
 * that is some instructions old and jumps too far by as many nanoseconds. Which of the two is first
 * depends on the host's scheduler: the guest's clock gets a skew of host origin.
 *
 * So the main loop, when something woke it, waits here until the vCPU thread sleeps, and only then
 * goes on. The vCPU needs the main loop only when it sleeps: under instruction counting it runs due
 * timers of the virtual clock itself. An overdue timer of the real clock would make it spin until
 * the main loop has run it (icount_get_limit), so there must be none: guest.cpp turns off the one
 * that a restored guest has. `give_up_ns` is for what nobody thought of: better a run that may not
 * repeat than one that hangs.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* 0: there is no vCPU thread yet, or it sleeps; 1: it runs. A futex word. */
static _Atomic unsigned running;
static _Atomic unsigned waiting; /* the main loop waits for that word */
static _Thread_local int is_vcpu;

static const long long give_up_ns = 60LL * 1000 * 1000 * 1000;

/* QEMU names the thread that runs all vCPUs in turn "ALL CPUs/TCG". */
int pthread_setname_np(pthread_t thread, const char* name)
{
  static int (*next)(pthread_t, const char*);
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "pthread_setname_np");
  if (strstr(name, "CPU") != NULL && strstr(name, "TCG") != NULL &&
      pthread_equal(thread, pthread_self())) {
    is_vcpu = 1;
    atomic_store(&running, 1);
  }
  return next(thread, name);
}

int pthread_cond_wait(pthread_cond_t* cond, pthread_mutex_t* mutex)
{
  static int (*next)(pthread_cond_t*, pthread_mutex_t*);
  if (!next) *(void**)&next = dlvsym(RTLD_NEXT, "pthread_cond_wait", "GLIBC_2.3.2");
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "pthread_cond_wait");
  if (!is_vcpu) return next(cond, mutex);
  atomic_store(&running, 0);
  if (atomic_load(&waiting) != 0)
    syscall(SYS_futex, &running, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  const int result = next(cond, mutex);
  atomic_store(&running, 1);
  return result;
}

/* QEMU's main loop runs in the thread that the program began with. */
static int is_main(void)
{
  static _Thread_local int known; /* 1: yes, -1: no */
  if (known == 0) known = getpid() == gettid() ? 1 : -1;
  return known == 1;
}

static long long now_ns(void)
{
  struct timespec t = {0, 0};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void wait_for_vcpu(void)
{
  static const struct timespec glance = {1, 0};
  const long long begin = now_ns();
  atomic_store(&waiting, 1);
  while (atomic_load(&running) != 0 && now_ns() - begin < give_up_ns)
    syscall(SYS_futex, &running, FUTEX_WAIT_PRIVATE, 1, &glance, NULL, 0);
  atomic_store(&waiting, 0);
}

int ppoll(struct pollfd* fds, nfds_t count, const struct timespec* timeout, const sigset_t* mask)
{
  static int (*next)(struct pollfd*, nfds_t, const struct timespec*, const sigset_t*);
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "ppoll");
  const int result = next(fds, count, timeout, mask);
  if (atomic_load(&running) != 0 && is_main()) wait_for_vcpu();
  return result;
}
