// Requests cosignatures in rounds. Signing and storing heads doesn't wait for a round. Source:
// https://c2sp.org/tlog-witness.

import { BoundedFetchFailedError, fetchBounded } from '../../../lib/bounded-fetch.ts'
import { errorClassOf, NamedError } from '../../../lib/named-error.ts'
import type { WitnessSetting } from '../settings.ts'
import type { DecisionTree } from '../store/open.ts'
import type { StoredHead } from '../store/types.ts'
import { encodeSubmission } from '../tree/add-checkpoint.ts'
import { openCosignature, withCosignatures } from '../tree/cosignature.ts'
import { NoteInvalidError } from '../tree/note.ts'
import { proveConsistency } from '../tree/prove.ts'
import { HEAD_MAX_BYTES } from '../verify/tree-heads.ts'

/** Limit for a request. A round sends at most two requests to each witness. */
const REQUEST_MS = 4_000
/** A 409 response contains the number of cosigned lines. */
const SIZE_ANSWER = /^(0|[1-9][0-9]{0,15})\n?$/

const OTHER_HISTORY = 'it has cosigned another history of this log'

export interface CosigningOptions {
  readonly witnesses: readonly WitnessSetting[]
  readonly required: number
  /** Time after which a head without enough cosignatures is late. */
  readonly withinMs: number
  readonly tree: Pick<DecisionTree, 'reader' | 'writer'>
  readonly monotonicMs: () => number
  readonly unixSeconds: () => number
  readonly requestMs?: number
}

export interface CosigningState {
  /** Time since a head last had enough cosignatures, or since the first round. */
  readonly ageMs: number
  readonly isLate: boolean
  /** Error from storing the last round's result; null if it was stored. */
  readonly errorClass: string | null
  readonly witnesses: readonly {
    readonly name: string
    /** Reason that the witness didn't cosign, in one line; null if it cosigned. */
    readonly problem: string | null
  }[]
}

/** `message` is one line for the operator. */
class NotCosignedError extends NamedError {}

const problemOf = (error: unknown): string => {
  const isOurs =
    error instanceof NotCosignedError || error instanceof BoundedFetchFailedError || error instanceof NoteInvalidError
  if (isOurs) return error.message
  return errorClassOf(error)
}

export const createCosigning = (options: CosigningOptions) => {
  const { witnesses, required, withinMs, tree, monotonicMs, unixSeconds, requestMs = REQUEST_MS } = options
  /** Allows at least four rounds before a head is late. */
  const roundEveryMs = Math.min(10_000, withinMs / 4)
  const states = witnesses.map((witness) => ({ witness, knownSize: 0, problem: null as string | null }))
  let round: Promise<void> | null = null
  let beganMs = Number.NEGATIVE_INFINITY
  let enoughMs: number | null = null
  let errorClass: string | null = null

  const isLate = (): boolean => required > 0 && enoughMs !== null && monotonicMs() - enoughMs > withinMs

  const ask = async ({ url }: WitnessSetting, oldSize: number, { size, checkpoint }: StoredHead) => {
    const path = await proveConsistency(tree.reader.readTiles, oldSize, size)
    const post = encodeSubmission({ oldSize, path, checkpoint })
    const { status, body } = await fetchBounded(`${url}/add-checkpoint`, {
      post,
      timeoutMs: requestMs,
      maxBytes: HEAD_MAX_BYTES,
    })
    return { status, text: body.toString('utf8') }
  }

  /** Returns the signature line. @throws NotCosignedError, BoundedFetchFailedError, NoteInvalidError */
  const cosignatureOf = async (state: (typeof states)[number], head: StoredHead): Promise<string> => {
    const { key } = state.witness
    let answer = await ask(state.witness, state.knownSize, head)
    if (answer.status === 409 && SIZE_ANSWER.test(answer.text)) {
      const known = Number(answer.text)
      if (known > head.size) {
        throw new NotCosignedError(`it has cosigned ${known} lines, but this log has ${head.size}`)
      }
      if (known === state.knownSize) throw new NotCosignedError(OTHER_HISTORY)
      answer = await ask(state.witness, known, head)
      state.knownSize = known
    }
    if (answer.status === 409 || answer.status === 422) throw new NotCosignedError(OTHER_HISTORY)
    if (answer.status !== 200) throw new NotCosignedError(`it returned ${answer.status}`)
    const note = withCosignatures(head.checkpoint, answer.text, [key])
    const offSeconds = openCosignature(note, key) - unixSeconds()
    if (Math.abs(offSeconds) * 1_000 > withinMs) {
      throw new NotCosignedError(`its clock is off by ${offSeconds} s, or its cosignature is outdated`)
    }
    state.knownSize = head.size
    return note.slice(head.checkpoint.length)
  }

  const run = async (head: StoredHead): Promise<void> => {
    const lines = await Promise.all(
      states.map(async (state) => {
        try {
          const line = await cosignatureOf(state, head)
          state.problem = null
          return line
        } catch (error) {
          state.problem = problemOf(error)
          return ''
        }
      }),
    )
    if (lines.filter((line) => line !== '').length >= required) enoughMs = monotonicMs()
    else if (!isLate()) return
    // Published even if late, so that an unavailable witness doesn't block readers.
    await tree.writer.publish(head.checkpoint + lines.join(''))
  }

  return {
    /** Starts a round, unless one is in progress or started recently. */
    offer: (head: StoredHead) => {
      if (round !== null || head.checkpoint === '' || monotonicMs() - beganMs < roundEveryMs) return
      beganMs = monotonicMs()
      enoughMs ??= beganMs
      round = run(head)
        .then(() => {
          errorClass = null
        })
        .catch((error: unknown) => {
          errorClass = errorClassOf(error)
        })
        .finally(() => {
          round = null
        })
    },
    settled: async (): Promise<void> => {
      await round
    },
    state: (): CosigningState => ({
      ageMs: enoughMs === null ? 0 : monotonicMs() - enoughMs,
      isLate: isLate(),
      errorClass,
      witnesses: states.map(({ witness, problem }) => ({ name: witness.key.name, problem })),
    }),
  }
}
