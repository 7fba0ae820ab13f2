// Who may do what: keys, roles, rights, signing in, fresh confirmation, offers of a membership, the second person.
import { type Place, placesOf } from '../place.ts'

const SIGN_IN = ['test/admin/sign-in.test.ts', 'test/admin/passkeys.test.ts']
const GUESSING = ['test/admin/throttle.test.ts']

export const access: readonly Place[] = [
  ...placesOf(['test/domain/api-key.test.ts'], 'src/domain/api-key.ts', [
    [
      'an expired key works in its last second',
      'nowSeconds >= key.expiresAtSeconds',
      'nowSeconds > key.expiresAtSeconds',
    ],
    ['a revoked key works', "if (key.revokedAtSeconds !== null) return 'revoked'", ''],
    ['any checksum is taken', 'if (Bun.hash.crc32(text.slice(0, BODY_LENGTH)) !== checksum) return null', ''],
  ]),
  ...placesOf(['test/server/authenticate.test.ts'], 'src/server/authenticate.ts', [
    [
      'any secret opens a known key',
      '!matchesApiKey(text, entry === null ? NO_HASH : entry.credential.hash) || entry === null',
      'entry === null',
    ],
    ['a key of another scope is let in', 'if (!credential.scopes.includes(scope)) throw new KeyScopeError(scope)', ''],
    [
      'a key that is not active is let in',
      "if (apiKeyStatus(credential, nowSeconds) !== 'active') throw new KeyUnusableError()",
      '',
    ],
    ['a look-up that overlaps a revocation is kept', 'if (lookup.changes !== changes) continue', ''],
    ['a revoked key stays in the cache', '      changes += 1\n      known.delete(keyId)\n', '      changes += 1\n'],
    [
      'look-ups under way are used after a change',
      '      changes += 1\n      known.delete(keyId)\n',
      '      known.delete(keyId)\n',
    ],
    [
      'any number of look-ups waits for a slow store',
      'if (lookups.size >= LOOKUPS_MAX) throw new QueueFullError()',
      '',
    ],
  ]),
  ...placesOf(['test/server/gate.test.ts', 'test/attestation/endpoint.test.ts'], 'src/server/gate.ts', [
    [
      'a slow body’s key is not asked for again',
      'changes === confirmedChanges && nowMs - confirmedMs < KEY_AGE_MAX_MS',
      'changes === confirmedChanges',
    ],
    ['a revocation is noticed by the age alone', 'changes === confirmedChanges && nowMs', 'nowMs'],
    ['a body of exactly 250 ms is not slow', '< KEY_AGE_MAX_MS) return', '<= KEY_AGE_MAX_MS) return'],
    ['the rate limit is not taken', 'rateLimit = limiter.take(principal)', 'rateLimit = null'],
  ]),
  ...placesOf(['test/store/api-keys.test.ts'], 'src/store/organizations/api-keys.ts', [
    ['a new key has its kind’s rights instead of the old one’s', 'scopes: old.scopes,\n', ''],
    [
      'the old key outlives its own expiry',
      'Math.min(old.expiresAtSeconds ?? Number.MAX_SAFE_INTEGER, nowSeconds + overlapSeconds)',
      'nowSeconds + overlapSeconds',
    ],
    [
      'a revoked key is regenerated',
      "if (apiKeyStatus(old, nowSeconds) === 'revoked') return { status: 'revoked' }",
      '',
    ],
    [
      'a key is regenerated twice',
      'if (old.replacedByKeyId !== null) {',
      'if (old.replacedByKeyId === organizationId) {',
    ],
    [
      'a revocation is not announced',
      '      await announce(transaction, key, nowSeconds)\n      return { ...key, revokedAtSeconds: nowSeconds }',
      '      return { ...key, revokedAtSeconds: nowSeconds }',
    ],
    [
      'revoking again moves the time',
      'if (key === null || key.revokedAtSeconds !== null) return key',
      'if (key === null) return key',
    ],
  ]),
  ...placesOf(['test/admin/rights.test.ts'], 'src/server/authenticate.ts', [
    [
      'a revoked key finishes its change',
      "if (key === null || apiKeyStatus(key, clock.unixSeconds()) !== 'active') throw new KeyUnusableError()",
      'if (key === null) throw new KeyUnusableError()',
    ],
  ]),
  ...placesOf(['test/admin/rights.test.ts'], 'src/admin/rights.ts', [
    [
      'a key touches what needs the deployment’s rights',
      "if (rights.deployment && !mayDeployment(now)) throw new RoleInsufficientError('deployment-admin')",
      '',
    ],
    [
      'a role in one organization is one in all',
      'if (!mayIn(now, organizationId, role)) throw new RoleInsufficientError(role)',
      '',
    ],
    [
      'a disabled account finishes its change',
      'if (user === null || user.disabledAtSeconds !== null) throw new SignInRequiredError()',
      'if (user === null) throw new SignInRequiredError()',
    ],
    [
      'an admin of an organization sees keys of the deployment',
      "=== ORGANIZATION_ROLES[0] ? 'deployment' : 'admin'",
      "=== ORGANIZATION_ROLES[0] ? undefined : 'admin'",
    ],
    [
      'a member who is a deployment admin can be removed by anyone',
      "deployment: user.deploymentAdmin }\n  },\n  'member-offers",
      "deployment: false }\n  },\n  'member-offers",
    ],
    [
      'an admin key’s rights are those of no role',
      "scopes.includes('admin') ? new Map",
      "scopes.includes('attestation') ? new Map",
    ],
  ]),
  ...placesOf(['test/admin/access.test.ts', 'test/admin/rights.test.ts'], 'src/admin/actor.ts', [
    [
      'a key acts in every organization',
      "actor.principal.organizationId === organizationId ? 'organization-admin' : null",
      "'organization-admin'",
    ],
    ['a viewer may what an admin may', 'held !== null && roleIncludes(held, needed)', 'held !== null'],
  ]),
  ...placesOf(
    ['test/admin/access.test.ts', 'test/admin/sign-in.test.ts', 'test/admin/requests.test.ts'],
    'src/admin/gate.ts',
    [
      [
        'another site sends a change with the person’s cookie',
        '    if (isUnsafe(route.method)) origins.requireOwn(headers)\n    if (found.session',
        '    if (found.session',
      ],
      [
        'another site signs a person in',
        '      if (isUnsafe(route.method)) origins.requireOwn(headers)\n      const found',
        '      const found',
      ],
      [
        'a session whose second factor is owed is let in',
        "if (found.session.state === 'second-factor') throw new SecondFactorRequiredError()",
        '',
      ],
      [
        'a key may do what belongs to the deployment',
        "if (!mayDeployment(actor)) throw new RoleInsufficientError('deployment-admin')",
        '',
      ],
      [
        'a key passes for a person',
        "if (access.kind === 'person' && actor.kind !== 'person') throw new RoleInsufficientError('person')",
        '',
      ],
      [
        'a foreign organization is there',
        'organization === null || roleIn(actor, organization.id) === null',
        'organization === null',
      ],
      [
        'a role is not asked for',
        'if (!mayIn(actor, organization.id, access.role)) throw new RoleInsufficientError(access.role)',
        '',
      ],
      ['a person has no limit', 'return limiter.take(limited)', 'return null'],
    ],
  ),
  ...placesOf(
    ['test/admin/confirmation.test.ts', 'test/admin/rights.test.ts', 'test/admin/requests.test.ts'],
    'src/admin/perform.ts',
    [
      [
        'rights are not looked at inside the transaction',
        '      await requireRights(tables)\n      const notes',
        '      const notes',
      ],
      ['a change that lost its claim is made', 'if (held === null) throw new IdempotencyTwinInFlightError()', ''],
    ],
  ),
  ...placesOf(
    ['test/admin/confirmation.test.ts', 'test/admin/rights.test.ts', 'test/admin/requests.test.ts'],
    'src/admin/admin-api.ts',
    [
      [
        'a stolen cookie needs no password',
        "actor?.kind === 'person' && route.needsFresh(body.value) && !services.sessions.isConfirmed(actor.session)",
        'false',
      ],
    ],
  ),
  ...placesOf(
    ['test/admin/sign-in.test.ts', 'test/admin/confirmation.test.ts', 'test/admin/access.test.ts'],
    'src/admin/accounts/sessions.ts',
    [
      [
        'a disabled account’s cookie opens',
        'session === null || user === null || user.disabledAtSeconds !== null',
        'session === null || user === null',
      ],
      [
        'a session lives beyond half a day',
        'Math.min(nowSeconds + IDLE_SECONDS, session.createdAtSeconds + SESSION_SECONDS)',
        'nowSeconds + IDLE_SECONDS',
      ],
      [
        'a confirmation is good for one second more',
        '- confirmedAtSeconds <= CONFIRMED_SECONDS',
        '- confirmedAtSeconds <= CONFIRMED_SECONDS + 1',
      ],
      [
        'the browser’s session before stays',
        'replacedTokenHash: caller.sessionToken === null ? null : hashToken(caller.sessionToken)',
        'replacedTokenHash: null',
      ],
      [
        'half a sign-in lives as long as a whole one',
        "state === 'active' ? IDLE_SECONDS : SECOND_FACTOR_SECONDS",
        'IDLE_SECONDS',
      ],
    ],
  ),
  ...placesOf(
    ['test/admin/sign-in.test.ts', 'test/admin/confirmation.test.ts', 'test/admin/access.test.ts'],
    'src/store/accounts/user-sessions.ts',
    [
      [
        'a session that has expired is found',
        'WHERE token_hash = ? AND expires_at_seconds > ?',
        'WHERE token_hash = ? AND expires_at_seconds > ? - 100000000',
      ],
      [
        'ending all sessions ends the own one too',
        "'DELETE FROM user_sessions WHERE user_id = ? AND id <> ?'",
        "'DELETE FROM user_sessions WHERE user_id = ? AND id <> ? || id'",
      ],
    ],
  ),
  ...placesOf(SIGN_IN, 'src/admin/accounts/sign-in.ts', [
    [
      'a disabled account signs in',
      'credential !== null && credential.user.disabledAtSeconds === null',
      'credential !== null',
    ],
    ['any password is right', 'if (!right || !usable) throw', 'if (!usable) throw'],
    [
      'a passkey of a disabled account signs in',
      "if (found === null || found.disabledAtSeconds !== null) throw new CredentialWrongError('passkey')",
      "if (found === null) throw new CredentialWrongError('passkey')",
    ],
    ['a code is good twice', 'step === null || !(await store.users.spendTotpStep(userId, step))', 'step === null'],
    [
      'a time code that was never confirmed counts',
      'credential.totpSecret === null || !credential.user.hasTotp',
      'credential.totpSecret === null',
    ],
    ['one-time codes are not asked for', "if (user.hasTotp) owed.push('totp')", ''],
    [
      'a passkey is not asked for as a second factor',
      "if ((await store.passkeys.listOf(user.id)).length > 0) owed.push('passkey')",
      '',
    ],
  ]),
  ...placesOf(GUESSING, 'src/admin/accounts/throttle.ts', [
    [
      'guesses from one place are not counted',
      '[pairOf(attempt), accountOf(attempt), addressOf(attempt)]',
      '[accountOf(attempt), addressOf(attempt)]',
    ],
    [
      'guesses at one account from anywhere are not counted',
      '[pairOf(attempt), accountOf(attempt), addressOf(attempt)]',
      '[pairOf(attempt), addressOf(attempt)]',
    ],
    [
      'guesses of one address at any account are not counted',
      '[pairOf(attempt), accountOf(attempt), addressOf(attempt)]',
      '[pairOf(attempt), accountOf(attempt)]',
    ],
    [
      'one guess more is free at one place',
      'const PAIR: AttemptLimit = { free: 5,',
      'const PAIR: AttemptLimit = { free: 6,',
    ],
    ['one guess more is free at one account', 'password: { free: 50,', 'password: { free: 51,'],
    ['one code more is free', 'code: { free: 10,', 'code: { free: 11,'],
    [
      'one guess more is free for one address',
      'const ADDRESS: AttemptLimit = { free: 100,',
      'const ADDRESS: AttemptLimit = { free: 101,',
    ],
    [
      'a right password forgives the strangers’ guesses',
      "key: ['account', guessed, account],\n  forgives: false",
      "key: ['account', guessed, account],\n  forgives: true",
    ],
    ['a guess that was not judged counts', 'if (error instanceof QueueFullError) await counters.giveBack(takes)', ''],
    [
      'strangers lock a known device out',
      'if (attempt.device !== null) return [deviceOf(attempt, attempt.device)]',
      '',
    ],
    ['a flood of strangers is judged', 'if (strangers < 1) throw new TooManyAttemptsError(1)', ''],
    ['a known counter asks the store each time', '      if (waitMs > 0) throw', '      if (waitMs > 1e12) throw'],
    ['right guesses stay counted', '      await counters.giveBack(takes, forgiven)\n', ''],
  ]),
  ...placesOf(['test/store/sign-in-counters.test.ts'], 'src/store/accounts/sign-in-counters.ts', [
    ['one attempt more than the free ones', 'nowSeconds + (free - 1) * secondsEach', 'nowSeconds + free * secondsEach'],
    [
      'a clock that was set back locks for ever',
      'OR sign_in_counters.clear_at_seconds > ?`',
      'OR sign_in_counters.clear_at_seconds > ? + 1e12`',
    ],
    ['what was counted in the other slots stays', 'if (counted === 1) return', 'return void counted'],
    ['giving back empties every slot', 'if (forgiven.includes(slot)) {', 'if (slot >= 0) {'],
  ]),
  ...placesOf(['test/admin/accounts.test.ts'], 'src/admin/accounts/totp.ts', [
    [
      'a step that was used is good again',
      'if (same && step > lastUsedStep) matched = step',
      'if (same) matched = step',
    ],
    ['a code is good before its time', 'step <= now; step++', 'step <= now + 1; step++'],
    ['a code is good for a step longer', 'step = now - LATE_STEPS', 'step = now - LATE_STEPS - 1'],
  ]),
  ...placesOf(['test/admin/passkeys.test.ts'], 'src/admin/accounts/challenges.ts', [
    ['a challenge never ends', 'if (expiresAtSeconds <= clock.unixSeconds()) return null', ''],
    ['a challenge is good for another purpose', '    purpose,\n    userId', "    'any',\n    userId"],
    ['a challenge is good for another account', "userId ?? '',", "'',"],
    [
      'a challenge is forgotten while it is still good',
      'rememberUntilSeconds: expiresAtSeconds + CHALLENGE_SECONDS',
      'rememberUntilSeconds: 0',
    ],
  ]),
  ...placesOf(['test/admin/passkeys.test.ts', 'test/admin/confirmation.test.ts'], 'src/admin/accounts/passkeys.ts', [
    ['a foreign passkey confirms', '(userId !== null && passkey.userId !== userId)', '(userId === passkey.id)'],
    [
      'one answer signs in twice',
      "    if (!result.verified || !(await table.spendChallenge(challengeId, asked.rememberUntilSeconds))) {\n      throw new CredentialWrongError('passkey')\n    }\n    await table.noteUse",
      "    if (!result.verified) {\n      throw new CredentialWrongError('passkey')\n    }\n    await table.noteUse",
    ],
    [
      'a passkey without its owner’s finger signs in',
      '        requireUserVerification: true,\n        credential: {',
      '        requireUserVerification: false,\n        credential: {',
    ],
  ]),
  ...placesOf(['test/admin/accounts.test.ts', 'test/admin/guessing.test.ts'], 'src/admin/accounts/known-device.ts', [
    ['a device is known for ever', 'Number(untilSeconds) <= clock.unixSeconds()', 'Number(untilSeconds) < 0'],
    [
      'signing in again gives new guesses',
      "find(token, email) ?? randomBytes(16).toString('base64url')",
      "randomBytes(16).toString('base64url')",
    ],
    ['a device is known to every account', 'email.toLowerCase(),\n  ]', "'',\n  ]"],
  ]),
  ...placesOf(['test/admin/accounts.test.ts', 'test/admin/access.test.ts'], 'src/admin/accounts/origin.ts', [
    [
      'a page of a sister site sends changes',
      "if (site !== null && site !== 'same-origin') throw new OriginRefusedError()",
      '',
    ],
    [
      'a request that names no origin is let in',
      "headers.get('origin') === null ? site === null : of(headers) === null",
      "headers.get('origin') === null ? false : of(headers) === null",
    ],
  ]),
  ...placesOf(['test/admin/second-person/ways-around.test.ts'], 'src/admin/second-person/approvers.ts', [
    [
      'who asked approves',
      "if (requestedBy === approverId) throw new ConflictError('someone other than who asked has to approve it')",
      '',
    ],
    [
      'a puppet approves for its maker',
      '  return (\n    overlap(await makersOf(left)',
      '  return false && (\n    overlap(await makersOf(left)',
    ],
    ['an administrator of after the request approves', ' || approver.sinceSeconds > createdAtSeconds', ''],
    [
      'what somebody asked who is no administrator any more is approved',
      'if (!administrators.some(({ userId }) => userId === requestedBy)) {',
      "if (requestedBy === '') {",
    ],
    ['the rule is turned on where nobody could approve', 'if (approvers.length >= 2) return', 'return'],
  ]),
  ...placesOf(
    ['test/admin/second-person/ways-around.test.ts', 'test/admin/approvals.test.ts'],
    'src/admin/second-person/decide.ts',
    [
      ['anyone approves', 'if (approve) await requireApprover(tables, organizationId, found, userId)', ''],
      ['what was rejected is done', '  if (approve) {\n    const request', '  if (decided.id) {\n    const request'],
      [
        'what has changed since it was asked for is done',
        'if (JSON.stringify(basisOf(seen)) !== JSON.stringify(basis)) {',
        'if (basis === undefined) {',
      ],
      [
        'an approved change leaves nobody who could approve',
        'if (rule.leavesApprovers && (await isRuleOn(tables, organizationId)))',
        'if (rule.leavesApprovers && seen === null)',
      ],
    ],
  ),
  ...placesOf(
    ['test/admin/second-person/ways-around.test.ts', 'test/admin/approvals.test.ts'],
    'src/admin/second-person/guard.ts',
    [
      [
        'a key asks for a second person',
        "if (actor?.kind !== 'person') throw new RoleInsufficientError('person')",
        "if (actor?.kind !== 'person') throw new ApprovalRequiredError()",
      ],
      ['what was tried out is kept', 'if (seen !== null) throw new TrialRolledBack(seen)', ''],
      [
        'the rule is not looked at',
        'if (!(await isRuleOn(tables, organizationId))) return work(tables, note)',
        'if (organizationId !== undefined) return work(tables, note)',
      ],
    ],
  ),
  ...placesOf(['test/admin/second-person/ways-around.test.ts'], 'src/store/accounts/account-makers.ts', [
    ['a puppet’s puppet is somebody else', '        waiting.push(row.maker_id)\n', ''],
    [
      'disabled administrators count',
      'WHERE users.deployment_admin = 1 AND users.disabled_at_seconds IS NULL',
      'WHERE users.deployment_admin = 1',
    ],
  ]),
  ...placesOf(['test/store/approvals.test.ts'], 'src/store/accounts/approvals.ts', [
    [
      'of two who decide at once both do',
      "AND id = ? AND state = 'pending' AND expires_at_seconds > ? RETURNING",
      'AND id = ? AND expires_at_seconds > ? RETURNING',
    ],
    [
      'a lapsed request is approved',
      "state = 'pending' AND expires_at_seconds > ? RETURNING",
      "state = 'pending' AND expires_at_seconds + 1000000000 > ? RETURNING",
    ],
  ]),
  ...placesOf(['test/admin/member-offers.test.ts'], 'src/store/accounts/membership-offers.ts', [
    [
      'an offer is taken up without its code',
      "${codeHash === null ? '' : 'AND code_hash = ?'} RETURNING",
      "${codeHash === null ? '' : 'AND (1 = 1 OR code_hash = ?)'} RETURNING",
    ],
    [
      'another account takes an offer up',
      '`DELETE FROM membership_offers WHERE user_id = ? AND id = ? AND expires_at_seconds > ?',
      '`DELETE FROM membership_offers WHERE (user_id = ? OR 1 = 1) AND id = ? AND expires_at_seconds > ?',
    ],
    [
      'an offer past its time is taken up',
      '`DELETE FROM membership_offers WHERE user_id = ? AND id = ? AND expires_at_seconds > ?',
      '`DELETE FROM membership_offers WHERE user_id = ? AND id = ? AND expires_at_seconds + 100000000 > ?',
    ],
  ]),
  ...placesOf(
    ['test/admin/member-offers.test.ts', 'test/admin/rights.test.ts', 'test/admin/sign-in.test.ts'],
    'src/admin/accounts/invitations.ts',
    [
      [
        'an organization gets a link to a foreign account',
        'user.hasPassword || user.deploymentAdmin || user.madeByOrganizationId !== organizationId',
        'user.hasPassword || user.deploymentAdmin',
      ],
      [
        'an organization gets a link to an account that was taken up',
        'if (user.hasPassword || user.deploymentAdmin ||',
        'if (user.deploymentAdmin ||',
      ],
      [
        'an account with rights elsewhere gets a link',
        'return [...roles.keys()].every((id) => id === organizationId)',
        'return roles.size >= 0',
      ],
    ],
  ),
  ...placesOf(
    ['test/admin/member-offers.test.ts', 'test/admin/rights.test.ts', 'test/admin/sign-in.test.ts'],
    'src/admin/routes/users.ts',
    [
      [
        'the last deployment admin is removed',
        "if ((await tables.users.countDeploymentAdmins()) === 0) throw new ConflictError('this is the last deployment admin')",
        '',
      ],
      ['a disabled account’s sessions go on', 'if (body.disabled) await tables.userSessions.endAll(before.id)', ''],
      [
        'a new deployment admin’s invitation stays with the organization',
        'if (user.deploymentAdmin) await tables.userLinks.endInvitations(before.id)',
        '',
      ],
    ],
  ),
  ...placesOf(
    ['test/admin/member-offers.test.ts', 'test/admin/rights.test.ts', 'test/admin/sign-in.test.ts'],
    'src/admin/routes/members.ts',
    [
      [
        'a removed member’s invitation works',
        'if (await mayInvite(tables, organization.id, user)) await tables.userLinks.endInvitations(user.id)',
        '',
      ],
    ],
  ),
  ...placesOf(['test/admin/rights.test.ts', 'test/admin/access.test.ts'], 'src/admin/routes/keys.ts', [
    [
      'an organization’s admin makes a key of the deployment',
      '        await requireRights(tables, actor, services.clock, rightsOfKey(organization.id, scopes))\n',
      '',
    ],
    [
      'a key may have expired when it is made',
      '!Number.isSafeInteger(seconds) || seconds <= nowSeconds',
      '!Number.isSafeInteger(seconds)',
    ],
  ]),
  ...placesOf(
    ['test/admin/confirmation.test.ts', 'test/admin/passkeys.test.ts', 'test/admin/sign-in.test.ts'],
    'src/admin/routes/second-factors.ts',
    [
      [
        'a removed factor ends no other session',
        "        const ended = await tables.userSessions.endAll(actor.user.id, actor.session.id)\n        note({\n          action: 'account.totp-off'",
        "        const ended = 0\n        note({\n          action: 'account.totp-off'",
      ],
      [
        'a foreign passkey is removed',
        'tables.passkeys.remove(actor.user.id, params.passkey)',
        "tables.passkeys.remove((await tables.passkeys.find(params.passkey))?.userId ?? '', params.passkey)",
      ],
    ],
  ),
  ...placesOf(['test/admin/sign-in.test.ts'], 'src/store/accounts/users.ts', [
    [
      'of two who use one code both get in',
      'WHERE id = ? AND totp_last_step < ?',
      'WHERE id = ? AND totp_last_step <= ?',
    ],
    [
      'a recovery code is good for any account',
      "'DELETE FROM user_recovery_codes WHERE user_id = ? AND hash = ?'",
      "'DELETE FROM user_recovery_codes WHERE (user_id = ? OR 1 = 1) AND hash = ?'",
    ],
  ]),
  ...placesOf(['test/admin/sign-in.test.ts', 'test/admin/member-offers.test.ts'], 'src/store/accounts/user-links.ts', [
    [
      'a link opens twice',
      '`DELETE FROM user_links WHERE hash = ? AND expires_at_seconds > ? RETURNING ${COLUMNS}`',
      '`SELECT ${COLUMNS} FROM user_links WHERE hash = ? AND expires_at_seconds > ?`',
    ],
    [
      'a new link leaves the one before it',
      "else await transaction.execute('DELETE FROM user_links WHERE user_id = ?', [link.userId])",
      '',
    ],
  ]),
  ...placesOf(
    ['test/admin/approvals.test.ts', 'test/admin/attester-keystores.test.ts'],
    'src/admin/routes/attesters.ts',
    [
      [
        'the last attester retires',
        "before.status === 'active' && others.length === 0",
        "before.status === 'active' && others.length < 0",
      ],
      [
        'a keystore whose commit may have happened is deleted',
        'if (error instanceof StoreUnavailableError) return',
        '',
      ],
    ],
  ),
]
