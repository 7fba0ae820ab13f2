// `countersign evidence`: what a session's person handed in, for whoever decides; who read it; how long it stays. Each reading
// is on record before a byte of it is shown.
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Session } from '../domain/session.ts'
import type { EvidenceKeyRotation } from '../setup/evidence-key.ts'
import { RETENTION_DAYS_MAX, type Retention } from '../store/evidence-retention.ts'
import type { Store } from '../store/store.ts'
import type { EvidenceParts } from '../wiring/evidence-service.ts'
import { runInOrganization } from './in-organization.ts'
import { STEERING } from './key-options.ts'
import {
  CommandFailedError,
  type CommandOutput,
  findVerb,
  formatTable,
  type ParsedCommand,
  parseCommand,
  runToExitCode,
  UsageError,
  type Verbs,
} from './output.ts'

const USAGE = `Usage: countersign evidence show SESSION [--by NAME] [--org NAME]
       countersign evidence save SESSION DOCUMENT --out FILE [--by NAME] [--org NAME]
       countersign evidence reads SESSION [--org NAME]
       countersign evidence erase SESSION [--by NAME] [--org NAME]
       countersign evidence retention [--completed DAYS] [--rejected DAYS] [--abandoned DAYS] [--org NAME]
       countersign evidence rotate-key [--to FILE]

show and save are recorded with the name of who read. erase destroys the keys of all that the session's person handed in, for
good. A document is a stranger's file: open it in a program that runs nothing. rotate-key makes a new key for the whole
deployment and wraps all others anew, while the service is stopped; interrupted, it goes on where it was.

  --out FILE           Where the document is written; it must not exist
  --by NAME            Who reads or erases (default: the user that runs the command)
  --completed DAYS     Keep evidence so long after a session was completed (default 1826)
  --rejected DAYS      The same for rejected ones (default 365)
  --abandoned DAYS     After the last step in a session that was never handed in (default 30)
  --to FILE            Where the new key is or shall be made; for a key that is not in the data folder
  --org NAME           Organization, by name or id (default demo)
  --json               Print JSON
  --help               Print this

Exit codes: 0 done, 1 it can't be done, 2 the call is wrong.
`

export interface EvidenceCommandInput {
  readonly output: CommandOutput
  readonly openStore: () => Promise<Store>
  readonly openEvidence: (store: Store) => Promise<EvidenceParts>
  /** See evidence-key.ts. Refuses while a service runs. */
  readonly rotateKey: (newKeyFile: string | null) => Promise<EvidenceKeyRotation>
  /** Name of the user who runs the command. */
  readonly user: string
}

interface Context extends EvidenceCommandInput {
  readonly store: Store
  readonly command: ParsedCommand
  readonly organizationId: string
}

const NAME_MAX = 100

const timeText = (seconds: number): string => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')
const printable = (text: string): string => text.replaceAll(new RegExp(STEERING, 'gu'), '?')

const actorOf = ({ command, user }: Context): string => {
  const name = command.text('by') ?? user
  if (name === '' || name.length > NAME_MAX || STEERING.test(name)) {
    throw new UsageError(`--by must be 1 to ${NAME_MAX} characters without control characters`)
  }
  return `operator:${name}`
}

const requireSession = async ({ store, command, organizationId }: Context): Promise<Session> => {
  const id = command.positionals[1]
  if (id === undefined) throw new UsageError('SESSION is missing')
  const state = await store.sessions.find(organizationId, id.toLowerCase())
  if (state === null) throw new CommandFailedError(`there is no session ${printable(id)}`)
  return state.session
}

const withEvidence = async <Result>(
  context: Context,
  use: (evidence: EvidenceParts['evidence']) => Promise<Result>,
): Promise<Result> => {
  const parts = await context.openEvidence(context.store)
  try {
    return await use(parts.evidence)
  } finally {
    await parts.close()
  }
}

const show = async (context: Context): Promise<void> => {
  const { output, command } = context
  const session = await requireSession(context)
  const actor = actorOf(context)
  const { fields, documents, missing } = await withEvidence(context, async (evidence) => ({
    ...(await evidence.listEvidence(session)),
    fields: await evidence.readFields(session, actor),
    missing: await evidence.missing(session),
  }))
  const wanted = missing.map((part) => (part.part === 'field' ? part.name : part.kind))
  if (command.flag('json')) {
    output.stdout(`${JSON.stringify({ sessionId: session.id, fields, documents, missing: wanted })}\n`)
    return
  }
  const values = Object.entries(fields).map(([name, value]) => [
    name,
    printable(typeof value === 'string' ? value : JSON.stringify(value)),
  ])
  output.stdout(formatTable([['FIELD', 'VALUE'], ...values]))
  output.stdout(
    `\n${formatTable([
      ['DOCUMENT', 'KIND', 'TYPE', 'BYTES', 'AT', 'NAME'],
      ...documents.map((document) => [
        ...[document.id, document.kind, document.mediaType, String(document.byteLength)],
        ...[timeText(document.createdAtSeconds), printable(document.fileName)],
      ]),
    ])}`,
  )
  output.stdout(`\nmissing: ${wanted.length === 0 ? 'nothing' : wanted.join(', ')}\n`)
}

