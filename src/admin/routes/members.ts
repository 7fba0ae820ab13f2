// Who works in an organization, and the deployment's accounts. Nobody is sent anything: an invitation's link is answered
// once, and whoever invites passes it on. Who has an account is asked, and becomes a member by their own yes.
import type { Member } from '../../store/memberships.ts'
import type { Tables } from '../../store/store.ts'
import type { User } from '../../store/users.ts'
import { makeLink, newOfferCode, offerLink, recoverAccount } from '../accounts/links.ts'
import { actorId, actorName } from '../actor.ts'
import { pageAnswer, pageRequest } from '../cursor.ts'
import { ConflictError, SubjectUnknownError } from '../errors.ts'
import { EMAIL, LINK, OFFER, ROLE, showOffer } from '../member-shapes.ts'
import { requireRights, rightsOfMembership } from '../rights.ts'
import { DEPLOYMENT_PERSON, declareRoutes, ORGANIZATION_ADMIN, SecretReply, VIEWER } from '../route.ts'
import {
  closed,
  label,
  named,
  nullable,
  PAGE_QUERY,
  pageOf,
  partial,
  Type,
  time,
  timeOrNull,
  timeText,
} from '../schema.ts'
import { recordMaker } from '../second-person/approvers.ts'
import { change } from '../second-person/declaration.ts'
import type { Services } from '../services.ts'

const route = declareRoutes('Members')
const accounts = declareRoutes('Accounts')

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

/**
 * Whether an organization may have a link that sets an account's password: it made the account, nobody has taken it up,
 * and the account has no rights elsewhere. Anyone else's link would be a way to take the account over.
 * @param user locked, so that nothing of this changes until the link is made
 */
const mayInvite = async (tables: Tables, organizationId: string, user: User): Promise<boolean> => {
  if (user.hasPassword || user.deploymentAdmin || user.madeByOrganizationId !== organizationId) return false
  const roles = await tables.memberships.rolesOf(user.id)
  return [...roles.keys()].every((id) => id === organizationId)
}

const invite = async (tables: Tables, services: Services, user: User) => {
  const link = await makeLink(tables.userLinks, services.clock, services.origins.url, 'invitation', user.id)
  return { url: link.url, expires_at: timeText(link.expiresAtSeconds) }
}

const requireAccount = async (tables: Tables, userId: string): Promise<User> => {
  const user = await tables.users.find(userId)
  if (user === null) throw new SubjectUnknownError('account')
  return user
}

const seenMember = ({ userId, name, email }: Member) => ({ subject: userId, name: `${name} (${email})` })

const yesNo = (value: boolean): string => (value ? 'yes' : 'no')
const yesNoOr = (value: boolean | undefined): string | undefined => (value === undefined ? undefined : yesNo(value))

/** Someone has to be able to administer the deployment. */
const requireOtherAdmin = async (tables: Tables): Promise<void> => {
  if ((await tables.users.countDeploymentAdmins()) === 0) throw new ConflictError('this is the last deployment admin')
}

/**
 * Whoever an organization gave the link to holds an account that it made: that may be anyone, until the deployment's own
 * recovery link was used (sign-in.ts). One that nobody took up is the deployment's from then on, since its links end.
 * @throws ConflictError
 */
