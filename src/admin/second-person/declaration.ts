// What a route declares when it can change who gets signed for: under which name it waits for a second person, when it
// does, and what the one who asks sees. Everything else about the rule is in this folder, once.
import type { Tables } from '../../store/store.ts'
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

/** One thing that changes, in words. Null: there was, or will be, nothing. */
export interface SeenChange {
  readonly what: string
  readonly before: string | null
  readonly after: string | null
}

/** The change as both the person who requests it and the person who approves it see it. */
export interface Seen {
  /** Id of what is changed. */
  readonly subject: string
  /** As people know it. */
  readonly name: string
  readonly changes: readonly SeenChange[]
  /** Differences between the rules of two revisions, in the words of policy documents. */
  readonly differences?: readonly Readonly<Record<string, unknown>>[]
  /** More that the request was based on. When it or a `before` is another by then, nobody can approve the request. */
  readonly basis?: unknown
}

/**
 * What a request needs where the rule is on: a second person; at least a person, because who holds a key is unknown; or
 * nothing, because it goes the safe way.
 */
export type Needs = 'second-person' | 'person' | 'nothing'

export interface SecondPersonRule<Call> {
  readonly action: ApprovalAction
  /** Left out: always a second person. */
  readonly needs?: (tables: Tables, call: Call) => Needs | Promise<Needs>
  /** Before anything is changed, in the transaction that would. @throws what the change itself throws */
  readonly see: (tables: Tables, call: Call) => Promise<Seen>
  /** Describes the change's known effects at the time of the request. Runs outside of any transaction. */
  readonly effects?: (call: Call) => Promise<readonly string[]>
  /** The change takes rights away: it is refused where it would leave fewer than two people who can approve. */
  readonly leavesApprovers?: true
  /** For what is made outside the transaction before the change, and handed to `write` (see Call). */
  readonly kept?: {
    /** Sees that it is still there when the request is approved. */
    readonly hold?: (tables: Tables, kept: unknown, untilSeconds: number) => Promise<void>
    /** After the request was rejected. */
    readonly discard: (services: Services, kept: unknown) => Promise<void> | void
  }
}

/** A field that a request may leave out: nothing when it does, or when it stays as it is. */
export const change = <Value extends string | number | boolean>(
  what: string,
  before: Value,
  after: Value | undefined,
): SeenChange[] =>
  after === undefined || after === before ? [] : [{ what, before: String(before), after: String(after) }]
