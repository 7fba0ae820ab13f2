// CPU time of this thread, or the monotonic clock if the system does not provide it.
// Source: POSIX, clock_gettime; Linux, linux/time.h.
import { dlopen, FFIType } from 'bun:ffi'

const CLOCK_THREAD_CPUTIME_ID = 3

const openClock = (): (() => number) => {
  try {
    const { symbols } = dlopen('libc.so.6', {
      clock_gettime: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
    })
    const time = new BigInt64Array(2)
    return () => {
      symbols.clock_gettime(CLOCK_THREAD_CPUTIME_ID, time)
      return Number(time[0]) * 1_000 + Number(time[1]) / 1_000_000
    }
  } catch {
    // Another system, or another C library.
    return () => performance.now()
  }
}

export const threadMs: () => number = openClock()
