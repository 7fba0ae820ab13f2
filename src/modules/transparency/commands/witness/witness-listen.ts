// `witness --listen`: the log posts heads with proofs, one at a time, and receives cosignatures. Source:
// https://c2sp.org/tlog-witness.

import type { CommandOutput } from '../../../../command-line/output.ts'
import type { Clock } from '../../../../lib/time.ts'
import { leaveAfterTurn } from '../../../../server/event-loop-turns.ts'
import { type ListenAddress, listenUrl } from '../../../../server/listen-address.ts'
import { requestPath } from '../../../../server/request-path.ts'
import { judgeSubmission } from '../../tree/add-checkpoint.ts'
import type { Checkpoint } from '../../tree/checkpoint.ts'
import type { VerifierKey } from '../../tree/note.ts'
import { HEAD_MAX_BYTES } from '../../verify/tree-heads.ts'
import type { WitnessState } from './witness-state.ts'

const IDLE_SECONDS = 30
/** Interval in which a repeated head gets the same cosignature. Anyone can repeat it, and each write syncs the disk. */
const REPEATED_MS = 5_000

/** Closes the connection, so that the client stops sending the body. */
const text = (status: number, body: string): Response =>
  new Response(body, { status, headers: { 'content-type': 'text/plain; charset=utf-8', connection: 'close' } })

export const listenForHeads = (
  listen: ListenAddress,
  logKey: VerifierKey,
  state: WitnessState,
  { stdout, stderr, monotonicMs }: CommandOutput & Pick<Clock, 'monotonicMs'>,
): { readonly url: string; stop(): Promise<void> } => {
  let last: Promise<unknown> = Promise.resolve()
  let hasEvidence = false
  let cosigned: { readonly head: Checkpoint; readonly line: string; readonly atMs: number } | null = null

  const findRecentLine = ({ size, root }: Checkpoint): string | null => {
    if (cosigned === null || monotonicMs() - cosigned.atMs >= REPEATED_MS) return null
    return cosigned.head.size === size && Buffer.compare(cosigned.head.root, root) === 0 ? cosigned.line : null
  }

  const judge = async (body: string): Promise<Response> => {
    const before = await state.before()
    const judged = judgeSubmission(before, body, logKey)
    if (judged.status === 200) {
      const { head } = judged
      const recent = findRecentLine(head)
      if (recent !== null) return text(200, recent)
      const line = await state.cosign(body.slice(body.indexOf('\n\n') + 2), logKey)
      cosigned = { head, line, atMs: monotonicMs() }
      stdout(`cosigned ${head.size} lines\n`)
      return text(200, line)
    }
    if (judged.status !== 409) return text(judged.status, `${judged.reason}\n`)
    // Stored once per run, so that repeated submissions don't fill the disk.
    if (judged.isFork && before !== null && !hasEvidence) {
      hasEvidence = true
      const file = await state.keepEvidence(before, body.slice(body.indexOf('\n\n') + 2))
      stderr(
        `refused: the log has two different histories with ${judged.size} lines; both signed heads are in ${file}\n`,
      )
    }
    return new Response(`${judged.size}\n`, { status: 409, headers: { 'content-type': 'text/x.tlog.size' } })
  }

  const server = Bun.serve({
    hostname: listen.hostname,
    port: listen.port,
    reusePort: false,
    idleTimeout: IDLE_SECONDS,
    maxRequestBodySize: HEAD_MAX_BYTES,
    fetch: leaveAfterTurn(async (request: Request) => {
      if (requestPath(request.url) !== '/add-checkpoint') return text(404, 'this witness serves only /add-checkpoint\n')
      if (request.method !== 'POST') return text(405, 'POST only\n')
      const body = await request.text()
      const answer = last.then(() => judge(body))
      last = answer.catch(() => undefined)
      return answer
    }),
    error: (error) => {
      stderr(`could not check a head: ${error.name}\n`)
      return text(500, 'the witness failed\n')
    },
  })
  const port = server.port ?? listen.port
  return { url: listenUrl({ hostname: listen.hostname, port }, false), stop: () => server.stop(true) }
}
