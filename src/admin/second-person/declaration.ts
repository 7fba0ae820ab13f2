// Declaration of a route whose change affects signing: the action, when a second person is required, and the
// description for requester and approver. This folder implements the rule.
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
  'organization.minimum-age',
  'organization.retention',
  'session.evidence-erase',
  'screening.settings',
  'screening.list',
  'screening.list-end',
  'screening.content',
  'webhook.decider',
  'webhook.service',
  'webhook.secret',
  'account.create',
  'account.change',
  'attester.add',
  'attester.retire',
  'settings.second-person-off',
] as const
export type ApprovalAction = (typeof APPROVAL_ACTIONS)[number]

/** Reasons that an operation with changes never waits for a second person. */
export const ALONE = {
  'own-sign-in': 'the account’s own sign-in; grants no rights',
  recovery: 'urgent; the link’s maker and the account don’t count as two people',
  'factor-rule': 'grants no rights; only an account with a second factor can turn it on',
  'takes-access-away': 'urgent, and only takes access away',
  'new-organization': 'a new organization signs for no one and has its own rule',
  key: 'keys can’t make changes that require a person; the key’s holder counts as the author of the key’s changes',
  'not-live': 'not live until a revision is activated',
  texts: 'texts for people; no verdict depends on them',
  reads: 'evaluates or reads, and changes no verdict',
  attest: 'the key’s holder can make the same request',
  'regular-read': 'reads a source earlier that is read regularly anyway',
  upkeep: 'no verdict depends on it',
  'one-session': 'the review of one person, with its own roles and history',
  notifies: 'only starts or stops notifications of decisions',
  offer: 'withdraws or answers an offer that a second person has approved',
  'decides-approvals': 'is the second person’s decision',
} as const
export type AloneReason = keyof typeof ALONE

/** One change, described in words; `before` is null for a new value, `after` for a removed one. */
export interface SeenChange {
  readonly what: string
  readonly before: string | null
  readonly after: string | null
}

/** Description of the change for the requester and the approver. */
export interface Seen {
  readonly subject: string
  /** Display name of the changed object. */
  readonly name: string
  readonly changes: readonly SeenChange[]
  /** Differences between the rules of two revisions, in the terms of policy documents. */
  readonly differences?: readonly Readonly<Record<string, unknown>>[]
  /** Additional state that the request is based on. If this or a `before` changes, the request can't be approved. */
  readonly basis?: unknown
}

/**
 * Requirement of a request while the rule is on. A person is required instead of a key, because a key's holder is
 * unknown. Nothing is required if the change can only withhold signatures.
 */
export type Needs = 'second-person' | 'person' | 'nothing'

export interface SecondPersonRule<Call> {
  readonly action: ApprovalAction
  /** If undefined, a second person is always required. */
  readonly needs?: (tables: Tables, call: Call) => Needs | Promise<Needs>
  /** Returns the body to store with a waiting request, without its secrets; `kept` contains them sealed. */
  readonly withoutSecrets?: (body: never) => unknown
  /** Runs in the change's transaction, before the change. @throws the errors of the change */
  readonly see: (tables: Tables, call: Call) => Promise<Seen>
  /** Describes the change's known effects at the time of the request. Runs outside any transaction. */
  readonly effects?: (call: Call) => Promise<readonly string[]>
  /** The change may remove an approver; it is refused if fewer than two people who can approve would remain. */
  readonly leavesApprovers?: true
  /** For routes that create something before the transaction and pass it to `write` as `kept` (see Call). */
  readonly kept?: {
    /** Protects the object from cleanup until the request expires. */
    readonly hold?: (tables: Tables, kept: unknown, untilSeconds: number) => Promise<void>
    /** Deletes the object after the request was rejected. */
    readonly discard: (services: Services, kept: unknown) => Promise<void> | void
  }
}

/** @returns the changes between two settings, with the field names of the API */
export const changedFields = (before: Readonly<Record<string, unknown>>, after: Readonly<Record<string, unknown>>) => {
  const text = (value: unknown): string =>
    value === null ? 'none' : Array.isArray(value) ? value.join(', ') || 'no list' : String(value)
  return Object.keys(after)
    .filter((field) => text(before[field]) !== text(after[field]))
    .map(
      (field): SeenChange => ({
        what: field.replaceAll('_', ' '),
        before: text(before[field]),
        after: text(after[field]),
      }),
    )
}

/** @returns the change of an optional field; empty if the request omits it or doesn't change it */
export const change = <Value extends string | number | boolean>(
  what: string,
  before: Value,
  after: Value | undefined,
): SeenChange[] =>
  after === undefined || after === before ? [] : [{ what, before: String(before), after: String(after) }]

/**
 * Refuses a request without a visible change for the approver.
 * @throws ConflictError
 */
export const requireVisibleChange = ({ changes }: Seen): void => {
  if (changes.some(({ before, after }) => before !== after)) return
  throw new ConflictError('this changes nothing that an approver could review')
}
