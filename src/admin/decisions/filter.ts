import type { WalletAddress } from '../../domain/address.ts'
import { FieldInvalidError } from '../../domain/errors.ts'
import { parseWalletAddress } from '../../domain/wallet.ts'
import type { DecisionFilter } from '../../store/decision-index/types.ts'
import { oneOf, type Static, Type } from '../schema.ts'
import { timeOf } from '../time.ts'

export const FILTER = {
  wallet: Type.Optional(Type.String({ maxLength: 100, description: 'Address of the end user' })),
  project_id: Type.Optional(Type.String({ maxLength: 100 })),
  policy_id: Type.Optional(Type.String({ maxLength: 100 })),
  verdict: Type.Optional(oneOf(['compliant', 'denied'])),
  rule: Type.Optional(
    Type.String({ maxLength: 100, description: 'ID of the decisive rule; empty for the policy’s default' }),
  ),
  chain: Type.Optional(Type.String({ maxLength: 100 })),
  shadow_revision_id: Type.Optional(
    Type.String({ maxLength: 100, description: 'ID of the shadow revision. Requires `shadow`' }),
  ),
  shadow: Type.Optional(
    oneOf(
      ['same', 'different', 'failed'],
      'Outcome of the shadow revision, compared with the active revision. Requires `shadow_revision_id`',
    ),
  ),
  since: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601, inclusive' })),
  until: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601, exclusive' })),
}
export const FILTER_QUERY = Type.Object(FILTER)

export const walletOf = (field: string, text: string): WalletAddress => {
  const parsed = parseWalletAddress(text)
  if (parsed === null) throw new FieldInvalidError(field, 'must be an EVM or Solana address')
  return parsed.address
}

const shadowFilterOf = (query: Static<typeof FILTER_QUERY>): Pick<DecisionFilter, 'shadow'> => {
  const { shadow, shadow_revision_id: revisionId } = query
  if (shadow === undefined && revisionId === undefined) return {}
  if (shadow === undefined || revisionId === undefined) {
    throw new FieldInvalidError(
      shadow === undefined ? 'shadow_revision_id' : 'shadow',
      'requires both shadow and shadow_revision_id',
    )
  }
  return { shadow: { revisionId, outcome: shadow } }
}

export const filterOf = (organizationId: string, query: Static<typeof FILTER_QUERY>): DecisionFilter => ({
  organizationId,
  ...(query.wallet === undefined ? {} : { wallet: walletOf('wallet', query.wallet) }),
  ...(query.project_id === undefined ? {} : { projectId: query.project_id }),
  ...(query.policy_id === undefined ? {} : { policyId: query.policy_id }),
  ...(query.verdict === undefined ? {} : { verdict: query.verdict }),
  ...(query.rule === undefined ? {} : { rule: query.rule === '' ? null : query.rule }),
  ...(query.chain === undefined ? {} : { chain: query.chain }),
  ...shadowFilterOf(query),
  ...(query.since === undefined ? {} : { sinceMs: timeOf('since', query.since) }),
  ...(query.until === undefined ? {} : { untilMs: timeOf('until', query.until) }),
})
