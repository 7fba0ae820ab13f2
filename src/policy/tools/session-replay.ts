// Compares a policy with people's decisions on sessions. An unavailable fact leaves a session to a person.
import { decideSession } from '../decide-session.ts'
import type { PolicyProgram } from '../types/program.ts'
import type { DecidedSession } from '../types/session-facts.ts'

export interface SessionDisagreement {
  readonly decided: DecidedSession['decided']
  readonly outcome: 'completed' | 'rejected'
  readonly rule: string | null
  readonly count: number
  readonly sessions: readonly string[]
}

/** Most frequent reasons first; both are null if no rule decided. */
export interface SessionsLeft {
  readonly rule: string | null
  readonly problem: string | null
  readonly count: number
}

export interface SessionReplay {
  readonly sessions: number
  readonly completed: number
  readonly rejected: number
  readonly left: number
  readonly agreed: number
  readonly disagreements: readonly SessionDisagreement[]
  readonly reasons: readonly SessionsLeft[]
}

const EXAMPLES = 10

const counted = <Item extends { count: number }>(items: Map<string, Item>, key: string, first: Item): Item => {
  const item = items.get(key) ?? first
  items.set(key, item)
  item.count++
  return item
}

const descending = (left: { readonly count: number }, right: { readonly count: number }): number =>
  right.count - left.count

export const replaySessions = (policy: PolicyProgram, sessions: readonly DecidedSession[]): SessionReplay => {
  const outcomes = { completed: 0, rejected: 0, review: 0 }
  const disagreements = new Map<string, SessionDisagreement & { count: number; sessions: string[] }>()
  const reasons = new Map<string, SessionsLeft & { count: number }>()
  for (const { sessionId, decided, facts } of sessions) {
    const { outcome, ruleId: rule, problem } = decideSession(policy, facts)
    outcomes[outcome]++
    if (outcome === 'review') {
      counted(reasons, JSON.stringify([rule, problem]), { rule, problem, count: 0 })
    } else if (outcome !== decided) {
      const first = { decided, outcome, rule, count: 0, sessions: [] }
      const { sessions: examples } = counted(disagreements, JSON.stringify([decided, outcome, rule]), first)
      if (examples.length < EXAMPLES) examples.push(sessionId)
    }
  }
  const disagreed = [...disagreements.values()].sort(descending)
  const { completed, rejected, review: left } = outcomes
  return {
    completed,
    rejected,
    left,
    sessions: sessions.length,
    agreed: completed + rejected - disagreed.reduce((sum, { count }) => sum + count, 0),
    disagreements: disagreed,
    reasons: [...reasons.values()].sort(descending),
  }
}
