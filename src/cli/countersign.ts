#!/usr/bin/env bun
// `bun run countersign VERB …`. Exit codes: 0 success, 1 failure or a problem was found, 2 invalid arguments or
// settings, 3 a second person must approve.
import { type Command, type CommandPlace, isServed } from '../command-line/command.ts'
import type { CommandDeployment } from '../command-line/command-deployment.ts'
import { isNoted, noteCommand } from '../command-line/command-note.ts'
import { didYouMean, LocalCommandError, noSuch, UsageError } from '../command-line/output.ts'
import { printError } from '../command-line/print-error.ts'
import { splitOverride } from '../command-line/second-person.ts'
import { type Config, loadConfig } from '../config/config.ts'
import { describeSettings } from '../config/settings.ts'
import { VERSION } from '../config/version.ts'
import { systemClock } from '../lib/time.ts'
import { loadCommands } from '../module-interface/commands.ts'
import { MODULES } from '../modules.ts'
import { PROGRAM } from '../program/labels.ts'
import { dataFolderAt } from '../setup/data-folder.ts'
import { asStarted } from '../setup/left-out-modules.ts'
import { createDeployment } from './deployment.ts'
import { configFileOf, splitLeadingOptions, splitSettingFlags } from './given-settings.ts'
import { operatingUser } from './operating-user.ts'
import { openRemote } from './remote-client.ts'
import { runVerb, VERBS, verbsOf } from './verbs.ts'

const usage = async (modules: ReadonlySet<string>): Promise<string> => {
  const { COMMANDS } = await import('./commands.ts')
  const { described } = await import('./help.ts')
  const nouns = Map.groupBy(
    COMMANDS.filter((command) => isServed(command, modules)),
    ({ noun }) => noun,
  )
  const describe = (isLocal: boolean) =>
    [...nouns]
      .filter(([, commands]) => commands.every((command) => command.isLocal) === isLocal)
      .map(([noun, commands]) => [noun, commands.map(({ verb }) => verb).join(', ')] as const)
  return `Usage: ${PROGRAM} NOUN VERB [options]
       ${PROGRAM} VERB [options]

Administration, on this machine, or on another deployment with --url and an admin key:
${described(describe(false))}
This machine:
${described([...describe(true), ...Object.entries(verbsOf(modules))])}
${PROGRAM} help NOUN [VERB] shows more. Every command accepts --data-dir FOLDER and --config FILE; most accept --json.
A running service applies changes within a second.

If an organization or the deployment requires a second person, a command that changes who gets attestations exits with 3 and changes nothing. --override-second-person --reason TEXT makes the change anyway; the audit log and the dashboard show the override and the reason.
`
}

/** Rewrites `help NOUN VERB` to `NOUN VERB --help`. */
const asHelpOption = ([first, ...rest]: readonly string[]): readonly string[] =>
  first === 'help' ? [...rest, '--help'] : first === undefined ? [] : [first, ...rest]

const unknownNoun = async (noun: string): Promise<never> => {
  const { NOUNS } = await import('./commands.ts')
  throw new UsageError(`there is ${noSuch('command', noun)}${didYouMean(noun, [...NOUNS, ...Object.keys(VERBS)])}`)
}

/** Nouns without operations, whose commands start without loading them. */
const WITHOUT_OPERATIONS: Readonly<Record<string, () => Promise<readonly Command[]>>> = {
  decisions: async () => (await import('./decisions.ts')).DECISIONS_COMMANDS,
  geo: async () => (await import('./geo.ts')).GEO_COMMANDS,
  solana: async () => (await import('./solana.ts')).SOLANA_COMMANDS,
}

const commandsFor = async (
  word: string,
  args: readonly string[],
): Promise<readonly [commands: readonly Command[], args: readonly string[]]> => {
  const own = Object.hasOwn(WITHOUT_OPERATIONS, word) ? WITHOUT_OPERATIONS[word] : undefined
  if (own !== undefined) return [[...(await own()), ...(await loadCommands(MODULES, word))], args]
  const { commandsOf } = await import('./commands.ts')
  const { translateEarlier } = await import('./earlier-spellings.ts')
  const [noun, ...given] = translateEarlier([word, ...args], commandsOf)
  return [commandsOf(noun), given]
}

