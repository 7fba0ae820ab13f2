import { randomBytes } from 'node:crypto'
import type { RegistrationResponseJSON } from '@simplewebauthn/server'
import { isoTime } from '../../lib/time.ts'
import { CHALLENGE_ID, CREDENTIAL, OPTIONS, requireOrigin, requireUser } from '../accounts/credentials.ts'
import { endOtherAccess } from '../accounts/links.ts'
import { requireFactorLeft } from '../accounts/required-factor.ts'
import { totpContext } from '../accounts/sign-in.ts'
import { newRecoveryCodes } from '../accounts/token.ts'
import { matchTotp, TOTP_SECRET_BYTES, toBase32, totpUri } from '../accounts/totp.ts'
import { ConflictError, CredentialWrongError, SubjectUnknownError } from '../errors.ts'
import { declareRoutes, PERSON, SecretReply } from '../route.ts'
import { closed, label, named, nullable, Type, time } from '../schema.ts'
import { shown } from '../shown.ts'

const route = declareRoutes('Account')

const PASSKEY = named(
  'Passkey',
  closed({ id: Type.String(), name: Type.String(), created_at: time(), last_used_at: nullable(time()) }),
)

export const SECOND_FACTOR_ROUTES = [
  route('proposeTotp', 'POST', '/me/totp', {
    access: PERSON,
    alone: 'own-sign-in',
    summary: 'Start adding one-time codes',
    description:
      'Returns the secret for an authenticator app. After you confirm the first code, sign-in requires one-time codes.',
    fresh: true,
    body: closed({}),
    answer: closed({
      secret: Type.String({ description: 'Base32 secret for manual entry' }),
      uri: Type.String({ description: 'URI for a QR code that the app can scan' }),
    }),
    errors: [409],
    handle: async ({ services, actor, write }) => {
      const secret = randomBytes(TOTP_SECRET_BYTES)
      const sealed = services.box.seal(secret, totpContext(actor.user.id))
      await write(async (tables) => {
        const proposed = await tables.users.proposeTotp(actor.user.id, sealed)
        if (proposed === null) throw new ConflictError('one-time codes are already in use: remove them first')
      })
      const shown = { secret: toBase32(secret), uri: totpUri('Countersign', actor.user.email, secret) }
      return new SecretReply(200, shown, { secret: '', uri: '' })
    },
  }),
  route('confirmTotp', 'POST', '/me/totp/confirm', {
    access: PERSON,
    alone: 'own-sign-in',
    summary: 'Confirm one-time codes',
    description:
      'Returns ten recovery codes. They are shown only once, and each works once. Ends the account’s other sessions.',
    fresh: true,
    body: closed({ code: Type.String({ pattern: '^[0-9]{6}$', rule: 'must be six digits' }) }),
    answer: closed({ recovery_codes: Type.Array(Type.String()) }),
    errors: [401, 409],
    handle: async ({ services, actor, body, write }) => {
      const credential = await services.store.users.findCredential({ userId: actor.user.id })
      if (credential === null || credential.totpSecret === null || credential.user.hasTotp) {
        throw new ConflictError('there are no one-time codes to confirm')
      }
      const proposed = credential.totpSecret
      const secret = services.box.open(proposed, totpContext(actor.user.id))
      const step = matchTotp(secret, body.code, services.clock.unixSeconds(), credential.totpLastStep)
      if (step === null) throw new CredentialWrongError('code')
      const codes = newRecoveryCodes()
      await write(async (tables, note) => {
        if (!(await tables.users.spendTotpStep(actor.user.id, step))) throw new CredentialWrongError('code')
        const confirmed = await tables.users.confirmTotp(actor.user.id, proposed)
        if (confirmed === null) throw new ConflictError('the secret was replaced: scan the new QR code')
        await tables.users.setRecoveryCodes(
          actor.user.id,
          codes.map(({ hash }) => hash),
        )
        const ended = await endOtherAccess(tables, actor)
        note({
          action: 'account.totp-on',
          subject: actor.user.id,
          detail: { sessions_ended: ended },
          organizationId: null,
        })
      })
      return new SecretReply(200, { recovery_codes: codes.map(({ text }) => text) }, { recovery_codes: [] })
    },
  }),
  route('removeTotp', 'POST', '/me/totp/remove', {
    access: PERSON,
    alone: 'own-sign-in',
    summary: 'Remove one-time codes',
    description: 'Ends the account’s other sessions. The last second factor can’t be removed if one is required.',
    fresh: true,
    body: closed({}),
    errors: [409],
    handle: async ({ actor, write }) => {
      await write(async (tables, note) => {
        await tables.users.removeTotp(actor.user.id)
        await tables.users.setRecoveryCodes(actor.user.id, [])
        await requireFactorLeft(tables, actor)
        const ended = await endOtherAccess(tables, actor)
        note({
          action: 'account.totp-off',
          subject: actor.user.id,
          detail: { sessions_ended: ended },
          organizationId: null,
        })
      })
      return undefined
    },
  }),

  route('listPasskeys', 'GET', '/me/passkeys', {
    access: PERSON,
    summary: 'List the caller’s passkeys',
    answer: closed({ data: Type.Array(PASSKEY) }),
    handle: async ({ services, actor }) => ({
      data: (await services.store.passkeys.listOf(actor.user.id)).map((passkey) => shown(PASSKEY, passkey)),
    }),
  }),
  route('passkeyOptions', 'POST', '/me/passkeys/options', {
    access: PERSON,
    alone: 'own-sign-in',
    summary: 'Start adding a passkey',
    fresh: true,
    body: closed({}),
    answer: closed({ challenge_id: CHALLENGE_ID, options: OPTIONS }),
    handle: async ({ services, actor, origin }) => {
      const user = await requireUser(services, actor.user.id)
      const { challengeId, options } = await services.passkeys.proposeRegistration(user, requireOrigin(origin))
      return { challenge_id: challengeId, options: { ...options } }
    },
  }),
  route('addPasskey', 'POST', '/me/passkeys', {
    access: PERSON,
    alone: 'own-sign-in',
    summary: 'Add a passkey',
    description: 'Ends the account’s other sessions.',
    fresh: true,
    body: closed({ challenge_id: CHALLENGE_ID, name: label('Name chosen by the owner'), credential: CREDENTIAL }),
    status: 201,
    answer: PASSKEY,
    errors: [401, 409],
    handle: async ({ services, actor, body, origin, write }) => {
      const checked = await services.passkeys.checkRegistration(
        actor.user,
        requireOrigin(origin),
        body.challenge_id,
        body.credential as unknown as RegistrationResponseJSON,
      )
      const passkey = await write(async (tables, note) => {
        const added = await tables.passkeys.add({ ...checked, name: body.name })
        const ended = await endOtherAccess(tables, actor)
        note({
          action: 'account.passkey-add',
          subject: added.id,
          detail: { name: body.name, sessions_ended: ended },
          organizationId: null,
        })
        return added
      })
      return { id: passkey.id, name: passkey.name, created_at: isoTime(passkey.createdAtSeconds), last_used_at: null }
    },
  }),
  route('removePasskey', 'DELETE', '/me/passkeys/{passkey}', {
    access: PERSON,
    alone: 'own-sign-in',
    summary: 'Remove a passkey',
    description: 'Ends the account’s other sessions. The last second factor can’t be removed if one is required.',
    fresh: true,
    errors: [409],
    handle: async ({ actor, params, write }) => {
      await write(async (tables, note) => {
        // Otherwise, two concurrent removals could each treat the other's factor as the remaining one.
        await tables.users.lock(actor.user.id)
        if (!(await tables.passkeys.remove(actor.user.id, params.passkey))) throw new SubjectUnknownError('passkey')
        await requireFactorLeft(tables, actor)
        const ended = await endOtherAccess(tables, actor)
        note({
          action: 'account.passkey-remove',
          subject: params.passkey,
          detail: { sessions_ended: ended },
          organizationId: null,
        })
      })
      return undefined
    },
  }),
]
