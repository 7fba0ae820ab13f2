// Limits of the page per session, per link and per network.
import { expect, test } from 'bun:test'
import { createPageLimits, NETWORK_PROOFS, SESSION_CHANGES } from '../../src/portal/session-limit.ts'
import { RateExceededError } from '../../src/server/rate-limit.ts'
import { createManualClock } from '../server/manual-clock.ts'

const clock = createManualClock()
const limits = createPageLimits(clock)

/** Number of calls until the limit. */
const countOf = (take: () => void): number => {
  for (let count = 0; ; count++) {
    try {
      take()
    } catch (error) {
      expect(error).toBeInstanceOf(RateExceededError)
      return count
    }
  }
}

test('each session and each link has its own limit', () => {
  const [mine, theirs] = [Uint8Array.of(1), Uint8Array.of(2)]
  expect(countOf(() => limits.takeEntry(theirs))).toBe(SESSION_CHANGES.burst)
  limits.takeEntry(mine)
  expect(countOf(() => limits.takeChange('01'))).toBe(SESSION_CHANGES.burst)
  limits.takeChange('02')
})

test('a network has one limit for signatures of all its sessions', () => {
  expect(countOf(() => limits.takeProof('2001:db8::1'))).toBe(NETWORK_PROOFS.burst)
  expect(countOf(() => limits.takeProof('2001:db8::ffff'))).toBe(0)
  for (const other of ['2001:db8:0:1::1', '203.0.113.7']) limits.takeProof(other)
  for (let count = 0; count <= NETWORK_PROOFS.burst; count++) limits.takeProof('')
  clock.advance(1_000)
  expect(countOf(() => limits.takeProof('2001:db8::2'))).toBe(NETWORK_PROOFS.requestsPerSecond)
})
