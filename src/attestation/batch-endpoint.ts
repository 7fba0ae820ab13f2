// `POST /v2/attestations`, an addition to the spec: up to 1,000 requests of A1. The response has a verdict or a problem
// per element, as one JSON document or as newline-delimited JSON.

import { randomUUID } from 'node:crypto'
import { DeadlineExceededError, FieldInvalidError, FieldMissingError, fixedError } from '../domain/errors.ts'
import type { Clock, Timers } from '../lib/time.ts'
import type { AdmittedRequest, Endpoint } from '../server/gate.ts'
import { readJsonBody } from '../server/json-body.ts'
import { problemBody, toProblem } from '../server/problem.ts'
import type { RateLimiter, RateLimitState } from '../server/rate-limit.ts'
import { isVisibleAscii } from '../server/request-id.ts'
import { API_KEY_CHALLENGE, jsonResponse, setRateLimit } from '../server/response.ts'
import { isJsonObject, type JsonObject, type JsonValue, parseStrictJsonObject } from '../server/strict-json.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { StageTrace } from '../telemetry/request-trace.ts'
import type { AttestHandler } from './attest.ts'
import { type Batch, createBatch, type ElementAnswer } from './batch.ts'
import { type DecodeRequest, type EndpointDependencies, refusalOf } from './endpoint.ts'
import { ATTESTATION_PATHS, BATCH_SIZE_MAX, IDEMPOTENCY_KEY_MAX } from './paths.ts'

export interface BatchEndpointDependencies extends EndpointDependencies {
  readonly metrics: Pick<Metrics, 'recordDecision' | 'recordError'>
  readonly limiter: Pick<RateLimiter, 'ready' | 'take' | 'takeSome'>
  readonly clock: Pick<Clock, 'monotonicMs' | 'unixSeconds'>
  readonly after: Timers['after']
  /** Reports an internal error of an element. Must not throw. */
  readonly report: (error: unknown, requestId: string) => void
  readonly decode: DecodeRequest
  readonly attest: AttestHandler
}

const BATCH_BODY_MAX_BYTES = 4_194_304

/** Route that element idempotency keys and logged decisions refer to. */
const ELEMENT_ROUTE = ATTESTATION_PATHS.attestation.path
/** Characters of the body per rate-limit token: the size of the largest single request, which costs one token. */
const CHARACTERS_PER_TOKEN = 131_072
/** Limits refusals: otherwise, a call of 2 KB could cause a thousand of them for one token. */
const ELEMENTS_PER_TOKEN = 20
/** Time reserved before the deadline of the call for sending elements that are answered 408. */
const SENDING_MS = 250
const NDJSON = 'application/x-ndjson'
const IGNORE = (): void => undefined

class ElementInvalidError extends fixedError('INVALID_REQUEST', 'each element of requests must be a JSON object') {}

/** An Idempotency-Key for the whole batch would not identify the elements that a later batch repeats. */
class BatchKeyRefusedError extends fixedError(
  'INVALID_HEADER',
  'the Idempotency-Key header applies only to single requests; set idempotency_key in each element',
) {}

const readElements = (body: JsonObject): readonly JsonValue[] => {
  const { requests } = body
  if (requests === undefined || requests === null) throw new FieldMissingError('requests')
  if (!Array.isArray(requests) || requests.length < 1 || requests.length > BATCH_SIZE_MAX) {
    throw new FieldInvalidError('requests', `must be an array of 1 to ${BATCH_SIZE_MAX} attestation requests`)
  }
  return requests as readonly JsonValue[]
}

/** An unanswered element can be sent again in another batch, at any index. @throws FieldInvalidError */
const readIdempotencyKey = ({ idempotency_key: key }: JsonObject): string | null => {
  if (key === undefined || key === null) return null
  if (typeof key !== 'string' || !isVisibleAscii(key, IDEMPOTENCY_KEY_MAX)) {
    throw new FieldInvalidError('idempotency_key', `must be 1 to ${IDEMPOTENCY_KEY_MAX} visible ASCII characters`)
  }
  return key
}

const traced = async <Answer>(trace: StageTrace | null, perform: () => Promise<Answer>): Promise<Answer> => {
  if (trace === null) return perform()
  try {
    const answer = await perform()
    trace.end(200)
    return answer
  } catch (error) {
    const { status, code } = toProblem(error)
    trace.error(code)
    trace.end(status)
    throw error
  }
}

/** @param onDone called when the last line is written or the reader has disconnected */
const streamLines = (
  batch: Batch,
  requestId: string,
  rateLimit: RateLimitState | null,
  onDone: () => void,
): Response => {
  const encoder = new TextEncoder()
  let isCanceled = false
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      const done = batch.run((line) => controller.enqueue(encoder.encode(`${line}\n`)))
      // A reader that disconnects closes the stream, and closing it twice throws.
      done.then(
        () => isCanceled || controller.close(),
        () => isCanceled || controller.error(),
      )
      done.then(onDone, onDone)
    },
    cancel: () => {
      isCanceled = true
      batch.abandon()
    },
  })
  const headers: Record<string, string> = {
    'content-type': NDJSON,
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
    'x-request-id': requestId,
  }
  if (rateLimit !== null) setRateLimit(headers, rateLimit)
  return new Response(body, { headers })
}

