import type { WalletAddress } from '../domain/address.ts'
import type { ErrorCode } from '../domain/errors.ts'
import { createJobStages, type WorkerStages } from '../domain/job-stages.ts'
import { SHADOW_OUTCOMES, type ShadowOutcome } from '../domain/verdict.ts'
import { NamedError } from '../lib/named-error.ts'
import type { ControlMessage, Job, Outcome, RuleFailure, WorkerReport } from './protocol.ts'

/** `deadlineMs` is on the worker's clock. */
export interface DispatchedJob extends Job {
  readonly sequence: number
}

export interface OutcomeBatch {
  readonly busyMs: number
  readonly outcomes: readonly Outcome[]
}

/** The text is malformed. Its sender must not get another job. */
export class WireFormatError extends NamedError {}

/** `deadlineMs` is on the main thread's clock. */
export interface OutgoingJob {
  readonly sequence: number
  readonly job: Job
}

/** Jobs are one JSON array of rows, which is smaller and faster than objects. `chainId` is null for Solana. */
type UntracedRow = readonly [
  sequence: number,
  kind: 0 | 1,
  uuid: string,
  targetId: string,
  keyId: string,
  requestId: string,
  facts: string,
  expiration: number | null,
  deadlineMs: number,
  chainName: string,
  chainId: number | null,
  from: WalletAddress,
  onBehalf: WalletAddress | '',
  to: WalletAddress,
  value: string,
  data: string,
  userIp: string,
  nowSeconds: number,
]

type JobRow = UntracedRow | readonly [...UntracedRow, traced: 1]

const untracedRow = ({ sequence, job }: OutgoingJob, clockOffsetMs: number): UntracedRow => {
  const { request } = job
  const { chain } = request
  return [
    sequence,
    job.kind === 'task' ? 1 : 0,
    job.uuid,
    job.targetId,
    job.keyId,
    job.requestId,
    job.facts,
    job.expiration,
    job.deadlineMs - clockOffsetMs,
    chain.name,
    chain.family === 'evm' ? chain.chainId : null,
    request.from,
    request.onBehalf,
    request.to,
    request.value,
    request.data,
    request.userIp,
    request.nowSeconds,
  ]
}

export const encodeJobs = (jobs: readonly OutgoingJob[], clockOffsetMs: number): string => {
  const rows: JobRow[] = []
  for (const outgoing of jobs) {
    const row = untracedRow(outgoing, clockOffsetMs)
    rows.push(outgoing.job.stages === undefined ? row : [...row, 1])
  }
  return JSON.stringify(rows)
}

/** @throws SyntaxError if the text is not JSON, which indicates a bug: only the pool writes it */
export const decodeJobs = (text: string): DispatchedJob[] => {
  const rows = JSON.parse(text) as JobRow[]
  return rows.map((row) => ({
    sequence: row[0],
    kind: row[1] === 1 ? 'task' : 'attestation',
    uuid: row[2],
    targetId: row[3],
    keyId: row[4],
    requestId: row[5],
    facts: row[6],
    expiration: row[7],
    deadlineMs: row[8],
    request: {
      chain: row[10] === null ? { name: row[9], family: 'solana' } : { name: row[9], family: 'evm', chainId: row[10] },
      from: row[11],
      onBehalf: row[12],
      to: row[13],
      value: row[14],
      data: row[15],
      userIp: row[16],
      nowSeconds: row[17],
    },
    stages: row[18] === undefined ? undefined : createJobStages(),
  }))
}

const ANSWERED = 0
const FAILED = 1
const TARGET_NOT_CACHED = 2
const UNSIGNED = 3
const LEASE_ENDED = 4

const BARE_STATUS = {
  [TARGET_NOT_CACHED]: 'target-not-cached',
  [UNSIGNED]: 'unsigned',
  [LEASE_ENDED]: 'lease-ended',
} as const
const BARE_NUMBER = { 'target-not-cached': TARGET_NOT_CACHED, unsigned: UNSIGNED, 'lease-ended': LEASE_ENDED } as const

/** Encodes the verdict. Bit 0: compliant. Other bits: 0 if there is no shadow, otherwise 1 plus its outcome's index. */
const encodeVerdict = (compliant: boolean, shadow: ShadowOutcome | undefined): number =>
  (compliant ? 1 : 0) + (shadow === undefined ? 0 : 2 * (SHADOW_OUTCOMES.indexOf(shadow) + 1))

