// Who is verified: sessions and their states, registration, wallets and their proofs, standings, the event stream.
import { type Place, placesOf } from '../place.ts'

const STANDING = ['test/identity/standing.test.ts']
const WALLETS = ['test/identity/connect.test.ts', 'test/store/races.test.ts']

export const identity: readonly Place[] = [
  ...placesOf(STANDING, 'src/identity/standing/standing.ts', [
    [
      'the newest session decides instead of the newest decision',
      'rejection === undefined || isDecidedAfter(session, rejection)',
      'rejection === undefined || session.sessionId > rejection.sessionId',
    ],
    ['an unproven wallet is verified', 'session.connected && session.status', 'session.status'],
    ['a session below the level verifies', 'session.level >= level &&', 'session.level >= level - 1 &&'],
    ['a session at the level does not verify', 'session.level >= level &&', 'session.level > level &&'],
    [
      'a rejected session’s completed sister from before verifies',
      'session.own ? isAfterRejection(session)',
      'session.own ? true',
    ],
    [
      'another organization’s result outweighs an own open hit',
      '!sessions.some(({ own, isUnsettled }) => own && isUnsettled) &&',
      '',
    ],
    [
      'another organization’s result outweighs an own rejection',
      'completed.some((session) => session.own && isAfterRejection(session))',
      'true',
    ],
    [
      'another organization’s rejection is the last word',
      "({ own, status }) => own && status === 'rejected'",
      "({ status }) => status === 'rejected'",
    ],
    [
      'a session that was not completed verifies',
      "session.connected && session.status === 'completed'",
      'session.connected',
    ],
    [
      'another organization’s newest session is the status',
      'const latest = newestOf(considered, ({ own }) => own)',
      'const latest = newestOf(considered, () => true)',
    ],
    [
      'a person is known by an unproven wallet',
      '({ own, connected, personId }) => own && connected && personId !== null',
      '({ own, personId }) => own && personId !== null',
    ],
    [
      'another organization’s person is told',
      '({ own, connected, personId }) => own && connected && personId !== null',
      '({ connected, personId }) => connected && personId !== null',
    ],
    [
      'of two decisions with one number the older session counts',
      'session.sessionId > other.sessionId : difference > 0',
      'session.sessionId < other.sessionId : difference > 0',
    ],
    [
      'the older of two sessions is the newer',
      'left.sessionId >= right.sessionId ? left : right',
      'left.sessionId >= right.sessionId ? right : left',
    ],
  ]),
  ...placesOf(['test/identity/standings.test.ts'], 'src/identity/standing/standings.ts', [
    [
      'a level read before a change is kept after it',
      'if (changesBefore === organizationChanges) levels.set',
      'levels.set',
    ],
    [
      'what was read during a change is kept',
      'const readAt = memory.now()\n    const level = knownLevel(organizationId) ?? (await readLevel(organizationId))',
      'const level = knownLevel(organizationId) ?? (await readLevel(organizationId))',
    ],
    [
      'sessions of one type answer for the other',
      'first !== undefined && sessions.every(({ checkType }) => checkType === first.checkType)',
      'first !== undefined',
    ],
    ['what is cached is used while changes are unknown', 'isUpToDate() ? levels.get', 'true ? levels.get'],
    ['a person’s change reaches none of their wallets', 'personIds.add(personId)', ''],
    ['an organization’s change is not heard', '      memory.forget(organizationId)\n', ''],
    [
      'a wallet that is not verified tells the person’s others',
      'verifying === null ? [] : await listWallets(personId, verifying.checkType)',
      "await listWallets(personId, 'kyc')",
    ],
    ['a rejected wallet is listed beside another one', 'if (verifying === null) omitted.add(other)', ''],
    ['a list keeps a wallet that was rejected since', 'otherAddresses.add(other)', ''],
  ]),
  ...placesOf(
    ['test/identity/standing-memory.test.ts', 'test/identity/standings.test.ts'],
    'src/identity/standing/standing-memory.ts',
    [
      ['a record of before a wallet’s change is used', 'if (marks[walletMark()]! > readAt) return false', ''],
      [
        'a record of before a person’s change is used',
        '> readAt) return false\n    }\n    return true',
        '< 0) return false\n    }\n    return true',
      ],
      [
        'what was read before everything was forgotten is kept',
        'dependencies.length > DEPENDENCIES_MAX || readAt < clearedAt',
        'dependencies.length > DEPENDENCIES_MAX',
      ],
      [
        'a record at another level is used',
        'shape % 16 !== level || !isCurrent(block, start)',
        '!isCurrent(block, start)',
      ],
      ['what was read before an organization was forgotten is kept', 'if (readAt < since) return', ''],
    ],
  ),
  ...placesOf(['test/identity/stream-hub.test.ts'], 'src/identity/streams/stream-hub.ts', [
    ['a gap of exactly one is not seen', 'sequence > topic.published + 1', 'sequence > topic.published + 2'],
    ['every change is taken for a gap', 'sequence > topic.published + 1', 'sequence >= topic.published + 1'],
    [
      'a stream that read an older state misses what is between',
      'if (sequence < published) want(request.sessionId, topic, published)',
      '',
    ],
    [
      'a revoked key’s stream goes on',
      '            if (!stillAllowed) end(subscription)',
      '            void stillAllowed',
    ],
    ['a store that is down ends streams', '(error: unknown) => onError(error),', '() => end(subscription),'],
    ['a foreign session is followed', 'state === null || !request.accepts(state)', 'state === null'],
    ['a request that was answered opens a stream', 'if (request.isLate()) throw new DeadlineExceededError()', ''],
    [
      'a client that left leaves its stream',
      "request.signal.addEventListener('abort', () => remove(subscription), { once: true })",
      '',
    ],
    [
      'a failed read is never tried again',
      'if (topic.wanted > topic.published) want(sessionId, topic, 0)',
      'void sessionId',
    ],
    ['a stopping hub takes streams', 'if (closing) throw new StreamsStoppingError()\n        if', 'if'],
    ['a failed opening keeps its place', '        remove(subscription)\n        throw error', '        throw error'],
  ]),
  ...placesOf(
    ['test/identity/register.test.ts', 'test/store/races.test.ts'],
    'src/store/sessions/session-registration.ts',
    [
      [
        'a session completed before a rejection is used again',
        'if (rejected === undefined || isDecidedAfter(row, rejected)) return toSession(row)',
        'return toSession(row)',
      ],
      [
        'a completed session without its wallet is used again',
        "AND status IN ('pending', 'retry')",
        "AND status IN ('pending', 'retry', 'completed')",
      ],
      [
        'a completed session below the level is used again',
        "AND status = 'completed' AND level >= ?",
        "AND status = 'completed' AND level >= ? - 1",
      ],
      [
        'an answered request that comes again says created',
        'const created = reusable.id === input.sessionId',
        'const created = true',
      ],
      [
        'an open session keeps the level of before',
        "if (isSessionOpen(session.status) && session.level !== level) await note('level-changed', { level })",
        '',
      ],
      [
        'a completed session gets the level of today',
        'isSessionOpen(session.status) && session.level !== level',
        'session.level !== level',
      ],
      [
        'of two rejections the first counts',
        "AS seen WHERE status = 'rejected' ORDER BY decided DESC",
        "AS seen WHERE status = 'rejected' ORDER BY decided ASC",
      ],
      [
        'a session that was decided meanwhile is used',
        'if (locked !== null && locked.status === found.status) return locked',
        'if (locked !== null) return locked',
      ],
      [
        'a new session with a wallet is not announced',
        'if (walletAddress !== null) await announceSession(transaction, { session, wallets: [] }, nowSeconds)',
        '',
      ],
      [
        'a test key’s request finds a live session',
        'session?.environment === input.environment && session.checkType === input.checkType ? session : null',
        'session',
      ],
    ],
  ),
  ...placesOf(
    ['test/identity/transitions.test.ts', 'test/identity/standings.test.ts', 'test/identity/evidence/evidence.test.ts'],
    'src/store/sessions/session-status.ts',
    [
      [
        'a decision on another state is taken',
        'if (change.expectedSequence !== undefined && change.expectedSequence !== sequence) throw new SessionChangedError()',
        '',
      ],
      [
        'a completed session is undone by a late decision',
        "if (status === 'completed' && change.revoke !== true) throw new TransitionRefusedError(status, change.to)",
        '',
      ],
      ['one retry more than the limit', 'retryCount >= RETRIES_MAX', 'retryCount > RETRIES_MAX'],
      [
        'any transition is taken',
        'if (!isSessionTransition(status, change.to)) throw new TransitionRefusedError(status, change.to)',
        '',
      ],
      [
        'what operators wrote for a completion is shown to the person',
        'TOLD.has(change.to) ? publicComment : null',
        'publicComment',
      ],
      ['a change is not announced', 'await announceSession(transaction, state, nowSeconds)', ''],
      ['a decision has no number', 'if (DECISIONS.has(change.to)) await numberDecision(transaction, session)', ''],
      ['a session is completed though its evidence was erased', 'await requireEvidenceKept(transaction, session)', ''],
      ['a person is identified anew', 'completed && session.personId === null ? await', 'completed ? await'],
    ],
  ),
  ...placesOf(['test/screening/screening-service.test.ts'], 'src/store/sessions/session-status.ts', [
    ['a session is completed though a hit on a list is open', 'await requireNoOpenHit(transaction, session)', ''],
  ]),
  ...placesOf(['test/identity/transitions.test.ts', 'test/identity/connect.test.ts'], 'src/domain/session.ts', [
    ['a rejected session comes back', 'rejected: [],', "rejected: ['retry'],"],
    [
      'a submitted session takes wallets',
      "status === 'pending' || status === 'retry'",
      "status === 'pending' || status === 'retry' || status === 'submitted'",
    ],
  ]),
  ...placesOf(WALLETS, 'src/store/sessions/session-wallets.ts', [
    ['a nonce is good twice', 'if (spent !== 1) throw new ProofInvalidError()', ''],
    [
      'the sandbox’s proof is taken by a live session',
      "proof.kind === 'sandbox' && session.environment === 'test'",
      "proof.kind === 'sandbox'",
    ],
    [
      'a locked session takes another wallet',
      'if (session.lockedAddress !== null && session.lockedAddress !== address) throw new WalletLockedError()',
      '',
    ],
    ['a 21st wallet is taken', 'wallets.length >= WALLETS_PER_SESSION_MAX', 'wallets.length > WALLETS_PER_SESSION_MAX'],
    [
      'a closed session loses a wallet',
      '      if (!isSessionOpen(session.status)) throw new SessionClosedError(session.status)\n      await accept',
      '      await accept',
    ],
    [
      'a wallet that was connected is not announced',
      '      const state = { session: changed, wallets: [...wallets, wallet] }\n      await announceSession(transaction, state, nowSeconds)',
      '      const state = { session: changed, wallets: [...wallets, wallet] }',
    ],
    [
      'a nonce for another wallet is taken',
      'AND session_id = ? AND address = ?\n       AND chain = ?',
      'AND session_id = ? AND (address = ? OR 1 = 1)\n       AND chain = ?',
    ],
  ]),
  ...placesOf(['test/identity/connect.test.ts'], 'src/store/sessions/session-nonces.ts', [
    [
      'a nonce lives for ever',
      'WHERE nonce = ? AND organization_id = ? AND session_id = ? AND expires_at_seconds > ?',
      'WHERE nonce = ? AND organization_id = ? AND session_id = ? AND expires_at_seconds + 100000000 > ?',
    ],
  ]),
  ...placesOf(
    ['test/store/wallet-standings.test.ts', 'test/identity/standings.test.ts'],
    'src/store/sessions/wallet-standings.ts',
    [
      [
        'a session that is not shared is seen',
        'AND ${IS_SHARED} AND ${IS_TRUSTED}))\n    UNION',
        'AND ${IS_TRUSTED}))\n    UNION',
      ],
      [
        'an organization that is not trusted verifies',
        'AND trusted.trusted_id = sessions.organization_id)))`',
        'AND trusted.trusted_id IS NOT NULL)))`',
      ],
      [
        'the person’s wallets of a session below the level are told',
        "WHERE sessions.person_id = ? AND sessions.status = 'completed' AND sessions.level >= ? AND",
        "WHERE sessions.person_id = ? AND sessions.status = 'completed' AND sessions.level + 9 >= ? AND",
      ],
      [
        'the decisions made last are not among the sessions read',
        'ORDER BY own DESC, always_kept DESC, id DESC',
        'ORDER BY own DESC, id DESC',
      ],
    ],
  ),
  ...placesOf(['test/identity/connect.test.ts'], 'src/identity/sessions/connect.ts', [
    ['a proof for another host is taken', 'asked === null || asked.portalHost !== portalHost', 'asked === null'],
    ['any signature is taken', 'if (kind === null) throw new ProofInvalidError()', ''],
    [
      'a closed session is given a message',
      'if (!isSessionOpen(session.status)) throw new SessionClosedError(session.status)',
      '',
    ],
  ]),
  ...placesOf(['test/identity/proof.test.ts'], 'src/identity/sessions/proof.ts', [
    [
      'anybody’s signature is the wallet’s',
      "if (recoverSigner(message, bytes) === wallet.address) return 'eip191'",
      "if (recoverSigner(message, bytes) !== null) return 'eip191'",
    ],
    ['keys of small order are taken', 'zip215: false', 'zip215: true'],
    ['a recovery byte as some hardware wallets have it is refused', 'v >= 27 ? v - 27 : v', 'v - 27'],
    [
      'without a verifier a contract wallet proves itself',
      "contractVerifier !== undefined && (await contractVerifier({ wallet, message, signature })) ? 'erc1271' : null",
      "contractVerifier === undefined || (await contractVerifier({ wallet, message, signature })) ? 'erc1271' : null",
    ],
  ]),
  ...placesOf(['test/identity/changes.test.ts'], 'src/identity/sessions/changes.ts', [
    [
      'a removed wallet’s standing stays',
      '...[...wallets, ...gone.flatMap((state) => state.wallets)]',
      '...[...wallets]',
    ],
    [
      'changes are told before they are committed',
      'stateChanged: (state) => void told.push(() => listener.stateChanged(state))',
      'stateChanged: (state) => listener.stateChanged(state)',
    ],
  ]),
  ...placesOf(['test/conformance/identity-verify.test.ts'], 'src/identity/sessions/verify.ts', [
    ['a wallet with a status is verified', 'verified: verifying !== null', 'verified: status !== null'],
  ]),
  ...placesOf(
    ['test/identity/evidence/evidence.test.ts', 'test/identity/register.test.ts'],
    'src/store/sessions/session-rows.ts',
    [
      [
        'registering again keeps evidence for longer',
        '`UPDATE sessions SET updated_at_seconds = updated_at_seconds WHERE organization_id = ? AND id = ?\n',
        '`UPDATE sessions SET updated_at_seconds = 4000000000 WHERE organization_id = ? AND id = ?\n',
      ],
    ],
  ),
  ...placesOf(['test/admin/sessions.test.ts'], 'src/admin/sessions.ts', [
    ['a final rejection needs no reason', "if (status !== 'rejected' || given", "if (status === 'rejected' || given"],
  ]),
]
