// What a route declares if it can change who gets signed for: the action's name, when it needs a second person, and what the
// requester and the approver see. The rule itself is in this folder.
import type { Tables } from '../../store/store.ts'
import { ConflictError } from '../errors.ts'
import type { Services } from '../services.ts'

export const APPROVAL_ACTIONS = [
  'policy.activate',
  'project.create',
  'project.change',
  'binding.create',
  'binding.remove',
  'list.create',
  'list.edit',
  'list.upload',
  'list.source',
  'list.source-end',
  'list.remove',
  'member.add',
  'member.role',
  'member.remove',
  'member.invite',
  'organization.level',
  'organization.verification-trust',
  'organization.session-policy',
  'account.create',
  'account.change',
  'attester.add',
  'attester.retire',
  'settings.second-person-off',
] as const
export type ApprovalAction = (typeof APPROVAL_ACTIONS)[number]

/** One change, in words; `before` or `after` is null when there was, or will be, nothing. */
export interface SeenChange {
  readonly what: string
  readonly before: string | null
  readonly after: string | null
}

/** The change as both the person who requests it and the person who approves it see it. */
export interface Seen {
  /** Id of what is changed. */
  readonly subject: string
  /** Its name for people. */
  readonly name: string
  readonly changes: readonly SeenChange[]
  /** Differences between the rules of two revisions, in the words of policy documents. */
  readonly differences?: readonly Readonly<Record<string, unknown>>[]
  /** More state that the request was based on. If this or a `before` has changed, the request can't be approved. */
  readonly basis?: unknown
}

/**
 * What a request needs while the rule is on: a second person; a person (not a key, whose holder is unknown); or nothing, since
 * the change can only withhold signatures.
 */
export type Needs = 'second-person' | 'person' | 'nothing'

export interface SecondPersonRule<Call> {
  readonly action: ApprovalAction
  /** Left out: always a second person. */
  readonly needs?: (tables: Tables, call: Call) => Needs | Promise<Needs>
  /** Runs in the change's transaction, before the change. @throws what the change itself throws */
  readonly see: (tables: Tables, call: Call) => Promise<Seen>
  /** Describes the change's known effects at the time of the request. Runs outside of any transaction. */
  readonly effects?: (call: Call) => Promise<readonly string[]>
  /** The change may remove an approver: it is refused if fewer than two people who can approve would be left. */
  readonly leavesApprovers?: true
  /** For routes that make something before the transaction and give it to `write` as `kept` (see Call). */
  readonly kept?: {
    /** Protects it from being cleaned up until the request expires. */
    readonly hold?: (tables: Tables, kept: unknown, untilSeconds: number) => Promise<void>
    /** Deletes it after the request was rejected. */
    readonly discard: (services: Services, kept: unknown) => Promise<void> | void
  }
}

/** @returns the change of an optional field; nothing when the request leaves it out or does not change it */
export const change = <Value extends string | number | boolean>(
  what: string,
  before: Value,
  after: Value | undefined,
): SeenChange[] =>
  after === undefined || after === before ? [] : [{ what, before: String(before), after: String(after) }]

/**
 * Refuses a request in which an approver would see no change.
 * @throws ConflictError
 */
export const requireVisibleChange = ({ changes, differences = [] }: Seen): void => {
  if (differences.length > 0 || changes.some(({ before, after }) => before !== after)) return
  throw new ConflictError('this changes nothing that an approver could see')
}
