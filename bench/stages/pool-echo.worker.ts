// The worker of the pool stage: decodes jobs and answers each with a body of an attestation's size.
import { answerOf } from '../../src/decision-log/answer.ts'
import { decodeJobs, encodeOutcomes } from '../../src/pool/wire.ts'
import { exampleAt, recordOf } from './example.ts'

declare const self: Worker

const body = answerOf(recordOf(exampleAt(0)))

self.onmessage = (event: MessageEvent<string>) => {
  const outcomes = decodeJobs(event.data).map(
    ({ sequence }) => ({ status: 'answered', sequence, compliant: true, ruleId: 'opened', body }) as const,
  )
  self.postMessage(encodeOutcomes({ busyMs: 0, outcomes }))
}
