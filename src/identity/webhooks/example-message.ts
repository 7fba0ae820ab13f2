// Example messages for testing an endpoint. They name no real session, person or wallet.
import { parseEvmAddress } from '../../domain/address.ts'
import { NAME_CHECK } from '../../domain/screening-hit.ts'
import type { SessionStatus } from '../../domain/session.ts'
import {
  WEBHOOK_PROVIDER,
  type WebhookEndpoint,
  type WebhookMessageType,
  type WebhookSnapshot,
} from '../../domain/webhook-message.ts'
import { checksumAddress } from '../../lib/checksum-address.ts'
import type { ClaimedMessage } from './message.ts'

/** No session has this id, because session ids contain their creation time. */
export const EXAMPLE_SESSION_ID = '00000000-0000-7000-8000-000000000000'
const EXAMPLE_USER_ID = '00000000-0000-8000-8000-000000000000'
/** Nobody has the key of this address. */
const EXAMPLE_WALLET = '0x000000000000000000000000000000000000dead'

/** Sequence, status and number of wallets, in the usual order of events. */
const MOMENTS: Readonly<Record<WebhookMessageType, readonly [number, SessionStatus, 0 | 1]>> = {
  'session.created': [1, 'pending', 0],
  'session.wallets_changed': [2, 'pending', 1],
  'session.checked': [4, 'submitted', 1],
  'session.decision_requested': [4, 'submitted', 1],
  'session.status_changed': [5, 'completed', 1],
  'screening.hit': [5, 'completed', 1],
}

export const exampleMessage = (
  id: string,
  { id: endpointId, organizationId, environment }: Pick<WebhookEndpoint, 'id' | 'organizationId' | 'environment'>,
  type: WebhookMessageType,
  atSeconds: number,
): ClaimedMessage => {
  const [sequence, status, wallets] = MOMENTS[type]
  const address = parseEvmAddress(EXAMPLE_WALLET)
  if (address === null) throw new TypeError('the example wallet is not an address')
  const isCompleted = status === 'completed'
  const hasHit = type === 'screening.hit'
  const wallet = {
    id: 'wallet_0000000000000000',
    chain: 'ethereum',
    address,
    addressText: checksumAddress(address),
    connectedAtSeconds: atSeconds,
    connectedSequence: 2,
  }
  const snapshot: WebhookSnapshot = {
    state: {
      session: {
        id: EXAMPLE_SESSION_ID,
        organizationId,
        environment,
        checkType: 'kyc',
        status,
        level: 1,
        provider: type === 'session.decision_requested' ? WEBHOOK_PROVIDER : 'manual',
        lockedAddress: null,
        originUrl: null,
        personId: null,
        userId: isCompleted ? EXAMPLE_USER_ID : null,
        consentedAtSeconds: null,
        publicComment: null,
        retryCount: 0,
        sequence,
        createdAtSeconds: atSeconds,
        completedAtSeconds: isCompleted ? atSeconds : null,
      },
      wallets: wallets === 0 ? [] : [wallet],
    },
    event: { sequence, publicComment: null, createdAtSeconds: atSeconds },
    checks: [{ name: NAME_CHECK, outcome: hasHit ? 'review' : 'passed' }],
    ...(hasHit
      ? { openHits: [{ id: 'hit_0000000000000000', check: NAME_CHECK, list: 'example', subject: 'person' }] }
      : {}),
  }
  return { id, organizationId, endpointId, type, attempts: 1, snapshot }
}
