// Second-person rule for commands, which can't wait for approval: changes are refused unless overridden with a reason,
// which the audit log records.
import { hasHidden } from '../lib/hidden-characters.ts'
import { UsageError } from './output.ts'

export const NEEDS_SECOND_PERSON = 3

const OVERRIDE = '--override-second-person'
const REASON = '--reason'
const REASON_MAX = 500

export interface Override {
  readonly reason: string
}

/** Separates the override from the verb's arguments. @throws UsageError without a valid reason */
export const splitOverride = (
  commandArguments: readonly string[],
): { readonly others: string[]; readonly override: Override | null } => {
  if (!commandArguments.includes(OVERRIDE)) return { others: [...commandArguments], override: null }
  const others: string[] = []
  let reason = ''
  for (let index = 0; index < commandArguments.length; index++) {
    const argument = commandArguments[index] ?? ''
    if (argument === OVERRIDE) continue
    if (argument === REASON) {
      index += 1
      reason = commandArguments[index] ?? ''
    } else if (argument.startsWith(`${REASON}=`)) {
      reason = argument.slice(REASON.length + 1)
    } else {
      others.push(argument)
    }
  }
  reason = reason.trim()
  if (reason === '' || reason.startsWith('--') || reason.length > REASON_MAX || hasHidden(reason)) {
    throw new UsageError(
      `${OVERRIDE} requires ${REASON} "…": the reason why no one could approve the change, at most ${REASON_MAX} characters`,
    )
  }
  return { others, override: { reason } }
}

export const REFUSAL = `a second person must approve this change: request approval in the dashboard or with the admin API. If no one can approve it, ${OVERRIDE} ${REASON} "…" makes the change now; the audit log and the dashboard show the override and the reason.
`
