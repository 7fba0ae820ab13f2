// `countersign attester import|rotate-passphrase`. No command prints key material or takes it as an argument.
import { rmSync } from 'node:fs'
import { basename } from 'node:path'
import { type Command, type CommandContext, type GivenCommand, text } from '../command-line/command.ts'
import { readText } from '../command-line/option-values.ts'
import { CommandFailedError, UsageError } from '../command-line/output.ts'
import { locatePassphrase } from '../setup/passphrase.ts'
import { importAttesterKey } from '../signing/attester-files.ts'
import { SigningError } from '../signing/errors.ts'
import { readPassphrase } from '../signing/passphrase.ts'
import { detectPrivateKeyFormat, type PrivateKeySource } from '../signing/private-key-text.ts'
import { printAnswer, UNDECLARED } from './derived/answer.ts'
import { printRotation, rotationDescription } from './rotation.ts'

const KINDS = ['secp256k1', 'ed25519'] as const

const kindOf = (command: GivenCommand): (typeof KINDS)[number] => {
  const given = command.text('kind') ?? 'secp256k1'
  const kind = KINDS.find((known) => known === given)
  if (kind === undefined) throw new UsageError(`--kind must be one of ${KINDS.join(', ')}`)
  return kind
}

const sourceOf = (content: string, command: GivenCommand): PrivateKeySource => {
  const format = detectPrivateKeyFormat(content)
  if (format === null) throw new CommandFailedError('the file is not a hex key, v3 keystore or Solana CLI keypair')
  if (format === 'hex') return { format, kind: kindOf(command), text: content }
  if (format === 'solana-keypair') return { format, text: content }
  const path = command.text('passphrase-file')
  if (path === undefined) throw new UsageError('--passphrase-file is required for a v3 keystore')
  return { format, text: content, passphrase: readText(path).replace(/\r?\n$/, '') }
}

/** Deletes the keystore if the attester can't be stored. */
const importKey = async (context: CommandContext): Promise<number> => {
  const { command, deployment, open } = context
  const key = sourceOf(readText(command.words[0] ?? ''), command)
  const { admin } = await open()
  const { source, workFactor } = locatePassphrase(deployment.config, deployment.folder, false)
  const passphrase = await readPassphrase(source)
  const made = await importAttesterKey({
    source: key,
    directory: deployment.folder.keystores,
    passphrase,
    workFactor,
  }).catch((error: unknown) => {
    throw error instanceof SigningError ? new CommandFailedError(error.detail) : error
  })
  const { kind, address, path } = made
  try {
    const body = { kind, address, keystore_file: basename(path) }
    const attester = await admin.call('POST /attesters/import', { body })
    printAnswer(context, attester, UNDECLARED)
    return 0
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  }
}

const rotatePassphrase = async (context: CommandContext): Promise<number> => {
  const { deployment, open } = context
  const { admin } = await open()
  const { rotatePassphrase: rotate } = await import('../setup/rotate-passphrase.ts')
  const rotated = await deployment.rotateAlone(() => rotate(deployment))
  const { data: attesters } = await admin.call('GET /attesters', {})
  const inToken = attesters.filter(({ token_key: key, status }) => key !== null && status !== 'retired').length
  const result = { ...rotated, in_token: inToken }
  printRotation(context, result, [
    `re-encrypted: ${rotated.keystores} keystores`,
    ...(inToken > 0 ? [`skipped: ${inToken} keys in the hardware token, which has its own PIN`] : []),
  ])
  return 0
}

export const ATTESTER_COMMANDS: readonly Command[] = [
  {
    noun: 'attester',
    verb: 'import',
    summary: 'Import a signing key from a file',
    description:
      'Reads a hex key, a Web3 Secret Storage v3 keystore, or a Solana CLI keypair. The original file is not changed.',
    words: [{ name: 'FILE', help: 'Key file; - reads standard input' }],
    options: [
      text('kind', KINDS.join('|'), 'Kind of a hex key. Defaults to secp256k1', { choices: KINDS }),
      text('passphrase-file', 'FILE', 'Passphrase of an imported v3 keystore'),
    ],
    isLocal: true,
    run: importKey,
  },
  {
    noun: 'attester',
    verb: 'rotate-passphrase',
    summary: 'Re-encrypt all keystores with a new passphrase',
    description: rotationDescription('passphrase'),
    isLocal: true,
    run: rotatePassphrase,
  },
]
