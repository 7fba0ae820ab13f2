// `countersign attester`: makes, imports, lists and retires the keys that sign. Key material is read from a file or
// standard input and goes into an encrypted keystore; no command prints or takes it as an argument.
import { readFileSync, rmSync } from 'node:fs'
import { basename } from 'node:path'
import type { DataFolder } from '../setup/data-folder.ts'
import type { Passphrase } from '../setup/passphrase.ts'
import { type AttesterKeystore, createAttesterKeystore, importAttesterKey } from '../signing/attester-files.ts'
import { SigningError } from '../signing/errors.ts'
import { readPassphrase } from '../signing/passphrase.ts'
import { detectPrivateKeyFormat, type PrivateKeySource } from '../signing/private-key-text.ts'
import { ConstraintViolatedError } from '../store/errors.ts'
import type { Store } from '../store/store.ts'
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

const USAGE = `Usage: countersign attester add --kind secp256k1|ed25519
       countersign attester import FILE [--kind secp256k1|ed25519] [--passphrase-file FILE]
       countersign attester list
       countersign attester retire ADDRESS [--final]

Attesters sign: secp256k1 keys for EVM chains, Ed25519 keys for Solana. The oldest active key of a kind signs; a task
with a quorum is signed by that many. A running service uses a change within a second, and no request fails for it.

  add      Makes a new key.
  import   Reads a key from FILE (- for standard input): a hex key (secp256k1 unless --kind says otherwise), a Web3
           Secret Storage v3 keystore, or a Solana CLI keypair. The original file is not changed.
  list     All attesters.
  retire   Stops signing with a key: it becomes retiring. With --final it becomes retired and is loaded no more.

To rotate: add the new key, register it on chain, then retire the old one.

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
  readonly openStore: () => Promise<Store>
}

interface Context extends AttesterCommandInput {
  readonly store: Store
  readonly command: ParsedCommand
}

const destination = async ({ folder, passphrase }: Context) => {
  const { source, workFactor } = passphrase()
  return { directory: folder.keystores, passphrase: await readPassphrase(source), workFactor }
}

/** A keystore that the store does not know would be an orphan, so it goes when the row can't be written. */
const register = async ({ store, output, command }: Context, keystore: AttesterKeystore): Promise<void> => {
  const { kind, address, path } = keystore
  try {
    const attester = await store.attesters.add({ kind, address, keystoreFile: basename(path) })
    output.stdout(command.flag('json') ? `${JSON.stringify(attester)}\n` : `${kind} attester ${address} is active\n`)
  } catch (error) {
    rmSync(path, { force: true })
    if (error instanceof ConstraintViolatedError) throw new CommandFailedError(`${address} is an attester already`)
    throw error
  }
}

const readKind = (command: ParsedCommand, byDefault?: 'secp256k1'): 'secp256k1' | 'ed25519' => {
  const kind = command.text('kind') ?? byDefault
  if (kind !== 'secp256k1' && kind !== 'ed25519') throw new UsageError('--kind must be secp256k1 or ed25519')
  return kind
}

const add = async (context: Context): Promise<void> => {
  const kind = readKind(context.command)
  await register(context, await createAttesterKeystore({ kind, ...(await destination(context)) }))
}

const readText = (path: string): string => {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8')
  } catch {
    throw new CommandFailedError(`${path} can't be read`)
  }
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

const list = async ({ store, output, command }: Context): Promise<void> => {
  const attesters = await store.attesters.list()
  if (command.flag('json')) {
    output.stdout(`${JSON.stringify(attesters)}\n`)
    return
  }
  const rows = attesters.map(({ address, kind, status, createdAtSeconds }) => [
    address,
    kind,
    status,
    new Date(createdAtSeconds * 1000).toISOString(),
  ])
  output.stdout(formatTable([['ADDRESS', 'KIND', 'STATUS', 'SINCE'], ...rows]))
}

const retire = async ({ store, output, command }: Context): Promise<void> => {
  const wanted = command.positionals[1]
  if (wanted === undefined) throw new UsageError('ADDRESS is missing')
  const attesters = await store.attesters.list()
  const attester = attesters.find(
    ({ address, kind }) =>
      address === wanted || (kind === 'secp256k1' && address.toLowerCase() === wanted.toLowerCase()),
  )
  if (attester === undefined) throw new CommandFailedError(`there is no attester ${wanted}`)
  const others = attesters.filter(
    ({ id, kind, status }) => id !== attester.id && kind === attester.kind && status === 'active',
  )
  if (attester.status === 'active' && others.length === 0) {
    throw new CommandFailedError(`${attester.address} is the only active ${attester.kind} attester: add another first`)
  }
  const changed = await store.attesters.setStatus(attester.id, command.flag('final') ? 'retired' : 'retiring')
  if (changed === null) throw new CommandFailedError(`${attester.address} is retired already`)
  output.stdout(command.flag('json') ? `${JSON.stringify(changed)}\n` : `${changed.address} is ${changed.status}\n`)
}

const VERBS: Verbs<(context: Context) => Promise<void>> = {
  add: { run: add, words: 0 },
  import: { run: importKey, words: 1 },
  list: { run: list, words: 0 },
  retire: { run: retire, words: 1 },
}

export const runAttester = (commandArguments: readonly string[], input: AttesterCommandInput): Promise<number> =>
  runToExitCode(input.output, USAGE, async () => {
    const command = parseCommand(
      commandArguments,
      {
        kind: { type: 'string' },
        'passphrase-file': { type: 'string' },
        final: { type: 'boolean' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
      VERBS,
    )
    if (command.flag('help')) {
      input.output.stdout(USAGE)
      return 0
    }
    const run = findVerb(VERBS, command)
    if (run === undefined) throw new UsageError('say what to do with attesters')
    const store = await input.openStore()
    try {
      await run({ ...input, store, command })
      return 0
    } catch (error) {
      if (error instanceof SigningError) throw new CommandFailedError(error.detail)
      throw error
    } finally {
      await store.close()
    }
  })
