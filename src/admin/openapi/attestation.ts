import { ATTESTATION_PATHS } from '../../attestation/paths.ts'
import { closed, named, oneOf, Type } from '../schema.ts'
import { openApiDocument } from './document.ts'
import type { DescribedOperation, InterfaceDescription } from './operation.ts'
import { PROBLEM } from './problem.ts'

const ON_BEHALF = Type.String({
  description:
    'User on whose behalf `from`, a relayer, acts. Checked against the organization’s lists like `from`, recorded, and available to policies as `onBehalf.address`. Not signed. On EVM chains, 32 bytes of hex are also accepted: an EVM address after twelve zero bytes, or a Solana public key.',
})

const REQUEST = named(
  'AttestationRequest',
  Type.Object({
    from: Type.String({ description: 'End user’s wallet address' }),
    chain: Type.String({ description: 'Name of the chain, for example `base` or `solana`' }),
    verification_hash: Type.Optional(
      Type.String({ description: 'Verification hash of the project; send this or `to`, not both' }),
    ),
    to: Type.Optional(
      Type.String({ description: 'Address of the contract or program; send this or `verification_hash`, not both' }),
    ),
    data: Type.Optional(
      Type.String({ description: 'Encoded function call as 0x-hex. Required if the policy reads it' }),
    ),
    msg_value: Type.Optional(
      Type.String({ description: 'Decimal amount in wei or lamports. Required if the policy reads it' }),
    ),
    on_behalf: Type.Optional(ON_BEHALF),
    user_ip: Type.Optional(Type.String({ description: 'End user’s IP address. Required if the policy reads it' })),
  }),
)

const RESPONSE = named(
  'AttestationResponse',
  closed({
    policy_id: Type.String(),
    policy_name: Type.String(),
    verification_hash: Type.String({ description: 'Policy ID stored in the contract; part of the signed data' }),
    is_compliant: Type.Boolean(),
    attestation: closed({
      uuid: Type.String({ description: 'UUID v4, which can be used only once' }),
      expiration: Type.Integer({ description: 'Expiration in Unix seconds; 0 if not compliant' }),
      attester: Type.String({
        description: 'EVM address or Solana public key of the attester; empty if not compliant',
      }),
      signature: Type.String({ description: 'Signature as 0x-hex; empty if not compliant' }),
    }),
    reason: Type.Optional(
      closed({ code: Type.String(), message: Type.String() }, 'Reason for a denial, if the policy states one'),
    ),
  }),
)

const TASK_REQUEST = named(
  'TaskRequest',
  Type.Object({
    from: Type.String({ description: 'Sender' }),
    to: Type.String({ description: 'Contract that enforces the policy' }),
    data: Type.String({ description: 'Call data as 0x-hex; `0x` if there is none' }),
    msg_value: Type.String({ description: 'Wei, decimal' }),
    chain_id: Type.Optional(Type.Integer({ description: 'EIP-155 chain ID. Defaults to 1' })),
    on_behalf: Type.Optional(ON_BEHALF),
  }),
)

const TASK_RESPONSE = named(
  'TaskResponse',
  closed({
    is_compliant: Type.Boolean(),
    signers: Type.Array(Type.String(), {
      description: 'Attester addresses in ascending order; empty if not compliant',
    }),
    signature: Type.Array(Type.String(), { description: 'Signatures, in the order of `signers`' }),
    expiry_block: Type.Integer({
      description: 'Block number, or Unix seconds if the chain is configured for Unix seconds; 0 if not compliant',
    }),
    task_id: Type.String(),
  }),
)

const BATCH_REQUEST = named(
  'BatchRequest',
  Type.Object({
    requests: Type.Array(
      Type.Intersect([
        REQUEST,
        Type.Object({
          idempotency_key: Type.Optional(
            Type.String({
              description: 'Idempotency key of this element. The same key in any batch returns the same result',
              maxLength: 255,
            }),
          ),
        }),
      ]),
      { minItems: 1, maxItems: 1_000 },
    ),
  }),
)

const BATCH_ELEMENT = named(
  'BatchElement',
  closed({
    index: Type.Integer({ description: 'Index of the request, starting at 0' }),
    status: Type.Integer({ description: 'HTTP status that the request would have if it were sent alone' }),
    answer: Type.Optional(RESPONSE),
    problem: Type.Optional(PROBLEM),
    retry_after_seconds: Type.Optional(
      Type.Integer({ description: 'Seconds to wait before a retry, for 429 and 503' }),
    ),
    replayed: Type.Optional(Type.Boolean({ description: 'True if this is the result of an earlier request' })),
  }),
)

const READINESS = named(
  'Readiness',
  Type.Object({ ready: Type.Boolean(), checks: Type.Record(Type.String(), oneOf(['ok', 'failing'])) }),
)

const PROBLEMS = [400, 401, 403, 408, 409, 413, 415, 422, 429, 500, 503]

const IDEMPOTENCY = {
  name: 'Idempotency-Key',
  description: 'Retries with the same key return the same response until the attestation expires.',
  schema: Type.String({ minLength: 1, maxLength: 255 }),
}

const shared = { parameters: {}, query: null, headers: [], bodies: {}, problems: [], security: [] } as const

