// Messages to and from other services: signatures, delivery, deciders.
import { type Place, placesOf } from '../place.ts'

export const webhooks: readonly Place[] = [
  ...placesOf(['test/server/webhook-signature.test.ts'], 'src/server/webhook-signature.ts', [
    [
      'an old message verifies',
      'Math.abs(nowSeconds - Number(timestamp)) <= TIMESTAMP_TOLERANCE_SECONDS',
      '!Number.isNaN(nowSeconds)',
    ],
    ['a message of 301 s verifies', '<= TIMESTAMP_TOLERANCE_SECONDS', '<= TIMESTAMP_TOLERANCE_SECONDS + 1'],
    ['any signature verifies', 'if (!verified || secrets.length === 0) throw', 'if (secrets.length === 0) throw'],
    ['the id is not signed', '`${id}.${timestamp}.${body}`', '`.${timestamp}.${body}`'],
    ['who has no secret verifies by zeros', 'if (!verified || secrets.length === 0) throw', 'if (!verified) throw'],
    ['only the first signature is looked at', 'of given) if (sameText', 'of given.slice(0, 1)) if (sameText'],
  ]),
  ...placesOf(['test/identity/webhooks/delivery.test.ts'], 'src/identity/webhooks/deliver.ts', [
    ['a redirect counts as received', 'status >= 200 && status < 300', 'status >= 200 && status < 400'],
    ['it gives up one attempt late', 'attempts >= ATTEMPTS_MAX', 'attempts > ATTEMPTS_MAX'],
    ['a receiver that is gone is asked again', ' || status === GONE) return', ') return'],
    [
      'a receiver may ask for a day of patience',
      'Math.min(RETRY_AFTER_MAX_SECONDS, retryAfterSeconds ?? 0)',
      'retryAfterSeconds ?? 0',
    ],
  ]),
  ...placesOf(['test/identity/webhooks/delivery.test.ts'], 'src/identity/webhooks/delivery-loop.ts', [
    [
      'an attempt that was settled elsewhere is counted',
      'if (!(await messages.settle(message, outcome))) return',
      'await messages.settle(message, outcome)',
    ],
    ['stopping waits for nothing', 'while (underWay.size > 0) await Promise.all(underWay)', ''],
  ]),
  ...placesOf(
    ['test/identity/webhooks/delivery.test.ts', 'test/store/duty-races.test.ts'],
    'src/store/webhooks/webhook-messages.ts',
    [
      [
        'two processes send one message',
        "WHERE id = ? AND state = 'waiting' AND claimed_until_seconds <= ? RETURNING",
        "WHERE id = ? AND state = 'waiting' AND claimed_until_seconds <= ? + 1000000000 RETURNING",
      ],
      [
        'an old attempt’s failure counts',
        "outcome.state === 'delivered' ? '' : 'AND attempts = ?'",
        "outcome.state === 'delivered' ? '' : 'AND attempts >= ?'",
      ],
      ['one endpoint takes all places', 'PER_ENDPOINT_MAX - underWay(endpointId),', 'limit,'],
      ['one organization takes all places', 'PER_ORGANIZATION_MAX - underWay(owner) - ofOwner,', 'limit,'],
      ['a process that leads no more claims', 'if (!(await allowed(transaction))) return []', ''],
    ],
  ),
  ...placesOf(['test/identity/webhooks/provider.test.ts'], 'src/identity/webhooks/provider-endpoints.ts', [
    [
      'a decider decides sessions of others',
      'state === null || state.session.provider !== WEBHOOK_PROVIDER',
      'state === null',
    ],
    [
      'a repeated message is given evidence',
      'if (!(await spend(messageOf(call, session.id)))) throw new ProviderMessageRepeatedError()',
      'await spend(messageOf(call, session.id))',
    ],
    ['a decision on another state is taken', '...(sequence === undefined ? {} : { expectedSequence: sequence }),', ''],
  ]),
  ...placesOf(['test/identity/webhooks/provider.test.ts'], 'src/identity/webhooks/provider-message.ts', [
    [
      'a message for one session decides another',
      "if (data['sessionId'] !== sessionId) throw new FieldInvalidError('data.sessionId', 'must be the session of the path')",
      '',
    ],
    [
      'a message of another type decides',
      "if (message['type'] !== type) throw new FieldInvalidError('type', `must be ${type}`)",
      '',
    ],
  ]),
]