type OutcomeRow =
  | readonly [sequence: number, status: typeof ANSWERED, verdict: number, ruleId: string | null, stages?: WorkerStages]
  | readonly [
      sequence: number,
      status: typeof FAILED,
      code: ErrorCode,
      detail: string,
      errorClass: string | null,
      nothingSigned: 0 | 1,
      rule?: RuleFailure,
    ]
  | readonly [sequence: number, status: keyof typeof BARE_STATUS]

/** Outcomes are a JSON line of rows, then one line per response body, which contains no raw line break. */
export const encodeOutcomes = (batch: OutcomeBatch): string => {
  const rows: OutcomeRow[] = []
  let bodies = ''
  for (const outcome of batch.outcomes) {
    if (outcome.status === 'answered') {
      const { sequence, ruleId, stages } = outcome
      const verdict = encodeVerdict(outcome.compliant, outcome.shadow)
      rows.push(
        stages === undefined ? [sequence, ANSWERED, verdict, ruleId] : [sequence, ANSWERED, verdict, ruleId, stages],
      )
      bodies += `\n${outcome.body}`
    } else if (outcome.status === 'failed') {
      const { sequence, code, detail, errorClass, nothingSigned, rule } = outcome
      const row = [sequence, FAILED, code, detail, errorClass, nothingSigned ? 1 : 0] as const
      rows.push(rule === undefined ? row : [...row, rule])
    } else {
      rows.push([outcome.sequence, BARE_NUMBER[outcome.status]])
    }
  }
  return JSON.stringify([batch.busyMs, rows]) + bodies
}

/** @throws WireFormatError if the numbers of bodies and answers differ: a body must never reach another request */
export const decodeOutcomes = (text: string): OutcomeBatch => {
  const lines = text.split('\n')
  const [busyMs, rows] = JSON.parse(lines[0] ?? '') as [number, OutcomeRow[]]
  let line = 0
  const outcomes = rows.map((row): Outcome => {
    const sequence = row[0]
    if (row[1] === ANSWERED) {
      line += 1
      const body = lines[line]
      if (body === undefined) throw new WireFormatError('an answer has no response body')
      const compliant = (row[2] & 1) === 1
      const shadow = SHADOW_OUTCOMES[(row[2] >> 1) - 1]
      return { status: 'answered', sequence, compliant, ruleId: row[3], body, shadow, stages: row[4] }
    }
    if (row[1] === FAILED) {
      const nothingSigned = row[5] === 1
      return {
        status: 'failed',
        sequence,
        code: row[2],
        detail: row[3],
        errorClass: row[4],
        nothingSigned,
        rule: row[6],
      }
    }
    return { status: BARE_STATUS[row[1]], sequence }
  })
  if (line !== lines.length - 1) throw new WireFormatError('there are more response bodies than answers')
  return { busyMs, outcomes }
}

/**
 * Connection to a worker in a separate thread or in the main thread (workers/signing/inline-worker.ts). Replies arrive
 * in a later turn of the event loop.
 */
export interface WorkerPort {
  work(jobs: readonly OutgoingJob[], clockOffsetMs: number): void
  control(message: ControlMessage): void
  /** Ends the worker regardless of its jobs. `closed` follows, unless native code keeps the thread running. */
  terminate(): void
}

export interface PortListener {
  outcomes(batch: OutcomeBatch): void
  report(report: WorkerReport): void
  protocolError(): void
  closed(): void
}

export type OpenPort = (listener: PortListener) => WorkerPort

/** The used part of the Worker interface; implemented by Bun's Worker. */
export interface SigningThread {
  postMessage(message: unknown): void
  terminate(): void
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
  addEventListener(type: 'close' | 'error' | 'messageerror', listener: () => void): void
}

export const createThreadPort = (thread: SigningThread, listener: PortListener): WorkerPort => {
  const takeOutcomes = (text: string): void => {
    let batch: OutcomeBatch
    try {
      batch = decodeOutcomes(text)
    } catch {
      // The text may contain answers, so no part of it is passed on.
      listener.protocolError()
      return
    }
    listener.outcomes(batch)
  }

  thread.addEventListener('message', ({ data }) => {
    if (typeof data === 'string') takeOutcomes(data)
    else listener.report(data as WorkerReport)
  })
  // The event's message quotes source code, so it is dropped. A `close` event always follows and is handled.
  thread.addEventListener('error', () => undefined)
  thread.addEventListener('messageerror', listener.protocolError)
  thread.addEventListener('close', listener.closed)
  return {
    work: (jobs, clockOffsetMs) => thread.postMessage(encodeJobs(jobs, clockOffsetMs)),
    control: (message) => thread.postMessage(message),
    terminate: () => thread.terminate(),
  }
}