const requireOwnAccount = (user: User): void => {
  if (user.madeByOrganizationId === null || !user.hasPassword) return
  throw new ConflictError(
    'an organization made this account and gave out its first link, so who holds it is not known here: make a recovery ' +
      'link with remove_second_factors, give it to the person whom you mean, and repeat this once it was used',
  )
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
    fresh: ({ role }) => role === 'organization-admin',
    description:
      'Someone without an account gets one, and the answer has `member` and `invitation`: a link that sets its password. ' +
      'Someone with an account is asked, and the answer has `offer` and `acceptance`: a link that makes a member of whoever ' +
      'opens it while signed in to that account. Neither link is of use for the other purpose.',
    body: closed({ email: EMAIL, name: label('As colleagues see it; of use for a new account only'), role: ROLE }),
    status: 201,
    answer: closed({
      member: nullable(MEMBER),
      invitation: nullable(LINK),
      offer: nullable(OFFER),
      acceptance: nullable(LINK),
    }),
    errors: [409],
    secondPerson: {
      action: 'member.add',
      see: async (tables, { organization, body }) => {
        const known = await tables.users.findByEmail(body.email)
        const member = known === null ? null : await tables.memberships.find(organization.id, known.id)
        return {
          subject: body.email,
          name: body.email,
          changes: [
            { what: 'role', before: member?.role ?? null, after: body.role },
            { what: 'name', before: null, after: body.name },
          ],
        }
      },
    },
    handle: ({ services, organization, actor, author, body, write }) => {
      const { email, name, role } = body
      return write(async (tables, note) => {
        await requireRights(tables, actor, services.clock, rightsOfMembership(organization.id, role))
        const known = await tables.users.findByEmail(email)
        const user =
          known === null
            ? await tables.users.create({
                email,
                name,
                deploymentAdmin: false,
                passwordHash: null,
                madeByOrganizationId: organization.id,
              })
            : ((await tables.users.lock(known.id)) ?? known)
        if ((await tables.memberships.find(organization.id, user.id)) !== null) {
          throw new ConflictError('they are a member already')
        }
        if (known !== null && !(await mayInvite(tables, organization.id, user))) {
          const code = newOfferCode(services.clock)
          const id = await tables.membershipOffers.make(
            {
              organizationId: organization.id,
              userId: user.id,
              role,
              askedBy: actorId(actor),
              askedByName: actorName(actor),
              expiresAtSeconds: code.expiresAtSeconds,
            },
            code.hash,
          )
          const offer = await tables.membershipOffers.find(organization.id, id)
          if (offer === null) throw new Error('the new offer was not found')
          note({ action: 'member.ask', subject: id, detail: { email: offer.email, role } })
          const { url, expiresAtSeconds } = offerLink(services.origins.url, id, code)
          const acceptance = { url, expires_at: timeText(expiresAtSeconds) }
          const asked = { member: null, invitation: null, offer: showOffer(offer), acceptance }
          return new SecretReply(201, asked, { ...asked, acceptance: null })
        }
        await tables.memberships.add(organization.id, user.id, role)
        // Whoever has the invitation's link could take the account up.
        await recordMaker(tables, author, user.id, null)
        note({ action: 'member.add', subject: user.id, detail: { email: user.email, role } })
        const member = showMember(await requireMember(tables, organization.id, user.id))
        const added = { member, invitation: await invite(tables, services, user), offer: null, acceptance: null }
        return new SecretReply(201, added, { ...added, invitation: null })
      })
    },
  }),
  route('changeMember', 'PATCH', '/organizations/{organization}/members/{user}', {
    access: ORGANIZATION_ADMIN,
    summary: 'Give a member another role',
    fresh: ({ role }) => role === 'organization-admin',
    body: closed({ role: ROLE }),
    answer: MEMBER,
    secondPerson: {
      action: 'member.role',
      leavesApprovers: true,
      see: async (tables, { organization, params, body }) => {
        const member = await requireMember(tables, organization.id, params.user)
        return { ...seenMember(member), changes: [{ what: 'role', before: member.role, after: body.role }] }
      },
    },
    handle: ({ services, organization, actor, author, params, body, write }) =>
      write(async (tables, note) => {
        const before = await requireMember(tables, organization.id, params.user)
        await requireRights(tables, actor, services.clock, rightsOfMembership(organization.id, body.role))
        await tables.memberships.setRole(organization.id, params.user, body.role)
        if (before.role !== body.role) await recordMaker(tables, author, params.user, organization.id)
        note({ action: 'member.role', subject: params.user, detail: { role: [before.role, body.role] } })
        return showMember({ ...before, role: body.role })
      }),
  }),
  route('removeMember', 'DELETE', '/organizations/{organization}/members/{user}', {
    access: ORGANIZATION_ADMIN,
    summary: 'Remove a member',
    description:
      'The account stays; what it could do here is gone with the next request. So is the link of an invitation that was ' +
      'not taken up.',
    secondPerson: {
      action: 'member.remove',
      leavesApprovers: true,
      see: async (tables, { organization, params }) => {
        const member = await requireMember(tables, organization.id, params.user)
        return { ...seenMember(member), changes: [{ what: 'role', before: member.role, after: null }] }
      },
    },
    handle: async ({ organization, params, write }) => {
      await write(async (tables, note) => {
        const before = await requireMember(tables, organization.id, params.user)
        await tables.memberships.remove(organization.id, params.user)
        const user = await requireAccount(tables, params.user)
        if (await mayInvite(tables, organization.id, user)) await tables.userLinks.endInvitations(user.id)
        note({ action: 'member.remove', subject: params.user, detail: { email: before.email, role: before.role } })
      })
      return undefined
    },
  }),
  route('inviteMemberAgain', 'POST', '/organizations/{organization}/members/{user}/invitation', {
    access: ORGANIZATION_ADMIN,
    summary: 'Make another link for a member who has not taken up the invitation',
    description:
      'The link before it stops working. Only for an account that this organization made, that was not taken up and has no ' +
      'rights elsewhere.',
    body: closed({}),
    answer: LINK,
    errors: [409],
    secondPerson: {
      action: 'member.invite',
      // Nothing is decided by it, but whoever has the link could take the account up: from then on they belong together.
      needs: () => 'person',
      see: async (tables, { organization, params }) => ({
        ...seenMember(await requireMember(tables, organization.id, params.user)),
        changes: [],
      }),
    },
    handle: ({ services, organization, params, author, write }) =>
      write(async (tables, note) => {
        await requireMember(tables, organization.id, params.user)
        const user = await requireAccount(tables, params.user)
        if (!(await mayInvite(tables, organization.id, user))) {
          throw new ConflictError(
            'the account was taken up, or was not made here: a deployment admin can let its owner in again',
          )
        }
        await recordMaker(tables, author, user.id, null)
        const made = await invite(tables, services, user)
        note({ action: 'member.invite', subject: params.user })
        return new SecretReply(200, made, { ...made, url: '' })
      }),
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
    fresh: ({ deployment_admin }) => deployment_admin,
    description: 'Answers the link with which to set its password.',
    body: closed({ email: EMAIL, name: label('As colleagues see it'), deployment_admin: Type.Boolean() }),
    status: 201,
    answer: closed({ user: USER, invitation: nullable(LINK) }),
    errors: [409],
    secondPerson: {
      action: 'account.create',
      // An account without rights may be there.
      needs: (_tables, { body }) => (body.deployment_admin ? 'second-person' : 'nothing'),
      see: async (_tables, { body }) => ({
        subject: body.email,
        name: body.email,
        changes: [
          { what: 'deployment admin', before: null, after: 'yes' },
          { what: 'name', before: null, after: body.name },
        ],
      }),
    },
    handle: ({ services, body, author, write }) => {
      const { email, name, deployment_admin: deploymentAdmin } = body
      return write(async (tables, note) => {
        const user = await tables.users.create({ email, name, deploymentAdmin, passwordHash: null })
        await recordMaker(tables, author, user.id, null)
        note({
          action: 'account.create',
          subject: user.id,
          detail: { email: user.email, deployment_admin: deploymentAdmin },
        })
        const added = { user: showUser(user), invitation: await invite(tables, services, user) }
        return new SecretReply(201, added, { ...added, invitation: null })
      })
    },
  }),
  accounts('changeUser', 'PATCH', '/users/{user}', {
    access: DEPLOYMENT_PERSON,
    summary: 'Change what an account is',
    fresh: true,
    description:
      'Disabling ends its sessions at once. An account that an organization made and somebody took up is made a deployment ' +
      'admin only after a recovery link for it, made with `remove_second_factors`, was used.',
    body: partial({ deployment_admin: Type.Boolean(), disabled: Type.Boolean() }),
    answer: USER,
    errors: [409],
    secondPerson: {
      action: 'account.change',
      leavesApprovers: true,
      // Shutting an account out can't wait.
      needs: (_tables, { body }) =>
        body.deployment_admin === undefined && body.disabled !== false ? 'nothing' : 'second-person',
      see: async (tables, { params, body }) => {
        const user = await requireAccount(tables, params.user)
        return {
          subject: user.id,
          name: `${user.name} (${user.email})`,
          changes: [
            ...change('deployment admin', yesNo(user.deploymentAdmin), yesNoOr(body.deployment_admin)),
            ...change('disabled', yesNo(user.disabledAtSeconds !== null), yesNoOr(body.disabled)),
          ],
        }
      },
    },
    handle: ({ params, body, author, write }) =>
      write(async (tables, note) => {
        const before = await requireAccount(tables, params.user)
        let user = before
        if (body.deployment_admin === true && !before.deploymentAdmin) requireOwnAccount(before)
        if (body.deployment_admin !== undefined) {
          user = (await tables.users.setDeploymentAdmin(before.id, body.deployment_admin)) ?? user
          if (body.deployment_admin && !before.deploymentAdmin) await recordMaker(tables, author, before.id, null)
          // An organization may hold a link that sets the password of an account that it made.
          if (user.deploymentAdmin) await tables.userLinks.endInvitations(before.id)
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
    fresh: true,
    description: 'With `remove_second_factors` its one-time codes, recovery codes and passkeys end as well.',
    body: closed({ remove_second_factors: Type.Optional(Type.Boolean()) }),
    answer: LINK,
    handle: ({ services, actor, params, body, write }) =>
      write(async (tables, note) => {
        const user = await requireAccount(tables, params.user)
        const removes = body.remove_second_factors === true
        const made = await recoverAccount(tables, services.clock, services.origins.url, user.id, {
          by: actor.user.id,
          removeSecondFactors: removes,
        })
        note({ action: 'account.recovery', subject: user.id, detail: { second_factors_removed: removes } })
        const link = { url: made.url, expires_at: timeText(made.expiresAtSeconds) }
        return new SecretReply(200, link, { ...link, url: '' })
      }),
  }),
  accounts('endUserSessions', 'DELETE', '/users/{user}/sessions', {
    access: DEPLOYMENT_PERSON,
    summary: 'End all sessions of an account',
    fresh: true,
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
