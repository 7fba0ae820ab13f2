// Builds and appends decision records. Personal facts, and parts too long for a log line, are recorded as hashes.
import type {
  DecisionRecord,
  LogRecord,
  RecordedFacts,
  SegmentWriter,
  ShadowVerdict,
} from '../../src/decision-log/types.ts'
import type { Target } from '../../src/domain/target.ts'
import type { Verdict } from '../../src/domain/verdict.ts'
import { beginCommit, endCommit, type Job } from '../../src/pool/protocol.ts'
import type { Signatures } from './sign.ts'

/** Maximum call data recorded in plain text, for replays. Enough for most functions. */
const RECORDED_DATA_BYTES = 1_024
/** Maximum characters of recorded facts. The whole record stays well below the 16 KiB that recovery reads. */
const RECORDED_FACTS_CHARACTERS = 6_144

const SHA256_OF_NOTHING = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

export interface RecordParts {
  readonly job: Job
  readonly target: Target
  readonly verdict: Verdict
  readonly signed: Signatures
  /** The signed expiration; 0 if there are no signatures. */
  readonly expiration: number
  readonly facts: RecordedFacts | null
  readonly shadow: ShadowVerdict | null
  readonly at: number
}

/** Replaces facts that are too long by their hash. */
export const boundedFacts = (facts: RecordedFacts): RecordedFacts => {
  const text = JSON.stringify(facts)
  return text.length <= RECORDED_FACTS_CHARACTERS ? facts : { sha256: Bun.SHA256.hash(text, 'hex') }
}

export const recordOf = ({
  job,
  target,
  verdict,
  signed,
  expiration,
  facts,
  shadow,
  at,
}: RecordParts): DecisionRecord => {
  const { request } = job
  const { data } = request
  const size = (data.length - 2) / 2
  return {
    kind: job.kind,
    uuid: job.uuid,
    at,
    organization: target.organizationId,
    project: target.projectId,
    key: job.keyId,
    request: job.requestId,
    policy: target.policyId,
    revision: target.revisionId,
    verification_hash: target.verificationHash,
    chain: request.chain.name,
    from: request.from,
    on_behalf: request.onBehalf === '' ? undefined : request.onBehalf,
    to: request.to,
    value: request.value,
    data_sha256: data === '0x' ? SHA256_OF_NOTHING : Bun.SHA256.hash(Uint8Array.fromHex(data.slice(2)), 'hex'),
    data_size: size,
    // Undefined fields are omitted from the line. Object spread would cost more than the rest of this function.
    data: size > 0 && size <= RECORDED_DATA_BYTES ? data : undefined,
    requested: request.nowSeconds,
    facts: facts ?? undefined,
    shadow: shadow ?? undefined,
    compliant: verdict.compliant,
    rule: verdict.ruleId,
    code: verdict.compliant ? undefined : verdict.code,
    message: verdict.compliant ? undefined : verdict.message,
    expiration,
    attesters: signed.attesters,
    signatures: signed.signatures,
    policy_name: target.policyName,
  }
}

export type CommitResult =
  | { readonly status: 'recorded' }
  /** The pool has abandoned this worker, which must not answer anymore. */
  | { readonly status: 'fenced' }
  /** Nothing was recorded, so nothing may be answered (invariant 2). */
  | { readonly status: 'failed'; readonly error: unknown }

export interface RecorderDependencies {
  readonly words: Int32Array
  readonly segment: Pick<SegmentWriter, 'append'>
  readonly clock: { unixMs(): number }
  readonly onWithheld: (uuids: readonly string[]) => void
}

/**
 * Every append runs inside the latch that the pool closes before it reassigns the worker's jobs (invariant 3). An
 * abandoned worker therefore records nothing more, even if it resumes later.
 */
export const createRecorder = ({ words, segment, clock, onWithheld }: RecorderDependencies) => {
  let withheld: string[] = []

  const append = (records: readonly LogRecord[]): CommitResult => {
    try {
      segment.append(records)
      return { status: 'recorded' }
    } catch (error) {
      return { status: 'failed', error }
    }
  }

  /** Appends the records in one write, after any withheld uuids that are not recorded yet. */
  const commit = (records: readonly LogRecord[]): CommitResult => {
    if (records.length === 0 && withheld.length === 0) return { status: 'recorded' }
    if (!beginCommit(words)) return { status: 'fenced' }
    const late = withheld
    const at = late.length === 0 ? 0 : clock.unixMs()
    const lines =
      late.length === 0 ? records : [...late.map((uuid) => ({ kind: 'withheld' as const, uuid, at })), ...records]
    const result = append(lines)
    if (!endCommit(words)) return { status: 'fenced' }
    if (result.status === 'recorded' && late.length > 0) {
      withheld = []
      onWithheld(late)
    }
    return result
  }

  return {
    commit,
    /** Records answers that came too late. If this fails, each later commit retries it. */
    withhold: (uuids: readonly string[]): CommitResult => {
      withheld.push(...uuids)
      return commit([])
    },
  }
}

export type Recorder = ReturnType<typeof createRecorder>
