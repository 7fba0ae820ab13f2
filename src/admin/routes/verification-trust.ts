import { FieldInvalidError } from '../../domain/errors.ts'
import { IDENTITY_PATHS } from '../../identity/paths.ts'
import { TRUSTED_MAX, type TrustedOrganizations } from '../../store/organizations/verification-trust.ts'
import type { Tables } from '../../store/store.ts'
import { type Actor, roleIn } from '../actor.ts'
import { declareRoutes, ORGANIZATION_ADMIN, VIEWER } from '../route.ts'
import { closed, named, oneOf, type Static, Type } from '../schema.ts'

const route = declareRoutes('Organizations')

const PATH = '/organizations/{organization}/verification-trust'

const TRUST = named(
  'VerificationTrust',
  closed({
    trusts: oneOf(
      ['all', 'listed', 'none'],
      'Organizations whose completed, shared verifications at this organization’s level are accepted',
    ),
    organizations: Type.Array(closed({ id: Type.String(), slug: Type.String(), name: Type.String() }), {
      description: 'Listed organizations; empty for `all` and `none`',
    }),
  }),
)

const BODY = closed({
  trusts: oneOf(['all', 'listed', 'none']),
  organizations: Type.Optional(
    Type.Array(Type.String({ maxLength: 100 }), {
      maxItems: TRUSTED_MAX,
      description: 'IDs, or slugs of organizations that the caller can view; only with `listed`',
    }),
  ),
})

const showTrust = (trusted: TrustedOrganizations): Static<typeof TRUST> => {
  if (trusted === null) return { trusts: 'all', organizations: [] }
  return { trusts: trusted.length === 0 ? 'none' : 'listed', organizations: trusted.map((each) => ({ ...each })) }
}

const inWords = ({
  trusts,
  organizations,
}: {
  readonly trusts: 'all' | 'listed' | 'none'
  readonly organizations: readonly { readonly name: string; readonly id: string }[]
}): string => {
  if (trusts === 'all') return 'all organizations'
  if (trusts === 'none') return 'no other organization'
  return organizations
    .map(({ name, id }) => `${name} (${id})`)
    .sort()
    .join(', ')
}

/**
 * Accepts only IDs for organizations that the caller can't view, because slugs can be guessed.
 * @throws FieldInvalidError
 */
const idsOf = async (tables: Tables, actor: Actor, own: string, names: readonly string[]): Promise<string[]> => {
  const ids: string[] = []
  for (const name of names) {
    const found = await tables.organizations.find(name)
    if (found === null || (found.id !== name && roleIn(actor, found.id) === null)) {
      throw new FieldInvalidError(
        'organizations',
        'must contain IDs of organizations in this deployment; each organization can find its ID under Settings',
      )
    }
    if (found.id !== own) ids.push(found.id)
  }
  if (ids.length === 0) throw new FieldInvalidError('organizations', 'must contain at least one other organization')
  return ids
}

export const VERIFICATION_TRUST_ROUTES = [
  route('readVerificationTrust', 'GET', PATH, {
    access: VIEWER,
    summary: 'Show the organizations whose verifications are accepted',
    answer: TRUST,
    handle: async ({ services, organization }) =>
      showTrust(await services.store.verificationTrust.read(organization.id)),
  }),
  route('changeVerificationTrust', 'PUT', PATH, {
    access: ORGANIZATION_ADMIN,
    summary: 'Set the organizations whose verifications are accepted',
    description:
      'If you remove an organization, wallets verified only by it are no longer verified within a second, both in ' +
      `\`${IDENTITY_PATHS.verify.method} ${IDENTITY_PATHS.verify.path}\` and in policies.`,
    body: BODY,
    answer: TRUST,
    secondPerson: {
      action: 'organization.verification-trust',
      see: async (tables, { organization, actor, body }) => {
        const { id, name } = organization
        const listed = body.trusts === 'listed' ? await idsOf(tables, actor, id, body.organizations ?? []) : []
        const organizations = await Promise.all(listed.map((each) => tables.organizations.find(each)))
        const before = showTrust(await tables.verificationTrust.read(id))
        const after = { trusts: body.trusts, organizations: organizations.filter((each) => each !== null) }
        return {
          subject: id,
          name,
          changes: [{ what: 'accepts verifications from', before: inWords(before), after: inWords(after) }],
        }
      },
    },
    handle: ({ organization, actor, body, write }) =>
      write(async (tables, note) => {
        const names = body.organizations ?? []
        if (body.trusts !== 'listed' && names.length > 0) {
          throw new FieldInvalidError('organizations', 'requires `listed`')
        }
        const { id } = organization
        const before = showTrust(await tables.verificationTrust.read(id))
        const trusted =
          body.trusts === 'all' ? null : body.trusts === 'none' ? [] : await idsOf(tables, actor, id, names)
        const after = showTrust(await tables.verificationTrust.set(id, trusted))
        const detailOf = ({ trusts, organizations }: typeof after) => ({
          trusts,
          ids: organizations.map((each) => each.id),
        })
        note({
          action: 'organization.verification-trust',
          subject: id,
          detail: { verification_trust: [detailOf(before), detailOf(after)] },
        })
        return after
      }),
  }),
]
