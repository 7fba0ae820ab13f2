import type { ReplayChange, ReplaySummary } from '../../src/policy/tools/replay.ts'
import type { SessionReplay } from '../../src/policy/tools/session-replay.ts'

/** Maximum entries per list in the result. The most frequent changes come first. */
const CHANGES_SHOWN = 200

const showOutcome = ({ compliant, rule }: ReplayChange['from']) => ({
  verdict: compliant ? ('compliant' as const) : ('denied' as const),
  rule,
})

export const reportSessions = ({ disagreements, reasons, ...counts }: SessionReplay) => ({
  ...counts,
  disagreements: disagreements.slice(0, CHANGES_SHOWN),
  reasons: reasons.slice(0, CHANGES_SHOWN),
})

export const reportDecisions = (found: ReplaySummary & { readonly unreadable: number }) => {
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

const headOf = (input: Readonly<Record<string, unknown>>) => ({
  policy_id: input['policyId'],
  revision_id: input['revisionId'] ?? null,
  since: new Date(Number(input['sinceMs'])).toISOString(),
  until: new Date(Number(input['untilMs'])).toISOString(),
})

type Counts = ReturnType<typeof reportSessions> | ReturnType<typeof reportDecisions>

export const reportReplay = (input: Readonly<Record<string, unknown>>, counts: Counts) => ({
  ...headOf(input),
  ...counts,
})

export type ReplayReport = ReturnType<typeof reportReplay>
