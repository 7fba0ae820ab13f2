import { isoTime } from '../../lib/time.ts'
import type { UserLink } from '../../store/accounts/user-links.ts'
import {
  CHALLENGE_ID,
  CODE,
  CREDENTIAL,
  OPTIONS,
  PASSWORD,
  requireAssertion,
  requireOrigin,
  wordsAbout,
} from '../accounts/credentials.ts'
import { hasSecondFactor } from '../accounts/required-factor.ts'
import type { Caller } from '../accounts/sessions.ts'
import type { SignedIn } from '../accounts/sign-in.ts'
import { hashToken } from '../accounts/token.ts'
import { ConflictError, CredentialWrongError } from '../errors.ts'
import { EMAIL, SIGN_IN_EMAIL } from '../member-shapes.ts'
import { declareRoutes, PERSON, PUBLIC, Reply, SECOND_FACTOR } from '../route.ts'
import { closed, label, named, nullable, oneOf, Type, time } from '../schema.ts'
import type { Services } from '../services.ts'

const route = declareRoutes('Account')

const SIGNED_IN = named(
  'SignedIn',
  closed({
    signed_in: Type.Boolean({
      description:
        'False if a second factor is still required; until it is provided, the cookie permits only that step',
    }),
    second_factors: Type.Array(oneOf(['totp', 'recovery-code', 'passkey']), {
      description: 'Second factors that can complete the sign-in',
    }),
  }),
)

const cookieReply = ({ cookies, owed }: SignedIn): Reply =>
  new Reply(200, { signed_in: owed.length === 0, second_factors: owed }, { 'set-cookie': cookies })

const auditSignIn = ({ user, session }: SignedIn, how: string) => ({
  action: 'account.sign-in',
  subject: user.id,
  detail: { how, session: session.id },
  organizationId: null,
})

const findLink = ({ signIn, store }: Services, token: string, caller: Caller): Promise<UserLink> =>
  signIn.watched('link', caller, async (isAbout) => {
    const link = await store.userLinks.find(hashToken(token))
    if (link === null) throw new CredentialWrongError('link')
    if (link.userId !== null) isAbout(link.userId)
    return link
  })

