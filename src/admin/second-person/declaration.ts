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
  'organization.details-use',
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

export const ALONE = {
  'own-sign-in': 'the change affects only the account’s own sign-in and grants no rights',
  recovery: 'the change is urgent; the creator of the link and the account don’t count as two people',
  'factor-rule': 'the rule grants no rights; only an account with a second factor can turn it on',
  'takes-access-away': 'the change is urgent and only takes access away',
  'new-organization': 'a new organization has no projects yet, and has its own rule',
  key: 'keys can’t make changes that require a person; the key’s holder counts as the author of the key’s changes',
  'not-live': 'the change has no effect until a revision is activated',
  texts: 'verdicts don’t depend on descriptive text',
  reads: 'the operation evaluates or reads without changing verdicts',
  attest: 'the key’s holder can make the same request',
  'regular-read': 'the operation only reads a source earlier than scheduled',
  upkeep: 'verdicts don’t depend on this maintenance',
  'one-session': 'the review of one person has its own roles and history',
  notifies: 'the change only starts or stops notifications of decisions',
  offer: 'the change withdraws or answers an offer that a second person approved',
  'decides-approvals': 'the operation is the second person’s decision',
} as const
export type AloneReason = keyof typeof ALONE

/** Values as text; `before` is null for a new value, `after` for a removed value. */
export interface SeenChange {
  readonly what: string
  readonly before: string | null
  readonly after: string | null
}

export interface Seen {
  readonly subject: string
  readonly name: string
  readonly changes: readonly SeenChange[]
  /** Differences between the rules of two revisions, in the terms of policy documents. */
  readonly differences?: readonly Readonly<Record<string, unknown>>[]
  /** If this state or a `before` value changes, the request can't be approved. */
  readonly basis?: unknown
}

/** `person`: not a key, whose holder is unknown. `nothing`: the change can only withhold signatures. */
export type Needs = 'second-person' | 'person' | 'nothing'

type AheadMember = 'services' | 'organization' | 'params' | 'body' | 'deadline'

export interface SecondPersonRule<Call> {
  readonly action: ApprovalAction
  /** If undefined, a second person is always required. */
  readonly needs?: (tables: Tables, call: Call) => Needs | Promise<Needs>
  /** Returns the body to store with a waiting request, without secrets, which `kept` contains sealed. */
  readonly withoutSecrets?: (body: never) => unknown
  /** Runs in the change's transaction, before the change. @throws the errors of the change */
  readonly see: (tables: Tables, call: Call) => Promise<Seen>
  /** Work that must not delay other writes. Runs before the transaction of the change or of its approval. */
  readonly ahead?: (call: Pick<Call, Extract<keyof Call, AheadMember>>) => Promise<void>
  /** Known effects at the time of the request. Runs outside transactions. */
  readonly effects?: (call: Call) => Promise<readonly string[]>
  /** The change may remove an approver; it is refused if fewer than two approvers would remain. */
  readonly leavesApprovers?: true
  /** Functions of routes that create an object before the transaction and pass it to `write` as `kept`. */
  readonly kept?: {
    /** Protects the object from cleanup until the request expires. */
    readonly hold?: (tables: Tables, kept: unknown, untilSeconds: number) => Promise<void>
    readonly discard: (services: Services, kept: unknown) => Promise<void> | void
  }
}

/** Returns the differences between two versions of the settings, by API field name. */
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

export const change = <Value extends string | number | boolean>(
  what: string,
  before: Value,
  after: Value | undefined,
): SeenChange[] =>
  after === undefined || after === before ? [] : [{ what, before: String(before), after: String(after) }]

export const requireVisibleChange = ({ changes }: Seen): void => {
  if (changes.some(({ before, after }) => before !== after)) return
  throw new ConflictError('the request changes nothing that an approver could review')
}