const save = async (context: Context): Promise<void> => {
  const { output, command } = context
  const session = await requireSession(context)
  const documentId = command.positionals[2]
  if (documentId === undefined) throw new UsageError('DOCUMENT is missing')
  const path = command.required('out')
  const actor = actorOf(context)
  await withEvidence(context, async (evidence) => {
    const opened = await evidence.openDocument(session, documentId, actor)
    if (opened === null) throw new CommandFailedError('the session has no such document')
    const file = createWriteStream(path, { flags: 'wx', mode: 0o600 })
    try {
      await pipeline(Readable.from(opened.stream), file)
    } catch (error) {
      if ((error as { code?: unknown } | null)?.code === 'EEXIST')
        throw new CommandFailedError('the file exists already')
      // What could not be checked to its end is not left lying around as if it were whole.
      await rm(path, { force: true })
      throw error
    }
    const { mediaType, byteLength } = opened.receipt
    output.stdout(
      command.flag('json')
        ? `${JSON.stringify({ documentId, mediaType, byteLength })}\n`
        : `${mediaType}, ${byteLength} bytes\n`,
    )
  })
}

const reads = async (context: Context): Promise<void> => {
  const { store, output, command, organizationId } = context
  const { id } = await requireSession(context)
  const rows = (await store.evidence.listReads({ organizationId, sessionId: id })).map(
    ({ readAtSeconds, ...read }) => ({ at: timeText(readAtSeconds), ...read }),
  )
  output.stdout(
    command.flag('json')
      ? `${JSON.stringify(rows)}\n`
      : formatTable([
          ['AT', 'BY', 'KIND', 'EVIDENCE'],
          ...rows.map((row) => [row.at, printable(row.actor), row.kind, row.evidenceId]),
        ]),
  )
}

const erase = async (context: Context): Promise<void> => {
  const session = await requireSession(context)
  const actor = actorOf(context)
  const erased = await withEvidence(context, (evidence) => evidence.eraseSession(session, actor))
  context.output.stdout(context.command.flag('json') ? `${JSON.stringify({ erased })}\n` : `erased ${erased}\n`)
}

const parseDays = (command: ParsedCommand, name: string): number | undefined => {
  const text = command.text(name)
  if (text === undefined) return undefined
  const days = /^(0|[1-9][0-9]{0,4})$/.test(text) ? Number(text) : Number.NaN
  if (!(days <= RETENTION_DAYS_MAX)) throw new UsageError(`--${name} must be 0 to ${RETENTION_DAYS_MAX} days`)
  return days
}

const retention = async ({ store, output, command, organizationId }: Context): Promise<void> => {
  const current = await store.evidenceRetention.find(organizationId)
  const wanted: Retention = {
    completedDays: parseDays(command, 'completed') ?? current.completedDays,
    rejectedDays: parseDays(command, 'rejected') ?? current.rejectedDays,
    abandonedDays: parseDays(command, 'abandoned') ?? current.abandonedDays,
  }
  const changes = ['completed', 'rejected', 'abandoned'].some((name) => command.text(name) !== undefined)
  if (changes) await store.evidenceRetention.set(organizationId, wanted)
  output.stdout(
    command.flag('json')
      ? `${JSON.stringify(wanted)}\n`
      : formatTable([
          ['completed', `${wanted.completedDays} days`],
          ['rejected', `${wanted.rejectedDays} days`],
          ['abandoned', `${wanted.abandonedDays} days`],
        ]),
  )
}

/** Of the whole deployment: no organization is asked for. */
const rotateKey = async (
  { output, rotateKey: rotate }: EvidenceCommandInput,
  command: ParsedCommand,
): Promise<void> => {
  const rotated = await rotate(command.text('to') ?? null)
  if (command.flag('json')) {
    output.stdout(`${JSON.stringify(rotated)}\n`)
    return
  }
  const { organizations, secrets, keyFile, settingToChange } = rotated
  output.stdout(`wrapped anew: ${secrets} keys and secrets of ${organizations} organizations; the key is ${keyFile}\n`)
  if (settingToChange !== null) output.stdout(`before the next start, change ${settingToChange} to it\n`)
}

const VERBS: Verbs<(context: Context) => Promise<void>> = {
  show: { run: show, words: 1 },
  save: { run: save, words: 2 },
  reads: { run: reads, words: 1 },
  erase: { run: erase, words: 1 },
  retention: { run: retention, words: 0 },
  'rotate-key': { run: (context) => rotateKey(context, context.command), words: 0 },
}

export const runEvidence = (commandArguments: readonly string[], input: EvidenceCommandInput): Promise<number> =>
  runToExitCode(input.output, USAGE, async () => {
    const text = { type: 'string' } as const
    const flag = { type: 'boolean' } as const
    const command = parseCommand(
      commandArguments,
      {
        ...{ org: text, by: text, out: text, completed: text, rejected: text, abandoned: text, to: text },
        ...{ json: flag, help: { ...flag, short: 'h' } },
      },
      VERBS,
    )
    if (command.flag('help')) {
      input.output.stdout(USAGE)
      return 0
    }
    const run = findVerb(VERBS, command)
    if (run === undefined) throw new UsageError('say what to do with evidence')
    if (command.positionals[0] === 'rotate-key') {
      await rotateKey(input, command)
      return 0
    }
    return runInOrganization(input.openStore, command, (store, organizationId) =>
      run({ ...input, store, command, organizationId }),
    )
  })
