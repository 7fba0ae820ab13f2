// Commands that consist of a verb only. Their code is imported on use, because importing all takes longer than most
// commands.

import { ModuleLeftOutError } from '../admin/errors.ts'
import type { CommandPlace } from '../command-line/command.ts'
import type { CommandDeployment } from '../command-line/command-deployment.ts'
import { CommandFailedError, type CommandOutput } from '../command-line/output.ts'
import { MODULES } from '../modules.ts'
import { LOG_TREE_TABLES } from '../store/copy/log-tree-tables.ts'

const CORE: Readonly<Record<string, string>> = {
  start: 'Start the service',
  'screener-stub': 'Run a stub screener for trials',
  migrate: 'Copy a SQLite or PostgreSQL database to another database',
  doctor: 'Check chains, registries, attesters, the machine, the store and backups',
  plan: 'Benchmark this machine and recommend numbers of processes, workers and nodes for a request rate',
  sbom: 'Print the software bill of materials (CycloneDX)',
  settings: 'List all settings of the service with their defaults',
  completion: 'Print a completion script for bash, zsh or fish',
}

const OF_MODULES = new Map(
  MODULES.flatMap(({ name, verbs = {} }) => Object.entries(verbs).map(([verb, each]) => [verb, { ...each, name }])),
)

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

type RunCommand = (commandLine: readonly string[], place: CommandPlace) => Promise<number>

/** Runs a command with only these environment variables; returns its stdout. @throws CommandFailedError */
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

/** @throws CommandFailedError if the module isn't running */
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

export const runVerb = async (
  verb: string,
  commandArguments: string[],
  deployment: CommandDeployment,
  place: CommandPlace,
  runCommand: RunCommand,
): Promise<number | null> => {
  const { output, clock } = place
  const { config, folder, openStore } = deployment
  switch (verb) {
    case 'screener-stub':
      return (await import('./screener-stub.ts')).runScreenerStub(commandArguments, {
        output,
        stopped: untilSignal,
      })
    case 'migrate':
      return (await import('./migrate.ts')).runMigrate(commandArguments, {
        output,
        dataDirectory: config.dataDir,
        treeTables: deployment.findService(LOG_TREE_TABLES),
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
