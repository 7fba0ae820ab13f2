// Runs the verbs of the command line with their dependencies. Each verb's code is imported on use, because importing all of it
// takes longer than most commands.

import type { CommandDeployment } from '../command-line/command-deployment.ts'
import { noteCommand } from '../command-line/command-note.ts'
import { CommandFailedError, type CommandOutput } from '../command-line/output.ts'
import { findServiceAmong } from '../lib/service-key.ts'
import type { Clock } from '../lib/time.ts'
import { providedByModules } from '../module-interface/open-modules.ts'
import { MODULES } from '../modules.ts'
import type { ShipPlace } from '../object-store/ship-target.ts'
import { ASK_TOKEN } from '../signing/token-service.ts'
import { openBackupBucket } from './backup/backup-place.ts'
import { describeGivenSettings } from './given-settings.ts'

/** A command's surroundings: its output, its environment variables, its clock and its user. */
export interface CommandPlace {
  readonly output: CommandOutput
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** Name of the operating system's user. */
  readonly user: string
  /** Asks a person to confirm; left out where nobody is at a terminal. */
  readonly ask?: (question: string) => Promise<boolean>
}

/** Summary of each command that consists of a verb only. */
export const VERBS: Readonly<Record<string, string>> = {
  start: 'Start the service',
  'screener-stub': 'Run a stub screener for trials',
  witness: 'Follow another deployment’s log and cosign its heads',
  backup: 'Copy the deployment to a folder while the service runs',
  restore: 'Create a deployment from a backup',
  migrate: 'Copy a database into another, SQLite or PostgreSQL',
  doctor: 'Check chains, registries, attesters, the machine, the store and backups',
  sbom: 'Print the software bill of materials (CycloneDX)',
  settings: 'List every setting of the service with its default',
  completion: 'Print a completion script for bash, zsh or fish',
}

const untilSignal = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })

const untilStopped = (): AbortSignal => {
  const controller = new AbortController()
  void untilSignal().then(() => controller.abort())
  return controller.signal
}

/** Runs another command. Resolves to its exit code. */
export type RunCommand = (commandLine: readonly string[], place: CommandPlace) => Promise<number>

/** Runs another command with these environment variables only. @returns its stdout. @throws CommandFailedError */
const runWithin =
  (runCommand: RunCommand, place: CommandPlace) =>
  async (environment: CommandPlace['environment'], ...words: readonly string[]): Promise<string> => {
    let stdout = ''
    let stderr = ''
    const output: CommandOutput = {
      stdout: (text) => {
        stdout += text
      },
      stderr: (text) => {
        stderr += text
      },
    }
    const code = await runCommand(words, { ...place, environment, output })
    if (code === 0) return stdout
    throw new CommandFailedError(`countersign ${words.slice(0, 2).join(' ')}: ${stderr === '' ? stdout : stderr}`)
  }

/** Resolves to the exit code; null when there is no such verb. */
export const runVerb = async (
  verb: string,
  commandArguments: string[],
  deployment: CommandDeployment,
  place: CommandPlace,
  runCommand: RunCommand,
): Promise<number | null> => {
  const { output, clock, user } = place
  const { config, folder, openStore } = deployment
  const openBucket = (bucket: ShipPlace) => openBackupBucket(deployment.shipTarget(bucket))
  const evidenceKeys = async () => (await import('../setup/evidence-key.ts')).findEvidenceKeys(config, folder)
  switch (verb) {
    case 'screener-stub':
      return (await import('./screener-stub.ts')).runScreenerStub(commandArguments, {
        output,
        stopped: untilSignal,
      })
    case 'witness':
      return (await import('./witness/witness.ts')).runWitness(commandArguments, {
        output,
        unixSeconds: clock.unixSeconds,
        signal: untilStopped(),
      })
    case 'backup':
      return (await import('./backup/backup.ts')).runBackup(commandArguments, {
        output,
        folder,
        configFile: deployment.configFile,
        locateStore: deployment.locateStore,
        openBucket,
        evidenceKeys,
        describeSettings: () => describeGivenSettings(place.environment),
        note: () => deployment.withStore((store) => noteCommand(store, verb, commandArguments, user)),
        now: () => new Date(),
        stopped: untilStopped,
      })
    case 'restore':
      return (await import('./backup/restore.ts')).runRestore(commandArguments, {
        output,
        folder,
        monotonicMs: clock.monotonicMs,
        locateStore: deployment.locateStore,
        openBucket,
        evidenceKeys,
        inspectTokenKeys: async (attesters, restored) => {
          const { inspectTokenKeys } = await import('./doctor/doctor-token.ts')
          return inspectTokenKeys(
            attesters,
            findServiceAmong(providedByModules(MODULES, { config, folder: restored }))(ASK_TOKEN),
          )
        },
        trial: () => ({
          secretSettings: deployment.secretSettings(),
          signal: untilStopped(),
          run: runWithin(runCommand, place),
        }),
      })
    case 'migrate':
      return (await import('./backup/migrate.ts')).runMigrate(commandArguments, {
        output,
        dataDirectory: config.dataDir,
        environment: place.environment,
        monotonicMs: clock.monotonicMs,
        wait: (milliseconds) => Bun.sleep(milliseconds),
      })
    case 'doctor':
      return (await import('./doctor/doctor.ts')).runDoctor(commandArguments, {
        output,
        config,
        folder,
        clock,
        findService: deployment.findService,
        openStore,
        locateStore: deployment.locateStore,
      })
    default:
      return null
  }
}
