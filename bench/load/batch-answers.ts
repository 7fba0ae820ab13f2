// Checks every answer of the batch endpoint: each must contain as many compliant attestations as requested. In sampled
// calls, a few elements are verified completely against the requests at the same positions.
import type { AnswerInspector } from './answers.ts'
import type { AnswerPlan } from './plan.ts'
import type { AttestationBody } from './requests.ts'
import type { ResponseView } from './response-parser.ts'
import { verifyAnswer } from './verify-answer.ts'

type BatchAnswerPlan = Extract<AnswerPlan, { kind: 'attestation' }> & { readonly batch: number }

interface BatchText {
  readonly answers: readonly { readonly index: number; readonly status: number; readonly answer?: unknown }[]
}

const PROBLEMS_KEPT = 5
const VERIFIED_PER_CALL = 10
const COMPLIANT = Buffer.from('"is_compliant":true')

/** Returns the number of compliant verdicts in the bytes. */
const countCompliant = (bytes: Buffer): number => {
  let count = 0
  for (let at = bytes.indexOf(COMPLIANT); at !== -1; at = bytes.indexOf(COMPLIANT, at + COMPLIANT.length)) count++
  return count
}

export const createBatchInspector = (plan: BatchAnswerPlan, bodies: readonly AttestationBody[]): AnswerInspector => {
  const { batch, attester, sampleEvery } = plan
  const samples: { readonly requestIndex: number; readonly text: string }[] = []
  const problems: string[] = []
  let problemCount = 0
  let seen = 0
  let calls = 0
  const note = (problem: string): void => {
    problemCount++
    if (problems.length < PROBLEMS_KEPT) problems.push(problem)
  }

  /** Returns the number of verified answers of a call. */
  const verifyCall = async (requestIndex: number, text: string): Promise<number> => {
    const { answers } = JSON.parse(text) as BatchText
    const uuids = new Set(text.match(/"uuid":"[^"]+"/g))
    if (uuids.size !== batch) note(`a call of ${batch} brought ${uuids.size} different uuids`)
    let verified = 0
    const step = Math.max(1, Math.floor(batch / VERIFIED_PER_CALL))
    for (let place = 0; place < batch; place += step) {
      const element = answers[place]
      const body = bodies[requestIndex * batch + place]!
      if (element?.index !== place || element.status !== 200) note(`element ${place} is not answered in its place`)
      else {
        const problem = await verifyAnswer(body, JSON.stringify(element.answer), attester)
        if (problem === null) verified++
        else note(`element ${place}: ${problem}`)
      }
    }
    return verified
  }

  return {
    inspect(requestIndex, response: ResponseView) {
      if (response.status !== 200) return true
      const { buffer, byteOffset } = response.bytes
      const { bodyStart, bodyEnd } = response
      const bytes = Buffer.from(buffer, byteOffset + bodyStart, bodyEnd - bodyStart)
      const compliant = countCompliant(bytes)
      seen += compliant
      if (compliant !== batch) note(`${compliant} of ${batch} attestations: ${bytes.toString('utf8', 0, 200)}`)
      else if (calls % sampleEvery === 0) samples.push({ requestIndex, text: bytes.toString() })
      calls++
      return compliant === batch
    },
    async finish() {
      let verified = 0
      for (const { requestIndex, text } of samples) verified += await verifyCall(requestIndex, text)
      const more = problemCount - problems.length
      return { seen, verified, problems: more > 0 ? [...problems, `and ${more} more`] : problems }
    },
  }
}