const OPERATIONS: readonly DescribedOperation[] = [
  {
    ...shared,
    operationId: 'attest',
    ...ATTESTATION_PATHS.attestation,
    tag: 'Attestation',
    summary: 'Evaluate a wallet or a transaction, and sign an attestation',
    description:
      'A denial is not an error: it has status 200, `is_compliant` false and no signature. If the policy reads `data`, `msg_value` or `user_ip`, the field is required.',
    headers: [IDEMPOTENCY],
    bodies: {
      'application/json': {
        schema: REQUEST,
        required: true,
        examples: {
          project: {
            from: '0x1111111111111111111111111111111111111111',
            chain: 'base',
            verification_hash: 'x-0000000000000000',
          },
          contract: {
            from: '0x1111111111111111111111111111111111111111',
            to: '0x2222222222222222222222222222222222222222',
            chain: 'base',
            data: '0xa9059cbb',
            msg_value: '0',
          },
        },
      },
    },
    answers: [{ status: 200, description: 'The verdict.', schema: RESPONSE }],
    problems: PROBLEMS,
    security: ['attestationKey'],
  },
  {
    ...shared,
    operationId: 'attestMany',
    ...ATTESTATION_PATHS.batch,
    tag: 'Attestation',
    summary: 'Request up to 1,000 attestations',
    description:
      'Each element is decided independently and has its own result: a verdict or a problem. The rate limit counts elements. With `Accept: application/x-ndjson`, each result is one line, sent as soon as all previous results are ready.',
    bodies: { 'application/json': { schema: BATCH_REQUEST, required: true } },
    answers: [
      {
        status: 200,
        description: 'Results, in the order of the requests.',
        schema: closed({ answers: Type.Array(BATCH_ELEMENT) }),
      },
    ],
    problems: PROBLEMS,
    security: ['attestationKey'],
  },
  {
    ...shared,
    operationId: 'evaluateTask',
    ...ATTESTATION_PATHS.task,
    tag: 'Attestation',
    summary: 'Evaluate a transaction (v1)',
    description: 'Signed by as many attesters as the policy’s quorum requires.',
    headers: [IDEMPOTENCY],
    bodies: { 'application/json': { schema: TASK_REQUEST, required: true } },
    answers: [{ status: 200, description: 'The verdict.', schema: TASK_RESPONSE }],
    problems: PROBLEMS,
    security: ['attestationKey'],
  },
  {
    ...shared,
    operationId: 'readProof',
    ...ATTESTATION_PATHS.proof,
    tag: 'Attestation',
    summary: 'Get a proof that a decision is in the log',
    description:
      'Returns proofs for attestations and tasks of the key’s organization, both compliant and denied. A proof is a C2SP tlog-proof with the log line. Verify it offline with the log’s key (`countersign proof check` or the client). A signed head covers a decision a few seconds after the response. Until then, the status is 404, or 503 with `Retry-After`.',
    parameters: { uuid: { description: '`uuid` of the attestation, or `task_id`' } },
    answers: [
      {
        status: 200,
        description: 'The proof.',
        schema: closed({ uuid: Type.String(), log_key: Type.String(), proof: Type.String() }),
      },
    ],
    problems: [401, 403, 404, 408, 429, 500, 503],
    security: ['attestationKey'],
  },
  {
    ...shared,
    operationId: 'isAlive',
    method: 'GET',
    path: '/livez',
    tag: 'Operation',
    summary: 'Check that the process responds',
    description: '',
    answers: [{ status: 200, description: '`ok`', schema: Type.String(), contentType: 'text/plain' }],
  },
  {
    ...shared,
    operationId: 'isReady',
    method: 'GET',
    path: '/readyz',
    tag: 'Operation',
    summary: 'Check that the process can attest',
    description: '',
    answers: [{ status: 200, description: 'The process can attest.', schema: READINESS }],
    problems: [503],
  },
  {
    ...shared,
    operationId: 'readMetrics',
    method: 'GET',
    path: '/metrics',
    tag: 'Operation',
    summary: 'Get metrics for Prometheus',
    description: '',
    answers: [
      { status: 200, description: 'Text exposition format.', schema: Type.String(), contentType: 'text/plain' },
    ],
    // 404 for requests from other machines, unless `metrics-listen` is `api`; 404 for all requests if metrics have a
    // separate listener.
    problems: [404],
  },
  {
    ...shared,
    operationId: 'readApiDocument',
    method: 'GET',
    path: '/openapi.json',
    tag: 'Reference',
    summary: 'Get the OpenAPI document of this API and the identity API',
    description: 'Not served if the `docs` setting is false.',
    answers: [
      { status: 200, description: 'An OpenAPI 3.1 document.', schema: Type.Record(Type.String(), Type.Unknown()) },
    ],
    problems: [404],
  },
]

export const ATTESTATION_INTERFACE: InterfaceDescription = {
  title: 'Countersign attestation API',
  description:
    'Decides by policy whether a wallet may perform an action. Signs the decision for a smart contract or a Solana program if the action is allowed. For backend servers only: never put keys in frontend code.',
  tags: [
    { name: 'Attestation', description: 'Verdicts and signatures.' },
    {
      name: 'Operation',
      description: 'Endpoints for orchestrators and monitoring. Expose them only to your own network.',
    },
    { name: 'Reference', description: 'Description of the API for tools that read OpenAPI.' },
  ],
  securitySchemes: {
    attestationKey: {
      type: 'apiKey',
      in: 'header',
      name: 'x-api-key',
      description: 'An attestation key: csa_live_… or csa_test_…',
    },
  },
  operations: OPERATIONS,
}

export const attestationDocument = (version: string, server: string): string =>
  openApiDocument({ ...ATTESTATION_INTERFACE, version, server })
