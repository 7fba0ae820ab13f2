// Calls of every client to a running service, through the proxy's faults. `$name` is a value of the quick start or of an
// earlier step; `~` precedes a pattern.
import { BATCH_SIZE_MAX, IDEMPOTENCY_KEY_MAX } from '../../src/attestation/paths.ts'
import type { Fault } from './faulty-proxy.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
type Fields = Readonly<Record<string, Json>>

export interface Step {
  readonly call: Fields
  readonly faults?: readonly Fault[]
  /** Requests that the proxy must have received, all with the same keys and request id. */
  readonly attempts?: number
  /** The last connection must have sent the id of the last event. */
  readonly resumes?: boolean
  /** Operator decisions, keyed by the received status. */
  readonly decide?: Readonly<Record<string, string>>
  readonly statuses?: readonly string[]
  /** Name of the result in later steps: `$name.field`. */
  readonly save?: string
  /** Expected subset of the result. */
  readonly result?: Json
  readonly error?: Json
  /** The attester in the response must have signed the bytes of the result. */
  readonly signedAs?: 'evm' | 'solana'
}
interface Scenario {
  readonly name: string
  readonly options?: Fields
  readonly steps: readonly Step[]
}

const SESSION = '0f9a4a1e-7b1c-4d4e-9a53-3c8f2f2f3b10'
const DEMO_CALL = { chain: 'base', from: '$WALLET', to: '$DEMO_CONTRACT' }
const EVM_CALL = { ...DEMO_CALL, data: '0xa9059cbb', msg_value: '1000000000000000000' }
const SOLANA_CALL = { chain: 'solana', from: '$SOLANA_WALLET', to: '$DEMO_PROGRAM', data: '0x07', msg_value: '5' }
const DENIED = { chain: 'base', from: '$DENIED_WALLET', verification_hash: '$VERIFICATION_HASH' }
const ONE_TRY = { tries: 1, base_delay_ms: 1, max_delay_ms: 1 }
const TWO_TRIES = { tries: 2, base_delay_ms: 1, max_delay_ms: 20 }
const COMPLIANT = { is_compliant: true }
const ANSWER_INVALID = { kind: 'answer_invalid' }
const ARGUMENT_INVALID = { kind: 'argument_invalid' }
const CUT: Fault = { cut: 'before' }
const LATER: Fault = { status: 503, body: { code: 'OVERLOADED', detail: 'later' } }
const OK = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'
const DRIPS: readonly Fault[] = [
  { drip: [`${OK}x-slow: `, 'a'] },
  { drip: ['', 'HTTP/1.1 100 Continue\r\n\r\n'] },
  { drip: [`${OK}content-length: 10000\r\n\r\n`, 'a'] },
  { drip: [`${OK}transfer-encoding: chunked\r\n\r\n1;`, 'a'] },
]
const DEEP = '['.repeat(200_000)
const IN_FLIGHT: Fault = {
  status: 409,
  headers: { 'retry-after': '1' },
  body: { code: 'IDEMPOTENCY_IN_FLIGHT', detail: 'wait' },
}
/** The longest key that leaves room for the last index of the largest batch. */
const LONGEST_BATCH_KEY = 'longest-of-'.padEnd(IDEMPOTENCY_KEY_MAX - `/${BATCH_SIZE_MAX - 1}`.length, 'k')
const BATCH = {
  call: 'attest_many',
  idempotency_key: 'batch-of-$LANGUAGE',
  requests: [DEMO_CALL, DENIED, { chain: 'nowhere', from: '$WALLET', verification_hash: '$VERIFICATION_HASH' }],
}

