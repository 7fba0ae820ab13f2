// Checks every answer of an attestation run, so that a broken server can't appear fast: each must be compliant and have
// a new uuid. Samples are verified completely after the window. The service's answers differ only in values of fixed
// length, so the positions of verdict and uuid are taken from one parsed answer and then read directly. An answer with
// another layout is parsed.
import { createBatchInspector } from './batch-answers.ts'
import type { AnswerFindings, AnswerPlan } from './plan.ts'
import type { AttestationBody } from './requests.ts'
import type { ResponseView } from './response-parser.ts'
import { type AttestationAnswer, verifyAnswer } from './verify-answer.ts'

export interface AnswerInspector {
  /** Checks one answer by reading a few dozen bytes. @returns false for a 200 that is not the requested answer */
  inspect(requestIndex: number, response: ResponseView): boolean
  /** Call after the window. Verifies the samples and searches for duplicate uuids. */
  finish(): Promise<AnswerFindings>
}

const PROBLEMS_KEPT = 5
const UUID_LENGTH = 36

interface Layout {
  readonly length: number
  /** Positions of the verdict's first letter and the uuid's first character in the body. */
  readonly verdict: number
  readonly uuid: number
}

const HEX_VALUE = new Int8Array(256).fill(-1)
for (let digit = 0; digit < 16; digit++) HEX_VALUE[digit.toString(16).charCodeAt(0)] = digit

/** Eight hex digits as an unsigned number, or -1. */
const readHex = (bytes: Uint8Array, start: number): number => {
  let value = 0
  for (let i = start; i < start + 8; i++) {
    const digit = HEX_VALUE[bytes[i]!]!
    if (digit < 0) return -1
    value = (value * 16 + digit) >>> 0
  }
  return value
}

const bodyOf = (response: ResponseView): string =>
  Buffer.from(response.bytes.buffer, response.bytes.byteOffset, response.bytes.byteLength).toString(
    'utf8',
    response.bodyStart,
    response.bodyEnd,
  )

const learnLayout = (body: string): Layout | null => {
  const answer = JSON.parse(body) as AttestationAnswer
  const verdict = body.indexOf('"is_compliant":true')
  const uuid = body.indexOf(answer.attestation.uuid)
  const plain = Buffer.byteLength(body) === body.length
  return plain && verdict >= 0 && uuid >= 0
    ? { length: body.length, verdict: verdict + '"is_compliant":'.length, uuid }
    : null
}

/** 64 bits of each uuid: among a million uuids, the probability of a false duplicate is one in thirty million. */
const createUuidLog = () => {
  let words = new Uint32Array(1 << 16)
  let count = 0
  return {
    add(high: number, low: number): void {
      if (count + 2 > words.length) {
        const larger = new Uint32Array(words.length * 2)
        larger.set(words)
        words = larger
      }
      words[count++] = high
      words[count++] = low
    },
    duplicates(): number {
      const sorted = new BigUint64Array(words.buffer, 0, count / 2).slice().sort()
      let twins = 0
      for (let i = 1; i < sorted.length; i++) if (sorted[i] === sorted[i - 1]) twins++
      return twins
    },
  }
}

const createAttestationInspector = (
  plan: Extract<AnswerPlan, { kind: 'attestation' }>,
  bodies: readonly AttestationBody[],
): AnswerInspector => {
  const uuids = createUuidLog()
  const samples: { readonly requestIndex: number; readonly body: string }[] = []
  const problems: string[] = []
  let problemCount = 0
  let layout: Layout | null = null
  let seen = 0

  const note = (problem: string): void => {
    problemCount++
    if (problems.length < PROBLEMS_KEPT) problems.push(problem)
  }
  const noteUuid = (bytes: Uint8Array, start: number): boolean => {
    const high = readHex(bytes, start)
    const low = readHex(bytes, start + UUID_LENGTH - 8)
    if (high < 0 || low < 0) return false
    uuids.add(high, low)
    return true
  }
  /** Returns null if the answer is correct; later answers are then expected to have its layout. */
  const problemOf = (body: string): string | null => {
    const answer = JSON.parse(body) as AttestationAnswer
    if (answer.is_compliant !== true) return 'not compliant'
    if (!noteUuid(Buffer.from(answer.attestation.uuid), 0)) return 'no uuid'
    layout = learnLayout(body)
    return null
  }
  const readSlowly = (response: ResponseView): boolean => {
    const body = bodyOf(response)
    try {
      const problem = problemOf(body)
      if (problem === null) return true
      note(`${problem}: ${body.slice(0, 200)}`)
    } catch (cause) {
      note(`not an attestation answer: ${cause instanceof Error ? cause.message : 'unreadable'}`)
    }
    return false
  }

  return {
    inspect(requestIndex, response) {
      if (response.status !== 200) return true
      if (seen++ % plan.sampleEvery === 0) samples.push({ requestIndex, body: bodyOf(response) })
      const start = response.bodyStart
      if (layout !== null && response.bodyEnd - start === layout.length) {
        const isTrue = response.bytes[start + layout.verdict] === 116
        if (isTrue && noteUuid(response.bytes, start + layout.uuid)) return true
      }
      return readSlowly(response)
    },
    async finish() {
      let verified = 0
      for (const { requestIndex, body } of samples) {
        const problem = await verifyAnswer(bodies[requestIndex]!, body, plan.attester)
        if (problem === null) verified++
        else note(problem)
      }
      const twins = uuids.duplicates()
      if (twins > 0) note(`${twins} answers carried a uuid seen before`)
      const more = problemCount - problems.length
      return { seen, verified, problems: more > 0 ? [...problems, `and ${more} more`] : problems }
    },
  }
}

/** Returns an inspector for the plan. For a server that does not attest, it only counts. */
export const createAnswerInspector = (plan: AnswerPlan, bodies: readonly AttestationBody[]): AnswerInspector => {
  if (plan.kind === 'attestation' && plan.batch !== undefined)
    return createBatchInspector({ ...plan, batch: plan.batch }, bodies)
  if (plan.kind === 'attestation') return createAttestationInspector(plan, bodies)
  const { contains = '' } = plan.kind === 'status' ? plan : {}
  let seen = 0
  let wrong = 0
  return {
    inspect(_requestIndex, response) {
      if (response.status !== 200) return true
      seen++
      if (contains === '' || bodyOf(response).includes(contains)) return true
      wrong++
      return false
    },
    finish: async () => ({ seen, verified: 0, problems: wrong === 0 ? [] : [`${wrong} answers without ${contains}`] }),
  }
}
