// Who works in an organization, and the deployment's accounts. Nobody is sent anything: an invitation's link is answered
// once, and whoever invites passes it on.
import { ORGANIZATION_ROLES } from '../../domain/role.ts'
import type { Member } from '../../store/memberships.ts'
import type { Tables } from '../../store/store.ts'
import type { User } from '../../store/users.ts'
import { makeLink } from '../accounts/links.ts'
import { pageAnswer, pageRequest } from '../cursor.ts'
import { ConflictError, SubjectUnknownError } from '../errors.ts'
import { DEPLOYMENT_PERSON, declareRoutes, ORGANIZATION_ADMIN, SecretReply, VIEWER } from '../route.ts'
import {
  closed,
  label,
  named,
  nullable,
  oneOf,
  PAGE_QUERY,
  pageOf,
  partial,
  Type,
  time,
  timeOrNull,
  timeText,
} from '../schema.ts'
import type { Services } from '../services.ts'

const route = declareRoutes('Members')
const accounts = declareRoutes('Accounts')

export const ROLE = oneOf(ORGANIZATION_ROLES, 'Each may do all that the ones after it may')

export const EMAIL = Type.String({
  description: 'Email address; upper and lower case are one',
  maxLength: 254,
  pattern: '^[^\\s@\\x00-\\x1f\\x7f]+@[^\\s@\\x00-\\x1f\\x7f]+$',
  rule: 'must be an email address',
})

const MEMBER = named(
  'Member',
  closed({
    user_id: Type.String(),
    email: Type.String(),
    name: Type.String(),
    role: ROLE,
    invited: Type.Boolean({ description: 'The invitation was not taken up yet' }),
    disabled: Type.Boolean(),
    created_at: time(),
  }),
)

const LINK = named(
  'OneTimeLink',
  closed({ url: Type.String({ description: 'Opens once; not shown again' }), expires_at: time() }),
)

const USER = named(
  'User',
  closed({
    id: Type.String(),
    email: Type.String(),
    name: Type.String(),
    deployment_admin: Type.Boolean(),
    has_password: Type.Boolean(),
    has_totp: Type.Boolean(),
    created_at: time(),
    disabled_at: nullable(time()),
  }),
)

const showMember = (member: Member) => ({
  user_id: member.userId,
  email: member.email,
  name: member.name,
  role: member.role,
  invited: !member.hasPassword,
  disabled: member.disabled,
  created_at: timeText(member.createdAtSeconds),
})

const showUser = (user: User) => ({
  id: user.id,
  email: user.email,
  name: user.name,
  deployment_admin: user.deploymentAdmin,
  has_password: user.hasPassword,
  has_totp: user.hasTotp,
  created_at: timeText(user.createdAtSeconds),
  disabled_at: timeOrNull(user.disabledAtSeconds),
})

const requireMember = async (tables: Tables, organizationId: string, userId: string): Promise<Member> => {
  const member = await tables.memberships.find(organizationId, userId)
  if (member === null) throw new SubjectUnknownError('member')
  return member
}

const invite = async (tables: Tables, services: Services, user: User) => {
  if (user.hasPassword) return null
  const link = await makeLink(tables.userLinks, services.clock, services.origins.url, 'invitation', user.id)
  return { url: link.url, expires_at: timeText(link.expiresAtSeconds) }
}

const requireAccount = async (tables: Tables, userId: string): Promise<User> => {
  const user = await tables.users.find(userId)
  if (user === null) throw new SubjectUnknownError('account')
  return user
}

/** Someone has to be able to administer the deployment. */
const requireOtherAdmin = async (tables: Tables): Promise<void> => {
  if ((await tables.users.countDeploymentAdmins()) === 0) throw new ConflictError('this is the last deployment admin')
}

