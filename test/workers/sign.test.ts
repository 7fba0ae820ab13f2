// The choice of the signing keys, and the published layouts of signed messages.
import { afterAll, describe, expect, test } from 'bun:test'
import type { SignableJob } from '../../src/pool/protocol.ts'
import { createSolanaMessageBuilder } from '../../src/signing/solana-message.ts'
import { createStatementDigester, createTaskDigester, loadKeccak256 } from '../../src/signing/statement.ts'
import { AttestersMissingError, createSign, type Digesters } from '../../workers/signing/sign.ts'
import { jobOf } from '../pool/support/jobs.ts'
import { testKey } from '../signing/test-keys.ts'
import { chainOf, requestOf } from '../support/request.ts'
import evmV1 from '../vectors/evm-v1.json'
import evmV2 from '../vectors/evm-v2.json'
import solana from '../vectors/solana.json'
import { openTestKeyring, removeTemporaryDirectories, storeAttester, temporaryDirectory } from './support/attesters.ts'
import { testTarget } from './support/policies.ts'

afterAll(removeTemporaryDirectories)

const directory = temporaryDirectory()
const keccak = await loadKeccak256()
const digesters: Digesters = {
  statement: createStatementDigester(keccak),
  task: createTaskDigester(keccak),
  solanaMessage: createSolanaMessageBuilder(),
}
const evmAttester = await storeAttester(directory, 'secp256k1', evmV2.private_key)
const solanaAttester = await storeAttester(directory, 'ed25519', solana.seed)
const taskAttesters = await Promise.all(evmV1.private_keys.map((key) => storeAttester(directory, 'secp256k1', key)))
const spare = await storeAttester(directory, 'secp256k1', testKey(1).toHex())

describe('v2', () => {
  const evmVectors = evmV2.vectors.map((vector) => ({
    ...vector,
    chain: { name: vector.chain, family: 'evm', chainId: vector.chain_id } as const,
    attester: evmV2.attester,
  }))
  const solanaVectors = solana.vectors.map((vector) => ({
    ...vector,
    chain: chainOf('solana'),
    attester: solana.attester,
  }))
  test('signs every vector with the first active key of its family', async () => {
    const keys = [{ ...spare, status: 'retiring' } as const, evmAttester, spare, solanaAttester]
    const sign = createSign(await openTestKeyring(keys), digesters)
    for (const { uuid, chain, from, to, data, expiration, ...vector } of [...evmVectors, ...solanaVectors]) {
      const request = requestOf({ chain, from, to, data, value: vector.msg_value })
      expect(sign(jobOf(1, { uuid, request, expiration }), testTarget({ verificationHash: vector.policy }))).toEqual({
        attesters: [vector.attester],
        signatures: [vector.signature],
      })
    }
  })

  test('does not sign for a family without an active key', async () => {
    const sign = createSign(await openTestKeyring([{ ...evmAttester, status: 'retiring' }, solanaAttester]), digesters)
    expect(() => sign(jobOf(1), testTarget())).toThrow(AttestersMissingError)
    const evmOnly = createSign(await openTestKeyring([evmAttester]), digesters)
    expect(() => evmOnly(jobOf(1, { request: requestOf({ chain: chainOf('solana') }) }), testTarget())).toThrow(
      'no attester key is active for Solana chains',
    )
  })
})

describe('v1', () => {
  const task = (overrides: Partial<SignableJob> = {}): SignableJob => jobOf(1, { kind: 'task', ...overrides })

  test('signs every vector with its signers, in ascending order of their addresses', async () => {
    for (const vector of evmV1.vectors) {
      const attesters = taskAttesters.filter(({ address }) => vector.signers.includes(address)).reverse()
      const sign = createSign(await openTestKeyring(attesters), digesters)
      const job = task({
        uuid: vector.task_id,
        request: requestOf({ from: vector.from, to: vector.to, value: vector.msg_value, data: vector.data }),
        expiration: vector.expiry,
      })
      const target = testTarget({ verificationHash: vector.policy, quorum: vector.quorum })
      expect(sign(job, target)).toEqual({ attesters: vector.signers, signatures: vector.signatures })
    }
  })

  test('signs with as many of the first keys as the quorum requires, sorted by address', async () => {
    const sign = createSign(await openTestKeyring(taskAttesters), digesters)
    for (const quorum of [1, 2, 3]) {
      const { attesters, signatures } = sign(task(), testTarget({ quorum }))
      const expected = taskAttesters.slice(0, quorum).map(({ address }) => address)
      expect(attesters).toEqual(expected.sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1)))
      expect(signatures).toHaveLength(quorum)
    }
  })

  test('does not sign with too few keys or with duplicate keys', async () => {
    const first = taskAttesters[0] as (typeof taskAttesters)[number]
    for (const attesters of [[], [first], [first, { ...first, id: 'attester_twice' }]]) {
      const sign = createSign(await openTestKeyring(attesters), digesters)
      expect(() => sign(task(), testTarget({ quorum: 2 }))).toThrow("not enough attester keys for the policy's quorum")
    }
    const sign = createSign(await openTestKeyring([first]), digesters)
    expect(() => sign(task(), testTarget({ quorum: 0 }))).toThrow(AttestersMissingError)
  })
})
