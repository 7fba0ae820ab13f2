#!/usr/bin/env bun
// `bun run countersign VERB …`: finds the verb, gives it what it needs, and exits with its code:
// 0 done, 1 a problem was found or it can't be done, 2 the call or a setting is wrong, 3 a second person has to approve it.
import { SecondPersonNeededError } from '../admin/errors.ts'
import { loadConfig } from '../config/config.ts'
import { describeSettings, SettingInvalidError } from '../config/settings.ts'
import { CountersignError } from '../domain/errors.ts'
import { systemClock } from '../lib/time.ts'
import { MODULES } from '../modules.ts'
import { PROGRAM } from '../program/labels.ts'
import { StoreUnreachableError, StoreUnusableError } from '../store/errors.ts'
import { explainFileProblem } from '../store/sqlite/file-problem.ts'
import { isNoted, noteCommand } from './command-note.ts'
import { createDeployment } from './deployment.ts'
import { configFileOf } from './given-settings.ts'
import { operatingUser } from './operating-user.ts'
import { UsageError } from './output.ts'
import { NEEDS_SECOND_PERSON, REFUSAL, splitOverride } from './second-person.ts'
import { splitSettingFlags } from './setting-flags.ts'
import { type CommandPlace, runVerb } from './verbs.ts'

const USAGE = `Usage: ${PROGRAM} VERB [--data-dir FOLDER] [--config FILE] …

  start       start the service
  org         list and create organizations, and set their level
  account     let somebody back in who lost password or second factor
  keys        issue, list, regenerate and revoke API keys
  attester    add, import, list and retire the keys that sign
  account-key seal one-time codes' secrets with another key
  policy      check, test, save, activate, shadow and replay policies
  project     list, create, change and bind projects
  lists       make, fill, export and refresh lists of addresses
  screening   compare people and companies with lists of sanctions
  geo         look an IP address up as policies see it
  screener-stub  answer as a screener would, for trials
  session     list, show and decide identity sessions
  evidence    show, save and erase what people handed in, and say how long it stays
  webhook     say who is told of sessions, and see what became of each message
  decisions   follow, verify, prove and ship the decision log
  proof       check the proof of a decision offline, and print the log's key
  witness     follow another deployment's log and cosign its heads
  backup      copy the deployment to a folder while the service runs
  restore     make a deployment from a backup
  migrate     copy a database into another, SQLite or PostgreSQL
  audit       show who changed what, and verify that record
  doctor      check chains, registries and attesters there, the machine, the store and backups, and say what to do
  solana      say what to run so that a Solana cluster has a registry of your own
  sbom        print the software bill of materials (CycloneDX)
  settings    list every setting of the service with its default

VERB --help says more. Changes are live in a running service within a second.

Where an organization, or the deployment, asks for a second person, a verb that changes who gets signed for ends with 3 and
changes nothing. --override-second-person --reason TEXT does it all the same; the audit log and the dashboard show both.
`

/** @param commandLine the words after the program's name. @returns the exit code. @throws only errors that are faults of ours */
export const runCountersign = async (commandLine: readonly string[], place: CommandPlace): Promise<number> => {
  const { output, environment } = place
  const [verb, ...rest] = commandLine
  if (verb === undefined || verb === '--help' || verb === '-h') {
    output.stdout(USAGE)
    return verb === undefined ? 2 : 0
  }
  if (verb === 'settings') {
    output.stdout(`${describeSettings(MODULES)}\n`)
    return 0
  }
  if (verb === 'sbom') return (await import('./sbom.ts')).runSbom(rest, output)
  try {
    const { settings, others } = splitSettingFlags(rest)
    const config = loadConfig({ arguments: settings, environment }, MODULES)
    const { others: given, override } = splitOverride(others)
    const { clock, user } = place
    const deployment = createDeployment({
      config,
      configFile: configFileOf(settings, environment),
      clock,
      user,
      override,
    })
    const code = await runVerb(verb, given, deployment, place, runCountersign)
    if (code === null) throw new UsageError(`there is no verb ${verb}: countersign --help lists them`)
    if (code === 0 && isNoted(verb, given)) {
      await deployment.withStore((store) => noteCommand(store, verb, given, user))
    }
    return code
  } catch (error) {
    if (error instanceof SecondPersonNeededError) {
      output.stderr(REFUSAL)
      return NEEDS_SECOND_PERSON
    }
    if (error instanceof SettingInvalidError || error instanceof UsageError) {
      output.stderr(`${error.message}\n`)
      return 2
    }
    if (error instanceof StoreUnreachableError || error instanceof StoreUnusableError) {
      output.stderr(`${error instanceof StoreUnreachableError ? error.reason : error.detail}\n`)
      return 1
    }
    const fileProblem = explainFileProblem(error)
    if (fileProblem !== null || error instanceof CountersignError) {
      output.stderr(`${fileProblem ?? (error as CountersignError).detail}\n`)
      return 1
    }
    throw error
  }
}

/** Runs the words that this process was started with. */
export const runCommandLine = async (): Promise<void> => {
  if (process.argv[2] === 'start') {
    process.argv.splice(2, 1)
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
  })
}

if (import.meta.main) await runCommandLine()
