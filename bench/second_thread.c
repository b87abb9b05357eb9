/* Preloaded into another program (LD_PRELOAD), gives it a second thread, which sleeps: what a process of MPI has at
   least, and for which the kernel counts the uses of an open file in every system call on it. */

#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

static void* sleep_for_ever(void* nothing) {
  for (;;) pause();
  return nothing;
}

__attribute__((constructor)) static void start(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, sleep_for_ever, NULL) == 0) pthread_detach(thread);
}
