// Random statements for property tests.
import bs58 from 'bs58'
import fc from 'fast-check'
import type { EvmStatement, SolanaStatement, TaskStatement } from './statements.ts'

const hex = (least: number, most: number): fc.Arbitrary<string> =>
  fc.uint8Array({ minLength: least, maxLength: most }).map((bytes) => `0x${bytes.toHex()}`)

export const address = hex(20, 20)
const calldata = fc.oneof(fc.constant('0x'), hex(0, 100), hex(1_000, 5_000))
const uint256 = fc.oneof(fc.bigInt(0n, 2n ** 256n - 1n), fc.bigInt(0n, 2n ** 64n), fc.constant(2n ** 256n - 1n))
/** Well-formed text in any script, up to a few kilobytes of UTF-8. */
const policyText = fc.oneof(
  fc.string({ maxLength: 64 }),
  fc.string({ unit: 'grapheme', maxLength: 80 }),
  fc.string({ minLength: 500, maxLength: 1_500 }),
)

export const evmStatement: fc.Arbitrary<EvmStatement> = fc.record({
  chainId: fc.maxSafeNat(),
  uuid: fc.uuid(),
  from: address,
  to: address,
  value: uint256,
  data: calldata,
  policy: policyText,
  expirationSeconds: fc.maxSafeNat(),
})

export const taskStatement: fc.Arbitrary<TaskStatement> = fc.record({
  taskId: fc.uuid(),
  from: address,
  to: address,
  value: uint256,
  data: calldata,
  policy: policyText,
  quorum: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  expiry: fc.maxSafeNat(),
})

const solanaAddress = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => bs58.encode(bytes))

export const solanaStatement: fc.Arbitrary<SolanaStatement> = fc.record({
  uuid: fc.uuid(),
  from: solanaAddress,
  to: solanaAddress,
  lamports: fc.bigInt(0n, 2n ** 64n - 1n),
  data: calldata,
  policy: policyText,
  expirationSeconds: fc.maxSafeNat(),
})
