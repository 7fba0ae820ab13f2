// Ends a process and removes its folder when the test run is gone, however it ended: nothing under test stays behind.

export interface Watchdog {
  /** The caller has ended its process itself. */
  dismiss(): Promise<void>
}

/** @param folder removed afterwards; null keeps it. */
export const startWatchdog = (pid: number, folder: string | null): Watchdog => {
  // Its input ends when this process does.
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
