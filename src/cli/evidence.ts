// `countersign evidence`: shows, saves and erases a session's evidence, lists who read it, and sets how long it is kept. Each read
// is recorded before any of it is shown.

import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { errorCodeOf } from '../lib/named-error.ts'
import { isoSeconds } from '../lib/time.ts'
import type { EvidenceKeyRotation } from '../setup/evidence-key.ts'
import type { Open, Opened } from './admin-client.ts'
import { runInOrganization } from './in-organization.ts'
import { nameOf, parseWhole, printable } from './key-options.ts'
import {
  CommandFailedError,
  type CommandOutput,
  formatTable,
  type ParsedCommand,
  print,
  UsageError,
  type Verbs,
} from './output.ts'
import { runVerbOf } from './run-verb.ts'
import { requireSession } from './session.ts'

const USAGE = `Usage: countersign evidence show SESSION [--by NAME] [--org NAME]
       countersign evidence save SESSION DOCUMENT --out FILE [--by NAME] [--org NAME]
       countersign evidence reads SESSION [--org NAME]
       countersign evidence erase SESSION [--by NAME] [--org NAME]
       countersign evidence retention [--completed DAYS] [--rejected DAYS] [--abandoned DAYS] [--org NAME]
       countersign evidence rotate-key

show and save are recorded with the name of who read. erase destroys the keys of all that the session's person handed in, for
good. A document is a stranger's file: open it in a program that runs nothing.

rotate-key wraps the keys of all documents and all webhook secrets by another key while the service runs. The next key is read
from the file of the present one with .next at its end, made where it is missing, and takes that file's place at the end. On
several machines put the same FILE.next beside it on each first. Interrupted, run it again.

  --out FILE           Where the document is written; it must not exist
  --by NAME            Who reads or erases (default: the user that runs the command)
  --completed DAYS     Keep evidence so long after a session was completed (default 1826)
  --rejected DAYS      The same for rejected ones (default 365)
  --abandoned DAYS     After the last step in a session that was never handed in (default 30)
  --org NAME           Organization, by name or id (default demo)
  --json               Print JSON
  --help               Print this

Exit codes: 0 done, 1 it can't be done, 2 the call is wrong.
`

export interface EvidenceCommandInput {
  readonly output: CommandOutput
  readonly open: Open
  readonly rotateKey: () => Promise<EvidenceKeyRotation>
  /** Name of the user who runs the command. */
  readonly user: string
}

interface Context extends Opened, EvidenceCommandInput {
  readonly command: ParsedCommand
  readonly organizationId: string
}

/** The admin client with --by as its author, and the session's path parameters. */
const inSession = async (context: Context) => {
  const { id } = await requireSession(context)
  const { admin, command, user, organizationId } = context
  return { id, admin: admin.as(nameOf(command, 'by', user)), params: { organization: organizationId, session: id } }
}

