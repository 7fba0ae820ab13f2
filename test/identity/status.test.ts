import { describe, expect, test } from 'bun:test'
import { SESSION_STATUSES, type Session, type SessionState } from '../../src/domain/session.ts'
import { buildStatus } from '../../src/identity/sessions/status.ts'
import { evmWallet } from './support.ts'

const session: Session = {
  id: '01a1f8ae-78a5-736f-b344-07aea9a52566',
  organizationId: 'org_1',
  environment: 'live',
  checkType: 'kyc',
  status: 'pending',
  level: 1,
  provider: 'manual',
  lockedAddress: null,
  originUrl: 'https://example.com/',
  personId: null,
  userId: null,
  consentedAtSeconds: null,
  publicComment: 'Blurry.',
  retryCount: 0,
  sequence: 1,
  createdAtSeconds: 1_767_225_600,
  completedAtSeconds: null,
}
const wallets = [1, 2].map((number) => ({
  id: `wallet_${number}`,
  chain: 'ethereum',
  address: evmWallet(number),
  addressText: `0xText${number}`,
  connectedAtSeconds: 1,
  connectedSequence: number + 1,
}))
const entries = [
  { id: 'wallet_1', address: '0xText1', chain: 'ethereum' },
  { id: 'wallet_2', address: '0xText2', chain: 'ethereum' },
]

describe('the status object', () => {
  for (const status of SESSION_STATUSES) {
    test(`of a ${status} session has what the specification says, and nothing else`, () => {
      const completed = status === 'completed'
      const state: SessionState = {
        session: {
          ...session,
          status,
          ...(completed ? { personId: 'person_1', userId: 'user-1', completedAtSeconds: 1_767_225_661 } : {}),
        },
        wallets,
      }
      expect(buildStatus(state)).toStrictEqual({
        sessionId: session.id,
        status,
        ...(completed ? { userId: 'user-1', completedAt: '2026-01-01T00:01:01.000Z' } : {}),
        verifiedWallets: completed ? entries : [],
        unverifiedWallets: completed ? [] : entries,
      })
    })
  }

  test('keeps the user id once there is one, also after a revocation', () => {
    const state = { session: { ...session, status: 'retry', personId: 'person_1', userId: 'user-1' } as const, wallets }
    expect(buildStatus(state)).toStrictEqual({
      sessionId: session.id,
      status: 'retry',
      userId: 'user-1',
      verifiedWallets: [],
      unverifiedWallets: entries,
    })
  })

  test('has both lists, empty, without wallets', () => {
    expect(buildStatus({ session, wallets: [] })).toMatchObject({ verifiedWallets: [], unverifiedWallets: [] })
  })
})
