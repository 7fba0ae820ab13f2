// The format of batches: one text in each direction, because a text crosses threads for a third of the cost of a
// structured clone. Jobs are one JSON array of rows. Outcomes are a JSON line of rows, then one line per response body,
// verbatim: a body is already JSON without raw line breaks, so it need not be escaped and parsed again.
import type { ErrorCode } from '../domain/errors.ts'
import { NamedError } from '../domain/errors.ts'
import { createJobStages, type WorkerStages } from '../domain/job-stages.ts'
import type { Job, Outcome } from './protocol.ts'

/** A job on its way to a worker. Its `deadlineMs` is on the worker's clock. */
export interface DispatchedJob extends Job {
  readonly sequence: number
}

/** A worker's outcomes for one batch. */
export interface OutcomeBatch {
  /** How long the worker was busy with the batch, the append included. */
  readonly busyMs: number
  readonly outcomes: readonly Outcome[]
}

/** The text does not have the other side's format: the worker that sent it must not get another job. */
export class WireFormatError extends NamedError {}

type UntracedRow = readonly [
  sequence: number,
  kind: 0 | 1,
  uuid: string,
  targetId: string,
  keyId: string,
  requestId: string,
  chainName: string,
  chainId: number,
  from: string,
  to: string,
  value: string,
  data: string,
  userIp: string,
  facts: string,
  requestedAtSeconds: number,
  expiration: number,
  deadlineMs: number,
  onBehalf: string,
  chainFamily: 0 | 1,
]

type JobRow = UntracedRow | readonly [...UntracedRow, traced: 1]

const untracedRow = (job: DispatchedJob): UntracedRow => [
  job.sequence,
  job.kind === 'task' ? 1 : 0,
  job.uuid,
  job.targetId,
  job.keyId,
  job.requestId,
  job.chainName,
  job.chainId,
  job.from,
  job.to,
  job.value,
  job.data,
  job.userIp,
  job.facts,
  job.requestedAtSeconds,
  job.expiration,
  job.deadlineMs,
  job.onBehalf,
  job.chainFamily === 'solana' ? 1 : 0,
]

const jobRow = (job: DispatchedJob): JobRow => (job.stages === undefined ? untracedRow(job) : [...untracedRow(job), 1])

export const encodeJobs = (jobs: readonly DispatchedJob[]): string => JSON.stringify(jobs.map(jobRow))

/** @throws SyntaxError when the text is not JSON; only the pool writes it, so this process is then broken */
export const decodeJobs = (text: string): DispatchedJob[] => {
  const rows = JSON.parse(text) as JobRow[]
  return rows.map((row) => ({
    sequence: row[0],
    kind: row[1] === 1 ? 'task' : 'attestation',
    uuid: row[2],
    targetId: row[3],
    keyId: row[4],
    requestId: row[5],
    chainName: row[6],
    chainId: row[7],
    from: row[8],
    to: row[9],
    value: row[10],
    data: row[11],
    userIp: row[12],
    facts: row[13],
    requestedAtSeconds: row[14],
    expiration: row[15],
    deadlineMs: row[16],
    onBehalf: row[17],
    chainFamily: row[18] === 1 ? 'solana' : 'evm',
    stages: row[19] === undefined ? undefined : createJobStages(),
  }))
}

const ANSWERED = 0
const FAILED = 1
const UNDEFINED_TARGET = 2
const UNSIGNED = 3

type OutcomeRow =
  | readonly [sequence: number, status: typeof ANSWERED, compliant: 0 | 1, ruleId: string | null, stages?: WorkerStages]
  | readonly [
      sequence: number,
      status: typeof FAILED,
      code: ErrorCode,
      detail: string,
      errorClass: string | null,
      nothingSigned: 0 | 1,
    ]
  | readonly [sequence: number, status: typeof UNDEFINED_TARGET | typeof UNSIGNED]

export const encodeOutcomes = (batch: OutcomeBatch): string => {
  const rows: OutcomeRow[] = []
  let bodies = ''
  for (const outcome of batch.outcomes) {
    if (outcome.status === 'answered') {
      const { sequence, ruleId, stages } = outcome
      const compliant = outcome.compliant ? 1 : 0
      rows.push(
        stages === undefined
          ? [sequence, ANSWERED, compliant, ruleId]
          : [sequence, ANSWERED, compliant, ruleId, stages],
      )
      bodies += `\n${outcome.body}`
    } else if (outcome.status === 'failed') {
      const { sequence, code, detail, errorClass, nothingSigned } = outcome
      rows.push([sequence, FAILED, code, detail, errorClass, nothingSigned ? 1 : 0])
    } else {
      rows.push([outcome.sequence, outcome.status === 'unsigned' ? UNSIGNED : UNDEFINED_TARGET])
    }
  }
  return JSON.stringify([batch.busyMs, rows]) + bodies
}

/**
 * @throws WireFormatError when the numbers of bodies and answers differ: a body must never reach another request
 * @throws SyntaxError when the first line is not JSON
 */
export const decodeOutcomes = (text: string): OutcomeBatch => {
  const lines = text.split('\n')
  const [busyMs, rows] = JSON.parse(lines[0] ?? '') as [number, OutcomeRow[]]
  let line = 0
  const outcomes = rows.map((row): Outcome => {
    const sequence = row[0]
    if (row[1] === ANSWERED) {
      line += 1
      const body = lines[line]
      if (body === undefined) throw new WireFormatError('an answer has no body')
      return { status: 'answered', sequence, compliant: row[2] === 1, ruleId: row[3], body, stages: row[4] }
    }
    if (row[1] === FAILED) {
      const nothingSigned = row[5] === 1
      return { status: 'failed', sequence, code: row[2], detail: row[3], errorClass: row[4], nothingSigned }
    }
    return { status: row[1] === UNSIGNED ? 'unsigned' : 'undefined-target', sequence }
  })
  if (line !== lines.length - 1) throw new WireFormatError('there are more bodies than answers')
  return { busyMs, outcomes }
}
