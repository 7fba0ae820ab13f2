import { afterAll, describe, expect, test } from 'bun:test'
import { createPublicKey, verify } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import bs58 from 'bs58'
import type { AttesterReference } from '../../src/pool/protocol.ts'
import { type AttesterKeystore, importAttesterKey } from '../../src/signing/attester-files.ts'
import {
  AttesterMismatchError,
  KeystoreInvalidError,
  KeystoreLockedError,
  SignerUnusableError,
} from '../../src/signing/errors.ts'
import { openKeyring } from '../../src/signing/keyring.ts'
import { loadNobleSecp256k1 } from '../../src/signing/secp256k1-noble.ts'
import type { Secp256k1Backend } from '../../src/signing/types.ts'
import evm from '../vectors/evm-v2.json'
import solana from '../vectors/solana.json'
import { keySpellings, printedForms, testKey } from './test-keys.ts'

const PASSPHRASE = 'a deployment passphrase'
const directory = mkdtempSync(join(tmpdir(), 'countersign-keyring-'))
afterAll(() => rmSync(directory, { recursive: true }))
const backend = loadNobleSecp256k1()

const store = (kind: 'secp256k1' | 'ed25519', key: Uint8Array): Promise<AttesterKeystore> =>
  importAttesterKey({
    directory,
    passphrase: PASSPHRASE,
    workFactor: 'light',
    source: { format: 'hex', kind, text: key.toHex() },
  })

// The pool's reference, so that a difference from the keyring's own shape fails the type check.
const reference = (keystore: AttesterKeystore, change: Partial<AttesterReference> = {}): AttesterReference => ({
  id: `attester_${keystore.address.slice(2, 8)}`,
  kind: keystore.kind,
  address: keystore.address,
  keystorePath: keystore.path,
  status: 'active',
  ...change,
})

const evmKey = Uint8Array.fromHex(evm.private_key.slice(2))
const solanaSeed = Uint8Array.fromHex(solana.seed.slice(2))
const evmKeystore = await store('secp256k1', evmKey)
const otherEvmKeystore = await store('secp256k1', testKey(1))
const solanaKeystore = await store('ed25519', solanaSeed)
const otherSolanaKeystore = await store('ed25519', testKey(2))

const open = (...references: readonly AttesterReference[]) => openKeyring(references, async () => [PASSPHRASE], backend)
const failure = (...references: readonly AttesterReference[]): Promise<unknown> =>
  open(...references).catch((error: unknown) => error)

describe('an opened keyring', () => {
  test('signs the vectors as their attesters', async () => {
    const keyring = await open(reference(evmKeystore), reference(solanaKeystore))
    expect(keyring.evm.map(({ address }) => address)).toEqual([evm.attester])
    expect(keyring.solana.map(({ address }) => address)).toEqual([solana.attester])
    expect(keyring.evm[0]!.order).toBe(BigInt(evm.attester))
    const statement = evm.vectors[0]!
    expect(keyring.evm[0]!.signDigest(Uint8Array.fromHex(statement.digest.slice(2)))).toBe(statement.signature)
    const message = solana.vectors[0]!
    expect(keyring.solana[0]!.signMessage(Uint8Array.fromHex(message.message.slice(2)))).toBe(message.signature)
  })

  test('lists the active keys only, in the order given', async () => {
    const retired = reference(evmKeystore, { status: 'retiring' })
    const keyring = await open(
      reference(otherSolanaKeystore),
      reference(otherEvmKeystore),
      retired,
      reference(solanaKeystore),
    )
    expect(keyring.evm.map(({ id }) => id)).toEqual([reference(otherEvmKeystore).id])
    expect(keyring.solana.map(({ id }) => id)).toEqual(
      [otherSolanaKeystore, solanaKeystore].map((k) => reference(k).id),
    )
  })

  test('opens nothing of a retiring key: its file may be gone', async () => {
    const gone = reference(evmKeystore, { status: 'retiring', keystorePath: join(directory, 'gone.json') })
    expect((await open(gone, reference(otherEvmKeystore))).evm).toHaveLength(1)
  })

  test('may be empty', async () => {
    expect(await open()).toMatchObject({ evm: [], solana: [] })
  })

  test('makes signatures that verify for every key', async () => {
    const keyring = await open(reference(otherSolanaKeystore))
    const message = testKey(9)
    const header = Buffer.from('302a300506032b6570032100', 'hex')
    const der = Buffer.concat([header, bs58.decode(otherSolanaKeystore.address)])
    const signature = Buffer.from(keyring.solana[0]!.signMessage(message).slice(2), 'hex')
    expect(verify(null, message, createPublicKey({ key: der, format: 'der', type: 'spki' }), signature)).toBe(true)
  })

  test('refuses anything but 32 bytes', async () => {
    const keyring = await open(reference(evmKeystore), reference(solanaKeystore))
    expect(() => keyring.evm[0]!.signDigest(new Uint8Array(31))).toThrow(SignerUnusableError)
    expect(() => keyring.solana[0]!.signMessage(new Uint8Array(64))).toThrow(SignerUnusableError)
  })

  test.each([evmKeystore, solanaKeystore])(
    'shares keys with the one that replaces it, and reads no file',
    async (kept) => {
      const first = await open(reference(otherEvmKeystore), reference(otherSolanaKeystore), reference(kept))
      const unreadable = (): Promise<never> => Promise.reject(new Error('no file is readable'))
      const next = await openKeyring([reference(kept)], unreadable, backend, undefined, first)
      const discarded = await openKeyring([reference(kept)], unreadable, backend, undefined, first)
      discarded.erase()
      discarded.erase()
      first.erase()
      const [retired] = first.evm
      expect(() => retired?.signDigest(testKey(1))).toThrow(SignerUnusableError)
      const sign = () => next.evm[0]?.signDigest(testKey(1)) ?? next.solana[0]?.signMessage(testKey(1))
      expect(sign()).toMatch(/^0x/)
      next.erase()
      expect(sign).toThrow(SignerUnusableError)
    },
  )

  test('refuses once erased', async () => {
    const keyring = await open(reference(evmKeystore), reference(solanaKeystore))
    keyring.erase()
    expect(() => keyring.evm[0]!.signDigest(testKey(1))).toThrow(SignerUnusableError)
    expect(() => keyring.solana[0]!.signMessage(testKey(1))).toThrow(SignerUnusableError)
  })

  test('shows no key and no passphrase when printed, and has a JSON form', async () => {
    const keyring = await open(reference(evmKeystore), reference(solanaKeystore))
    keyring.evm[0]!.signDigest(testKey(1))
    const printed = printedForms(keyring)
    for (const spelling of [...keySpellings(evmKey), ...keySpellings(solanaSeed), PASSPHRASE]) {
      expect(printed).not.toContain(spelling)
    }
    expect(JSON.parse(JSON.stringify(keyring))).toEqual({
      evm: [{ id: reference(evmKeystore).id, address: evm.attester }],
      solana: [{ id: reference(solanaKeystore).id, address: solana.attester }],
    })
  })
})

