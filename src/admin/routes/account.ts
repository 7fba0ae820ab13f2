import type { UserSession } from '../../store/accounts/user-sessions.ts'
import {
  CHALLENGE_ID,
  CREDENTIAL,
  OPTIONS,
  PASSWORD,
  requireAssertion,
  requireOrigin,
  wordsAbout,
} from '../accounts/credentials.ts'
import { endOtherAccess } from '../accounts/links.ts'
import { relyingPartyOf } from '../accounts/passkeys.ts'
import { closedUntilFactor } from '../accounts/required-factor.ts'
import { actorId, actorName, mayDeployment } from '../actor.ts'
import { RoleInsufficientError, SubjectUnknownError } from '../errors.ts'
import { ROLE } from '../member-shapes.ts'
import { CALLER, declareRoutes, PERSON, Reply } from '../route.ts'
import { closed, label, named, nullable, oneOf, Type, time } from '../schema.ts'
import type { Services } from '../services.ts'
import { shown } from '../shown.ts'

const route = declareRoutes('Account')

const USER_SESSION = named(
  'UserSession',
  closed({
    id: Type.String(),
    current: Type.Boolean({ description: 'Whether the request was made in this session' }),
    user_agent: Type.String(),
    address: Type.String(),
    created_at: time(),
    last_seen_at: time('Time of the last request, accurate to one minute'),
    expires_at: time(),
  }),
)

const ACCOUNT = named(
  'Account',
  closed({
    kind: oneOf(['person', 'key']),
    id: Type.String({ description: 'Actor, as in the audit log' }),
    name: Type.String(),
    email: nullable(Type.String()),
    deployment_admin: Type.Boolean({ description: 'Whether the account can manage the deployment' }),
    memberships: Type.Array(closed({ organization_id: Type.String(), role: ROLE })),
    has_totp: Type.Boolean(),
    recovery_codes_left: Type.Integer(),
    has_passkeys: Type.Boolean(),
    passkeys_possible: Type.Boolean({
      description: 'False if the page’s host is an IP address, because passkeys require a hostname',
    }),
    second_factor_missing: closed({
      deployment: Type.Boolean({
        description: 'Whether the account must add a second factor before it can access the deployment',
      }),
      organization_ids: Type.Array(Type.String(), {
        description: 'Organizations that require the account to add a second factor',
      }),
    }),
  }),
)

const showSession = (session: UserSession, current: UserSession) =>
  shown(USER_SESSION, session, { current: session.id === current.id })

/** Passkeys require a host name instead of an IP address. */
const originOf = ({ url }: Request, { origins }: Services): string =>
  URL.canParse(url) ? new URL(url).origin : origins.url

