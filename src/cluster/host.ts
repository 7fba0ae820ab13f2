// Runs the service as several processes behind one port, with a supervisor that opens no listener, store or key. A
// single process serves, and supervises processes added later.
import type { Config } from '../config/config.ts'
import { PROCESSES_MAX } from '../config/process-plan.ts'
import { SettingInvalidError } from '../config/settings.ts'
import { lastingTimers, systemClock, systemTimers } from '../lib/time.ts'
import { ownProcess } from '../program/entries.ts'
import { listenText } from '../server/listen-address.ts'
import { dataFolderAt, makeDataFolder } from '../setup/data-folder.ts'
import { checkAccess } from '../setup/file-access.ts'
import { lockFolder } from '../store/sqlite/folder-lock.ts'
import type { Logger } from '../telemetry/log.ts'
import { ALLOCATOR_ENVIRONMENT } from './allocator.ts'
import { claimListenAddresses } from './claim-listen-addresses.ts'
import { createProcessLink, type ProcessLink } from './link.ts'
import { ASSIGNMENT_VARIABLE, type FromProcess, type ProcessAssignment, type ToProcess } from './messages.ts'
import type { ProcessListener, SupervisedProcess } from './place.ts'
import { createProcessSupervisor, type ProcessSupervisor } from './process-supervisor.ts'
import { sendToChild } from './send.ts'

/** Time added to the deadline, because a stop does more than finish requests. */
const STOP_SLACK_MS = 15_000

/** Only Linux distributes connections fairly on a shared port. */
export const CAN_SHARE_PORT = process.platform === 'linux'

const claim = (config: Config, log: Logger) => {
  const claimed = claimListenAddresses(config)
  const folder = dataFolderAt(config.dataDir)
  checkAccess(folder, config, log.warn)
  makeDataFolder(folder)
  return {
    listen: {
      apiListen: listenText(claimed.apiListen),
      portalListen: listenText(claimed.portalListen),
      dashboardListen: listenText(claimed.dashboardListen),
    },
    lock: lockFolder(folder.lock, folder.root),
  }
}

const spawnProcess = (assignment: ProcessAssignment, listener: ProcessListener, log: Logger): SupervisedProcess => {
  const program = ownProcess('src/main.ts')
  const child = Bun.spawn([...program.words, ...process.argv.slice(2)], {
    env: {
      ...ALLOCATOR_ENVIRONMENT,
      ...process.env,
      ...program.environment,
      [ASSIGNMENT_VARIABLE]: JSON.stringify(assignment),
    },
    stdio: ['ignore', 'inherit', 'inherit'],
    ipc: (message: FromProcess) => listener.onMessage(message),
    onExit: (_child, exitCode) => listener.onExit(exitCode),
  })
  log.info('starting a process', { process: assignment.index, pid: child.pid })
  return {
    pid: child.pid,
    send: (message) => sendToChild(child, message),
    kill: (signal) => child.kill(signal),
  }
}

const supervisorOptions = (config: Config, log: Logger) => ({
  target: { processes: config.processes, workers: config.workers },
  processesMax: CAN_SHARE_PORT ? PROCESSES_MAX : 1,
  stopMs: config.deadlineMs + STOP_SLACK_MS,
  // If all children are dead, only the restart timer keeps this process alive.
  after: lastingTimers.after,
  monotonicMs: systemClock.monotonicMs,
  unixMs: Date.now,
  log,
})

export const superviseProcesses = (config: Config, log: Logger): ProcessSupervisor => {
  if (!CAN_SHARE_PORT) {
    throw new SettingInvalidError(
      '--processes above 1 and --workers 0 need Linux: other systems do not share a port fairly',
    )
  }
  const { listen, lock } = claim(config, log)
  const supervisor = createProcessSupervisor({
    ...supervisorOptions(config, log),
    spawn: (index, listener, workers) =>
      spawnProcess({ index, supervisorPid: process.pid, workers, ...listen }, listener, log),
  })
  return {
    ...supervisor,
    start: async () => {
      try {
        return await supervisor.start()
      } catch (error) {
        lock.release()
        throw error
      }
    },
    stop: async () => {
      await supervisor.stop()
      lock.release()
    },
  }
}

/** Creates the entry for the supervisor's own process. Messages that the process sends to itself arrive asynchronously. */
const createOwnPlace = (assignment: ProcessAssignment) => {
  let hear: (message: ToProcess) => void = () => undefined
  let listener: ProcessListener | null = null
  let stopService: () => Promise<void> = async () => undefined
  const link = createProcessLink(
    {
      env: { [ASSIGNMENT_VARIABLE]: JSON.stringify(assignment) },
      send: (message) => queueMicrotask(() => listener?.onMessage(message)),
      on: (_event: 'message', heard: (message: ToProcess) => void) => {
        hear = heard
      },
    },
    systemTimers.after,
  )
  const stop = async (): Promise<void> => {
    await stopService()
    listener?.onExit(0)
  }
  return {
    link: link as ProcessLink,
    stopWith: (stopping: () => Promise<void>): void => {
      stopService = stopping
    },
    begin: (hears: ProcessListener): SupervisedProcess => {
      listener = hears
      return {
        pid: process.pid,
        own: true,
        send: (message) => queueMicrotask(() => hear(message)),
        kill: (signal) => (signal === 'SIGKILL' ? process.exit(1) : void stop()),
      }
    },
  }
}

export const hostProcesses = (config: Config, log: Logger) => {
  const { listen, lock } = claim(config, log)
  const own = createOwnPlace({ index: 0, supervisorPid: process.pid, workers: config.workers, ...listen })
  const supervisor = createProcessSupervisor({
    ...supervisorOptions(config, log),
    spawn: (index, listener, workers) =>
      index === 0
        ? own.begin(listener)
        : spawnProcess({ index, supervisorPid: process.pid, workers, ...listen }, listener, log),
  })
  // The service reports its own readiness; if it can't start, the process ends.
  supervisor.start().catch((error: unknown) => log.error('could not supervise the processes', { error }))
  return {
    link: own.link,
    /** Call before the first request for a stop. */
    stopWith: own.stopWith,
    stop: async (): Promise<void> => {
      await supervisor.stop()
      lock.release()
    },
  }
}