const attest = (request: Fields, more: Fields = {}): Fields => ({ call: 'attest', request, ...more })
const task = (from: string): Fields => ({
  call: 'task',
  request: { from, to: '$DEMO_CONTRACT', data: '0x', msg_value: '0', chain_id: 8453 },
})
const verify = (address: string): Fields => ({ call: 'verify', address })
const register = (request?: Fields): Fields => ({
  call: 'register',
  type: 'individual',
  ...(request === undefined ? {} : { request }),
})
const status = (session_id: string): Fields => ({ call: 'status', type: 'individual', session_id })
const follow = (session_id: string): Fields => ({ call: 'follow', type: 'individual', session_id })
const open = (options: Fields): Fields => ({ call: 'open', options: { ...options, retry: ONE_TRY } })
const bytesOf = (call: 'evm_digest' | 'solana_message', request: Fields, answer: string): Fields => ({
  call,
  request,
  answer,
})
const eventStream = (body: string): Fault => ({
  status: 200,
  headers: { 'content-type': 'text/event-stream; charset=utf-8' },
  body,
})
const refused = (fields: Fields): Fields => ({ kind: 'refused', ...fields })

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'a call on an EVM chain is attested, and its digest is the one that was signed',
    steps: [
      {
        call: attest(EVM_CALL),
        save: 'answer',
        result: {
          is_compliant: true,
          policy_id: '$POLICY_ID',
          verification_hash: '$VERIFICATION_HASH',
          attestation: { uuid: '~^[0-9a-f-]{36}$', attester: '$EVM_ATTESTER' },
        },
      },
      { call: bytesOf('evm_digest', EVM_CALL, '$answer'), signedAs: 'evm' },
      {
        call: bytesOf('evm_digest', { chain: 'nowhere', from: '$WALLET', to: '$DEMO_CONTRACT' }, '$answer'),
        error: ARGUMENT_INVALID,
      },
    ],
  },
  {
    name: 'a wallet is attested for a project on an EVM chain',
    steps: [
      {
        call: attest({
          chain: 'megaeth-testnet',
          from: '$WALLET',
          verification_hash: '$VERIFICATION_HASH',
          user_ip: '203.0.113.7',
        }),
        save: 'answer',
        result: COMPLIANT,
      },
      { call: bytesOf('evm_digest', { chain: 'megaeth-testnet', from: '$WALLET' }, '$answer'), signedAs: 'evm' },
    ],
  },
  {
    name: 'a program call and a project on Solana are attested',
    steps: [
      {
        call: attest(SOLANA_CALL),
        save: 'answer',
        result: { is_compliant: true, attestation: { attester: '$SOLANA_ATTESTER' } },
      },
      { call: bytesOf('solana_message', SOLANA_CALL, '$answer'), signedAs: 'solana' },
      {
        call: attest({ chain: 'solana', from: '$SOLANA_WALLET', verification_hash: '$VERIFICATION_HASH' }),
        save: 'project',
        result: COMPLIANT,
      },
      { call: bytesOf('solana_message', { chain: 'solana', from: '$SOLANA_WALLET' }, '$project'), signedAs: 'solana' },
    ],
  },
  {
    name: 'a denial contains the reason from the policy',
    steps: [
      {
        call: attest(DENIED),
        result: {
          is_compliant: false,
          policy_id: '$POLICY_ID',
          verification_hash: '$VERIFICATION_HASH',
          uuid: '~^[0-9a-f-]{36}$',
          reason: { code: 'DEMO_DENIED', message: '~.' },
        },
      },
    ],
  },
  {
    name: 'each element of a batch has its own result, and the same result if the batch is repeated',
    steps: [
      {
        call: BATCH,
        save: 'first',
        result: [
          { answer: COMPLIANT },
          { answer: { is_compliant: false } },
          { error: refused({ code: 'UNSUPPORTED_CHAIN', status: 400 }) },
        ],
      },
      {
        call: BATCH,
        result: [
          { answer: { attestation: '$first.0.answer.attestation' } },
          { answer: { is_compliant: false } },
          { error: { code: 'UNSUPPORTED_CHAIN' } },
        ],
      },
    ],
  },
  {
    name: 'the key of a batch leaves room for the index of each element',
    steps: [
      {
        call: { call: 'attest_many', requests: [DEMO_CALL], idempotency_key: LONGEST_BATCH_KEY },
        result: [{ answer: COMPLIANT }],
      },
      {
        call: { call: 'attest_many', requests: [DEMO_CALL], idempotency_key: `${LONGEST_BATCH_KEY}k` },
        attempts: 0,
        error: ARGUMENT_INVALID,
      },
    ],
  },
  {
    name: 'an element with a transient refusal is retried alone, under its own key',
    steps: [
      {
        faults: [
          {
            status: 200,
            body: {
              answers: [
                { index: 0, status: 503, problem: { code: 'OVERLOADED', detail: 'later' }, retry_after_seconds: 0 },
              ],
            },
          },
        ],
        call: { call: 'attest_many', requests: [DEMO_CALL] },
        attempts: 2,
        result: [{ answer: COMPLIANT }],
      },
    ],
  },
  {
    name: 'an idempotency key identifies one request',
    steps: [
      { call: attest(DEMO_CALL, { idempotency_key: 'order-of-$LANGUAGE' }), save: 'first', result: COMPLIANT },
      {
        call: attest(DEMO_CALL, { idempotency_key: 'order-of-$LANGUAGE' }),
        result: { attestation: '$first.attestation' },
      },
      {
        call: attest(
          { chain: 'ethereum', from: '$WALLET', to: '$DEMO_CONTRACT' },
          { idempotency_key: 'order-of-$LANGUAGE' },
        ),
        attempts: 1,
        error: refused({ code: 'IDEMPOTENCY_MISMATCH', status: 422 }),
      },
      { call: { ...register(), idempotency_key: 'user-of-$LANGUAGE' }, save: 'session', result: { reused: false } },
      {
        call: { ...register(), idempotency_key: 'user-of-$LANGUAGE' },
        result: { session_id: '$session.session_id' },
      },
    ],
  },
  {
    name: 'refusals contain the code and detail of the service, and are not retried',
    steps: [
      {
        call: attest({ chain: 'base', from: '$WALLET', to: '$WALLET' }),
        attempts: 1,
        error: refused({
          code: 'POLICY_NOT_FOUND',
          status: 400,
          detail: 'request validation failed: failed to get policy ID for address $WALLET',
        }),
      },
      {
        call: attest({ chain: 'dogechain', from: '$WALLET', to: '$WALLET' }),
        error: refused({ code: 'UNSUPPORTED_CHAIN', detail: 'unsupported chain ID dogechain' }),
      },
      {
        call: attest({ chain: 'base', from: '$WALLET', to: '$DEMO_CONTRACT', msg_value: '-1' }),
        error: refused({ code: 'INVALID_FIELD' }),
      },
      { call: verify('nobody'), error: refused({ status: 400 }) },
      { call: status(SESSION), error: refused({ code: 'NOT_FOUND', status: 404 }) },
      { call: follow(SESSION), attempts: 1, error: refused({ code: 'NOT_FOUND' }) },
    ],
  },
  {
    name: 'an API key of the other API is refused',
    options: { attestation_api_key: '$IDENTITY_API_KEY', identity_api_key: '$ATTESTATION_API_KEY' },
    steps: [
      { call: attest(DEMO_CALL), attempts: 1, error: refused({ code: 'FORBIDDEN_SCOPE' }) },
      { call: verify('$WALLET'), error: refused({ status: 403 }) },
    ],
  },
  {
    name: 'a task has signers and signatures, and its denial has none',
    steps: [
      {
        call: task('$WALLET'),
        result: { is_compliant: true, signers: ['$EVM_ATTESTER'], signatures: ['~^0x[0-9a-f]{130}$'] },
      },
      { call: task('$DENIED_WALLET'), result: { is_compliant: false, task_id: '~^[0-9a-f-]{36}$' } },
    ],
  },
  {
    name: 'a session is registered, reused and read',
    steps: [
      {
        call: {
          call: 'register',
          type: 'business',
          request: { wallet_address: '$OWN_WALLET', origin_url: 'https://shop.example/', size: 200 },
        },
        save: 'session',
        result: { reused: false, redirect_url: '~^http', qr_code: '~^data:image/png;base64,' },
      },
      {
        call: { call: 'register', type: 'business', request: { wallet_address: '$OWN_WALLET' } },
        result: { reused: true, session_id: '$session.session_id' },
      },
      {
        call: { call: 'status', type: 'business', session_id: '$session.session_id' },
        result: { session_id: '$session.session_id', status: 'pending', verified_wallets: [], unverified_wallets: [] },
      },
      { call: verify('$OWN_WALLET'), result: { address: '$OWN_WALLET', verified: false } },
    ],
  },
  {
    name: 'a wallet of a completed session is verified',
    options: { identity_api_key: '$IDENTITY_TEST_API_KEY' },
    steps: [
      {
        call: register({ wallet_address: '$OWN_WALLET', sandbox_outcome: 'completed' }),
        save: 'session',
        result: { reused: false },
      },
      {
        call: status('$session.session_id'),
        save: 'state',
        result: {
          status: 'completed',
          user_id: '~.',
          completed_at: '~^20',
          verified_wallets: [{ chain: 'ethereum' }],
          unverified_wallets: [],
        },
      },
      {
        call: { call: 'verify', address: '$OWN_WALLET', type: 'individual' },
        result: {
          verified: true,
          status: 'completed',
          check_type: 'kyc',
          user_id: '$state.user_id',
          verified_at: '$state.completed_at',
          wallets: [{ chain: 'ethereum' }],
        },
      },
      { call: { ...verify('$OWN_WALLET'), chain: 'base' }, result: { verified: true } },
      { call: { ...verify('$OWN_WALLET'), chain: 'no chain' }, error: refused({ code: 'INVALID_FIELD' }) },
      { call: follow('$session.session_id'), statuses: ['completed'], result: null },
    ],
  },
  {
    name: 'a session is followed through decisions and an interrupted connection',
    steps: [
      { call: register(), save: 'session', result: { reused: false } },
      {
        faults: [CUT, { cut: 'after_event' }],
        call: follow('$session.session_id'),
        decide: { pending: 'retry', retry: 'completed' },
        statuses: ['pending', 'retry', 'completed'],
        attempts: 3,
        resumes: true,
        result: null,
      },
    ],
  },
  {
    name: 'a stream is read according to the standard, with any line ending',
    steps: [
      {
        faults: [
          eventStream(
            '\ufeff: keep-alive\r\n\r\nretry: 1\r\nid: 7\r\ndata: {"sessionId":"0f9a4a1e-7b1c-4d4e-9a53-3c8f2f2f3b10",\rdata:"status":"pending","verifiedWallets":[],\ndata: "unverifiedWallets":[]}\r\r: done\n\nid: 8\ndata: {"sessionId":"0f9a4a1e-7b1c-4d4e-9a53-3c8f2f2f3b10","status":"rejected","verifiedWallets":[],"unverifiedWallets":[]}\n\ndata: never read\n\n',
          ),
        ],
        call: follow(SESSION),
        statuses: ['pending', 'rejected'],
        attempts: 1,
        result: null,
      },
      { faults: [{ status: 200, body: {} }], call: follow(SESSION), attempts: 1, error: ANSWER_INVALID },
    ],
  },
  {
    name: 'a call that is interrupted, transiently refused or answered by a proxy runs once',
    steps: [
      {
        faults: [
          { cut: 'after' },
          CUT,
          { status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad gateway</h1>' },
          { status: 503, headers: { 'retry-after': '0' }, body: { code: 'OVERLOADED', detail: 'later' } },
        ],
        call: attest(DEMO_CALL, { idempotency_key: 'cut-of-$LANGUAGE' }),
        attempts: 5,
        save: 'first',
        result: COMPLIANT,
      },
      {
        call: attest(DEMO_CALL, { idempotency_key: 'cut-of-$LANGUAGE' }),
        result: { attestation: '$first.attestation' },
      },
    ],
  },
  {
    name: 'polling for an earlier attempt in flight does not count as an attempt',
    options: { retry: TWO_TRIES },
    steps: [{ faults: [IN_FLIGHT, IN_FLIGHT, LATER], call: attest(DEMO_CALL), attempts: 4, result: COMPLIANT }],
  },
  {
    name: 'a call fails with the last refusal after its last attempt',
    options: { retry: TWO_TRIES },
    steps: [
      {
        faults: [LATER, { status: 504, body: '' }],
        call: register(),
        attempts: 2,
        error: refused({ code: 'UNKNOWN_REFUSAL', status: 504 }),
      },
      { faults: Array(6).fill(CUT), call: follow(SESSION), error: { kind: 'unreachable' } },
    ],
  },
  {
    name: 'a Retry-After that is too long is reported without a wait',
    steps: [
      { retryAfter: '3600', error: { status: 429, detail: 'slow down', retry_after_seconds: 3600 } },
      { retryAfter: 'Fri, 31 Dec 2100 23:59:59 GMT', error: {} },
    ].map(({ retryAfter, error }) => ({
      faults: [
        { status: 429, headers: { 'retry-after': retryAfter }, body: { code: 'RATE_LIMITED', detail: 'slow down' } },
      ],
      call: verify('$WALLET'),
      attempts: 1,
      error: refused({ code: 'RATE_LIMITED', ...error }),
    })),
  },
  {
    name: 'a response that does not come from this API is reported as such',
    steps: [
      {
        faults: [{ status: 307, headers: { location: 'https://elsewhere.example/' } }],
        call: attest(DEMO_CALL),
        attempts: 1,
        error: { kind: 'answer_invalid', code: 'ANSWER_INVALID' },
      },
      { faults: [{ status: 200, endless: true }], call: attest(DEMO_CALL), attempts: 1, error: ANSWER_INVALID },
      {
        faults: [{ status: 403, endless: true }],
        call: verify('$WALLET'),
        attempts: 1,
        error: refused({ status: 403 }),
      },
      {
        faults: [{ status: 200, body: '<h1>Welcome</h1>' }],
        call: attest(DEMO_CALL),
        attempts: 1,
        error: ANSWER_INVALID,
      },
      {
        faults: [
          {
            status: 200,
            body: {
              policy_id: 'p',
              policy_name: 'p',
              verification_hash: 'x',
              is_compliant: true,
              attestation: { uuid: SESSION, expiration: 0, attester: '', signature: '' },
            },
          },
        ],
        call: attest(DEMO_CALL),
        error: ANSWER_INVALID,
      },
      {
        faults: [
          { status: 200, body: { sessionId: SESSION, status: 'finished', verifiedWallets: [], unverifiedWallets: [] } },
        ],
        call: status(SESSION),
        error: ANSWER_INVALID,
      },
      {
        faults: [{ status: 200, body: { answers: [] } }],
        call: { call: 'attest_many', requests: [DEMO_CALL] },
        error: ANSWER_INVALID,
      },
      {
        faults: [{ status: 404, headers: { 'content-type': 'text/html' }, body: '<h1>Not here</h1>' }],
        call: verify('$WALLET'),
        attempts: 1,
        error: refused({ code: 'UNKNOWN_REFUSAL', status: 404 }),
      },
    ],
  },
  {
    name: 'a call times out if a response arrives too slowly',
    options: { timeout_ms: 300, retry: ONE_TRY },
    steps: DRIPS.map((fault) => ({
      faults: [fault],
      call: attest(DEMO_CALL),
      attempts: 1,
      error: { kind: 'unreachable' },
    })),
  },
  {
    name: 'JSON that is nested too deeply is rejected',
    options: { retry: ONE_TRY },
    steps: [
      { faults: [{ status: 200, body: DEEP }], call: attest(DEMO_CALL), error: ANSWER_INVALID },
      { faults: [{ status: 503, body: DEEP }], call: attest(DEMO_CALL), error: refused({ status: 503 }) },
      { faults: [eventStream(`data: ${DEEP.slice(-60_000)}\n\n`)], call: follow(SESSION), error: ANSWER_INVALID },
    ],
  },
  {
    name: 'a stream with an event that is too long is rejected',
    steps: [
      {
        faults: [eventStream(`data: ${'x'.repeat(70_000)}\n\n`)],
        call: follow(SESSION),
        attempts: 1,
        error: ANSWER_INVALID,
      },
    ],
  },
  {
    name: 'a stopped service is reported as unreachable',
    options: { attestation_url: 'http://127.0.0.1:9', retry: TWO_TRIES },
    steps: [{ call: attest(DEMO_CALL), error: { kind: 'unreachable', code: 'SERVICE_UNREACHABLE' } }],
  },
  {
    name: 'invalid arguments are refused before anything is sent',
    steps: [
      status('../verify'),
      { call: 'status', type: 'person', session_id: SESSION },
      register({ size: 9 }),
      attest(DEMO_CALL, { idempotency_key: 'two words' }),
      { call: 'attest_many', requests: [] },
      open({ identity_url: 'ftp://127.0.0.1', identity_api_key: 'csi_x' }),
      open({ identity_url: 'http://127.0.0.1:1/?key=x', identity_api_key: 'csi_x' }),
      open({ identity_url: 'http://127.0.0.1:1', identity_api_key: 'csi_x\n' }),
      open({ attestation_url: 'http://127.0.0.1:1' }),
    ].map((call) => ({ call, attempts: 0, error: { kind: 'argument_invalid', code: 'ARGUMENT_INVALID' } })),
  },
]
