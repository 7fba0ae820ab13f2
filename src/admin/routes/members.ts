import type { Member } from '../../store/accounts/memberships.ts'
import type { Tables } from '../../store/store.ts'
import { invite, mayInvite, offerMembership, requireAccount } from '../accounts/invitations.ts'
import { actorId } from '../actor.ts'
import { pageAnswer, pageRequest } from '../cursor.ts'
import { ConflictError, requireFound } from '../errors.ts'
import { EMAIL, LINK, OFFER, ROLE, showOffer } from '../member-shapes.ts'
import { requireRights, rightsOfMembership } from '../rights.ts'
import { declareRoutes, ORGANIZATION_ADMIN, SecretReply, VIEWER } from '../route.ts'
import { closed, label, named, nullable, PAGE_QUERY, pageOf, Type, time } from '../schema.ts'
import { makerOf, recordCreator } from '../second-person/approvers.ts'
import { shown } from '../shown.ts'

const route = declareRoutes('Members')

const MEMBER = named(
  'Member',
  closed({
    user_id: Type.String(),
    email: Type.String(),
    name: Type.String(),
    role: ROLE,
    invited: Type.Boolean({ description: 'Whether the invitation is still unused' }),
    disabled: Type.Boolean(),
    created_at: time(),
  }),
)

const showMember = (member: Member) => shown(MEMBER, member, { invited: !member.hasPassword })

const requireMember = async (tables: Tables, organizationId: string, userId: string): Promise<Member> =>
  requireFound(await tables.memberships.find(organizationId, userId), 'member')

const seenMember = ({ userId, name, email }: Member) => ({ subject: userId, name: `${name} (${email})` })

export const MEMBER_ROUTES = [
  route('listMembers', 'GET', '/organizations/{organization}/members', {
    access: VIEWER,
    summary: 'List the members of an organization, oldest first',
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
      'If the person has no account, one is created. The response contains `member` and `invitation`, a link that sets the ' +
      'password. If the person has an account, the response contains `offer` and `acceptance`, a link with which the ' +
      'account’s owner becomes a member after signing in.',
    body: closed({ email: EMAIL, name: label('Name shown to colleagues; used only for a new account'), role: ROLE }),
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
    handle: ({ organization, body, write, ...call }) => {
      const { email, name, role } = body
      const { services, actor } = call
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
          throw new ConflictError('this person is already a member')
        }
        if (known !== null && !(await mayInvite(tables, organization.id, user))) {
          const wanted = { organizationId: organization.id, userId: user.id, role }
          const { offer, acceptance } = await offerMembership(tables, services, actor, wanted)
          note({ action: 'member.ask', subject: offer.id, detail: { email: offer.email, role } })
          const asked = { member: null, invitation: null, offer: showOffer(offer), acceptance }
          return new SecretReply(201, asked, { ...asked, acceptance: null })
        }
        await tables.memberships.add(organization.id, user.id, role)
        await recordCreator(tables, await makerOf(tables, actorId(actor)), user.id, null)
        note({ action: 'member.add', subject: user.id, detail: { email: user.email, role } })
        const member = showMember(await requireMember(tables, organization.id, user.id))
        const added = { member, invitation: await invite(tables, call, user), offer: null, acceptance: null }
        return new SecretReply(201, added, { ...added, invitation: null })
      })
    },
  }),
  route('changeMember', 'PATCH', '/organizations/{organization}/members/{user}', {
    access: ORGANIZATION_ADMIN,
    summary: 'Change a member’s role',
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
    handle: ({ services, organization, actor, params, body, write }) =>
      write(async (tables, note) => {
        const before = await requireMember(tables, organization.id, params.user)
        await requireRights(tables, actor, services.clock, rightsOfMembership(organization.id, body.role))
        await tables.memberships.setRole(organization.id, params.user, body.role)
        if (before.role !== body.role) {
          await recordCreator(tables, await makerOf(tables, actorId(actor)), params.user, organization.id)
        }
        note({ action: 'member.role', subject: params.user, detail: { role: [before.role, body.role] } })
        return showMember({ ...before, role: body.role })
      }),
  }),
  route('removeMember', 'DELETE', '/organizations/{organization}/members/{user}', {
    access: ORGANIZATION_ADMIN,
    summary: 'Remove a member',
    description:
      'The account remains, but loses access to the organization immediately. An unused invitation link stops working.',
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
    command: { name: 'member invite' },
    summary: 'Create a new link for a member who has not accepted the invitation',
    fresh: true,
    description:
      'The previous link stops working. The account must be unused, created by this organization, and without rights in other organizations.',
    body: closed({}),
    answer: LINK,
    errors: [409],
    secondPerson: {
      action: 'member.invite',
      // The actor receives a link to the account, so approvals no longer count the two as two people.
      needs: () => 'person',
      see: async (tables, { organization, params }) => ({
        ...seenMember(await requireMember(tables, organization.id, params.user)),
        changes: [],
      }),
    },
    handle: ({ organization, params, write, ...call }) =>
      write(async (tables, note) => {
        await requireMember(tables, organization.id, params.user)
        const user = await requireAccount(tables, params.user)
        if (!(await mayInvite(tables, organization.id, user))) {
          throw new ConflictError(
            'the account is in use or was created by another organization: a deployment admin can create a recovery link',
          )
        }
        const made = await invite(tables, call, user)
        note({ action: 'member.invite', subject: params.user })
        return new SecretReply(200, made, { ...made, url: '' })
      }),
  }),
]
