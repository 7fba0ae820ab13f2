// Rotation of the keystore passphrase: at every point the service starts, signs and replaces its workers, and after
// it the old passphrase opens no keystore.
import { beforeEach, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { dataFolderAt } from '../../../src/setup/data-folder.ts'
import { locatePassphrase } from '../../../src/setup/passphrase.ts'
import { rotatePassphrase } from '../../../src/setup/rotate-passphrase.ts'
import { createAttesterKeystore, relockKeystore } from '../../../src/signing/attester-files.ts'
import { KeystoreLockedError } from '../../../src/signing/errors.ts'
import { openKeyring } from '../../../src/signing/keyring.ts'
import { hasKeystoreMac } from '../../../src/signing/keystore-pkcs8.ts'
import { readPassphrases } from '../../../src/signing/passphrase.ts'
import { chooseSecp256k1Backend } from '../../../src/signing/secp256k1-backends.ts'
import { attestOnce, succeed } from '../../service/calls.ts'
import { runCommand, startService } from '../../service/start-service.ts'
import { newFolder } from '../../support/folder.ts'

let root: string
beforeEach(() => {
  root = newFolder()
})

const { backend } = chooseSecp256k1Backend('noble')
const OLD = 'the old passphrase'

/**
 * Three keystores encrypted by OLD. The Solana one has the format of earlier versions.
 * @param configured whether the operator set the passphrase file. Opening each keystore then takes a second.
 */
const makeFolder = async (configured = false) => {
  const folder = dataFolderAt(root)
  const destination = { directory: folder.keystores, passphrase: OLD, workFactor: 'light' } as const
  const made = [
    await createAttesterKeystore({ ...destination, kind: 'secp256k1' }),
    await createAttesterKeystore({ ...destination, kind: 'ed25519' }),
    await createAttesterKeystore({ ...destination, kind: 'secp256k1' }),
  ]
  const solana = made[1]?.path ?? ''
  writeFileSync(solana, readFileSync(solana, 'utf8').replace(/^Countersign-MAC: .*\n/, ''))
  const file = configured ? join(root, 'elsewhere') : folder.passphrase
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${OLD}\n`)
  const references = made.map(({ kind, address, path }) => ({
    id: address,
    kind,
    address,
    keystorePath: path,
    status: 'active' as const,
  }))
  const source = { source: 'file', path: file } as const
  const opens = (...passphrases: string[]) => openKeyring(references, async () => passphrases, backend)
  return { folder, file, made, solana, source, references, opens, config: { passphrase: configured ? source : null } }
}

test('re-encrypts every keystore, after which only the new passphrase opens them', async () => {
  const { folder, file, source, references, solana, opens, config } = await makeFolder()
  const counts: number[] = []
  const rotated = await rotatePassphrase({
    config,
    folder,
    progress: () => void counts.push(readdirSync(folder.keystores).length),
  })
  expect(rotated).toEqual({ keystores: 3, file, inPlace: true, previous: `${file}.previous-1` })
  // The folder never contained a temporary file.
  expect(counts).toEqual([3, 3, 3])
  expect(existsSync(`${file}.next`)).toBe(false)
  const [now] = await readPassphrases(source)
  expect(now).toMatch(/^[0-9a-f]{64}$/)
  expect((await opens(now)).evm).toHaveLength(2)
  for (const reference of references) {
    await expect(openKeyring([reference], async () => [OLD], backend)).rejects.toBeInstanceOf(KeystoreLockedError)
  }
  expect(hasKeystoreMac(readFileSync(solana, 'utf8'))).toBe(true)
})

test('after an interruption at any keystore, both passphrases open them and a second run continues', async () => {
  const { folder, file, source, references, made, config } = await makeFolder(true)
  const open = () => openKeyring(references, () => readPassphrases(source), backend)
  writeFileSync(`${file}.next`, 'the new passphrase\n')
  for (const { path } of made.filter(({ kind }) => kind === 'secp256k1')) {
    // The state after a kill at this point.
    expect((await open()).solana).toHaveLength(1)
    await relockKeystore(path, OLD, { passphrase: 'the new passphrase', workFactor: 'light' })
  }
  expect((await open()).evm).toHaveLength(2)
  expect(locatePassphrase(config, folder, false).workFactor).toBe('standard')
  expect(await rotatePassphrase({ config, folder })).toMatchObject({ keystores: 1, file, inPlace: true })
  expect(await readPassphrases(source)).toEqual(['the new passphrase'])
  expect((await open()).evm).toHaveLength(2)
})

test('opens the keystores if the rotation runs between reading the passphrase and the keystores', async () => {
  const { folder, source, references, config } = await makeFolder()
  let reads = 0
  const keyring = await openKeyring(
    references,
    async () => {
      const known = await readPassphrases(source)
      if (++reads === 1) await rotatePassphrase({ config, folder })
      return known
    },
    backend,
  )
  expect(keyring.evm).toHaveLength(2)
})

test('fails at a keystore that neither passphrase opens, and keeps the old passphrase', async () => {
  const { folder, file, made, source, config } = await makeFolder()
  const foreign = join(folder.keystores, 'foreign.json')
  const elsewhere = { directory: root, passphrase: 'another one', workFactor: 'light' } as const
  copyFileSync((await createAttesterKeystore({ ...elsewhere, kind: 'secp256k1' })).path, foreign)
  await expect(rotatePassphrase({ config, folder })).rejects.toThrow(foreign)
  expect(await readPassphrases(source)).toHaveLength(2)
  rmSync(foreign)
  expect(await rotatePassphrase({ config, folder })).toMatchObject({ inPlace: true, file })
  expect(made).toHaveLength(3)
})

test('a running service signs during a rotation, and so does a service that starts during a rotation', async () => {
  const dataDirectory = join(root, 'data')
  const folder = dataFolderAt(dataDirectory)
  const environment = { COUNTERSIGN_WORKERS: '2' }
  const first = await startService({ dataDirectory, environment })
  const old = readFileSync(folder.passphrase, 'utf8')
  try {
    const done = await runCommand(dataDirectory, 'attester', 'rotate-passphrase', '--json')
    expect(done).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(done.stdout)).toMatchObject({ keystores: 3, in_place: true })
    expect(readFileSync(folder.passphrase, 'utf8')).not.toBe(old)
    await attestOnce(first)
    // Workers load all keys again, with the new passphrase.
    await succeed(first, 'attester', 'add', '--kind', 'secp256k1')
    await first.logLine(({ message }) => message === 'attesters changed')
    await attestOnce(first)
    const listed = await succeed(first, 'audit', 'list', '--json')
    expect(listed).toContain('command.attester.rotate-passphrase')
    expect(listed).not.toContain(readFileSync(folder.passphrase, 'utf8').trim())
  } finally {
    expect(await first.stop()).toBe(0)
  }
  const [one = ''] = readdirSync(folder.keystores)
  writeFileSync(`${folder.passphrase}.next`, 'the new passphrase')
  const present = readFileSync(folder.passphrase, 'utf8').trim()
  const next = { passphrase: 'the new passphrase', workFactor: 'light' } as const
  expect(await relockKeystore(join(folder.keystores, one), present, next)).toBe(true)
  const second = await startService({ dataDirectory, environment })
  try {
    await attestOnce(second)
    await succeed(second, 'attester', 'rotate-passphrase')
    expect(readFileSync(folder.passphrase, 'utf8')).toBe('the new passphrase')
  } finally {
    expect(await second.stop()).toBe(0)
  }
}, 90_000)

test('refuses a passphrase in an environment variable, and names the variable for a file', async () => {
  const { folder } = await makeFolder()
  const config = { passphrase: { source: 'environment', name: 'COUNTERSIGN_PASSPHRASE' } } as const
  await expect(rotatePassphrase({ config, folder })).rejects.toThrow('COUNTERSIGN_PASSPHRASE_FILE')
})