export const SIGN_IN_ROUTES = [
  route('readSignIn', 'GET', '/sign-in', {
    access: PUBLIC,
    summary: 'Show whether any account exists',
    description: 'At startup, the service prints a link for the first account.',
    answer: closed({ has_accounts: Type.Boolean() }),
    handle: async ({ services }) => ({ has_accounts: (await services.store.users.countDeploymentAdmins()) > 0 }),
  }),
  route('signIn', 'POST', '/sign-in', {
    access: PUBLIC,
    alone: 'own-sign-in',
    summary: 'Sign in with a password',
    description: 'Sets the dashboard’s cookie. Accounts with a second factor must then use it to complete the sign-in.',
    body: closed({ email: SIGN_IN_EMAIL, password: PASSWORD }),
    answer: SIGNED_IN,
    errors: [401, 403, 429],
    handle: async ({ services, body, caller, write }) => {
      const signedIn = await services.signIn.withPassword(body.email, body.password, caller)
      if (signedIn.owed.length === 0) await write(async (_tables, note) => note(auditSignIn(signedIn, 'password')))
      return cookieReply(signedIn)
    },
  }),
  route('signInCode', 'POST', '/sign-in/code', {
    access: SECOND_FACTOR,
    alone: 'own-sign-in',
    summary: 'Complete sign-in with a code',
    description: 'Accepts a code from the authenticator app or a recovery code. Each code works once.',
    body: closed({ code: CODE }),
    answer: SIGNED_IN,
    errors: [401, 403, 429],
    handle: async ({ services, body, caller, pending, write }) => {
      const signedIn = await services.signIn.withCode(pending, body.code, caller)
      await write(async (_tables, note) => note(auditSignIn(signedIn, 'password and code')))
      return cookieReply(signedIn)
    },
  }),
  route('passkeySignInOptions', 'POST', '/sign-in/passkey/options', {
    access: PUBLIC,
    alone: 'own-sign-in',
    summary: 'Start signing in with a passkey',
    body: closed({}),
    answer: closed({ challenge_id: CHALLENGE_ID, options: OPTIONS }),
    errors: [403],
    handle: async ({ services, origin }) => {
      const { challengeId, options } = await services.passkeys.proposeAssertion(requireOrigin(origin), null)
      return { challenge_id: challengeId, options: { ...options } }
    },
  }),
  route('passkeySignIn', 'POST', '/sign-in/passkey', {
    access: PUBLIC,
    alone: 'own-sign-in',
    summary: 'Sign in with a passkey',
    description: 'A passkey counts as both factors.',
    body: closed({ challenge_id: CHALLENGE_ID, credential: CREDENTIAL }),
    answer: SIGNED_IN,
    errors: [401, 403, 429],
    handle: async ({ services, body, caller, origin, write }) => {
      const credential = requireAssertion(body.credential)
      const signedIn = await services.signIn.withPasskey(requireOrigin(origin), body.challenge_id, credential, caller)
      await write(async (_tables, note) => note(auditSignIn(signedIn, 'passkey')))
      return cookieReply(signedIn)
    },
  }),
  route('signOut', 'POST', '/sign-out', {
    access: PERSON,
    alone: 'own-sign-in',
    summary: 'Sign out',
    body: closed({}),
    handle: async ({ services, actor, write }) => {
      await write(async (tables, note) => {
        await tables.userSessions.end(actor.user.id, actor.session.id)
        note({ action: 'account.sign-out', subject: actor.user.id, organizationId: null })
      })
      return new Reply(204, undefined, { 'set-cookie': [services.sessions.cookies.session.clear()] })
    },
  }),

  route('describeLink', 'POST', '/welcome/check', {
    access: PUBLIC,
    alone: 'own-sign-in',
    summary: 'Look up a one-time link',
    description: 'Returns the purpose of the link without using it.',
    body: closed({ token: Type.String({ minLength: 1, maxLength: 100 }) }),
    answer: closed({
      purpose: oneOf(['first-admin', 'invitation', 'recovery']),
      email: nullable(Type.String()),
      expires_at: time(),
    }),
    errors: [401, 403],
    handle: async ({ services, body, caller }) => {
      const link = await findLink(services, body.token, caller)
      const user = link.userId === null ? null : await services.store.users.find(link.userId)
      return { purpose: link.purpose, email: user?.email ?? null, expires_at: isoTime(link.expiresAtSeconds) }
    },
  }),
  route('useLink', 'POST', '/welcome', {
    access: PUBLIC,
    alone: 'own-sign-in',
    summary: 'Use a one-time link',
    description:
      'Creates the first account (`name` and `email` are required), accepts an invitation, or sets a new password. Signs the user in, unless the account requires a second factor. A recovery ends the account’s other sessions.',
    body: closed({
      token: Type.String({ minLength: 1, maxLength: 100 }),
      password: PASSWORD,
      name: Type.Optional(label('Required for the first account')),
      email: Type.Optional(EMAIL),
    }),
    answer: SIGNED_IN,
    errors: [401, 403, 409],
    handle: async ({ services, body, caller, write }) => {
      const hash = hashToken(body.token)
      const link = await findLink(services, body.token, caller)
      // Outside the transaction, because hashing is slow by design.
      const owner = link.userId === null ? null : await services.store.users.find(link.userId)
      const about = owner === null ? [body.email ?? '', body.name ?? ''] : await wordsAbout(services, owner)
      const passwordHash = await services.passwords.hash(body.password, about)
      const signedIn = await write(async (tables, note) => {
        const spent = await tables.userLinks.spend(link, hash)
        if (spent === null) throw new CredentialWrongError('link')
        if (spent.userId === null) {
          if (body.email === undefined || body.name === undefined) {
            throw new ConflictError('the first account requires a name and an email address')
          }
          if ((await tables.users.countDeploymentAdmins()) > 0) throw new CredentialWrongError('link')
          const { email, name } = body
          const created = await tables.users.create({ email, name, deploymentAdmin: true, passwordHash })
          note({
            action: 'account.create',
            subject: created.id,
            detail: { email: created.email, deployment_admin: true },
          })
          return services.signIn.withLink(tables, created, caller)
        }
        const changed = await tables.users.setPassword(spent.userId, passwordHash)
        if (changed === null || changed.disabledAtSeconds !== null) throw new CredentialWrongError('link')
        await tables.userSessions.endAll(changed.id)
        // No credential or session of an earlier holder is left, so the account counts as part of the deployment.
        if (spent.purpose === 'recovery' && !(await hasSecondFactor(tables, changed)))
          await tables.users.adopt(changed.id)
        note({ action: 'account.password', subject: changed.id, detail: { by: spent.purpose } })
        return services.signIn.withLink(tables, changed, caller)
      })
      return cookieReply(signedIn)
    },
  }),
]
