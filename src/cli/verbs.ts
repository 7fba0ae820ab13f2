// Runs the verbs of the command line with their dependencies. Each verb's code is imported on use, because importing all of it
// takes longer than most commands.

import { ModuleLeftOutError } from '../admin/errors.ts'
import type { CommandDeployment } from '../command-line/command-deployment.ts'
import { noteCommand } from '../command-line/command-note.ts'
import { CommandFailedError, type CommandOutput } from '../command-line/output.ts'
import type { CommandPlace } from '../command-line/verb.ts'
import { findServiceAmong } from '../lib/service-key.ts'
import { providedByModules } from '../module-interface/open-modules.ts'
import { MODULES } from '../modules.ts'
import type { ShipPlace } from '../object-store/ship-target.ts'
import { ASK_TOKEN } from '../signing/token-service.ts'
import { LOG_TREE_TABLES } from '../store/copy/log-tree-tables.ts'
import { openBackupBucket } from './backup/backup-place.ts'
import { describeGivenSettings } from './given-settings.ts'

/** Of the core. */
const CORE: Readonly<Record<string, string>> = {
  start: 'Start the service',
  'screener-stub': 'Run a stub screener for trials',
  backup: 'Copy the deployment to a folder while the service runs',
  restore: 'Create a deployment from a backup',
  migrate: 'Copy a database into another, SQLite or PostgreSQL',
  doctor: 'Check chains, registries, attesters, the machine, the store and backups',
  sbom: 'Print the software bill of materials (CycloneDX)',
  settings: 'List every setting of the service with its default',
  completion: 'Print a completion script for bash, zsh or fish',
}

const OF_MODULES = new Map(
  MODULES.flatMap(({ name, verbs = {} }) => Object.entries(verbs).map(([verb, each]) => [verb, { ...each, name }])),
)

/** Summary of each command that consists of a verb only. @param modules names of the running modules */
export const verbsOf = (modules: ReadonlySet<string>): Readonly<Record<string, string>> => ({
  ...CORE,
  ...Object.fromEntries(
    [...OF_MODULES].filter(([, { name }]) => modules.has(name)).map(([verb, { summary }]) => [verb, summary]),
  ),
})

export const VERBS = verbsOf(new Set(MODULES.map(({ name }) => name)))

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

/** @throws CommandFailedError if the deployment runs without the module */
const runModuleVerb = async (
  verb: string,
  commandArguments: string[],
  deployment: CommandDeployment,
  place: CommandPlace,
  runCommand: RunCommand,
): Promise<number | null> => {
  const found = OF_MODULES.get(verb)
  if (found === undefined) return null
  if (!deployment.config.modules.has(found.name)) throw new ModuleLeftOutError(found.name)
  return found.run(commandArguments, {
    ...place,
    deployment,
    stopped: untilStopped,
    runWithin: runWithin(runCommand, place),
  })
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
  const treeTables = deployment.findService(LOG_TREE_TABLES)
  const openBucket = (bucket: ShipPlace) => openBackupBucket(deployment.shipTarget(bucket))
  const evidenceKeys = async () => (await import('../setup/evidence-key.ts')).findEvidenceKeys(config, folder)
  switch (verb) {
    case 'screener-stub':
      return (await import('./screener-stub.ts')).runScreenerStub(commandArguments, {
        output,
        stopped: untilSignal,
      })
    case 'backup':
      return (await import('./backup/backup.ts')).runBackup(commandArguments, {
        output,
        folder,
        configFile: deployment.configFile,
        locateStore: deployment.locateStore,
        openBucket,
        evidenceKeys,
        treeTables,
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
        treeTables,
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
        treeTables,
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
      return runModuleVerb(verb, commandArguments, deployment, place, runCommand)
  }
}
