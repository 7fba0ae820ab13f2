// `countersign attester`: makes, imports, lists and retires signing keys. Key material comes from a file or standard input and
// goes into an encrypted keystore; no command prints it or takes it as an argument.
import { rmSync } from 'node:fs'
import { basename } from 'node:path'
import type { DataFolder } from '../setup/data-folder.ts'
import type { Passphrase } from '../setup/passphrase.ts'
import type { PassphraseRotation } from '../setup/rotate-passphrase.ts'
import { type AttesterKeystore, importAttesterKey } from '../signing/attester-files.ts'
import { SigningError } from '../signing/errors.ts'
import { readPassphrase } from '../signing/passphrase.ts'
import { detectPrivateKeyFormat, type PrivateKeySource } from '../signing/private-key-text.ts'
import type { AnswerOf, Open, Opened } from './admin-client.ts'
import { runOpened } from './in-organization.ts'
import {
  CommandFailedError,
  type CommandOutput,
  type ParsedCommand,
  print,
  secondsOf,
  UsageError,
  type Verbs,
} from './output.ts'
import { readText } from './read-text.ts'
import { runVerbOf } from './run-verb.ts'

const USAGE = `Usage: countersign attester add --kind secp256k1|ed25519 [--pkcs11 KEY]
       countersign attester import FILE [--kind secp256k1|ed25519] [--passphrase-file FILE]
       countersign attester list
       countersign attester retire ADDRESS [--final]
       countersign attester rotate-passphrase

Attesters sign: secp256k1 keys for EVM chains, Ed25519 keys for Solana. The oldest active key of a kind signs; a task
with a quorum is signed by that many. A running service uses a change within a second, and no request fails for it.

  add      Makes a new key. With --pkcs11, uses the one in the hardware token (pkcs11-module) that has this label or PKCS#11
           URI, such as pkcs11:id=%01: it stays there, and signs there.
  import   Reads a key from FILE (- for standard input): a hex key (secp256k1 unless --kind says otherwise), a Web3
           Secret Storage v3 keystore, or a Solana CLI keypair. The original file is not changed.
  list     All attesters.
  retire   Stops signing with a key: it becomes retiring. With --final it becomes retired and is loaded no more.
  rotate-passphrase   Locks every keystore with another passphrase while the service runs. The next passphrase is read from
           the file of the present one with .next at its end, made where it is missing, and takes that file's place at the
           end. On several machines put the same FILE.next beside it on each first. Interrupted, run it again. Keys in a
           token have no keystore: their PIN is the token's own.

To rotate a key: add the new key, register it on chain, then retire the old one.

  --passphrase-file FILE   Opens an imported v3 keystore
  --json                   Print JSON
  --help                   Print this

Exit codes: 0 done, 1 it can't be done, 2 the call is wrong.
`

export interface AttesterCommandInput {
  readonly output: CommandOutput
  readonly folder: DataFolder
  /** Called once the store is open. */
  readonly passphrase: () => Passphrase
  readonly open: Open
  readonly rotatePassphrase: () => Promise<PassphraseRotation>
}

interface Context extends AttesterCommandInput, Opened {
  readonly command: ParsedCommand
}

const describe = (attester: AnswerOf<'GET /attesters'>['data'][number]) => ({
  id: attester.id,
  kind: attester.kind,
  address: attester.address,
  keystoreFile: attester.token_key ?? attester.keystore_file,
  status: attester.status,
  createdAtSeconds: secondsOf(attester.created_at),
})

const destination = async ({ folder, passphrase }: Context) => {
  const { source, workFactor } = passphrase()
  return { directory: folder.keystores, passphrase: await readPassphrase(source), workFactor }
}

/** Adds the attester to the store; if that fails, deletes its keystore. */
const register = async (
  { admin, output, command }: Context,
  { kind, address, path }: AttesterKeystore,
): Promise<void> => {
  try {
    const body = { kind, address, keystore_file: basename(path) }
    const attester = await admin.call('POST /attesters/import', { body })
    print({ output, command }, describe(attester), `${kind} attester ${address} is active\n`)
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  }
}

const readKind = (command: ParsedCommand, byDefault?: 'secp256k1'): 'secp256k1' | 'ed25519' => {
  const kind = command.text('kind') ?? byDefault
  if (kind !== 'secp256k1' && kind !== 'ed25519') throw new UsageError('--kind must be secp256k1 or ed25519')
  return kind
}

