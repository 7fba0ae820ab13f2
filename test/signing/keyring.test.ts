// The keyring: attester keys that are opened, listed, used and erased together.
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

// The pool's type, so that a difference from the keyring's type fails the type check.
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
  test('signs the vectors with their attesters', async () => {
    const keyring = await open(reference(evmKeystore), reference(solanaKeystore))
    expect(keyring.evm.map(({ address }) => address)).toEqual([evm.attester])
    expect(keyring.solana.map(({ address }) => address)).toEqual([solana.attester])
    expect(keyring.evm[0]!.order).toBe(BigInt(evm.attester))
    const statement = evm.vectors[0]!
    expect(keyring.evm[0]!.signDigest(Uint8Array.fromHex(statement.digest.slice(2)))).toBe(statement.signature)
    const message = solana.vectors[0]!
    expect(keyring.solana[0]!.signMessage(Uint8Array.fromHex(message.message.slice(2)))).toBe(message.signature)
  })

  test('lists only active keys, in the given order, without opening retiring ones', async () => {
    const retiring = reference(evmKeystore, { status: 'retiring', keystorePath: join(directory, 'gone.json') })
    const [otherSolana, otherEvm, ours] = [otherSolanaKeystore, otherEvmKeystore, solanaKeystore].map((k) =>
      reference(k),
    )
    const keyring = await open(otherSolana!, otherEvm!, retiring, ours!)
    expect(keyring.evm.map(({ id }) => id)).toEqual([otherEvm!.id])
    expect(keyring.solana.map(({ id }) => id)).toEqual([otherSolana!.id, ours!.id])
    expect(await open()).toMatchObject({ evm: [], solana: [] })
  })

  test('signs only 32 bytes, until it is erased', async () => {
    const keyring = await open(reference(evmKeystore), reference(solanaKeystore))
    expect(() => keyring.evm[0]!.signDigest(new Uint8Array(31))).toThrow(SignerUnusableError)
    expect(() => keyring.solana[0]!.signMessage(new Uint8Array(64))).toThrow(SignerUnusableError)
    keyring.erase()
    expect(() => keyring.evm[0]!.signDigest(testKey(1))).toThrow(SignerUnusableError)
    expect(() => keyring.solana[0]!.signMessage(testKey(1))).toThrow(SignerUnusableError)
  })

  test.each([evmKeystore, solanaKeystore])(
    'shares keys with its replacement, which does not read files',
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

  test('does not print keys or passphrases, and its JSON contains only ids and addresses', async () => {
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
  const damagedPath = join(directory, 'damaged.json')
  writeFileSync(damagedPath, `{"version":3,"secret":"${evmKey.toHex()}`)
  const both = (one: AttesterKeystore, other: AttesterKeystore) =>
    new RegExp(`${one.address}.*${other.address}|${other.address}.*${one.address}`)
  test.each([
    [
      'with the key of another EVM attester',
      reference(evmKeystore, { keystorePath: otherEvmKeystore.path }),
      AttesterMismatchError,
      both(evmKeystore, otherEvmKeystore),
    ],
    [
      'with the key of another Solana attester',
      reference(solanaKeystore, { keystorePath: otherSolanaKeystore.path }),
      AttesterMismatchError,
      both(solanaKeystore, otherSolanaKeystore),
    ],
    [
      'with an address without checksum',
      reference(evmKeystore, { address: evmKeystore.address.toLowerCase() }),
      AttesterMismatchError,
      /./,
    ],
    [
      'with a missing file',
      reference(evmKeystore, { keystorePath: join(directory, 'missing.json') }),
      KeystoreInvalidError,
      /ENOENT/,
    ],
    [
      'with a file of another kind',
      reference(solanaKeystore, { keystorePath: evmKeystore.path }),
      KeystoreInvalidError,
      /./,
    ],
    [
      'with a damaged file, whose text is not in the error',
      reference(evmKeystore, { keystorePath: damagedPath }),
      KeystoreInvalidError,
      /./,
    ],
  ])('%s', async (_name, attester, errorClass, detail) => {
    const error = await failure(attester)
    expect(error).toBeInstanceOf(errorClass)
    expect((error as KeystoreInvalidError).detail).toMatch(detail)
    expect(Bun.inspect(error)).not.toContain(evmKey.toHex())
  })

  test.each([evmKeystore, solanaKeystore])('with a wrong passphrase, which is not in the error', async (keystore) => {
    const attester = reference(keystore)
    const opening = openKeyring([attester], async () => ['another'], backend)
    const error = await opening.catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(KeystoreLockedError)
    expect((error as KeystoreLockedError).detail).toContain(attester.id)
    expect((error as KeystoreLockedError).detail).not.toContain('another')
  })

  test('if the last of several keys fails; the other keys are erased', async () => {
    const bad = reference(solanaKeystore, { keystorePath: otherSolanaKeystore.path })
    let erased = 0
    const watched: Secp256k1Backend = {
      ...backend,
      createSigner: (privateKey) => {
        const signer = backend.createSigner(privateKey)
        const erase = (): void => {
          erased += 1
          signer.erase()
        }
        return { ...signer, erase }
      },
    }
    const references = [reference(evmKeystore), reference(otherEvmKeystore), bad]
    const error = await openKeyring(references, async () => [PASSPHRASE], watched).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(AttesterMismatchError)
    expect(erased).toBe(2)
  })
})
