// `bun start`: reads the settings, starts the service, and stops it on a signal.

import type { ListenAddresses } from './cluster/claim-listen-addresses.ts'
import { endWithSupervisor } from './cluster/end-with-supervisor.ts'
import { CAN_SHARE_PORT, hostProcesses, superviseProcesses } from './cluster/host.ts'
import { createProcessLink, type ProcessLink } from './cluster/link.ts'
import type { ServicePlace } from './cluster/place.ts'
import { ProcessStartError } from './cluster/process-supervisor.ts'
import { type Config, loadConfig } from './config/config.ts'
import { parseListen } from './config/setting-values.ts'
import { describeSettings, SettingInvalidError } from './config/settings.ts'
import { CountersignError } from './domain/errors.ts'
import { explainFileProblem } from './lib/file-problem.ts'
import { errorCodeOf } from './lib/named-error.ts'
import { systemTimers } from './lib/time.ts'
import { MODULES } from './modules.ts'
import { PolicyInvalidError } from './policy/issues.ts'
import { WorkersUnusableError } from './pool/worker-supervisor.ts'
import { PROGRAM, START, TRIAL_WORD } from './program/labels.ts'
import { type Service, startService } from './service.ts'
import { bannerText } from './setup/banner.ts'
import { readListenerTls } from './setup/tls-files.ts'
import { SigningError } from './signing/errors.ts'
import { StoreUnreachableError, StoreUnusableError } from './store/errors.ts'
import { createLogger, type Logger } from './telemetry/log.ts'

const USAGE = `Usage: ${START} [--SETTING VALUE …]

Starts Countersign. Flags come first, then COUNTERSIGN_* variables, then the config file.

${describeSettings(MODULES)}

Other commands: ${PROGRAM} --help
`

/** One line for the operator with the reason for a failed startup; null for a bug in Countersign. */
const explain = (error: unknown): string | null => {
  // The process has logged the reason.
  if (error instanceof ProcessStartError) return error.message
  if (error instanceof SettingInvalidError || error instanceof PolicyInvalidError) return error.message
  if (error instanceof StoreUnusableError || error instanceof WorkersUnusableError) return error.detail
  if (error instanceof StoreUnreachableError) return error.reason
  const fileProblem = explainFileProblem(error)
  if (fileProblem !== null) return fileProblem
  if (error instanceof CountersignError || error instanceof SigningError) return error.detail
  const code = errorCodeOf(error)
  if (code === 'EADDRINUSE') return 'the address of --api-listen is in use: stop the other process or choose another'
  if (typeof code === 'string' && error instanceof Error) return error.message
  return null
}

/**
 * Time within which a signal counts as the same: `bun run` forwards a signal that the process group has already
 * received.
 */
const SAME_SIGNAL_MS = 1_000

/** Stops the service on a signal, then ends the process. */
const stopOnSignals = (log: Logger, stopService: () => Promise<void>): ((signal: string) => void) => {
  let stoppedAtMs: number | null = null
  const stop = async (signal: string): Promise<void> => {
    if (stoppedAtMs !== null) {
      // A second signal forces the exit. A signal right after the first was sent to the whole process group.
      if (performance.now() - stoppedAtMs > SAME_SIGNAL_MS) process.exit(1)
      return
    }
    stoppedAtMs = performance.now()
    log.info('stopping', { signal })
    await stopService()
    log.info('stopped')
    process.exit(0)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal))
  return (signal) => void stop(signal)
}

/**
 * Waits for startup before stopping, so that all opened parts are closed. A failed startup closes its own resources.
 */
const afterStart = async <Started>(
  starting: Promise<Started>,
  stop: (started: Started) => Promise<void>,
): Promise<void> => {
  const started = await starting.catch(() => null)
  if (started !== null) await stop(started)
}

const listenOf = ({ assignment }: ProcessLink): ListenAddresses => ({
  apiListen: parseListen(assignment.apiListen),
  portalListen: parseListen(assignment.portalListen),
  dashboardListen: parseListen(assignment.dashboardListen),
})

