// The vocabulary that the client package repeats from the service, compared by the compiler and at run time.
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BATCH_SIZE_MAX, IDEMPOTENCY_KEY_MAX } from '../../src/attestation/paths.ts'
import type { ServiceErrorCode } from '../../src/client/errors.ts'
import { EVM_CHAIN_IDS } from '../../src/client/evm-arguments.ts'
import { FINAL_STATUSES } from '../../src/client/identity-calls.ts'
import type * as client from '../../src/client/identity-types.ts'
import { BUILT_IN_CHAINS } from '../../src/domain/chain.ts'
import type { ErrorCode } from '../../src/domain/errors.ts'
import type * as domain from '../../src/domain/session.ts'

type Within<Left, Right> = [Left] extends [Right] ? true : false
type Same<Left, Right> = Within<Left, Right> extends true ? Within<Right, Left> : false

test('the types match those of the service', () => {
  // The admin API has more codes, which this client never receives.
  const errorCodes: Within<ServiceErrorCode, ErrorCode> = true
  const statuses: Same<client.SessionStatus, domain.SessionStatus> = true
  const sessionTypes: Same<client.SessionType, domain.SessionType> = true
  const checkTypes: Same<client.CheckType, domain.CheckType> = true
  // The compiler reports a type error if the two differ.
  expect([errorCodes, statuses, sessionTypes, checkTypes]).toEqual([true, true, true, true])
})

test('the chains and their ids match those of the service', () => {
  const ids = BUILT_IN_CHAINS.flatMap((chain) => (chain.family === 'evm' ? [[chain.name, chain.chainId] as const] : []))
  expect(EVM_CHAIN_IDS).toEqual(Object.fromEntries(ids))
})

test('following a session ends at the final statuses of the spec', () => {
  expect([...FINAL_STATUSES].sort()).toEqual(['completed', 'rejected'])
})

test.each([
  ['python/countersign/client.py', /^BATCH_SIZE_MAX = ([\d_]+)$/m, BATCH_SIZE_MAX],
  ['go/client.go', /^const BatchSizeMax = ([\d_]+)$/m, BATCH_SIZE_MAX],
  ['python/countersign/client.py', /^_KEY_MAX = (\d+)$/m, IDEMPOTENCY_KEY_MAX],
  ['go/client.go', /^const keyMax = (\d+)$/m, IDEMPOTENCY_KEY_MAX],
])('batch and key sizes in %s match the service: %s', (file, declaration, expected) => {
  const [, size] = declaration.exec(readFileSync(join(import.meta.dir, '../../clients', file), 'utf8')) ?? []
  expect(Number(size?.replaceAll('_', ''))).toBe(expected)
})
