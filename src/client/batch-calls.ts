// Retries failed elements under their own Idempotency-Key, so that each is decided at most once.
import { ATTESTATION_PATHS, BATCH_SIZE_MAX, IDEMPOTENCY_KEY_MAX } from '../attestation/paths.ts'
import { attestationBody, readEvaluation } from './attestation-calls.ts'
import type { AttestationAnswer, AttestationRequest } from './attestation-types.ts'
import { isRetried, type RetryPolicy, retryDelayMs, type wait } from './backoff.ts'
import { AnswerInvalidError, ArgumentInvalidError, RequestRefusedError } from './errors.ts'
import { type Fields, readFields } from './json-fields.ts'
import type { Answer, Call } from './transport.ts'

/** Leaves room for an element's index after the key of its batch. */
const KEY_MAX = IDEMPOTENCY_KEY_MAX - `/${BATCH_SIZE_MAX - 1}`.length

export type BatchResult =
  | { readonly ok: true; readonly answer: AttestationAnswer }
  | { readonly ok: false; readonly error: RequestRefusedError }

export interface BatchDependencies {
  readonly call: (call: Call) => Promise<Answer>
  readonly retry: RetryPolicy
  readonly random: () => number
  readonly wait: typeof wait
}

const readRefusal = (fields: Fields, requestId: string): RequestRefusedError => {
  const problem = fields.object('problem')
  return new RequestRefusedError({
    code: problem.text('code'),
    status: fields.count('status'),
    detail: problem.text('detail'),
    requestId,
    retryAfterSeconds: fields.has('retry_after_seconds') ? fields.count('retry_after_seconds') : null,
  })
}

const readResults = ({ body, requestId }: Answer, size: number): BatchResult[] => {
  const elements = readFields(body, requestId).objects('answers')
  if (elements.length !== size || elements.some((fields, index) => fields.count('index') !== index)) {
    throw new AnswerInvalidError('the results do not match the requests', requestId)
  }
  return elements.map((fields) =>
    fields.has('problem')
      ? { ok: false, error: readRefusal(fields, requestId) }
      : { ok: true, answer: readEvaluation(fields.object('answer'), requestId) },
  )
}

/** Results in the order of the requests. @throws ArgumentInvalidError; errors of Transport if nothing is answered */
export const attestMany = async (
  { call, retry, random, wait }: BatchDependencies,
  requests: readonly AttestationRequest[],
  idempotencyKey: string,
  signal: AbortSignal | undefined,
): Promise<readonly BatchResult[]> => {
  if (requests.length < 1 || requests.length > BATCH_SIZE_MAX) {
    throw new ArgumentInvalidError('requests', `must be 1 to ${BATCH_SIZE_MAX} requests`)
  }
  if (idempotencyKey.length > KEY_MAX) {
    throw new ArgumentInvalidError('idempotencyKey', `must be at most ${KEY_MAX} characters for a batch`)
  }
  const results = new Map<number, BatchResult>()
  let asked = requests.map((request, index) => ({
    index,
    body: { ...attestationBody(request), idempotency_key: `${idempotencyKey}/${index}` },
  }))
  for (let failures = 1; ; failures++) {
    let answer: Answer
    try {
      answer = await call({
        method: 'POST',
        path: ATTESTATION_PATHS.batch.path,
        signal,
        body: { requests: asked.map(({ body }) => body) },
      })
    } catch (error) {
      // Earlier answers may be in use already, so they are returned; other elements keep their last error.
      if (results.size === 0 || signal?.aborted) throw error
      return requests.map((_, index) => results.get(index)!)
    }
    let delayMs = 0
    const again: typeof asked = []
    for (const [place, result] of readResults(answer, asked.length).entries()) {
      const element = asked[place]!
      results.set(element.index, result)
      if (result.ok || !isRetried(result.error) || failures >= retry.tries) continue
      const elementDelayMs = retryDelayMs(retry, failures, result.error, random)
      if (elementDelayMs === null) continue
      again.push(element)
      delayMs = Math.max(delayMs, elementDelayMs)
    }
    if (again.length === 0) return requests.map((_, index) => results.get(index)!)
    asked = again
    await wait(delayMs, signal)
  }
}