/** Returns commands with a similar noun: `decision` and `decisions`. */
const othersOf = async (noun: string): Promise<readonly Command[]> =>
  (await import('./commands.ts')).commandsOf(noun.endsWith('s') ? noun.slice(0, -1) : `${noun}s`)

const runNoun = async (
  word: string,
  args: readonly string[],
  url: string | null,
  deployment: CommandDeployment,
  place: CommandPlace,
): Promise<number | null> => {
  const [commands, given] = await commandsFor(word, args)
  if (commands.length === 0) return null
  const { runCommand } = await import('./run-command.ts')
  const { environment, ask = null } = place
  return runCommand(commands, given, {
    ...place,
    ask,
    url,
    others: () => othersOf(word),
    deployment,
    open: deployment.open,
    openRemote: (at) => openRemote(at, environment),
  })
}

const configOf = (settings: string[], environment: CommandPlace['environment']): Config => {
  const config = loadConfig({ arguments: settings, environment }, MODULES)
  return asStarted(config, dataFolderAt(config.dataDir))
}

/**
 * Returns the names of the running modules; of all modules if the settings are invalid, so that help is always
 * available.
 */
const modulesOf = (...given: Parameters<typeof configOf>): ReadonlySet<string> => {
  try {
    return configOf(...given).modules
  } catch {
    return new Set(MODULES.map(({ name }) => name))
  }
}

/** Returns the exit code. @throws only internal errors */
export const runCountersign = async (commandLine: readonly string[], place: CommandPlace): Promise<number> => {
  const { output, environment } = place
  try {
    const { settings, others: given } = splitSettingFlags(commandLine)
    const { url, json, words } = splitLeadingOptions(given)
    const [verb, ...after] = asHelpOption(words)
    // Options end at `--`.
    const end = after.includes('--') ? after.indexOf('--') : after.length
    const rest = json ? after.toSpliced(end, 0, '--json') : after
    if (verb === undefined || verb === '--help' || verb === '-h') {
      output.stdout(await usage(modulesOf(settings, environment)))
      return verb === undefined ? 2 : 0
    }
    if (verb === '--version' || verb === 'version') {
      output.stdout(`${VERSION}\n`)
      return 0
    }
    if (url !== null && Object.hasOwn(VERBS, verb)) throw new LocalCommandError()
    if (verb === 'settings') {
      output.stdout(`${describeSettings(MODULES)}\n`)
      return 0
    }
    if (verb === 'completion') return (await import('./completion.ts')).runCompletion(rest, output)
    if (verb === 'plan') return (await import('./plan.ts')).runPlan(rest, output)
    if (verb === 'sbom') return (await import('./sbom.ts')).runSbom(rest, output)
    const config = configOf(settings, environment)
    const { others, override } = splitOverride(rest)
    const { clock, user } = place
    const deployment = createDeployment({
      config,
      configFile: configFileOf(settings, environment),
      clock,
      user,
      override,
    })
    const code =
      (await runVerb(verb, others, deployment, place, runCountersign)) ??
      (await runNoun(verb, others, url, deployment, place)) ??
      (await unknownNoun(verb))
    if (code === 0 && isNoted(verb, others)) {
      await deployment.withStore((store) => noteCommand(store, verb, others, user))
    }
    return code
  } catch (error) {
    const usage = error instanceof UsageError ? `To list the commands: ${PROGRAM} help\n` : ''
    return printError(output, commandLine.includes('--json'), error, usage)
  }
}

const askAtTerminal = async (question: string): Promise<boolean> => {
  const { createInterface } = await import('node:readline/promises')
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return (await terminal.question(`${question} Type yes to continue: `)).trim() === 'yes'
  } finally {
    terminal.close()
  }
}

export const runCommandLine = async (): Promise<void> => {
  const [, , first, second] = process.argv
  if (first === 'start' || (first === 'help' && second === 'start')) {
    process.argv.splice(2, first === 'start' ? 1 : 2, ...(first === 'help' ? ['--help'] : []))
    await import('../main.ts')
    return
  }
  process.exitCode = await runCountersign(process.argv.slice(2), {
    output: {
      stdout: (text) => void process.stdout.write(text),
      stderr: (text) => void process.stderr.write(text),
    },
    environment: process.env,
    clock: systemClock,
    user: operatingUser(),
    ...(process.stdin.isTTY && process.stderr.isTTY && { ask: askAtTerminal }),
  })
}

if (import.meta.main) await runCommandLine()
