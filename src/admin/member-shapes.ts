import type { MembershipOffer } from '../store/accounts/membership-offers.ts'
import { ORGANIZATION_ROLES } from '../store/accounts/role.ts'
import { closed, named, oneOf, Type, time } from './schema.ts'
import { shown } from './shown.ts'

export const ROLE = oneOf(ORGANIZATION_ROLES, 'Each role includes the rights of the roles listed after it')

const EMAIL_LENGTH_MAX = 254
const EMAIL_LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'

/** ASCII, so that no two addresses look the same. Source: "valid email address" in the HTML standard. */
export const EMAIL = Type.String({
  description: 'Email address, case-insensitive. Use the `xn--` form for international domain names',
  maxLength: EMAIL_LENGTH_MAX,
  pattern: `^[A-Za-z0-9.!#$%&'*+/=?^_\`{|}~-]+@${EMAIL_LABEL}(?:\\.${EMAIL_LABEL})*$`,
  rule: 'must be an email address with only ASCII characters',
})

/** Accepts addresses of existing accounts, for which earlier versions accepted more characters. */
export const SIGN_IN_EMAIL = Type.String({
  description: 'Email address, case-insensitive',
  maxLength: EMAIL_LENGTH_MAX,
  pattern: '^[^\\s@\\x00-\\x1f\\x7f]+@[^\\s@\\x00-\\x1f\\x7f]+$',
  rule: 'must be an email address',
})

export const LINK = named(
  'OneTimeLink',
  closed({ url: Type.String({ description: 'Link that works once and is shown only once' }), expires_at: time() }),
)

export const OFFER = named(
  'MemberOffer',
  closed({
    id: Type.String(),
    email: Type.String({ description: 'Email address from the request. The account’s name is not revealed' }),
    role: ROLE,
    asked_by: Type.String({ description: 'Actor, as in the audit log' }),
    asked_by_name: Type.String(),
    created_at: time(),
    expires_at: time(),
  }),
)

export const showOffer = (offer: MembershipOffer) => shown(OFFER, offer)
