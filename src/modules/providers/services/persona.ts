// Persona signs time and body: `t=…,v1=…`, twice during a rotation. `t` has the same limit as Countersign's own
// webhooks. Sources: docs.withpersona.com/webhooks-best-practices, docs.withpersona.com/webhooks,
// docs.withpersona.com/reference-ids.
import { createHmac } from 'node:crypto'
import { isTimely, requireSignature, WebhookSignatureInvalidError } from '../../../server/webhook-signature.ts'
import { commentOf, messageIdOf, objectAt, textAt, timeAt, type VerificationService } from './service.ts'

const PAIR = /^t=(\d+),v1=([0-9a-f]{64})$/

const STATUSES: ReadonlyMap<string, 'completed' | 'rejected'> = new Map([
  ['inquiry.approved', 'completed'],
  ['inquiry.declined', 'rejected'],
])

export const PERSONA: VerificationService = {
  name: 'persona',
  ageSecondsMax: 8 * 86_400,
  verify: (secrets, headers, body, nowSeconds) => {
    const pairs = (headers.get('persona-signature') ?? '').split(' ').map((pair) => PAIR.exec(pair))
    const given = pairs.map((pair) => {
      const [, timestamp = '', signature = ''] = pair ?? []
      if (!isTimely(timestamp, nowSeconds)) throw new WebhookSignatureInvalidError()
      const expected = (secret: Uint8Array): string =>
        createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
      return { signature, expected }
    })
    requireSignature(secrets, given)
    return { id: messageIdOf(body) }
  },
  read: (message) => {
    const event = objectAt(objectAt(message['data'])['attributes'])
    const status = STATUSES.get(textAt(event, 'name'))
    if (status === undefined) return null
    const inquiry = objectAt(objectAt(event['payload'])['data'])
    return {
      status,
      reference: textAt(objectAt(inquiry['attributes']), 'reference-id'),
      decidedAtMs: timeAt(event, 'created-at'),
      publicComment: null,
      privateComment: commentOf(`Persona inquiry ${textAt(inquiry, 'id')}`),
    }
  },
}