export const ACCOUNT_ROUTES = [
  route('readAccount', 'GET', '/me', {
    access: CALLER,
    command: false,
    summary: 'Show the caller’s account',
    answer: ACCOUNT,
    handle: async ({ services, actor, request }) => {
      if (actor.kind === 'command-line') throw new RoleInsufficientError('person')
      const person = actor.kind === 'person' ? actor : null
      const closedNow = person === null ? null : await closedUntilFactor(services.store, person)
      return {
        kind: actor.kind,
        id: actorId(actor),
        name: person?.user.name ?? actorName(actor),
        email: person?.user.email ?? null,
        deployment_admin: mayDeployment(actor),
        memberships:
          actor.kind === 'key'
            ? [{ organization_id: actor.principal.organizationId, role: 'organization-admin' as const }]
            : [...actor.roles].map(([organization_id, role]) => ({ organization_id, role })),
        has_totp: person?.user.hasTotp ?? false,
        recovery_codes_left: person === null ? 0 : await services.store.users.countRecoveryCodes(person.user.id),
        has_passkeys: person !== null && (await services.store.passkeys.listOf(person.user.id)).length > 0,
        passkeys_possible: relyingPartyOf(originOf(request, services)) !== null,
        second_factor_missing: {
          deployment: closedNow?.deployment ?? false,
          organization_ids: [...(closedNow?.organizationIds ?? [])],
        },
      }
    },
  }),
  route('renameAccount', 'PATCH', '/me', {
    access: PERSON,
    alone: 'own-sign-in',
    summary: 'Change the caller’s name',
    body: closed({ name: label('Name shown to colleagues') }),
    handle: async ({ actor, body, write }) => {
      await write(async (tables, note) => {
        await tables.users.rename(actor.user.id, body.name)
        note({
          action: 'account.rename',
          subject: actor.user.id,
          detail: { name: [actor.user.name, body.name] },
          organizationId: null,
        })
      })
      return undefined
    },
  }),
  route('changePassword', 'PUT', '/me/password', {
    access: PERSON,
    alone: 'own-sign-in',
    summary: 'Change the caller’s password',
    description: 'Ends the account’s other sessions, and revokes recovery links that are newer than this session.',
    body: closed({ current_password: PASSWORD, new_password: PASSWORD }),
    errors: [401, 429],
    handle: async ({ services, actor, body, caller, write }) => {
      await services.signIn.confirmPassword(actor.user, body.current_password, caller)
      const passwordHash = await services.passwords.hash(body.new_password, await wordsAbout(services, actor.user))
      const cookie = await write(async (tables, note) => {
        await tables.users.setPassword(actor.user.id, passwordHash)
        const renewed = await services.sessions.confirm(actor.session, tables.userSessions)
        const ended = await endOtherAccess(tables, actor)
        note({
          action: 'account.password',
          subject: actor.user.id,
          detail: { sessions_ended: ended },
          organizationId: null,
        })
        return renewed
      })
      return new Reply(204, undefined, { 'set-cookie': [cookie] })
    },
  }),

  route('confirm', 'POST', '/me/confirm', {
    access: PERSON,
    alone: 'own-sign-in',
    summary: 'Confirm the session with the password',
    description:
      'For five minutes, the session can make changes that require a recent confirmation. The response sets a new cookie, which replaces the old one.',
    body: closed({ password: PASSWORD }),
    errors: [401, 429],
    handle: async ({ services, actor, body, caller }) => {
      await services.signIn.confirmPassword(actor.user, body.password, caller)
      return new Reply(204, undefined, { 'set-cookie': [await services.sessions.confirm(actor.session)] })
    },
  }),
  route('confirmPasskeyOptions', 'POST', '/me/confirm/passkey/options', {
    access: PERSON,
    alone: 'own-sign-in',
    summary: 'Start confirming the session with a passkey',
    body: closed({}),
    answer: closed({ challenge_id: CHALLENGE_ID, options: OPTIONS }),
    handle: async ({ services, actor, origin }) => {
      const { challengeId, options } = await services.passkeys.proposeAssertion(requireOrigin(origin), actor.user.id)
      return { challenge_id: challengeId, options: { ...options } }
    },
  }),
  route('confirmPasskey', 'POST', '/me/confirm/passkey', {
    access: PERSON,
    alone: 'own-sign-in',
    summary: 'Confirm the session with a passkey',
    description: 'Has the same effect as confirming with the password.',
    body: closed({ challenge_id: CHALLENGE_ID, credential: CREDENTIAL }),
    errors: [401],
    handle: async ({ services, actor, body, caller, origin }) => {
      const credential = requireAssertion(body.credential)
      await services.signIn.confirmPasskey(actor.user, requireOrigin(origin), body.challenge_id, credential, caller)
      return new Reply(204, undefined, { 'set-cookie': [await services.sessions.confirm(actor.session)] })
    },
  }),

  route('listOwnSessions', 'GET', '/me/sessions', {
    access: PERSON,
    summary: 'List the caller’s sessions, newest first',
    answer: closed({ data: Type.Array(USER_SESSION) }),
    handle: async ({ services, actor }) => ({
      data: (await services.store.userSessions.listOf(actor.user.id)).map((session) =>
        showSession(session, actor.session),
      ),
    }),
  }),
  route('endOwnSession', 'DELETE', '/me/sessions/{session}', {
    access: PERSON,
    alone: 'own-sign-in',
    summary: 'End one of the caller’s sessions',
    fresh: true,
    handle: async ({ actor, params, write }) => {
      await write(async (tables, note) => {
        if (!(await tables.userSessions.end(actor.user.id, params.session))) throw new SubjectUnknownError('session')
        note({ action: 'account.session-end', subject: params.session, organizationId: null })
      })
      return undefined
    },
  }),
  route('endOtherSessions', 'DELETE', '/me/sessions', {
    access: PERSON,
    alone: 'own-sign-in',
    summary: 'End all of the caller’s other sessions',
    description: 'Also revokes recovery links that are newer than this session.',
    fresh: true,
    answer: closed({ ended: Type.Integer() }),
    handle: ({ actor, write }) =>
      write(async (tables, note) => {
        const ended = await endOtherAccess(tables, actor)
        note({ action: 'account.session-end', subject: actor.user.id, detail: { ended }, organizationId: null })
        return { ended }
      }),
  }),
]