export const createBatchEndpoint = (dependencies: BatchEndpointDependencies): Endpoint => {
  const { gate, idempotent, metrics, pool, limiter, chains, clock, after, report, decode, attest } = dependencies
  const { withhold } = pool
  const { monotonicMs } = clock

  const describe = (requestId: string) => {
    const write = (error: unknown) => {
      const problem = toProblem(error)
      const { status, code, retryAfterSeconds } = problem
      const retry = retryAfterSeconds === null ? {} : { retry_after_seconds: Math.ceil(retryAfterSeconds) }
      const members = JSON.stringify({ status, ...retry, problem: problemBody(problem, requestId) }).slice(1)
      return { error, status, code, members }
    }
    // Elements over the rate limit share one error object, and so do unanswered elements at the deadline.
    let last: ReturnType<typeof write> | null = null
    return (index: number, error: unknown): string => {
      if (last === null || last.error !== error) last = write(error)
      const { status, code, members } = last
      metrics.recordError(code)
      if (status === 500 || status === 503) report(error, requestId)
      return `{"index":${index},${members}`
    }
  }

  const createElement = (
    caller: AdmittedRequest,
    elements: readonly JsonValue[],
    deadlineMs: number,
    late: (uuid: string) => void,
  ) => {
    const { organizationId, keyId } = caller.principal
    return async (index: number, trace: StageTrace | null): Promise<ElementAnswer> => {
      const element = elements[index]
      if (!isJsonObject(element)) throw new ElementInvalidError()
      const decoded = decode(element, chains, clock.unixSeconds())
      const key = readIdempotencyKey(element)
      let decided: string | null = null
      if (key !== null) trace?.enter('idempotency')
      const final = await idempotent(
        {
          organizationId,
          keyId,
          route: ELEMENT_ROUTE,
          uuid: randomUUID(),
          caller,
          header: key,
          // Text of the strictly parsed element, so that equal elements have equal texts.
          body: key === null ? '' : JSON.stringify(element),
        },
        async (uuid, onDispatch) => {
          trace?.enter('policy')
          const answer = await attest(decoded, { caller, uuid, deadlineMs, onDispatch, trace })
          if (key !== null) trace?.enter('idempotency')
          if (monotonicMs() >= deadlineMs) {
            // Like the answer of a single request, a late answer is neither sent nor stored.
            late(uuid)
            throw new DeadlineExceededError()
          }
          decided = uuid
          metrics.recordDecision('attestation', decoded.request.chain.name, answer.compliant)
          trace?.verdict(answer.compliant)
          return { body: answer.body, keepSeconds: answer.lifetimeSeconds }
        },
      )
      const replayed = final.replayed ? ',"replayed":true' : ''
      return { uuid: decided, line: `{"index":${index},"status":200${replayed},"answer":${final.body}}` }
    }
  }

  return gate(
    {
      method: ATTESTATION_PATHS.batch.method,
      route: ATTESTATION_PATHS.batch.path,
      scope: 'attestation',
      challenge: API_KEY_CHALLENGE,
      readKey: (headers) => headers.get('x-api-key'),
      // If the first element would be refused, the whole call is refused before its body is read.
      refusal: ({ organizationId }, _headers, deadlineMs) => refusalOf(dependencies, organizationId, deadlineMs),
    },
    async (call) => {
      const { request, requestId, principal, deadline, trace = null } = call
      if (request.headers.has('idempotency-key')) throw new BatchKeyRefusedError()
      const body = await readJsonBody(request, { maxBytes: BATCH_BODY_MAX_BYTES })
      await call.confirmKey()
      const prepay = async (tokens: number): Promise<void> => {
        await limiter.ready(principal, tokens)
        limiter.take(principal, tokens)
      }
      // Parsing costs time per byte. The gate has already taken the first element's token.
      const forBody = Math.floor(body.length / CHARACTERS_PER_TOKEN)
      await prepay(forBody)
      const elements = readElements(parseStrictJsonObject(body))
      const size = elements.length
      // A key with a smaller burst can never pay that many tokens.
      const affordable = (principal.rateLimit?.burst ?? 0) - 1
      const forElements = Math.max(0, Math.min(Math.floor(size / ELEMENTS_PER_TOKEN), affordable) - forBody)
      await prepay(forElements)
      const prepaid = forBody + forElements
      const leftMs = Math.max(0, deadline.deadlineMs - monotonicMs())
      const answerByMs = deadline.deadlineMs - Math.min(SENDING_MS, leftMs / 10)
      // Late decisions are withheld together, at the end of the event loop turn.
      const lateOnes: string[] = []
      const withholdLate = (uuid: string): void => {
        if (lateOnes.push(uuid) === 1) after(0, () => withhold(lateOnes.splice(0)))
      }
      const perform = createElement(call, elements, answerByMs, withholdLate)
      const spent = Math.min(prepaid, size - 1)
      await limiter.ready(principal, size - 1 - spent)
      const { granted: more, state, refusal: overLimit } = limiter.takeSome(principal, size - 1 - spent)
      const granted = spent + more
      const decided: string[] = []
      const traceOf = trace?.elements(size)
      const batch = createBatch({
        size,
        perform: async (index) => {
          if (overLimit !== null && index > granted) throw overLimit
          const elementTrace = traceOf?.(index) ?? null
          const answer = await traced(elementTrace, () => perform(index, elementTrace))
          if (answer.uuid !== null) decided.push(answer.uuid)
          return answer
        },
        describe: describe(requestId),
        withhold: ({ uuid }) => {
          if (uuid !== null) withholdLate(uuid)
        },
        atDeadline: (callback) => after(answerByMs - monotonicMs(), callback),
      })
      if (request.headers.get('accept')?.toLowerCase().includes(NDJSON)) {
        return streamLines(batch, requestId, state, trace?.hold() ?? IGNORE)
      }
      const lines: string[] = []
      await batch.run((line) => lines.push(line))
      // The thread was blocked, and the whole call was answered 408 in the meantime.
      if (deadline.passed && decided.length > 0) withhold(decided)
      return jsonResponse(`{"answers":[${lines.join(',')}]}`, requestId, { rateLimit: state })
    },
  )
}
