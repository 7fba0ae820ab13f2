// The service as several processes of itself behind one port, with a supervisor: this process. It claims the addresses and
// the data folder for all, listens nowhere, and opens neither store nor key.
import { join } from 'node:path'
import type { Config } from './config.ts'
import { dataFolderAt, makeDataFolder } from './data-folder.ts'
import { systemClock } from './domain/time.ts'
import { claimListenAddresses } from './listen-address.ts'
import { systemTimers } from './pool/timers.ts'
import { ASSIGNMENT_VARIABLE, type FromProcess, type ProcessAssignment } from './process-messages.ts'
import { createProcessSupervisor, type ProcessSupervisor } from './process-supervisor.ts'
import { type ListenAddress, SettingInvalidError } from './settings.ts'
import { lockFolder } from './store/folder-lock.ts'
import type { Logger } from './telemetry/log.ts'

/** Beyond the deadline: what a stop does besides answering what is under way. */
const STOP_SLACK_MS = 15_000

const textOf = ({ hostname, port }: ListenAddress): string =>
  hostname.includes(':') ? `[${hostname}]:${port}` : `${hostname}:${port}`

/** @throws SettingInvalidError, StoreUnusableError, ProcessStartError */
export const startProcesses = async (config: Config, log: Logger): Promise<ProcessSupervisor> => {
  if (process.platform !== 'linux') {
    throw new SettingInvalidError('--processes above 1 needs Linux: elsewhere the system does not share a port fairly')
  }
  const claimed = claimListenAddresses(config)
  const folder = dataFolderAt(config.dataDir)
  makeDataFolder(folder)
  const lock = lockFolder(folder.lock, folder.root)
  const { processes: count, workers } = config
  const listen = {
    apiListen: textOf(claimed.apiListen),
    portalListen: textOf(claimed.portalListen),
    dashboardListen: textOf(claimed.dashboardListen),
  }
  const supervisor = createProcessSupervisor({
    count,
    spawn: (index, listener) => {
      const assignment: ProcessAssignment = { index, count, workers, ...listen }
      const child = Bun.spawn([process.execPath, join(import.meta.dir, 'main.ts'), ...process.argv.slice(2)], {
        env: { ...process.env, [ASSIGNMENT_VARIABLE]: JSON.stringify(assignment) },
        stdio: ['ignore', 'inherit', 'inherit'],
        ipc: (message: FromProcess) => listener.onMessage(message),
        onExit: (_child, exitCode) => listener.onExit(exitCode),
      })
      log.info('a process is started', { process: index, pid: child.pid })
      return {
        pid: child.pid,
        send: (message) => {
          // One that is ending takes no messages any more.
          if (child.exitCode === null && child.signalCode === null) child.send(message)
        },
        kill: (signal) => child.kill(signal),
      }
    },
    stopMs: config.deadlineMs + STOP_SLACK_MS,
    after: systemTimers.after,
    monotonicMs: systemClock.monotonicMs,
    log,
  })
  try {
    await supervisor.start()
  } catch (error) {
    lock.release()
    throw error
  }
  return {
    ...supervisor,
    stop: async () => {
      await supervisor.stop()
      lock.release()
    },
  }
}
