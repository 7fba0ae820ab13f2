// The worker's side of a token that does not respond, is slow to fail, or is unavailable at startup.
import { afterEach, describe, expect, jest, test } from 'bun:test'
import { createToken } from '../../src/modules/hardware-keys/token.ts'
import { AttesterMismatchError, SignerUnusableError, TokenUnavailableError } from '../../src/signing/errors.ts'
import { loadNobleSecp256k1 } from '../../src/signing/secp256k1-noble.ts'
import type { KeystoreReference, TokenSigner } from '../../src/signing/types.ts'
import { createTokenKeys } from '../../workers/signing/token-thread.ts'
import { recoverWithNoble } from '../signing/rounds.ts'
import { sha256 } from '../signing/test-keys.ts'
import { until } from '../support/until.ts'
import { softHsm, type Trouble, WITHOUT_SHIM } from './soft-hsm.ts'

const DIGEST = sha256('a digest')
const ANSWER_MS = 1_000
const EVM = { kind: 'secp256k1', key: 'pkcs11:object=evm', address: null } as const

test('a thread that does not start fails the first request for a key after five seconds', async () => {
  jest.useFakeTimers()
  try {
    const pin = { source: 'environment', name: 'NONE' } as const
    const settings = { thread: 'none.ts', module: '', token: '', pin, loginFile: '', answerMs: ANSWER_MS }
    const keys = createTokenKeys({ settings, signer: 'noble', progressed: () => undefined })
    const reference = {
      id: 'attester_1',
      kind: 'secp256k1',
      status: 'active',
      address: '',
      keystorePath: EVM.key,
    } as const
    let failure: unknown = null
    keys.open(reference, true).catch((error: unknown) => {
      failure = error
    })
    jest.advanceTimersByTime(5_000)
    jest.useRealTimers()
    await until(() => failure !== null)
    expect(failure).toMatchObject({ detail: 'the token did not respond within 5000 ms' })
  } finally {
    jest.useRealTimers()
  }
})

describe.skipIf(WITHOUT_SHIM !== '')(`the thread of a token${WITHOUT_SHIM}`, () => {
  const opened: TokenSigner[] = []
  afterEach(() => {
    for (const signer of opened.splice(0)) signer.erase()
  })

  const start = () => {
    const hsm = softHsm()
    const shim = hsm.shim()
    const settings = hsm.settings({ module: shim.module, answerMs: ANSWER_MS })
    const { recover } = loadNobleSecp256k1()
    const { address, publicKey } = createToken(settings, { monotonicMs: () => 0, recover }).look(EVM)
    const attester = { id: 'attester_1', kind: 'secp256k1', status: 'active' } as const
    const reference: KeystoreReference = { ...attester, address, keystorePath: EVM.key }
    const keys = createTokenKeys({ settings, signer: 'noble', progressed: () => undefined })
    const open = async (change: Partial<KeystoreReference> = {}, mustAnswer = true): Promise<TokenSigner> => {
      const signer = await keys.open({ ...reference, ...change }, mustAnswer)
      opened.push(signer)
      return signer
    }
    return { open, publicKey, trouble: (word: Trouble) => shim.trouble(word) }
  }

  let signed = new Uint8Array()
  const failureOf = (signer: TokenSigner, digest = DIGEST): TokenUnavailableError | null => {
    try {
      signed = new Uint8Array(signer.sign(digest))
      return null
    } catch (error) {
      return error as TokenUnavailableError
    }
  }

  test('signs until it is erased', async () => {
    const { open, publicKey } = start()
    const signer = await open()
    expect(recoverWithNoble(signer.sign(DIGEST), DIGEST).toHex()).toBe(publicKey.toHex())
    signer.erase()
    expect(failureOf(signer)).toBeInstanceOf(SignerUnusableError)
    // The next key starts a new thread.
    expect((await open()).sign(DIGEST)).toHaveLength(65)
  })

  test('waits once for a token that is slow to fail, then only briefly, and signs when the token recovers', async () => {
    const { open, trouble } = start()
    const signer = await open()
    signer.sign(DIGEST)
    trouble('late')
    expect(failureOf(signer)?.detail).toBe('the token did not respond within 1000 ms')
    await until(() => failureOf(signer)?.detail === 'the token did not respond within 50 ms')
    trouble('')
    await until(() => failureOf(signer) === null)
  })

  test('does not use a late response as the signature of the next digest', async () => {
    const { open, publicKey, trouble } = start()
    const signer = await open()
    trouble('hung')
    expect(failureOf(signer)).toBeInstanceOf(TokenUnavailableError)
    const next = sha256('the next digest')
    trouble('')
    await until(() => failureOf(signer, next) === null)
    expect(recoverWithNoble(signed, next).toHex()).toBe(publicKey.toHex())
  })

  test('requires a new key to be available, but not a key that was in use', async () => {
    const { open, trouble } = start()
    const refusal = (change: Partial<KeystoreReference>): Promise<unknown> =>
      open(change).catch((error: unknown) => error)
    expect(String(await refusal({ keystorePath: 'pkcs11:object=none' }))).toContain('no secp256k1 key')
    expect(await refusal({ address: `0x${'1'.repeat(40)}` })).toBeInstanceOf(AttesterMismatchError)
    const signer = await open()
    trouble('gone')
    expect(failureOf(signer)).toBeInstanceOf(TokenUnavailableError)
    const again = await open()
    expect(String(await refusal({ id: 'attester_2' }))).toContain('CKR_DEVICE_REMOVED')
    // The start of a worker.
    await open({ id: 'attester_2' }, false)
    trouble('')
    await until(() => failureOf(again) === null)
  })
})
