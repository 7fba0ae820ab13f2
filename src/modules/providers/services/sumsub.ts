// Sumsub signs only the body, with the algorithm in a header; the age counts from the event. Sources:
// docs.sumsub.com/docs/webhook-manager, docs.sumsub.com/docs/user-verification-webhooks,
// docs.sumsub.com/docs/receive-and-interpret-results-via-api.
import { createHmac } from 'node:crypto'
import type { JsonObject } from '../../../server/strict-json.ts'
import { requireSignature, WebhookSignatureInvalidError } from '../../../server/webhook-signature.ts'
import {
  commentOf,
  messageIdOf,
  objectAt,
  type ServiceDecision,
  textAt,
  timeAt,
  type VerificationService,
} from './service.ts'

/** SHA-1 is for webhooks created before the algorithm was selectable. */
const ALGORITHMS: ReadonlyMap<string, string> = new Map([
  ['HMAC_SHA1_HEX', 'sha1'],
  ['HMAC_SHA256_HEX', 'sha256'],
  ['HMAC_SHA512_HEX', 'sha512'],
])

const REFUSALS: ReadonlyMap<string, 'rejected' | 'retry'> = new Map([
  ['FINAL', 'rejected'],
  ['RETRY', 'retry'],
])

const statusOf = (result: JsonObject): ServiceDecision['status'] | undefined => {
  const answer = textAt(result, 'reviewAnswer')
  if (answer === 'GREEN') return 'completed'
  return answer === 'RED' ? REFUSALS.get(textAt(result, 'reviewRejectType')) : undefined
}

/** `2020-02-21 13:23:19.321` in UTC. */
const parseTime = (text: string): number =>
  /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,3})?$/.test(text) ? Date.parse(`${text.replace(' ', 'T')}Z`) : Number.NaN

export const SUMSUB: VerificationService = {
  name: 'sumsub',
  // Sumsub repeats a message after 5 minutes, 1, 5 and 18 hours.
  ageSecondsMax: 26 * 3_600,
  verify: (secrets, headers, body) => {
    const algorithm = ALGORITHMS.get(headers.get('x-payload-digest-alg') ?? '')
    if (algorithm === undefined) throw new WebhookSignatureInvalidError()
    const expected = (secret: Uint8Array): string => createHmac(algorithm, secret).update(body).digest('hex')
    requireSignature(secrets, [{ signature: headers.get('x-payload-digest') ?? '', expected }])
    return { id: messageIdOf(body) }
  },
  read: (message) => {
    const result = objectAt(message['reviewResult'])
    if (message['type'] !== 'applicantReviewed') return null
    // In the sandbox and the webhook manager, users choose the result.
    if (message['sandboxMode'] === true || message['testMode'] === true) return null
    const status = statusOf(result)
    if (status === undefined) return null
    const labels = Array.isArray(result['rejectLabels']) ? result['rejectLabels'] : []
    return {
      status,
      reference: textAt(message, 'externalUserId'),
      decidedAtMs: timeAt(message, 'createdAtMs', parseTime),
      publicComment: commentOf(textAt(result, 'moderationComment')),
      privateComment: commentOf(
        `Sumsub applicant ${textAt(message, 'applicantId')}`,
        textAt(result, 'clientComment'),
        labels.filter((label) => typeof label === 'string').join(', '),
      ),
    }
  },
}
