// Refuses facts of a trial that the policy doesn't read, because the evaluation would ignore them.
import { exampleFactsOf } from '../../../admin/policies/needs-shown.ts'
import { FieldInvalidError } from '../../../domain/errors.ts'
import { nearNames } from '../../../lib/edit-distance.ts'
import { isObject } from '../../../lib/is-object.ts'
import type { FactNeed } from '../../../policy/types/needs.ts'

type Members = Readonly<Record<string, unknown>>

interface UnknownFact {
  /** Path such as `velocity.1h`. */
  readonly path: string
  readonly known: readonly string[]
}

const findUnknown = (given: Members, example: Members, prefix = ''): UnknownFact | null => {
  for (const [name, value] of Object.entries(given)) {
    const path = `${prefix}${name}`
    if (!Object.hasOwn(example, name)) return { path, known: Object.keys(example).map((each) => `${prefix}${each}`) }
    const members = example[name]
    const inner = isObject(value) && isObject(members) ? findUnknown(value, members, `${path}.`) : null
    if (inner !== null) return inner
  }
  return null
}

export const refuseUnknownFacts = (facts: Members, needs: readonly FactNeed[]): void => {
  const { lists, ...example } = exampleFactsOf(needs)
  const unknown = findUnknown(facts, example)
  if (unknown === null) return
  const { path, known } = unknown
  const near = nearNames(path, known)
  const remedy =
    path === 'lists'
      ? ': provide lists in “lists” (--lists)'
      : near.length > 0
        ? `: did you mean ${near.join(' or ')}?`
        : `; the policy reads ${known.length === 0 ? 'no facts beyond the request' : known.join(', ')}`
  throw new FieldInvalidError('facts', `must not contain ${path.slice(0, 100)}${remedy}`)
}
