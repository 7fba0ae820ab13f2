// `countersign policy replay --url`: replays in a job of the remote deployment.

import { CommandFailedError } from '../../../command-line/output.ts'
import type { PolicyContext } from '../../../command-line/policy-context.ts'
import type { ReplayChange, ReplaySummary } from '../../../policy/tools/replay.ts'
import type { SessionReplay } from '../../../policy/tools/session-replay.ts'

const POLL_MS = 500

/** Unix milliseconds: `sinceMs` inclusive, `untilMs` exclusive or infinite. */
export interface ReplayedTime {
  readonly sinceMs: number
  readonly untilMs: number
}

export interface ReplayFindings extends ReplaySummary {
  readonly unreadable: number
}

export const timeMembers = ({ sinceMs, untilMs }: ReplayedTime) => ({
  since: new Date(sinceMs).toISOString(),
  ...(Number.isFinite(untilMs) && { until: new Date(untilMs).toISOString() }),
})

const outcomeOf = ({ verdict, rule }: { readonly verdict: string; readonly rule: string | null }) =>
  ({ compliant: verdict === 'compliant', rule }) satisfies ReplayChange['from']

export const replayInJob = async (
  { admin, organization }: PolicyContext,
  policy: string,
  source: string,
  time: ReplayedTime,
): Promise<ReplayFindings | SessionReplay> => {
  let job = await admin.call('POST /organizations/{organization}/policies/{policy}/replay', {
    params: { organization, policy },
    body: { source, ...timeMembers(time) },
  })
  while (job.state === 'queued' || job.state === 'running') {
    await Bun.sleep(POLL_MS)
    job = await admin.call('GET /organizations/{organization}/jobs/{job}', { params: { organization, job: job.id } })
  }
  const { result, state, failure } = job
  if (state === 'cancelled') throw new CommandFailedError('the replay was canceled')
  if (state !== 'done' || result === null)
    throw new CommandFailedError(`the replay failed: ${failure ?? 'it returned no result'}`)
  if ('disagreements' in result) return result
  if (!('changes' in result)) throw new CommandFailedError('the result of the replay has an unknown format')
  const { decided_by_lists: byLists, changes, decisions, same, unknown, failed, unreadable } = result
  return {
    decisions,
    same,
    byLists,
    unknown,
    failed,
    unreadable,
    changes: changes.map(({ from, to, count, examples }) => ({
      from: outcomeOf(from),
      to: outcomeOf(to),
      count,
      examples,
    })),
  }
}
