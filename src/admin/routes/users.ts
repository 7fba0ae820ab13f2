// Accounts of the deployment. The service sends no email, so responses contain links for the caller to forward.
import { isoTime } from '../../lib/time.ts'
import { COMMAND_LINE } from '../../store/accounts/account-makers.ts'
import type { User } from '../../store/accounts/users.ts'
import type { Tables } from '../../store/store.ts'
import { invite, requireAccount } from '../accounts/invitations.ts'
import { recoverAccount } from '../accounts/links.ts'
import { accountOf, actorId } from '../actor.ts'
import { pageAnswer, pageRequest } from '../cursor.ts'
import { ConflictError } from '../errors.ts'
import { EMAIL, LINK } from '../member-shapes.ts'
import { DEPLOYMENT_PERSON, DEPLOYMENT_PERSON_OR_COMMAND, declareRoutes, SecretReply } from '../route.ts'
import { closed, label, named, nullable, PAGE_QUERY, pageOf, partial, Type, time } from '../schema.ts'
import { makerOf, recordCreator, recordUnapprovedAdmin } from '../second-person/approvers.ts'
import { change } from '../second-person/declaration.ts'
import { shown } from '../shown.ts'

const route = declareRoutes('Accounts')

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

const showUser = (user: User) => shown(USER, user)

const yesNo = (value: boolean): string => (value ? 'yes' : 'no')
const yesNoOr = (value: boolean | undefined): string | undefined => (value === undefined ? undefined : yesNo(value))

const requireOtherAdmin = async (tables: Tables): Promise<void> => {
  if ((await tables.users.countDeploymentAdmins()) === 0) throw new ConflictError('this is the last deployment admin')
}

/** @throws ConflictError for an organization's account in use, whose owner the deployment doesn't know (sign-in.ts) */
const requireOwnAccount = (user: User): void => {
  if (user.madeByOrganizationId === null || !user.hasPassword) return
  throw new ConflictError(
    'an organization created this account, so its owner is unknown to the deployment: create a recovery link with remove_second_factors, send it to the intended person, and repeat this request after the link has been used',
  )
}

export const USER_ROUTES = [
  route('listUsers', 'GET', '/users', {
    access: DEPLOYMENT_PERSON,
    summary: 'List all accounts, oldest first',
    query: Type.Object(PAGE_QUERY),
    answer: pageOf(USER),
    handle: async ({ services, query }) =>
      pageAnswer(await services.store.users.page(pageRequest(query, ['number', 'string'])), showUser),
  }),
  route('addUser', 'POST', '/users', {
    access: DEPLOYMENT_PERSON,
    summary: 'Create an account',
    fresh: ({ deployment_admin }) => deployment_admin,
    description: 'The response contains a link that sets the account’s password.',
    body: closed({ email: EMAIL, name: label('Name shown to colleagues'), deployment_admin: Type.Boolean() }),
    status: 201,
    answer: closed({ user: USER, invitation: nullable(LINK) }),
    errors: [409],
    secondPerson: {
      action: 'account.create',
      // An account without rights needs no approval.
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
    handle: ({ body, write, ...call }) => {
      const { email, name, deployment_admin: deploymentAdmin } = body
      return write(async (tables, note) => {
        const user = await tables.users.create({ email, name, deploymentAdmin, passwordHash: null })
        const maker = await makerOf(tables, actorId(call.actor))
        await recordCreator(tables, maker, user.id, null)
        if (deploymentAdmin) await recordUnapprovedAdmin(tables, maker, user.id)
        note({
          action: 'account.create',
          subject: user.id,
          detail: { email: user.email, deployment_admin: deploymentAdmin },
        })
        const added = { user: showUser(user), invitation: await invite(tables, call, user) }
        return new SecretReply(201, added, { ...added, invitation: null })
      })
    },
  }),
  route('changeUser', 'PATCH', '/users/{user}', {
    access: DEPLOYMENT_PERSON,
    summary: 'Change an account’s rights, or disable or enable it',
    fresh: true,
    description:
      'Disabling an account ends its sessions immediately. An account in use that an organization created can become a deployment admin only after a recovery link with `remove_second_factors` has been used.',
    body: partial({ deployment_admin: Type.Boolean(), disabled: Type.Boolean() }),
    answer: USER,
    errors: [409],
    secondPerson: {
      action: 'account.change',
      leavesApprovers: true,
      // Disabling an account must not wait for approval.
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
    handle: ({ params, body, actor, write }) =>
      write(async (tables, note) => {
        const before = await requireAccount(tables, params.user)
        let user = before
        if (body.deployment_admin === true && !before.deploymentAdmin) requireOwnAccount(before)
        if (body.deployment_admin !== undefined) {
          user = (await tables.users.setDeploymentAdmin(before.id, body.deployment_admin)) ?? user
          if (body.deployment_admin && !before.deploymentAdmin) {
            const maker = await makerOf(tables, actorId(actor))
            await recordCreator(tables, maker, before.id, null)
            await recordUnapprovedAdmin(tables, maker, before.id)
          }
          // An organization may have a link that sets this account's password.
          if (user.deploymentAdmin) await tables.userLinks.endInvitations(before.id)
        }
        if (body.disabled !== undefined) {
          user = (await tables.users.setDisabled(before.id, body.disabled)) ?? user
          if (body.disabled) {
            await tables.userSessions.endAll(before.id)
            await tables.userLinks.endRecoveries(before.id, 0)
          }
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
  route('recoverUser', 'POST', '/users/{user}/recovery', {
    access: DEPLOYMENT_PERSON_OR_COMMAND,
    command: false,
    alone: 'recovery',
    summary: 'Create a recovery link for an account',
    fresh: true,
    description:
      'With `remove_second_factors`, also removes the account’s one-time codes, recovery codes and passkeys.',
    body: closed({ remove_second_factors: Type.Optional(Type.Boolean()) }),
    answer: LINK,
    handle: ({ services, actor, params, body, write }) =>
      write(async (tables, note) => {
        const user = await requireAccount(tables, params.user)
        const removes = body.remove_second_factors === true
        const made = await recoverAccount(tables, services.clock, services.origins.url, user.id, {
          by: accountOf(actorId(actor)) ?? COMMAND_LINE,
          removeSecondFactors: removes,
        })
        note({ action: 'account.recovery', subject: user.id, detail: { second_factors_removed: removes } })
        const link = { url: made.url, expires_at: isoTime(made.expiresAtSeconds) }
        return new SecretReply(200, link, { ...link, url: '' })
      }),
  }),
  route('endUserSessions', 'DELETE', '/users/{user}/sessions', {
    access: DEPLOYMENT_PERSON,
    alone: 'takes-access-away',
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
