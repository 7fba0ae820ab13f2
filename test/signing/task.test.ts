// The digest of a v1 task, compared with published vectors and viem.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { evmAddressOf } from '../../src/signing/address.ts'
import { StatementInvalidError } from '../../src/signing/errors.ts'
import { chooseSecp256k1Backend } from '../../src/signing/secp256k1-backends.ts'
import { loadKeccak256 } from '../../src/signing/statement.ts'
import vectors from '../vectors/evm-v1.json'
import { taskStatement } from './arbitraries.ts'
import { referenceTaskDigest } from './reference-encoding.ts'
import { type TaskStatement, taskDigester } from './statements.ts'

const digest = taskDigester(await loadKeccak256())
const { backend } = chooseSecp256k1Backend('auto')

const taskOf = (vector: (typeof vectors.vectors)[number]): TaskStatement => ({
  taskId: vector.task_id,
  from: vector.from,
  to: vector.to,
  value: BigInt(vector.msg_value),
  data: vector.data,
  policy: vector.policy,
  quorum: vector.quorum,
  expiry: vector.expiry,
})

const signers = vectors.private_keys.map((key) => {
  const signer = backend.createSigner(Uint8Array.fromHex(key.slice(2)))
  return { signer, address: evmAddressOf(signer.publicKey) }
})
const ascending = signers.toSorted((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1))

describe('the v1 task digest', () => {
  test.each(vectors.vectors)('and its signatures equal the vector $task_id', (vector) => {
    const bytes = digest(taskOf(vector))
    expect(`0x${bytes.toHex()}`).toBe(vector.digest)
    const chosen = ascending.slice(0, vector.quorum)
    expect(chosen.map(({ address }) => address)).toEqual(vector.signers)
    const signatures = chosen.map(({ signer }) => {
      const signature = new Uint8Array(65)
      signer.sign(bytes, signature)
      return `0x${signature.toHex()}`
    })
    expect(signatures).toEqual(vector.signatures)
  })

  test('equals the hash of viem’s encoding, for any sequence of tasks', () => {
    fc.assert(
      fc.property(taskStatement, (task) => {
        expect(`0x${digest(task).toHex()}`).toBe(referenceTaskDigest(task))
      }),
      { numRuns: 300 },
    )
  })

  test.each([
    ['a quorum of 2^32', { quorum: 2 ** 32 }],
    ['a negative quorum', { quorum: -1 }],
    ['a fractional expiry', { expiry: 0.5 }],
    ['a value of 2^256', { value: 2n ** 256n }],
    ['data that is not hex', { data: '0xq1' }],
  ])('refuses %s', (_, change) => {
    expect(() => digest({ ...taskOf(vectors.vectors[0]!), ...change })).toThrow(StatementInvalidError)
  })
})