const add = async ({ admin, output, command }: Context): Promise<void> => {
  const tokenKey = command.text('pkcs11')
  const attester = await admin.call('POST /attesters', {
    body: { kind: readKind(command), ...(tokenKey === undefined ? {} : { token_key: tokenKey }) },
    flags: { kind: '--kind', token_key: '--pkcs11' },
  })
  print({ output, command }, describe(attester), `${attester.kind} attester ${attester.address} is active\n`)
}

const sourceOf = (text: string, command: ParsedCommand): PrivateKeySource => {
  const format = detectPrivateKeyFormat(text)
  if (format === null) throw new CommandFailedError('this is no hex key, v3 keystore or Solana CLI keypair')
  if (format === 'hex') return { format, kind: readKind(command, 'secp256k1'), text }
  if (format === 'solana-keypair') return { format, text }
  const path = command.text('passphrase-file')
  if (path === undefined) throw new UsageError('--passphrase-file is required for a v3 keystore')
  return { format, text, passphrase: readText(path).replace(/\r?\n$/, '') }
}

const importKey = async (context: Context): Promise<void> => {
  const path = context.command.positionals[1]
  if (path === undefined) throw new UsageError('FILE is missing')
  const source = sourceOf(readText(path), context.command)
  await register(context, await importAttesterKey({ source, ...(await destination(context)) }))
}

const list = async ({ admin, output, command }: Context): Promise<void> => {
  const attesters = (await admin.call('GET /attesters', {})).data
  const rows = attesters.map(({ address, kind, token_key: tokenKey, status, created_at: since }) => [
    address,
    kind,
    status,
    since,
    tokenKey ?? 'keystore',
  ])
  print({ output, command }, attesters.map(describe), [['ADDRESS', 'KIND', 'STATUS', 'SINCE', 'KEY'], ...rows])
}

const retire = async ({ admin, output, command }: Context): Promise<void> => {
  const wanted = command.positionals[1]
  if (wanted === undefined) throw new UsageError('ADDRESS is missing')
  const attester = (await admin.call('GET /attesters', {})).data.find(
    ({ address, kind }) =>
      address === wanted || (kind === 'secp256k1' && address.toLowerCase() === wanted.toLowerCase()),
  )
  if (attester === undefined) throw new CommandFailedError(`there is no attester ${wanted}`)
  const retired = await admin.call('POST /attesters/{attester}/retire', {
    params: { attester: attester.id },
    body: { final: command.flag('final') },
  })
  print({ output, command }, describe(retired), `${retired.address} is ${retired.status}\n`)
}

const rotate = async ({ admin, output, command, rotatePassphrase }: Context): Promise<void> => {
  const rotated = await rotatePassphrase()
  const { data: attesters } = await admin.call('GET /attesters', {})
  const inToken = attesters.filter(({ token_key: key, status }) => key !== null && status !== 'retired').length
  if (command.flag('json')) {
    output.stdout(`${JSON.stringify({ ...rotated, inToken })}\n`)
    return
  }
  const { keystores, file, inPlace } = rotated
  output.stdout(`locked anew: ${keystores} keystores; the passphrase is in ${file}\n`)
  if (inToken > 0)
    output.stdout(`left out: keys in the hardware token (${inToken}), which no passphrase of ours locks\n`)
  if (!inPlace) output.stdout(`put its content in the place of ${file.replace(/\.next$/, '')} before you remove it\n`)
}

const VERBS: Verbs<(context: Context) => Promise<void>> = {
  add: { run: add, words: 0 },
  import: { run: importKey, words: 1 },
  list: { run: list, words: 0 },
  retire: { run: retire, words: 1 },
  'rotate-passphrase': { run: rotate, words: 0 },
}

const COMMAND = {
  help: USAGE,
  subject: 'attesters',
  verbs: VERBS,
  texts: ['kind', 'passphrase-file', 'pkcs11'],
  flags: ['final'],
}

export const runAttester = (commandArguments: readonly string[], input: AttesterCommandInput): Promise<number> =>
  runVerbOf(COMMAND, commandArguments, input.output, (run, command) =>
    runOpened(input.open, (opened) => run({ ...input, ...opened, command })).catch((error: unknown) => {
      if (error instanceof SigningError) throw new CommandFailedError(error.detail)
      throw error
    }),
  )
