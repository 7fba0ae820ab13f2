// Veriff signs only the body, in lowercase hex; the age counts from the decision. Sources:
// devdocs.veriff.com/docs/hmac-authentication-and-endpoint-security, devdocs.veriff.com/docs/decision-webhook,
// devdocs.veriff.com/docs/webhooks-guide.
import { createHmac } from 'node:crypto'
import { requireSignature } from '../../../server/webhook-signature.ts'
import { commentOf, messageIdOf, objectAt, textAt, timeAt, type VerificationService } from './service.ts'

const STATUSES: ReadonlyMap<string, 'completed' | 'rejected' | 'retry'> = new Map([
  ['approved', 'completed'],
  ['declined', 'rejected'],
  ['resubmission_requested', 'retry'],
])

export const VERIFF: VerificationService = {
  name: 'veriff',
  ageSecondsMax: 8 * 86_400,
  verify: (secrets, headers, body) => {
    const expected = (secret: Uint8Array): string => createHmac('sha256', secret).update(body).digest('hex')
    requireSignature(secrets, [{ signature: headers.get('x-hmac-signature') ?? '', expected }])
    return { id: messageIdOf(body) }
  },
  read: (message) => {
    const verification = objectAt(message['verification'])
    const status = STATUSES.get(textAt(verification, 'status'))
    if (status === undefined) return null
    const code = verification['reasonCode']
    return {
      status,
      reference: textAt(verification, 'vendorData'),
      decidedAtMs: timeAt(verification, 'decisionTime'),
      publicComment: null,
      privateComment: commentOf(
        `Veriff session ${textAt(verification, 'id')}`,
        textAt(verification, 'reason'),
        typeof code === 'number' ? `code ${code}` : '',
      ),
    }
  },
}
