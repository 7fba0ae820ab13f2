import type { DecisionRecord } from '../../decision-log/types.ts'
import { isoTime } from '../../lib/time.ts'
import { bindingSubject } from '../../store/organizations/bindings.ts'
import type { Tables } from '../../store/store.ts'
import { closed, named, nullable, oneOf, type Static, Type, time } from '../schema.ts'

export const DECISION = named(
  'Decision',
  closed({
    uuid: Type.String({ description: 'UUID of the attestation, or ID of the task' }),
    at: time(),
    kind: oneOf(['attestation', 'task']),
    verdict: oneOf(['compliant', 'denied']),
    withheld: Type.Boolean({
      description:
        'Whether the response missed the deadline and was not sent. A retry with the same Idempotency-Key may still return it',
    }),
    project_id: Type.String(),
    policy_id: Type.String(),
    policy_name: Type.String(),
    revision_id: Type.String(),
    verification_hash: Type.String(),
    chain: Type.String(),
    from: Type.String(),
    on_behalf: Type.Union([Type.String(), Type.Null()], { description: 'User on whose behalf `from` acts' }),
    to: Type.String(),
    value: Type.String(),
    data_sha256: Type.String(),
    data_size: Type.Integer(),
    rule: Type.Union([Type.String(), Type.Null()], { description: 'Rule that decided; null for the policy’s default' }),
    code: nullable(Type.String()),
    message: nullable(Type.String()),
    expiration: Type.Integer(),
    attesters: Type.Array(Type.String()),
    signatures: Type.Array(Type.String(), {
      description: 'Signatures of the attesters; empty for a withheld decision',
    }),
    key_id: Type.String(),
    request_id: Type.String(),
    shadow: Type.Union(
      [
        closed({
          revision_id: Type.String(),
          verdict: Type.Union([oneOf(['compliant', 'denied']), Type.Null()], {
            description: 'Null if there is no verdict; `rule` is then the failed rule, and `failure` is the reason',
          }),
          rule: nullable(Type.String()),
          failure: Type.Union([Type.String(), Type.Null()], {
            description:
              'Reason for the missing verdict, with the status of the response; null if the reason was not recorded',
          }),
        }),
        Type.Null(),
      ],
      { description: 'Outcome of the shadow revision' },
    ),
  }),
  ['uuid', 'at', 'verdict', 'policy_name', 'rule', 'chain', 'from'],
)

export const DECISION_NAMES = closed({
  project: nullable(Type.String()),
  revision: nullable(Type.Integer({ description: 'Revision number' })),
  shadow_revision: nullable(Type.Integer()),
  key: nullable(Type.String()),
  to: nullable(Type.String({ description: 'Project to which the contract at `to` is bound' })),
  contract: nullable(Type.String({ description: 'Label of the contract at `to`' })),
})

export const namesOf = async (
  { projects, policies, apiKeys, bindings }: Pick<Tables, 'projects' | 'policies' | 'apiKeys' | 'bindings'>,
  organizationId: string,
  { project, revision, shadow, key, to, chain }: DecisionRecord,
) => {
  const projectName = async (id: string) => (await projects.find(organizationId, id))?.name ?? null
  const number = async (id: string) => (await policies.findRevision(organizationId, id))?.number ?? null
  const bound = await bindings.findByAddress(organizationId, chain, to)
  return {
    project: await projectName(project),
    revision: await number(revision),
    shadow_revision: shadow === undefined ? null : await number(shadow.revision),
    key: (await apiKeys.find(organizationId, key))?.name ?? null,
    to: bound === null ? null : await projectName(bound.projectId),
    contract: bound?.label ?? null,
  }
}

/** Returns the labels of contracts, by chain and address: `base/0x…`. */
export const labelsOf = async (
  { bindings }: Pick<Tables, 'bindings'>,
  organizationId: string,
  records: readonly Pick<DecisionRecord, 'chain' | 'to'>[],
): Promise<Readonly<Record<string, string>>> => {
  const contracts = new Map(records.map(({ chain, to }) => [bindingSubject(chain, to), { chain, to }]))
  const labels: Record<string, string> = {}
  for (const [subject, { chain, to }] of contracts) {
    const label = (await bindings.findByAddress(organizationId, chain, to))?.label ?? null
    if (label !== null) labels[subject] = label
  }
  return labels
}

export const BASIS = named(
  'DecisionBasis',
  closed({
    requested_at: Type.Union([time(), Type.Null()], { description: 'Time of the request that the evaluation used' }),
    data: Type.Union([Type.String(), Type.Null()], { description: 'Call data; null if it was too long to store' }),
    facts: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()], {
      description: 'Facts that are not part of the request. Personal data is stored as keyed hashes',
    }),
  }),
)

export const PROOF = named(
  'DecisionProof',
  closed({
    slot: Type.String(),
    segment: Type.String({ description: 'Log file' }),
    offset: Type.Integer({ description: 'Offset of the line in the file, in bytes' }),
    length: Type.Integer(),
    line: Type.String({ description: 'Raw line; empty for a withheld decision' }),
    hash: Type.String({ description: 'SHA-256 of the line' }),
    previous_hash: Type.String({ description: 'Hash of the previous line, as stored in this line' }),
    previous_matches: Type.Boolean(),
    next_matches: Type.Union([Type.Boolean(), Type.Null()], {
      description: 'Whether the next line stores the hash of this line; null for the newest line of a file',
    }),
  }),
)

export const showDecision = (record: DecisionRecord, withheld: boolean): Static<typeof DECISION> => ({
  uuid: record.uuid,
  at: new Date(record.at).toISOString(),
  kind: record.kind,
  verdict: record.compliant ? 'compliant' : 'denied',
  withheld,
  project_id: record.project,
  policy_id: record.policy,
  policy_name: record.policy_name,
  revision_id: record.revision,
  verification_hash: record.verification_hash,
  chain: record.chain,
  from: record.from,
  on_behalf: record.on_behalf ?? null,
  to: record.to,
  value: record.value,
  data_sha256: record.data_sha256,
  data_size: record.data_size,
  rule: record.rule,
  code: record.code ?? null,
  message: record.message ?? null,
  expiration: record.expiration,
  attesters: [...record.attesters],
  // A withheld signature was never sent and may still be valid.
  signatures: withheld ? [] : [...record.signatures],
  key_id: record.key,
  request_id: record.request,
  shadow:
    record.shadow === undefined
      ? null
      : {
          revision_id: record.shadow.revision,
          verdict: record.shadow.compliant === null ? null : record.shadow.compliant ? 'compliant' : 'denied',
          rule: record.shadow.rule,
          failure: record.shadow.failure ?? null,
        },
})

export const showBasis = ({ requested, data, data_size, facts }: DecisionRecord): Static<typeof BASIS> => ({
  requested_at: requested === undefined ? null : isoTime(requested),
  data: data ?? (data_size === 0 ? '0x' : null),
  facts: facts === undefined ? null : { ...facts },
})