const placeOf = ({ assignment, collectMetrics, control }: ProcessLink): ServicePlace => ({
  index: assignment.index,
  shared: CAN_SHARE_PORT,
  collectMetrics,
  control,
})

const readyFields = ({ url, signer }: Service, { serve, workers }: Config) => ({
  url,
  ...(serve.has('attestation') ? { signer, workers } : {}),
  serves: [...serve].join(','),
})

const startAlone = async (config: Config, isTrial: boolean): Promise<void> => {
  const log = createLogger({ level: config.logLevel })
  const host = hostProcesses(config, log)
  const place: ServicePlace = { ...placeOf(host.link), isTrial }
  const starting = startService({ ...config, ...listenOf(host.link) }, log, place, MODULES)
  const stop = stopOnSignals(log, () => afterStart(starting, host.stop))
  const service = await starting
  host.link.answerWith(service)
  host.stopWith(service.stop)
  // The terminal is gone, and no supervisor could replace this process.
  process.on('SIGHUP', () => stop('SIGHUP'))
  process.stdout.write(bannerText(service, config))
  log.info('ready', readyFields(service, config))
  host.link.ready()
}

const startSupervised = async (link: ProcessLink, wanted: Config): Promise<void> => {
  const { index, supervisorPid, workers } = link.assignment
  const config = { ...wanted, workers, ...listenOf(link) }
  const log = createLogger({ level: config.logLevel }).with({ process: index })
  endWithSupervisor(process, supervisorPid, log, () => process.exit(1))
  const starting = startService(config, log, placeOf(link), MODULES)
  stopOnSignals(log, () => afterStart(starting, (service) => service.stop()))
  const service = await starting
  link.answerWith(service)
  // Only the supervisor reacts when the terminal hangs up.
  process.on('SIGHUP', () => undefined)
  if (index === 0) process.stdout.write(bannerText(service, config))
  log.info('ready', readyFields(service, config))
  link.ready()
}

/** Logs unhandled rejections. They are bugs, but must not stop the process and fail every request. */
const reportRejections = (log: Logger): void => {
  process.on('unhandledRejection', (error) => log.error('unhandled promise rejection', { error }))
}

/** Replaces all processes, which loads new certificates. Does nothing if the certificate and key files don't match. */
const replaceOnSignal = (config: Config, log: Logger, replaceAll: () => Promise<boolean>): void => {
  try {
    readListenerTls(config)
  } catch (error) {
    if (!(error instanceof SettingInvalidError)) throw error
    log.error('no process is replaced, because a new process could not listen', { reason: error.message })
    return
  }
  void replaceAll()
}

const start = async (): Promise<void> => {
  const link = createProcessLink(process, systemTimers.after)
  const isTrial = process.argv[2] === TRIAL_WORD
  const config = loadConfig({ arguments: process.argv.slice(isTrial ? 3 : 2), environment: process.env }, MODULES)
  reportRejections(createLogger({ level: config.logLevel }))
  if (link !== null) await startSupervised(link, config)
  // If the only thread hangs, only another process can detect it.
  else if (config.processes === 1 && config.workers > 0) await startAlone(config, isTrial)
  else {
    const log = createLogger({ level: config.logLevel })
    const supervisor = superviseProcesses(config, log)
    // Registered before the first process starts, so that a signal during startup ends all processes.
    stopOnSignals(log, supervisor.stop)
    if (!(await supervisor.start())) return
    process.on('SIGHUP', () => replaceOnSignal(config, log, supervisor.replaceAll))
    log.info('all processes are ready', { processes: config.processes })
  }
}

if (process.argv.slice(2).some((argument) => argument === '--help' || argument === '-h')) {
  process.stdout.write(USAGE)
} else {
  try {
    await start()
  } catch (error) {
    const reason = explain(error)
    if (reason === null) throw error
    process.stderr.write(`countersign: ${reason}\n`)
    process.exit(2)
  }
}
