// The second person's rule at the command line, where nobody can wait for one: a verb that changes who gets signed for is
// refused while the rule is on, unless whoever runs the machine overrides it with a reason that the audit log keeps.
import { isUnprintable } from '../domain/list.ts'
import { UsageError } from './output.ts'

/** Exit code of a verb that was refused. */
export const NEEDS_SECOND_PERSON = 3

const OVERRIDE = '--override-second-person'
const REASON = '--reason'
const REASON_MAX = 500

export interface Override {
  readonly reason: string
}

/**
 * Takes the override and its reason out of what the verb is given.
 * @throws UsageError for an override without a reason that can be kept
 */
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
  if (reason === '' || reason.startsWith('--') || reason.length > REASON_MAX || isUnprintable(reason)) {
    throw new UsageError(
      `${OVERRIDE} needs ${REASON} "…": at most ${REASON_MAX} characters that say why nobody could approve it`,
    )
  }
  return { others, override: { reason } }
}

export const REFUSAL = `a second person has to approve this: ask for it in the dashboard or the admin API.
Where nobody can, ${OVERRIDE} ${REASON} "…" does it now; the audit log and the dashboard show the override and the reason.
`