const show = async (context: Context): Promise<void> => {
  const { output, command } = context
  const { id, admin, params } = await inSession(context)
  const read = await admin.call('POST /organizations/{organization}/sessions/{session}/evidence/fields', {
    params,
    body: {},
  })
  const { documents, missing } = await admin.call('GET /organizations/{organization}/sessions/{session}/evidence', {
    params,
  })
  const given = {
    fullName: read.full_name,
    birthDate: read.birth_date,
    country: read.country,
    registeredName: read.registered_name,
    registrationNumber: read.registration_number,
    owners:
      read.owners.length === 0
        ? null
        : read.owners.map((each) => ({ name: each.name, sharePercent: each.share_percent })),
  }
  const fields = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))
  if (command.flag('json')) {
    const listed = documents.map((document) => ({
      id: document.id,
      kind: document.kind,
      mediaType: document.media_type,
      byteLength: document.bytes,
      fileName: document.file_name,
      createdAtSeconds: Date.parse(document.created_at) / 1_000,
    }))
    output.stdout(`${JSON.stringify({ sessionId: id, fields, documents: listed, missing })}\n`)
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
        document.id,
        document.kind,
        document.media_type,
        String(document.bytes),
        document.created_at,
        printable(document.file_name),
      ]),
    ])}`,
  )
  output.stdout(`\nmissing: ${missing.length === 0 ? 'nothing' : missing.join(', ')}\n`)
}

const save = async (context: Context): Promise<void> => {
  const { output, command } = context
  const document = command.positionals[2]
  if (document === undefined) throw new UsageError('DOCUMENT is missing')
  const path = command.required('out')
  const { admin, params } = await inSession(context)
  const { headers, body } = await admin.call(
    'GET /organizations/{organization}/sessions/{session}/evidence/documents/{document}',
    { params: { ...params, document } },
  )
  if (body === null) throw new Error('a document without content')
  const file = createWriteStream(path, { flags: 'wx', mode: 0o600 })
  try {
    await pipeline(Readable.from(body), file)
  } catch (error) {
    if (errorCodeOf(error) === 'EEXIST') throw new CommandFailedError('the file exists already')
    // Remove an incomplete document: its content could not be verified.
    await rm(path, { force: true })
    throw error
  }
  const mediaType = headers.get('content-type') ?? ''
  const byteLength = file.bytesWritten
  print({ output, command }, { documentId: document, mediaType, byteLength }, `${mediaType}, ${byteLength} bytes\n`)
}

const reads = async (context: Context): Promise<void> => {
  const { store, output, command, organizationId } = context
  const { id } = await requireSession(context)
  const rows = (await store.evidence.listReads({ organizationId, sessionId: id })).map(
    ({ readAtSeconds, ...read }) => ({ at: isoSeconds(readAtSeconds), ...read }),
  )
  print({ output, command }, rows, [
    ['AT', 'BY', 'KIND', 'EVIDENCE'],
    ...rows.map((row) => [row.at, printable(row.actor), row.kind, row.evidenceId]),
  ])
}

const erase = async (context: Context): Promise<void> => {
  const { admin, params } = await inSession(context)
  const path = 'POST /organizations/{organization}/sessions/{session}/evidence/erase'
  const { erased } = await admin.call(path, { params, body: {} })
  print(context, { erased }, `erased ${erased}\n`)
}

const daysOf = (command: ParsedCommand): Readonly<Record<string, number>> =>
  Object.fromEntries(
    ['completed', 'rejected', 'abandoned'].flatMap((name) => {
      const text = command.text(name)
      return text === undefined ? [] : [[`${name}_days`, parseWhole(text, `--${name}`)]]
    }),
  )

const retention = async ({ admin, output, command, organizationId }: Context): Promise<void> => {
  const params = { organization: organizationId }
  const body = daysOf(command)
  const days =
    Object.keys(body).length === 0
      ? await admin.call('GET /organizations/{organization}/evidence-retention', { params })
      : await admin.call('PATCH /organizations/{organization}/evidence-retention', {
          params,
          body,
          flags: { completed_days: '--completed', rejected_days: '--rejected', abandoned_days: '--abandoned' },
        })
  const shown = {
    completedDays: days.completed_days,
    rejectedDays: days.rejected_days,
    abandonedDays: days.abandoned_days,
  }
  print({ output, command }, shown, [
    ['completed', `${shown.completedDays} days`],
    ['rejected', `${shown.rejectedDays} days`],
    ['abandoned', `${shown.abandonedDays} days`],
  ])
}

/** Rotates the deployment's key, so it takes no organization. */
const rotateKey = async (
  { output, rotateKey: rotate }: EvidenceCommandInput,
  command: ParsedCommand,
): Promise<void> => {
  const rotated = await rotate()
  if (command.flag('json')) {
    output.stdout(`${JSON.stringify(rotated)}\n`)
    return
  }
  const { organizations, secrets, unreadable, file, inPlace } = rotated
  output.stdout(`wrapped anew: ${secrets} keys and secrets of ${organizations} organizations; the key is in ${file}\n`)
  if (unreadable > 0) output.stdout(`${unreadable} keys and secrets can't be opened, and could not be before\n`)
  if (!inPlace) output.stdout(`put its content in the place of ${file.replace(/\.next$/, '')} before you remove it\n`)
}

const VERBS: Verbs<(context: Context) => Promise<void>> = {
  show: { run: show, words: 1 },
  save: { run: save, words: 2 },
  reads: { run: reads, words: 1 },
  erase: { run: erase, words: 1 },
  retention: { run: retention, words: 0 },
  'rotate-key': { run: (context) => rotateKey(context, context.command), words: 0 },
}

const COMMAND = {
  help: USAGE,
  subject: 'evidence',
  verbs: VERBS,
  texts: ['org', 'by', 'out', 'completed', 'rejected', 'abandoned'],
}

export const runEvidence = (commandArguments: readonly string[], input: EvidenceCommandInput): Promise<number> =>
  runVerbOf(COMMAND, commandArguments, input.output, async (run, command) => {
    if (command.positionals[0] === 'rotate-key') {
      await rotateKey(input, command)
      return 0
    }
    return runInOrganization(input.open, command, (opened, organizationId) =>
      run({ ...opened, ...input, command, organizationId }),
    )
  })
