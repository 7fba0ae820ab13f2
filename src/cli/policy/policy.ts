// `countersign policy`: documents, revisions, shadows and replays. The commands are in policy-*.ts.
import { knownSources } from '../../admin/policies/find.ts'
import type { ChainTable } from '../../domain/chain.ts'
import type { Clock } from '../../lib/time.ts'
import { PolicyInvalidError } from '../../policy/errors.ts'
import type { Open } from '../admin-client.ts'
import { requireOrganization } from '../in-organization.ts'
import { type CommandOutput, findVerb, parseCommand, print, runToExitCode, UsageError, type Verbs } from '../output.ts'
import { knownChains, type PolicyContext, readDraft } from './policy-context.ts'
import { check, create, schema, templates, test } from './policy-documents.ts'
import { serveLanguage } from './policy-language-server.ts'
import { type ReplayContext, replay } from './policy-replay.ts'
import { activate, apply, comparesFiles, describeDifferences, diff, list, shadow, show } from './policy-revisions.ts'
import { simulate } from './policy-simulate.ts'

const USAGE = `Usage: countersign policy check FILE
       countersign policy test FILE
       countersign policy templates
       countersign policy new --template NAME
       countersign policy schema
       countersign policy language-server [--org NAME]
       countersign policy diff OLD NEW | NEW --policy ID
       countersign policy apply FILE [--policy ID] [--draft]
       countersign policy activate ID --revision REVISION
       countersign policy shadow ID --revision REVISION | --off
       countersign policy replay REVISION_OR_FILE [--policy ID] [--since TIME] [--until TIME]
       countersign policy simulate REVISION_OR_FILE --session ID [--policy ID]
       countersign policy list
       countersign policy show ID [--revision REVISION | --revisions]

A policy document is YAML or JSON; FILE may be - for standard input. REVISION is a revision's id, or its number together
with --policy. Every command but the first six takes --org NAME, by name or id (default demo).

  check      Says whether a document is valid and its tests pass; every problem has its line and column. Warnings say what
             is likely not meant, and keep nothing from being saved.
  test       Runs a document's tests and prints each.
  templates  Lists the templates; new prints one, to be edited.
  schema     Prints the JSON Schema of policy documents.
  language-server
             Helps an editor over the Language Server Protocol, on standard input and output: mistakes, what may be
             written, what a word means. With --org it knows the organization's lists and the deployment's screeners.
  diff       Says what is different between two revisions or files.
  apply      Saves a document as the policy's next revision and activates it: live within a second, without a restart.
             Without --policy it makes a new policy. --draft only saves.
  activate   Makes a saved revision the one that decides.
  shadow     Has a revision evaluated beside the active one; its verdicts are recorded and never answered.
  replay     Runs a revision or file over recorded decisions (of the last 7 days, or --since 36h or a time in RFC 3339)
             and says what it would change, by rule. A policy that decides sessions runs over the newest that people have
             decided (of the last year), and has to be tried so before it decides.
  simulate   Tries a policy that decides sessions on one of them: what each rule says, and on which facts.
  list       The organization's policies.
  show       A policy's active document, or that of a revision; --revisions lists them.

  --json     Print JSON
  --help     Print this

Exit codes: 0 done, 1 the document is invalid, a test fails or the policy is unknown, 2 the call is wrong.
`

export interface PolicyCommandDependencies {
  readonly output: CommandOutput
  /** Opens the store. Called only by commands that need it, so that documents can be checked on any machine. */
  readonly open: Open
  readonly decisionsDirectory: string
  readonly chains: ChainTable
  /** Names of the deployment's screeners. */
  readonly screeners: ReadonlySet<string>
  readonly clock: Clock
  /** Whether standard error is a terminal. */
  readonly isTerminal: boolean
}

const DOCUMENT_VERBS: Verbs<(context: PolicyContext) => number> = {
  check: { run: check, words: 1 },
  test: { run: test, words: 1 },
  templates: { run: templates, words: 0 },
  new: { run: create, words: 0 },
  schema: { run: schema, words: 0 },
}

/** What documents may name: with an organization its lists and the deployment's screeners, else the chains alone. */
const runLanguageServer = async (context: PolicyContext, { open, screeners }: PolicyCommandDependencies) => {
  const { output, command } = context
  const alone = knownChains(context)
  const opened = command.text('org') === undefined ? null : await open()
  try {
    const organizationId = opened === null ? '' : await requireOrganization(opened, command.text('org'))
    return await serveLanguage({
      input: Bun.stdin.stream(),
      write: output.stdout,
      known: async () => {
        if (opened === null) return alone
        const { chains = new Set<string>() } = alone
        return knownSources(opened.store, organizationId, { screeners, chains })
      },
    })
  } finally {
    await opened?.close()
  }
}

const STORE_VERBS: Verbs<(context: ReplayContext) => Promise<number>> = {
  apply: { run: apply, words: 1 },
  activate: { run: activate, words: 1 },
  shadow: { run: shadow, words: 1 },
  replay: { run: replay, words: 1 },
  simulate: { run: simulate, words: 1 },
  list: { run: list, words: 0 },
  show: { run: show, words: 1 },
  diff: { run: diff, words: 2 },
}

const LANGUAGE_SERVER = 'language-server'

const OPTIONS = {
  org: { type: 'string' },
  policy: { type: 'string' },
  revision: { type: 'string' },
  revisions: { type: 'boolean' },
  session: { type: 'string' },
  template: { type: 'string' },
  since: { type: 'string' },
  until: { type: 'string' },
  draft: { type: 'boolean' },
  off: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

/** Compares two files, without a store. */
const diffFiles = (context: PolicyContext): number => {
  const [, from, to] = context.command.positionals
  const differences = describeDifferences(readDraft(from).compiled, readDraft(to).compiled)
  print(context, differences.all, differences.text)
  return 0
}

export const runPolicy = (
  commandArguments: readonly string[],
  dependencies: PolicyCommandDependencies,
): Promise<number> => {
  const { output, open } = dependencies
  return runToExitCode(output, USAGE, commandArguments, async () => {
    const command = parseCommand(commandArguments, OPTIONS, {
      ...DOCUMENT_VERBS,
      ...STORE_VERBS,
      [LANGUAGE_SERVER]: { run: runLanguageServer, words: 0 },
    })
    if (command.flag('help')) {
      output.stdout(USAGE)
      return 0
    }
    const context: PolicyContext = { output, command, chains: dependencies.chains }
    try {
      const runDocument = findVerb(DOCUMENT_VERBS, command)
      if (runDocument !== undefined) return runDocument(context)
      if (command.positionals[0] === LANGUAGE_SERVER) return await runLanguageServer(context, dependencies)
      if (command.positionals[0] === 'diff' && comparesFiles(command.positionals)) return diffFiles(context)
      const run = findVerb(STORE_VERBS, command)
      if (run === undefined) throw new UsageError('say what to do with policies')
      const opened = await open()
      try {
        const organizationId = await requireOrganization(opened, command.text('org'))
        return await run({ ...dependencies, ...opened, command, organizationId })
      } finally {
        await opened.close()
      }
    } catch (error) {
      if (!(error instanceof PolicyInvalidError)) throw error
      const { issues, warnings } = error
      if (command.flag('json')) output.stdout(`${JSON.stringify({ valid: false, issues, warnings })}\n`)
      else output.stderr(`${error.message}\n`)
      return 1
    }
  })
}
