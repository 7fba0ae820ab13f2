// Ends a process and removes its folder after the test run has ended for any reason.

export interface Watchdog {
  /** Call after the caller has ended the process itself. */
  dismiss(): Promise<void>
}

/** @param folder removed afterwards; null removes nothing */
export const startWatchdog = (pid: number, folder: string | null): Watchdog => {
  // Its input ends together with this process.
  const script = 'read -r _; kill -9 "$0"; [ -z "$1" ] || rm -rf "$1"'
  const watchdog = Bun.spawn(['sh', '-c', script, String(pid), folder ?? ''], {
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  return {
    dismiss: async () => {
      watchdog.kill('SIGKILL')
      await watchdog.exited
    },
  }
}
