// `countersign policy`: check a document, make it a policy's next revision and activate it, list, show.
import { readFileSync } from 'node:fs'
import { PolicyInvalidError } from '../policy/errors.ts'
import { draftRevision } from '../policy/revision.ts'
import type { Store } from '../store/store.ts'
import {
  CommandFailedError,
  type CommandOutput,
  formatTable,
  type ParsedCommand,
  parseCommand,
  runToExitCode,
  UsageError,
} from './output.ts'

const USAGE = `Usage: countersign policy check FILE
       countersign policy apply FILE [--policy ID] [--org NAME]
       countersign policy list [--org NAME]
       countersign policy show ID [--revision NUMBER] [--org NAME]

A policy document is YAML or JSON: name, default, quorum, and ordered rules of id, one of allow, deny or require (an
expression), code and message. FILE may be - for standard input.

  check   Says whether a document is valid; every problem has its line and column.
  apply   Saves a document as the policy's next revision and activates it: live within a second, without a restart.
          Without --policy it makes a new policy.
  list    The organization's policies.
  show    A policy's active document, or that of a revision.

  --org NAME   Organization, by name or id (default demo)
  --json       Print JSON
  --help       Print this

Exit codes: 0 done, 1 the document is invalid or the policy unknown, 2 the call is wrong.
`

interface Context {
  readonly store: Store
  readonly output: CommandOutput
  readonly command: ParsedCommand
}

const readSource = (path: string | undefined): string => {
  if (path === undefined) throw new UsageError('FILE is missing')
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8')
  } catch {
    throw new CommandFailedError(`${path} can't be read`)
  }
}

const requireOrganization = async ({ store, command }: Context): Promise<string> => {
  const name = command.text('org') ?? 'demo'
  const organization = await store.organizations.find(name)
  if (organization === null) throw new CommandFailedError(`there is no organization ${name}`)
  return organization.id
}

const check = ({ output, command }: Pick<Context, 'output' | 'command'>): number => {
  const { document, requires } = draftRevision(readSource(command.positionals[1])).compiled
  const summary = { valid: true, name: document.name, rules: document.rules.length, requires }
  const needs = requires.length === 0 ? '' : `; needs ${requires.join(', ')}`
  output.stdout(
    command.flag('json')
      ? `${JSON.stringify(summary)}\n`
      : `${document.name}: valid, ${document.rules.length} rules${needs}\n`,
  )
  return 0
}

const apply = async (context: Context): Promise<number> => {
  const { store, output, command } = context
  const organizationId = await requireOrganization(context)
  const { source, compiled } = draftRevision(readSource(command.positionals[1]))
  const { document } = compiled
  const policyId = command.text('policy')
  const applied = await store.transaction(async (tables) => {
    const policy =
      policyId === undefined
        ? await tables.policies.create({ organizationId, name: document.name })
        : await tables.policies.find(organizationId, policyId)
    if (policy === null) throw new CommandFailedError(`there is no policy ${policyId}`)
    const revision = await tables.policies.saveRevision({
      organizationId,
      policyId: policy.id,
      source,
      quorum: document.quorum,
    })
    if (revision === null) throw new CommandFailedError(`there is no policy ${policy.id}`)
    if (policy.name !== document.name) await tables.policies.rename(organizationId, policy.id, document.name)
    await tables.policies.activateRevision(organizationId, policy.id, revision.id)
    return { policy: policy.id, revision: revision.id, number: revision.number, contentHash: revision.contentHash }
  })
  output.stdout(
    command.flag('json')
      ? `${JSON.stringify(applied)}\n`
      : `${applied.policy}: revision ${applied.number} (${applied.revision}) is active\n`,
  )
  return 0
}

const list = async (context: Context): Promise<number> => {
  const { store, output, command } = context
  const policies = await store.policies.list(await requireOrganization(context))
  if (command.flag('json')) output.stdout(`${JSON.stringify(policies)}\n`)
  else {
    output.stdout(
      formatTable([
        ['POLICY', 'NAME', 'REVISIONS', 'ACTIVE'],
        ...policies.map(({ id, name, revisionCount, activeRevisionId }) => [
          id,
          name,
          String(revisionCount),
          activeRevisionId ?? '-',
        ]),
      ]),
    )
  }
  return 0
}

const show = async (context: Context): Promise<number> => {
  const { store, output, command } = context
  const organizationId = await requireOrganization(context)
  const policyId = command.positionals[1]
  if (policyId === undefined) throw new UsageError('the policy ID is missing')
  const policy = await store.policies.find(organizationId, policyId)
  if (policy === null) throw new CommandFailedError(`there is no policy ${policyId}`)
  const number = command.text('revision')
  const revisions = await store.policies.listRevisions(organizationId, policyId)
  const revision = revisions.find((candidate) =>
    number === undefined ? candidate.id === policy.activeRevisionId : String(candidate.number) === number,
  )
  if (revision === undefined) throw new CommandFailedError('there is no such revision')
  output.stdout(command.flag('json') ? `${JSON.stringify(revision)}\n` : revision.source)
  return 0
}

const VERBS: Readonly<Record<string, (context: Context) => Promise<number>>> = { apply, list, show }

/** `openStore` is called only by what needs one: `check` works on any machine. */
export const runPolicy = (
  commandArguments: readonly string[],
  output: CommandOutput,
  openStore: () => Promise<Store>,
): Promise<number> =>
  runToExitCode(output, USAGE, async () => {
    const command = parseCommand(commandArguments, {
      org: { type: 'string' },
      policy: { type: 'string' },
      revision: { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    })
    if (command.flag('help')) {
      output.stdout(USAGE)
      return 0
    }
    const verb = command.positionals[0]
    try {
      if (verb === 'check') return check({ output, command })
      const run = verb === undefined ? undefined : VERBS[verb]
      if (run === undefined) throw new UsageError('say what to do with policies')
      const store = await openStore()
      try {
        return await run({ store, output, command })
      } finally {
        await store.close()
      }
    } catch (error) {
      if (!(error instanceof PolicyInvalidError)) throw error
      if (command.flag('json')) output.stdout(`${JSON.stringify({ valid: false, issues: error.issues })}\n`)
      else output.stderr(`${error.message}\n`)
      return 1
    }
  })
