// `countersign policy replay` for session policies, on sessions that people decided.

import { formatTable, print } from '../../../command-line/output.ts'
import type { PolicyContext } from '../../../command-line/policy-context.ts'
import type { SessionReplay } from '../../../policy/tools/session-replay.ts'
import { type ReplayedTime, timeMembers } from './policy-replay-job.ts'

const reasonOf = ({ rule, problem }: SessionReplay['reasons'][number]): string =>
  [rule === null ? 'no rule matched' : `rule ${rule}`, ...(problem === null ? [] : [problem])].join(': ')

const render = (replay: SessionReplay): string => {
  const { sessions, completed, rejected, left, agreed, disagreements, reasons } = replay
  const otherwise = completed + rejected - agreed
  const head = `${sessions} sessions: ${completed} completed, ${rejected} rejected, ${left} left to reviewers; ${otherwise} different from the reviewers’ decisions\n`
  const rows = disagreements.map(({ decided, outcome, rule, count, sessions: examples }) => [
    String(count),
    decided,
    `${outcome} by ${rule ?? 'default'}`,
    examples[0] ?? '',
  ])
  const table = rows.length === 0 ? '' : `\n${formatTable([['COUNT', 'PEOPLE', 'POLICY', 'EXAMPLES'], ...rows])}`
  const notes = reasons.map((reason) => `${reason.count} left to reviewers: ${reasonOf(reason)}\n`)
  return `${head}${table}${notes.length === 0 ? '' : `\n${notes.join('')}`}`
}

export const printSessionReplay = (context: PolicyContext, replay: SessionReplay): number => {
  print(context, replay, render(replay))
  return 0
}

export const replaySessionsHere = (
  { admin, organization }: PolicyContext,
  source: string,
  time: ReplayedTime,
): Promise<SessionReplay> =>
  admin.call('POST /organizations/{organization}/session-policy/trial-here', {
    params: { organization },
    body: { source, ...timeMembers(time) },
  })
