// Another passphrase for the keystores: at every point of the rotation the service starts, signs and replaces its workers,
// and at its end the old passphrase opens nothing.
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
import { runCommand, startService } from '../../service/start-service.ts'
import { newFolder } from '../../support/folder.ts'

let root: string
beforeEach(() => {
  root = newFolder()
})

const { backend } = chooseSecp256k1Backend('noble')
const OLD = 'the old passphrase'

/**
 * Three keystores under OLD, of which the Solana one is as earlier versions wrote it.
 * @param configured an operator's own passphrase file: what is locked by it costs a second each time it is opened
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

test('every keystore opens at every point of it, and at its end by the new passphrase alone', async () => {
  const { folder, file, source, references, solana, opens, config } = await makeFolder()
  const states: number[] = []
  const rotated = await rotatePassphrase({
    config,
    folder,
    progress: () => {
      states.push(readdirSync(folder.keystores).length)
    },
  })
  expect(rotated).toEqual({ keystores: 3, file, inPlace: true, previous: `${file}.previous-1` })
  // No temporary file was ever beside them.
  expect(states).toEqual([3, 3, 3])
  expect(existsSync(`${file}.next`)).toBe(false)
  const [now] = await readPassphrases(source)
  expect(now).toMatch(/^[0-9a-f]{64}$/)
  expect((await opens(now)).evm).toHaveLength(2)
  for (const reference of references) {
    await expect(openKeyring([reference], async () => [OLD], backend)).rejects.toBeInstanceOf(KeystoreLockedError)
  }
  expect(hasKeystoreMac(readFileSync(solana, 'utf8'))).toBe(true)
})

test('interrupted anywhere, both passphrases are tried, and a second run goes on where it was', async () => {
  const { folder, file, source, references, made, config } = await makeFolder(true)
  const open = () => openKeyring(references, () => readPassphrases(source), backend)
  writeFileSync(`${file}.next`, 'the new passphrase\n')
  for (const { path } of made.filter(({ kind }) => kind === 'secp256k1')) {
    // As after a kill at this very point.
    expect((await open()).solana).toHaveLength(1)
    await relockKeystore(path, OLD, { passphrase: 'the new passphrase', workFactor: 'light' })
  }
  expect((await open()).evm).toHaveLength(2)
  expect(locatePassphrase(config, folder, false).workFactor).toBe('standard')
  expect(await rotatePassphrase({ config, folder })).toMatchObject({ keystores: 1, file, inPlace: true })
  expect(await readPassphrases(source)).toEqual(['the new passphrase'])
  expect((await open()).evm).toHaveLength(2)
})

test('an opening that began before the rotation sees what it has become', async () => {
  const { folder, source, references, config } = await makeFolder()
  let reads = 0
  const keyring = await openKeyring(
    references,
    async () => {
      const known = await readPassphrases(source)
      // The rotation runs between the reading of the passphrase and that of the keystore.
      if (++reads === 1) await rotatePassphrase({ config, folder })
      return known
    },
    backend,
  )
  expect(keyring.evm).toHaveLength(2)
})

test('a file that neither passphrase opens stops it, and the old passphrase stays', async () => {
  const { folder, file, made, source, config } = await makeFolder()
  const strange = join(folder.keystores, 'strange.json')
  const elsewhere = { directory: root, passphrase: 'another one', workFactor: 'light' } as const
  copyFileSync((await createAttesterKeystore({ ...elsewhere, kind: 'secp256k1' })).path, strange)
  await expect(rotatePassphrase({ config, folder })).rejects.toThrow(strange)
  expect(await readPassphrases(source)).toHaveLength(2)
  rmSync(strange)
  expect(await rotatePassphrase({ config, folder })).toMatchObject({ inPlace: true, file })
  expect(made).toHaveLength(3)
})

test('a running service signs through it, and so does one that is started in its middle', async () => {
  const dataDirectory = join(root, 'data')
  const folder = dataFolderAt(dataDirectory)
  const environment = { COUNTERSIGN_WORKERS: '2' }
  const attest = async (service: Awaited<ReturnType<typeof startService>>): Promise<number> =>
    (
      await service.attest({
        from: '0x1111111111111111111111111111111111111111',
        chain: 'base',
        verification_hash: service.quickstart['VERIFICATION_HASH'],
      })
    ).status
  const first = await startService({ dataDirectory, environment })
  const old = readFileSync(folder.passphrase, 'utf8')
  try {
    const done = await runCommand(dataDirectory, 'attester', 'rotate-passphrase', '--json')
    expect(done).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(done.stdout)).toMatchObject({ keystores: 3, in_place: true })
    expect(readFileSync(folder.passphrase, 'utf8')).not.toBe(old)
    expect(await attest(first)).toBe(200)
    // Workers load the keys again: the new one, by the new passphrase, and those of before.
    expect(await runCommand(dataDirectory, 'attester', 'add', '--kind', 'secp256k1')).toMatchObject({ code: 0 })
    await first.logLine(({ message }) => message === 'attesters changed')
    expect(await attest(first)).toBe(200)
    const listed = await runCommand(dataDirectory, 'audit', 'list', '--json')
    expect(listed.stdout).toContain('command.attester.rotate-passphrase')
    expect(listed.stdout).not.toContain(readFileSync(folder.passphrase, 'utf8').trim())
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
    expect(await attest(second)).toBe(200)
    expect(await runCommand(dataDirectory, 'attester', 'rotate-passphrase')).toMatchObject({ code: 0 })
    expect(readFileSync(folder.passphrase, 'utf8')).toBe('the new passphrase')
  } finally {
    expect(await second.stop()).toBe(0)
  }
}, 90_000)

test('a passphrase in a variable is refused with what to do', async () => {
  const { folder } = await makeFolder()
  const config = { passphrase: { source: 'environment', name: 'COUNTERSIGN_PASSPHRASE' } } as const
  await expect(rotatePassphrase({ config, folder })).rejects.toThrow('COUNTERSIGN_PASSPHRASE_FILE')
})
