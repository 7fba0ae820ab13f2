// Driver of the TypeScript client: JSON lines, as ../driver.ts describes them.
import type { Attestation, AttestationRequest, TaskRequest } from '../../../src/client/attestation-types.ts'
import { type CountersignClient, createCountersignClient } from '../../../src/client/client.ts'
import { ArgumentInvalidError, type ClientError, RequestRefusedError } from '../../../src/client/errors.ts'
import { evmAttestedCall } from '../../../src/client/evm-arguments.ts'
import { evmDigest } from '../../../src/client/evm-attestation.ts'
import type { RegisterRequest, SessionType } from '../../../src/client/identity-types.ts'
import { solanaAttestedCall, solanaMessage } from '../../../src/client/solana-attestation.ts'

type Fields = Readonly<Record<string, unknown>>
/** The arguments of all calls; each call reads its own. */
interface Step {
  readonly call: string
  readonly options: Fields
  readonly request: Fields
  readonly requests: readonly Fields[]
  readonly idempotency_key?: string
  readonly type: SessionType
  readonly session_id: string
  readonly address: string
  readonly chain_id?: number
  readonly chain?: string
  readonly answer: { readonly verification_hash: string; readonly attestation: Attestation }
}

const renameKeys = (value: unknown, rename: (key: string) => string): unknown => {
  if (Array.isArray(value)) return value.map((item) => renameKeys(item, rename))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [rename(key), renameKeys(item, rename)]))
}
const toSnake = (value: unknown): unknown =>
  renameKeys(value, (key) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
const toCamel = (value: unknown): unknown =>
  renameKeys(value, (key) => key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()))

const write = (line: unknown): void => {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

const requestOf = (fields: Fields): AttestationRequest => {
  const request = toCamel(fields) as Record<string, unknown>
  return (request['msgValue'] === undefined
    ? request
    : { ...request, msgValue: BigInt(String(request['msgValue'])) }) as unknown as AttestationRequest
}

const failureOf = (error: ClientError): unknown => {
  const kinds: Record<string, string> = {
    RequestRefusedError: 'refused',
    ServiceUnreachableError: 'unreachable',
    AnswerInvalidError: 'answer_invalid',
    ArgumentInvalidError: 'argument_invalid',
  }
  const refused = error instanceof RequestRefusedError ? error : null
  return {
    kind: kinds[error.name],
    code: error.code,
    status: refused?.status,
    detail: refused?.detail,
    retry_after_seconds: refused?.retryAfterSeconds,
  }
}

let client: CountersignClient
const CALLS: Readonly<Record<string, (step: Step) => unknown>> = {
  open: ({ options }) => {
    client = createCountersignClient(toCamel(options) as Parameters<typeof createCountersignClient>[0])
  },
  attest: ({ request, idempotency_key: idempotencyKey }) => client.attest(requestOf(request), { idempotencyKey }),
  attest_many: async ({ requests, idempotency_key: idempotencyKey }) => {
    const results = await client.attestMany(requests.map(requestOf), { idempotencyKey })
    return results.map((result) => (result.ok ? { answer: result.answer } : { error: failureOf(result.error) }))
  },
  task: ({ request, idempotency_key: idempotencyKey }) =>
    client.task(requestOf(request) as unknown as TaskRequest, { idempotencyKey }),
  register: ({ type, request, idempotency_key: idempotencyKey }) =>
    client.register(type, toCamel(request ?? {}) as RegisterRequest, { idempotencyKey }),
  status: ({ type, session_id }) => client.status(type, session_id),
  follow: async ({ type, session_id }) => {
    for await (const state of client.follow(type, session_id)) write({ state: toSnake(state) })
    return null
  },
  verify: ({ address, type, chain }) => client.verify({ address, type, chain }),
  evm_digest: ({ request, answer, chain_id }) => {
    const call = evmAttestedCall(requestOf(request), { verificationHash: answer.verification_hash }, chain_id)
    return { bytes: evmDigest(call, answer.attestation) }
  },
  solana_message: ({ request, answer }) => {
    const call = solanaAttestedCall(requestOf(request), { verificationHash: answer.verification_hash })
    return { bytes: `0x${Buffer.from(solanaMessage(call, answer.attestation)).toString('hex')}` }
  },
}

for await (const line of console) {
  if (line === '') continue
  const step = JSON.parse(line) as Step
  try {
    const run = CALLS[step.call]
    if (run === undefined) throw new ArgumentInvalidError('call', step.call)
    write({ result: toSnake(await run(step)) ?? null })
  } catch (error) {
    write({ error: failureOf(error as ClientError) })
  }
}
