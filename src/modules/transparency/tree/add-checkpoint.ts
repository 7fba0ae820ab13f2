// A log's request for a cosignature. Source: https://c2sp.org/tlog-witness, "add-checkpoint".
import { type Checkpoint, openCheckpoint, readCheckpoint } from './checkpoint.ts'
import { EMPTY_ROOT, HASH_BYTES } from './hash.ts'
import { decodeBase64, NoteInvalidError, type VerifierKey } from './note.ts'
import { verifyConsistency } from './prove.ts'

export interface Submission {
  /** Size of the last cosigned head; 0 if there is none. */
  readonly oldSize: number
  readonly path: readonly Uint8Array[]
  readonly checkpoint: string
}

const PATH_MAX = 63

export const encodeSubmission = ({ oldSize, path, checkpoint }: Submission): string =>
  [`old ${oldSize}`, ...path.map((hash) => Buffer.from(hash).toString('base64')), '', checkpoint].join('\n')

const parseSubmission = (text: string): Submission => {
  const end = text.indexOf('\n\n')
  const [old = '', ...hashes] = text.slice(0, end).split('\n')
  const [, size = ''] = /^old (0|[1-9][0-9]{0,15})$/.exec(old) ?? []
  const path = hashes.map(decodeBase64)
  const isWhole = path.every((hash) => hash?.length === HASH_BYTES)
  if (end < 0 || size === '' || !Number.isSafeInteger(Number(size)) || path.length > PATH_MAX || !isWhole) {
    throw new NoteInvalidError('the body is not a cosignature request')
  }
  return { oldSize: Number(size), path: path as Buffer[], checkpoint: text.slice(end + 2) }
}

type SubmissionJudgement =
  /** The head extends the last head: store it, then cosign it. */
  | { readonly status: 200; readonly head: Checkpoint }
  | {
      readonly status: 400 | 403 | 404 | 422
      /** Contains no caller input. */
      readonly reason: string
    }
  /** `isFork`: the log signed two roots for one size; otherwise, the old size is wrong. */
  | { readonly status: 409; readonly size: number; readonly isFork: boolean }

/** @param before last cosigned head; null if there is none @param key of the log */
export const judgeSubmission = (before: string | null, text: string, key: VerifierKey): SubmissionJudgement => {
  let submission: Submission
  let origin: string
  try {
    submission = parseSubmission(text)
    origin = readCheckpoint(submission.checkpoint).origin
  } catch (error) {
    if (error instanceof NoteInvalidError) return { status: 400, reason: error.message }
    throw error
  }
  if (origin !== key.name) return { status: 404, reason: 'this witness does not know the log' }
  let head: Checkpoint
  try {
    head = openCheckpoint(submission.checkpoint, key)
  } catch (error) {
    if (error instanceof NoteInvalidError) return { status: 403, reason: error.message }
    throw error
  }
  const { oldSize, path } = submission
  if (oldSize > head.size) return { status: 400, reason: 'the old size exceeds the size of the head' }
  const known = before === null ? { size: 0, root: EMPTY_ROOT } : openCheckpoint(before, key)
  const isSame = Buffer.compare(head.root, known.root) === 0
  if (before !== null && head.size === known.size && !isSame) return { status: 409, size: known.size, isFork: true }
  if (oldSize !== known.size) return { status: 409, size: known.size, isFork: false }
  return verifyConsistency({ oldSize, oldRoot: known.root, size: head.size, root: head.root, path })
    ? { status: 200, head }
    : { status: 422, reason: 'the proof does not show that the head extends the last head' }
}