export const MEMBER_ROUTES = [
  route('listMembers', 'GET', '/organizations/{organization}/members', {
    access: VIEWER,
    summary: 'The members of an organization, oldest first',
    query: Type.Object(PAGE_QUERY),
    answer: pageOf(MEMBER),
    handle: async ({ services, organization, query }) =>
      pageAnswer(
        await services.store.memberships.page(organization.id, pageRequest(query, ['number', 'string'])),
        showMember,
      ),
  }),
  route('addMember', 'POST', '/organizations/{organization}/members', {
    access: ORGANIZATION_ADMIN,
    summary: 'Add a member',
    description: 'Someone without an account gets one, and a link with which to set its password.',
    body: closed({ email: EMAIL, name: label('As colleagues see it'), role: ROLE }),
    status: 201,
    answer: closed({ member: MEMBER, invitation: nullable(LINK) }),
    errors: [409],
    handle: async ({ services, organization, body, write }) => {
      const { email, name, role } = body
      const added = await write(async (tables, note) => {
        const known = await tables.users.findByEmail(email)
        const user = known ?? (await tables.users.create({ email, name, deploymentAdmin: false, passwordHash: null }))
        await tables.memberships.add(organization.id, user.id, role)
        note({ action: 'member.add', subject: user.id, detail: { email: user.email, role } })
        const member = await requireMember(tables, organization.id, user.id)
        return { member: showMember(member), invitation: await invite(tables, services, user) }
      })
      return new SecretReply(201, added, { ...added, invitation: null })
    },
  }),
  route('changeMember', 'PATCH', '/organizations/{organization}/members/{user}', {
    access: ORGANIZATION_ADMIN,
    summary: 'Give a member another role',
    body: closed({ role: ROLE }),
    answer: MEMBER,
    handle: ({ organization, params, body, write }) =>
      write(async (tables, note) => {
        const before = await requireMember(tables, organization.id, params.user)
        await tables.memberships.setRole(organization.id, params.user, body.role)
        note({ action: 'member.role', subject: params.user, detail: { role: [before.role, body.role] } })
        return showMember({ ...before, role: body.role })
      }),
  }),
  route('removeMember', 'DELETE', '/organizations/{organization}/members/{user}', {
    access: ORGANIZATION_ADMIN,
    summary: 'Remove a member',
    description: 'The account stays; what it could do here is gone with the next request.',
    handle: async ({ organization, params, write }) => {
      await write(async (tables, note) => {
        const before = await requireMember(tables, organization.id, params.user)
        await tables.memberships.remove(organization.id, params.user)
        note({ action: 'member.remove', subject: params.user, detail: { email: before.email, role: before.role } })
      })
      return undefined
    },
  }),
  route('inviteMemberAgain', 'POST', '/organizations/{organization}/members/{user}/invitation', {
    access: ORGANIZATION_ADMIN,
    summary: 'Make another link for a member who has not taken up the invitation',
    description: 'The link before it stops working.',
    body: closed({}),
    answer: LINK,
    errors: [409],
    handle: async ({ services, organization, params, write }) => {
      const link = await write(async (tables, note) => {
        await requireMember(tables, organization.id, params.user)
        const made = await invite(tables, services, await requireAccount(tables, params.user))
        if (made === null) throw new ConflictError('the invitation was taken up')
        note({ action: 'member.invite', subject: params.user })
        return made
      })
      return new SecretReply(200, link, { ...link, url: '' })
    },
  }),

  accounts('listUsers', 'GET', '/users', {
    access: DEPLOYMENT_PERSON,
    summary: 'All accounts, oldest first',
    query: Type.Object(PAGE_QUERY),
    answer: pageOf(USER),
    handle: async ({ services, query }) =>
      pageAnswer(await services.store.users.page(pageRequest(query, ['number', 'string'])), showUser),
  }),
  accounts('addUser', 'POST', '/users', {
    access: DEPLOYMENT_PERSON,
    summary: 'Add an account',
    description: 'Answers the link with which to set its password.',
    body: closed({ email: EMAIL, name: label('As colleagues see it'), deployment_admin: Type.Boolean() }),
    status: 201,
    answer: closed({ user: USER, invitation: nullable(LINK) }),
    errors: [409],
    handle: async ({ services, body, write }) => {
      const { email, name, deployment_admin: deploymentAdmin } = body
      const added = await write(async (tables, note) => {
        const user = await tables.users.create({ email, name, deploymentAdmin, passwordHash: null })
        note({
          action: 'account.create',
          subject: user.id,
          detail: { email: user.email, deployment_admin: deploymentAdmin },
        })
        return { user: showUser(user), invitation: await invite(tables, services, user) }
      })
      return new SecretReply(201, added, { ...added, invitation: null })
    },
  }),
  accounts('changeUser', 'PATCH', '/users/{user}', {
    access: DEPLOYMENT_PERSON,
    summary: 'Change what an account is',
    description: 'Disabling ends its sessions at once.',
    body: partial({ deployment_admin: Type.Boolean(), disabled: Type.Boolean() }),
    answer: USER,
    errors: [409],
    handle: ({ params, body, write }) =>
      write(async (tables, note) => {
        const before = await requireAccount(tables, params.user)
        let user = before
        if (body.deployment_admin !== undefined) {
          user = (await tables.users.setDeploymentAdmin(before.id, body.deployment_admin)) ?? user
        }
        if (body.disabled !== undefined) {
          user = (await tables.users.setDisabled(before.id, body.disabled)) ?? user
          if (body.disabled) await tables.userSessions.endAll(before.id)
        }
        await requireOtherAdmin(tables)
        note({
          action: 'account.change',
          subject: before.id,
          detail: {
            deployment_admin: [before.deploymentAdmin, user.deploymentAdmin],
            disabled: [before.disabledAtSeconds !== null, user.disabledAtSeconds !== null],
          },
        })
        return showUser(user)
      }),
  }),
  accounts('recoverUser', 'POST', '/users/{user}/recovery', {
    access: DEPLOYMENT_PERSON,
    summary: 'Make a link with which an account sets a new password',
    description: 'With `remove_second_factors` its one-time codes, recovery codes and passkeys end as well.',
    body: closed({ remove_second_factors: Type.Optional(Type.Boolean()) }),
    answer: LINK,
    handle: async ({ services, params, body, write }) => {
      const link = await write(async (tables, note) => {
        const user = await requireAccount(tables, params.user)
        const removes = body.remove_second_factors === true
        if (removes) {
          await tables.users.removeTotp(user.id)
          await tables.users.setRecoveryCodes(user.id, [])
          for (const passkey of await tables.passkeys.listOf(user.id)) await tables.passkeys.remove(user.id, passkey.id)
        }
        const made = await makeLink(tables.userLinks, services.clock, services.origins.url, 'recovery', user.id)
        note({ action: 'account.recovery', subject: user.id, detail: { second_factors_removed: removes } })
        return { url: made.url, expires_at: timeText(made.expiresAtSeconds) }
      })
      return new SecretReply(200, link, { ...link, url: '' })
    },
  }),
  accounts('endUserSessions', 'DELETE', '/users/{user}/sessions', {
    access: DEPLOYMENT_PERSON,
    summary: 'End all sessions of an account',
    answer: closed({ ended: Type.Integer() }),
    handle: ({ params, write }) =>
      write(async (tables, note) => {
        const user = await requireAccount(tables, params.user)
        const ended = await tables.userSessions.endAll(user.id)
        note({ action: 'account.session-end', subject: user.id, detail: { ended } })
        return { ended }
      }),
  }),
]
