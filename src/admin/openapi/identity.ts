import { IDENTITY_PATHS } from '../../identity/paths.ts'
import { closed, named, nullable, oneOf, Type } from '../schema.ts'
import { openApiDocument } from './document.ts'
import type { DescribedOperation, InterfaceDescription } from './operation.ts'

const TYPE = oneOf(['individual', 'business'], 'individual: KYC; business: KYB')
const STATUS = oneOf(['pending', 'submitted', 'completed', 'rejected', 'retry'])

const CREATED = named(
  'CreatedSession',
  closed({
    sessionId: Type.String({ description: 'UUID' }),
    redirectUrl: Type.String({ description: 'Hosted verification link' }),
    qrCode: Type.String({ description: 'QR code of the link, as a PNG data URI' }),
  }),
)

const WALLET = named('SessionWallet', closed({ id: Type.String(), address: Type.String(), chain: Type.String() }))

const SESSION = named(
  'SessionStatus',
  closed({
    sessionId: Type.String(),
    status: STATUS,
    userId: Type.Optional(
      Type.String({ description: 'ID of the person or business; present if the session has an identity' }),
    ),
    completedAt: Type.Optional(
      Type.String({ description: 'Time of completion, ISO 8601. Present only if the session is completed' }),
    ),
    verifiedWallets: Type.Array(WALLET, { description: 'Empty unless completed' }),
    unverifiedWallets: Type.Array(WALLET, { description: 'Empty if completed' }),
  }),
)

const VERIFIED = named(
  'WalletVerification',
  closed({
    address: Type.String(),
    verified: Type.Boolean(),
    status: Type.Optional(nullable(STATUS)),
    userId: Type.Optional(Type.String()),
    checkType: Type.Optional(nullable(oneOf(['kyc', 'kyb']))),
    verifiedAt: Type.Optional(nullable(Type.String())),
    wallets: Type.Optional(Type.Array(closed({ address: Type.String(), chain: Type.String() }))),
  }),
)

const PARAMETERS = {
  type: { schema: TYPE },
  sessionId: { description: 'UUID returned when the session was created' },
}
const PROBLEMS = [401, 403, 404, 408, 429, 500, 503]
const shared = { parameters: PARAMETERS, query: null, headers: [], bodies: {}, security: ['identityKey'] } as const

const register = (type: 'individual' | 'business'): DescribedOperation => ({
  ...shared,
  operationId: type === 'individual' ? 'registerIndividual' : 'registerBusiness',
  ...(type === 'individual' ? IDENTITY_PATHS.registerIndividual : IDENTITY_PATHS.registerBusiness),
  tag: 'Sessions',
  summary: `Create a session for ${type === 'individual' ? 'a person' : 'a business'}`,
  description:
    'With `walletAddress`, returns an existing session of the same type for that wallet if it is pending, in retry or completed.',
  query: Type.Object({
    size: Type.Optional(
      Type.Integer({ minimum: 80, maximum: 2_000, description: 'Size of the QR code in pixels. Defaults to 300' }),
    ),
  }),
  headers: [
    {
      name: 'Idempotency-Key',
      description: 'Retries with the same key return the same session for one day.',
      schema: Type.String({ minLength: 1, maxLength: 255 }),
    },
  ],
  bodies: {
    'application/json': {
      required: false,
      schema: named(
        'Registration',
        Type.Object({
          walletAddress: Type.Optional(Type.String({ description: 'Restricts the session to this wallet' })),
          originUrl: Type.Optional(Type.String({ description: 'Absolute https URL to which the person returns' })),
        }),
      ),
    },
  },
  answers: [
    { status: 201, description: 'A new session.', schema: CREATED },
    { status: 200, description: 'An existing session.', schema: CREATED },
  ],
  problems: [400, 409, 413, 415, 422, ...PROBLEMS],
})

const OPERATIONS: readonly DescribedOperation[] = [
  register('individual'),
  register('business'),
  {
    ...shared,
    operationId: 'readStatus',
    ...IDENTITY_PATHS.status,
    tag: 'Sessions',
    summary: 'Get a session’s status',
    description: '',
    answers: [{ status: 200, description: 'The status.', schema: SESSION }],
    problems: PROBLEMS,
  },
  {
    ...shared,
    operationId: 'followStatus',
    ...IDENTITY_PATHS.stream,
    tag: 'Sessions',
    summary: 'Stream a session’s status',
    description:
      'Server-sent events: each `data` line is a status object. The stream starts with the current status, sends one status per change, and sends `: keep-alive` every 15 seconds. It stays open after a final status.',
    answers: [{ status: 200, description: 'The stream.', schema: SESSION, contentType: 'text/event-stream' }],
    problems: PROBLEMS,
  },
  {
    ...shared,
    operationId: 'verifyWallet',
    ...IDENTITY_PATHS.verify,
    tag: 'Wallets',
    summary: 'Check whether a wallet belongs to a verified identity',
    description:
      'Uses the calling organization’s current level. With `chain`, a contract wallet is verified only on the chains where its owner proved control. Without `chain`, compare the chains in `wallets`.',
    bodies: {
      'application/json': {
        required: true,
        schema: named(
          'VerifyRequest',
          Type.Object({ address: Type.String(), type: Type.Optional(TYPE), chain: Type.Optional(Type.String()) }),
        ),
      },
    },
    answers: [{ status: 200, description: 'The verification.', schema: VERIFIED }],
    problems: [400, 413, 415, ...PROBLEMS],
  },
]

export const IDENTITY_INTERFACE: InterfaceDescription = {
  title: 'Countersign identity API',
  description:
    'Runs verification sessions for people and businesses, and checks whether a wallet belongs to a verified identity. For backend servers only; browsers follow a stream through a relay that adds the key.',
  tags: [
    { name: 'Sessions', description: 'Creation and status of sessions.' },
    { name: 'Wallets', description: 'Verification of wallets.' },
  ],
  securitySchemes: {
    identityKey: { type: 'http', scheme: 'bearer', description: 'An identity key: csi_live_… or csi_test_…' },
  },
  operations: OPERATIONS,
}

export const identityDocument = (version: string, server: string): string =>
  openApiDocument({ ...IDENTITY_INTERFACE, version, server })
