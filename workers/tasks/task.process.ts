// Entry of a task's process: reads the task from standard input, sends its progress and then its result, and ends.

import { DecisionDirectoryMissingError } from '../../src/decision-log/errors.ts'
import { verifyDecisions } from '../../src/decision-log/verify.ts'
import { errorClassOf } from '../../src/lib/named-error.ts'
import { parseVerifierKey } from '../../src/modules/transparency/tree/note.ts'
import { checkTree } from '../../src/modules/transparency/verify/check-tree.ts'
import type { TreeReport } from '../../src/modules/transparency/verify/verify-tree.ts'
import { compileSaved } from '../../src/policy/cel/compile.ts'
import { PolicyInvalidError } from '../../src/policy/errors.ts'
import type { ReplayChange } from '../../src/policy/tools/replay.ts'
import { replaySessions } from '../../src/policy/tools/session-replay.ts'
import type { DecidedSession } from '../../src/policy/types/session-facts.ts'
import { stayInBackground } from '../background-process.ts'
import { type PolicyReplay, replayPolicy } from './policy-replay.ts'
import { decodeTaskInput, type TaskInput, type TreeTaskInput } from './task-input.ts'
import type { TaskMessage } from './task-protocol.ts'

stayInBackground()

const send = (message: TaskMessage): void => void process.send?.(message)

/** Problems and warnings in the result at most; `countersign decisions verify` prints all. */
const PROBLEMS_SHOWN = 50
/** Changes in a replay's result at most: the most frequent ones. */
const CHANGES_SHOWN = 200
const PROGRESS_EVERY_MS = 200

let saidMs = 0
const sayProgress = (done: number, total: number): void => {
  if (performance.now() - saidMs < PROGRESS_EVERY_MS) return
  saidMs = performance.now()
  send({ type: 'progress', done, total })
}

/** Checks the log against its tree; null when the deployment has no tree yet. */
const checkAgainstTree = async (
  directory: string,
  facts: TreeTaskInput | null,
  onChunk: (bytes: number) => void,
): Promise<TreeReport | null> => {
  if (facts === null) return null
  // Imported here, because other kinds of tasks need no database.
  const { openDecisionTreeReader } = await import('../../src/modules/transparency/store/open.ts')
  const { target, key, saltKey, ...more } = facts
  const tree = await openDecisionTreeReader(target)
  try {
    return await checkTree(
      {
        ...more,
        tree,
        key: parseVerifierKey(key),
        saltKey: Uint8Array.fromHex(saltKey),
        archivedBefore: null,
        onChunk,
      },
      directory,
    )
  } finally {
    await tree?.close()
  }
}

const verify = async ({ input }: TaskInput) => {
  const directory = String(input['directory'])
  const facts = (input['tree'] ?? null) as TreeTaskInput | null
  /** Each line is read for its chain, and again for the tree. */
  const passes = facts === null ? 1 : 2
  const report = await verifyDecisions(directory, {
    onProgress: ({ bytesRead, bytesTotal }) => sayProgress(bytesRead, passes * bytesTotal),
  })
  let compared = report.bytes
  const tree = await checkAgainstTree(directory, facts, (bytes) => {
    compared += bytes
    sayProgress(Math.min(compared, passes * report.bytes), passes * report.bytes)
  })
  send({ type: 'progress', done: passes * report.bytes, total: passes * report.bytes })
  const newest = new Map(report.segments.flatMap(({ slot, lastHash }) => (lastHash === null ? [] : [[slot, lastHash]])))
  return {
    ok: report.ok && tree?.ok !== false,
    decisions: report.decisions,
    withheld: report.withheld,
    bytes: report.bytes,
    segments: report.segments.length,
    newest_lines: Object.fromEntries(newest),
    problems: report.segments
      .flatMap(({ slot, name, problem }) => (problem === null ? [] : [{ slot, segment: name, ...problem }]))
      .slice(0, PROBLEMS_SHOWN),
    warnings: report.segments
      .flatMap(({ slot, name, warnings }) => warnings.map((detail) => ({ slot, segment: name, detail })))
      .slice(0, PROBLEMS_SHOWN),
    tree:
      tree === null
        ? null
        : {
            ...tree,
            problems: tree.problems.slice(0, PROBLEMS_SHOWN),
            warnings: tree.warnings.slice(0, PROBLEMS_SHOWN),
          },
  }
}

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

const replayOverDecisions = async ({ input, lists }: TaskInput) => {
  const found = await replayPolicy(input as unknown as PolicyReplay, lists, Date.now(), sayProgress)
  send({ type: 'progress', done: found.bytes, total: found.bytes })
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

const replay = async (task: TaskInput) => {
  const { input } = task
  const sessions = input['sessions'] as readonly DecidedSession[] | undefined
  const found = sessions === undefined ? await replayOverDecisions(task) : replayOverSessions(input, sessions)
  return {
    policy_id: input['policyId'],
    revision_id: input['revisionId'] ?? null,
    since: new Date(Number(input['sinceMs'])).toISOString(),
    until: new Date(Number(input['untilMs'])).toISOString(),
    ...found,
  }
}

export type TaskResult = Awaited<ReturnType<typeof verify | typeof replay>>

const KINDS: Readonly<Record<string, (input: TaskInput) => Promise<TaskResult>>> = {
  'decisions.verify': verify,
  'policy.replay': replay,
}

const failureOf = (error: unknown): string => {
  if (error instanceof DecisionDirectoryMissingError) return 'there is no decision log yet'
  if (error instanceof PolicyInvalidError) return 'the policy is not valid any more'
  return 'the task failed'
}

process.on('disconnect', () => process.exit(1))

try {
  const input = decodeTaskInput(await Bun.stdin.bytes())
  const run = KINDS[input.kind]
  if (run === undefined) throw new Error('unknown kind')
  send({ type: 'done', result: await run(input) })
} catch (error) {
  send({ type: 'failed', failure: failureOf(error), errorClass: errorClassOf(error) })
}
// Closing the channel sends the last messages first.
process.disconnect?.()
