// `countersign evidence`. Each access is recorded before any content is shown.
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { authorOption, type Command, type CommandContext, ORG, text } from '../command-line/command.ts'
import { requireOrganization } from '../command-line/in-organization.ts'
import { nameOf } from '../command-line/option-values.ts'
import { CommandFailedError, print } from '../command-line/output.ts'
import { errorCodeOf } from '../lib/named-error.ts'
import { isoTime } from '../lib/time.ts'
import { printAnswer, UNDECLARED } from './derived/answer.ts'
import { printRotation, rotationDescription } from './rotation.ts'

const EVIDENCE = '/organizations/{organization}/sessions/{session}/evidence'
const BY = authorOption('by')
const SESSION = { name: 'SESSION', help: 'ID of the session' }

const findSession = async ({ command, open }: CommandContext) => {
  const { admin } = await open()
  const params = {
    organization: await requireOrganization({ admin }, command.text('org')),
    session: command.words[0] ?? '',
  }
  await admin.call('GET /organizations/{organization}/sessions/{session}', { params })
  return { params, admin }
}

/** Like `findSession`, with --by as the author. */
const inSession = async (context: CommandContext) => {
  const { params, admin } = await findSession(context)
  return { params, admin: admin.as(nameOf(context.command, 'by', context.user)) }
}

const show = async (context: CommandContext): Promise<number> => {
  const { admin, params } = await inSession(context)
  const read = await admin.call(`POST ${EVIDENCE}/fields`, { params, body: {} })
  const { documents, missing } = await admin.call(`GET ${EVIDENCE}`, { params })
  const fields = Object.fromEntries(
    Object.entries(read).filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0)),
  )
  const answer = context.command.flag('json') ? { fields, documents, missing } : { ...fields, missing, documents }
  printAnswer(context, answer, UNDECLARED)
  return 0
}

const save = async (context: CommandContext): Promise<number> => {
  const { command } = context
  const path = command.required('out')
  const { admin, params } = await inSession(context)
  const { headers, body } = await admin.call(`GET ${EVIDENCE}/documents/{document}`, {
    params: { ...params, document: command.words[1] ?? '' },
  })
  if (body === null) throw new Error('the response has no content')
  const file = createWriteStream(path, { flags: 'wx', mode: 0o600 })
  try {
    await pipeline(Readable.from(body), file)
  } catch (error) {
    if (errorCodeOf(error) === 'EEXIST') throw new CommandFailedError('the file already exists')
    // The content of an incomplete document isn't verified.
    await rm(path, { force: true })
    throw error
  }
  const saved = { media_type: headers.get('content-type') ?? '', bytes: file.bytesWritten }
  print(context, saved, `${saved.media_type}, ${saved.bytes} bytes\n`)
  return 0
}

const listReads = async (context: CommandContext): Promise<number> => {
  const { params } = await findSession(context)
  const { store } = await context.open()
  const reads = await store.evidence.listReads({ organizationId: params.organization, sessionId: params.session })
  const data = reads.map(({ readAtSeconds, evidenceId, ...read }) => ({
    at: isoTime(readAtSeconds),
    ...read,
    evidence_id: evidenceId,
  }))
  printAnswer(context, { data }, { ...UNDECLARED, items: {} as never })
  return 0
}

export const EVIDENCE_COMMANDS: readonly Command[] = [
  {
    noun: 'evidence',
    verb: 'show',
    summary: 'Show the fields and list the documents of a session',
    description: 'The audit log records who read the evidence.',
    words: [SESSION],
    options: [BY, ORG],
    run: show,
  },
  {
    noun: 'evidence',
    verb: 'save',
    summary: 'Save a document of a session to a file',
    description:
      'The audit log records who read the file. The file comes from an untrusted person: open it only in a program that executes no code in it.',
    words: [SESSION, { name: 'DOCUMENT', help: 'ID of the document; see evidence show' }],
    options: [text('out', 'FILE', 'File to write; must not exist', { required: true }), BY, ORG],
    run: save,
  },
  {
    noun: 'evidence',
    verb: 'list-reads',
    summary: 'List reads of a session’s evidence',
    words: [SESSION],
    options: [ORG],
    isLocal: true,
    run: listReads,
  },
  {
    noun: 'evidence',
    verb: 'rotate-key',
    summary: 'Re-encrypt the keys of all evidence and webhook secrets with a new key',
    description: rotationDescription('key'),
    isLocal: true,
    run: async (context) => {
      const rotated = await context.deployment.rotateEvidenceKey()
      const { organizations, secrets, unreadable } = rotated
      printRotation(context, rotated, [
        `re-encrypted: ${secrets} keys and secrets of ${organizations} organizations`,
        ...(unreadable > 0
          ? [`${unreadable} keys and secrets could not be decrypted: they were already unreadable before the rotation`]
          : []),
      ])
      return 0
    },
  },
]
