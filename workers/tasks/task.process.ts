// Entry of a task's process.
import { compileSaved } from '../../src/policy/cel/compile.ts'
import type { ReplayChange } from '../../src/policy/tools/replay.ts'
import { replaySessions } from '../../src/policy/tools/session-replay.ts'
import type { DecidedSession } from '../../src/policy/types/session-facts.ts'
import { type PolicyReplay, replayPolicy } from './policy-replay.ts'
import { runTask, type TaskProgress } from './run-task.ts'
import type { TaskInput } from './task-input.ts'
import { type LogReport, verifyLog } from './verify-log.ts'

/** Changes in a replay's result at most: the most frequent ones. */
const CHANGES_SHOWN = 200

const showOutcome = ({ compliant, rule }: ReplayChange['from']) => ({
  verdict: compliant ? ('compliant' as const) : ('denied' as const),
  rule,
})

/**
 * Replays over sessions that people have decided. The sessions come with the input, because this task has no database.
 */
const replayOverSessions = (input: TaskInput['input'], sessions: readonly DecidedSession[]) => {
  const { disagreements, reasons, ...counts } = replaySessions(compileSaved(String(input['source'])), sessions)
  return {
    ...counts,
    disagreements: disagreements.slice(0, CHANGES_SHOWN),
    reasons: reasons.slice(0, CHANGES_SHOWN),
  }
}

const replayOverDecisions = async ({ input, lists }: TaskInput, progress: TaskProgress) => {
  const found = await replayPolicy(input as unknown as PolicyReplay, lists, Date.now(), progress.say)
  progress.sayNow(found.bytes, found.bytes)
  const sum = (changes: readonly ReplayChange[]): number => changes.reduce((total, { count }) => total + count, 0)
  const otherVerdict = sum(found.changes.filter(({ from, to }) => from.compliant !== to.compliant))
  return {
    decisions: found.decisions,
    same: found.same,
    unreadable: found.unreadable,
    other_rule: sum(found.changes) - otherVerdict,
    other_verdict: otherVerdict,
    decided_by_lists: found.byLists,
    changes: found.changes.slice(0, CHANGES_SHOWN).map(({ from, to, count, examples }) => {
      return { from: showOutcome(from), to: showOutcome(to), count, examples }
    }),
    unknown: found.unknown.slice(0, CHANGES_SHOWN),
    failed: found.failed.slice(0, CHANGES_SHOWN),
  }
}

const replay = async (task: TaskInput, progress: TaskProgress) => {
  const { input } = task
  const sessions = input['sessions'] as readonly DecidedSession[] | undefined
  const found = sessions === undefined ? await replayOverDecisions(task, progress) : replayOverSessions(input, sessions)
  return {
    policy_id: input['policyId'],
    revision_id: input['revisionId'] ?? null,
    since: new Date(Number(input['sinceMs'])).toISOString(),
    until: new Date(Number(input['untilMs'])).toISOString(),
    ...found,
  }
}

const verify = ({ input }: TaskInput, progress: TaskProgress): Promise<LogReport> =>
  verifyLog(String(input['directory']), progress, null)

export type TaskResult = LogReport | Awaited<ReturnType<typeof replay>>

const KINDS: Readonly<Record<string, (task: TaskInput, progress: TaskProgress) => Promise<TaskResult>>> = {
  'decisions.verify': verify,
  'policy.replay': replay,
}

await runTask(async (task, progress) => {
  const run = KINDS[task.kind]
  if (run === undefined) throw new Error('unknown kind')
  return run(task, progress)
})