describe('a keyring is not opened', () => {
  test.each([
    ['an EVM attester', evmKeystore, otherEvmKeystore],
    ['a Solana attester', solanaKeystore, otherSolanaKeystore],
  ])("with another's key for %s", async (_, keystore, other) => {
    const error = await failure(reference(keystore, { keystorePath: other.path }))
    expect(error).toBeInstanceOf(AttesterMismatchError)
    expect((error as AttesterMismatchError).detail).toContain(keystore.address)
    expect((error as AttesterMismatchError).detail).toContain(other.address)
  })

  test('with an address in another spelling: the stored one is checksummed', async () => {
    const error = await failure(reference(evmKeystore, { address: evmKeystore.address.toLowerCase() }))
    expect(error).toBeInstanceOf(AttesterMismatchError)
  })

  test('with a wrong passphrase, and the error says whose', async () => {
    for (const keystore of [evmKeystore, solanaKeystore]) {
      const error = await openKeyring([reference(keystore)], async () => ['another'], backend).catch(
        (reason: unknown) => reason,
      )
      expect(error).toBeInstanceOf(KeystoreLockedError)
      expect((error as KeystoreLockedError).detail).toContain(reference(keystore).id)
      expect((error as KeystoreLockedError).detail).not.toContain('another')
    }
  })

  test('with a file that is missing or of the other kind', async () => {
    const missing = await failure(reference(evmKeystore, { keystorePath: join(directory, 'missing.json') }))
    expect(missing).toBeInstanceOf(KeystoreInvalidError)
    expect((missing as KeystoreInvalidError).detail).toContain('ENOENT')
    const swapped = reference(solanaKeystore, { keystorePath: evmKeystore.path })
    expect(await failure(swapped)).toBeInstanceOf(KeystoreInvalidError)
  })

  test('with a damaged file, none of which the error repeats', async () => {
    const path = join(directory, 'damaged.json')
    writeFileSync(path, `{"version":3,"secret":"${evmKey.toHex()}`)
    const error = await failure(reference(evmKeystore, { keystorePath: path }))
    expect(error).toBeInstanceOf(KeystoreInvalidError)
    expect(Bun.inspect(error)).not.toContain(evmKey.toHex())
  })

  test('when only the last of several fails, and the keys before it are erased', async () => {
    const bad = reference(solanaKeystore, { keystorePath: otherSolanaKeystore.path })
    let erased = 0
    const watched: Secp256k1Backend = {
      ...backend,
      createSigner: (privateKey) => {
        const signer = backend.createSigner(privateKey)
        return {
          publicKey: signer.publicKey,
          sign: signer.sign,
          erase: () => {
            erased += 1
            signer.erase()
          },
        }
      },
    }
    const references = [reference(evmKeystore), reference(otherEvmKeystore), bad]
    const error = await openKeyring(references, async () => [PASSPHRASE], watched).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(AttesterMismatchError)
    expect(erased).toBe(2)
  })
})
