import { LEVELS, type LevelName, levelName } from '../domain/level.ts'
import type { SessionPart } from '../domain/requirements.ts'
import type { HitState } from '../domain/screening-hit.ts'
import {
  parsePolicyActor,
  SESSION_STATUSES,
  SESSION_TYPES,
  type Session,
  type SessionEvent,
  type SessionState,
} from '../domain/session.ts'
import { isoTime } from '../lib/time.ts'
import type { SessionAssignment } from '../store/sessions/session-assignments.ts'
import type { Agreement } from '../store/sessions/session-consent.ts'
import type { WalletProof } from '../store/sessions/session-wallets.ts'
import type { Tables } from '../store/store.ts'
import { keyIdOf } from './actor.ts'
import { closed, named, nullable, oneOf, Type, time, timeOrNull } from './schema.ts'
import { shown } from './shown.ts'

export const STATUS = oneOf(SESSION_STATUSES)
export const TYPE = oneOf(['individual', 'business'])
export const ENVIRONMENT = oneOf(['live', 'test'])
export const LEVEL = oneOf(Object.keys(LEVELS) as LevelName[])

const SESSION_FIELDS = {
  id: Type.String(),
  type: TYPE,
  status: STATUS,
  environment: ENVIRONMENT,
  level: LEVEL,
  provider: Type.String({ description: 'Name of the decision provider' }),
  wallet_address: Type.Union([Type.String(), Type.Null()], { description: 'The only wallet that can be connected' }),
  origin_url: nullable(Type.String()),
  user_id: nullable(Type.String()),
  retry_count: Type.Integer(),
  public_comment: nullable(Type.String()),
  sequence: Type.Integer({
    description: 'Increases with every change. A decision must include the sequence that it is based on',
  }),
  hits: closed(
    { open: Type.Integer(), cleared: Type.Integer(), confirmed: Type.Integer() },
    'Number of hits by state. A session with an open hit can’t be completed',
  ),
  assigned_to: Type.Union([Type.String(), Type.Null()], { description: 'Account of the reviewer' }),
  assignment_version: Type.Integer({
    description: 'Increases with every assignment. An assignment must include the version that it is based on',
  }),
  created_at: time(),
  submitted_at: Type.Union([time(), Type.Null()], { description: 'Time of the last submission' }),
  completed_at: nullable(time()),
}
export const SESSION = named('Session', closed(SESSION_FIELDS), [
  'id',
  'type',
  'status',
  'environment',
  'level',
  'created_at',
  'wallet_address',
])

export const SESSION_DETAIL = named(
  'SessionDetail',
  closed({
    ...SESSION_FIELDS,
    language: Type.Union([Type.String(), Type.Null()], {
      description: 'Two-letter code of the language in which the person consented; null before consent',
    }),
    missing: Type.Array(Type.String(), {
      description:
        'Evidence that the session’s level requires and that is missing, or `wallets`. Completing the session without it requires an override',
    }),
    wallets: Type.Array(
      closed({
        id: Type.String(),
        chain: Type.String(),
        address: Type.String(),
        connected_at: time(),
        proof: Type.Union(
          [
            closed({
              kind: oneOf(['eip191', 'erc1271', 'siws', 'sandbox']),
              message: Type.String(),
              signature: Type.String(),
              proved_at: time(),
            }),
            Type.Null(),
          ],
          { description: 'Signed message that connected the wallet' },
        ),
      }),
    ),
    events: Type.Array(
      closed({
        sequence: Type.Integer(),
        kind: Type.String(),
        status: STATUS,
        actor: Type.String(),
        key_name: nullable(
          Type.String({ description: 'Current name of the key, if the actor is an existing API key' }),
        ),
        policy_name: nullable(Type.String({ description: 'Current name of the policy, if the actor is a policy' })),
        public_comment: nullable(Type.String()),
        private_comment: nullable(Type.String()),
        overridden: Type.Array(Type.String(), {
          description:
            'Parts that were missing when the session was completed with an override; `confirmed-hit` if a hit was confirmed',
        }),
        at: time(),
      }),
    ),
  }),
)

type HitCounts = Readonly<Record<HitState, number>>
const NO_HITS: HitCounts = { open: 0, cleared: 0, confirmed: 0 }

export const showSession = (
  session: Session,
  assignment: SessionAssignment | undefined,
  submittedAtSeconds: number | undefined,
  hits: HitCounts | undefined,
) =>
  shown(SESSION, session, {
    type: SESSION_TYPES[session.checkType],
    level: levelName(session.level),
    wallet_address: session.lockedAddress,
    hits: { ...(hits ?? NO_HITS) },
    assigned_to: assignment?.userId ?? null,
    assignment_version: assignment?.version ?? 0,
    submitted_at: timeOrNull(submittedAtSeconds ?? null),
  })

const showProof = (proof: WalletProof | undefined) =>
  proof === undefined
    ? null
    : {
        kind: proof.kind,
        message: proof.message,
        signature: proof.signature,
        proved_at: isoTime(proof.provedAtSeconds),
      }

const showDetail = (
  { session, wallets }: SessionState,
  events: readonly SessionEvent[],
  assignment: SessionAssignment,
  proofs: ReadonlyMap<string, WalletProof>,
  agreement: Agreement | null,
  /** Names by id of keys and policies. */
  names: ReadonlyMap<string, string>,
  hits: HitCounts | undefined,
  missing: readonly SessionPart[],
) => ({
  ...showSession(
    session,
    assignment,
    events.findLast(({ kind, status }) => kind === 'status' && status === 'submitted')?.createdAtSeconds,
    hits,
  ),
  // Versions end with the language: `….en`.
  language: agreement?.version.split('.').at(-1) ?? null,
  missing: [...missing],
  wallets: wallets.map(({ id, chain, addressText, connectedAtSeconds }) => ({
    id,
    chain,
    address: addressText,
    connected_at: isoTime(connectedAtSeconds),
    proof: showProof(proofs.get(id)),
  })),
  events: events.map((event) => ({
    sequence: event.sequence,
    kind: event.kind,
    status: event.status,
    actor: event.actor,
    key_name: names.get(keyIdOf(event.actor) ?? '') ?? null,
    policy_name: names.get(parsePolicyActor(event.actor)?.policyId ?? '') ?? null,
    public_comment: event.publicComment,
    private_comment: event.privateComment,
    overridden: [...event.overridden],
    at: isoTime(event.createdAtSeconds),
  })),
})

export const detailOf = async (
  tables: Pick<
    Tables,
    'sessions' | 'sessionAssignments' | 'sessionWallets' | 'portalProgress' | 'apiKeys' | 'policies' | 'screeningChecks'
  >,
  state: SessionState,
) => {
  const { organizationId, id } = state.session
  const events = await tables.sessions.listEvents(organizationId, id)
  const names = new Map<string, string>()
  for (const keyId of new Set(events.flatMap((event) => keyIdOf(event.actor) ?? []))) {
    const key = await tables.apiKeys.find(organizationId, keyId)
    if (key !== null) names.set(keyId, key.name)
  }
  for (const policyId of new Set(events.flatMap(({ actor }) => parsePolicyActor(actor)?.policyId ?? []))) {
    const policy = await tables.policies.find(organizationId, policyId)
    if (policy !== null) names.set(policyId, policy.name)
  }
  return showDetail(
    state,
    events,
    await tables.sessionAssignments.find(organizationId, id),
    await tables.sessionWallets.listProofs(organizationId, id),
    await tables.portalProgress.findAgreement(organizationId, id),
    names,
    (await tables.screeningChecks.countMany(organizationId, [id])).get(id),
    await tables.sessions.findMissing(state.session),
  )
}
