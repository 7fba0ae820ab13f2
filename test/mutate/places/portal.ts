// The verification page's server side and the evidence that people hand in.
import { type Place, placesOf } from '../place.ts'

export const portal: readonly Place[] = [
  ...placesOf(['test/portal/entry.test.ts', 'test/portal/contract-wallet.test.ts'], 'src/portal/entry.ts', [
    [
      'a second browser gets in by the link',
      "return { kind: 'elsewhere', organizationId, sessionId, linkHash }",
      "return { kind: 'entered', organizationId, sessionId, cookie: null }",
    ],
    [
      'any wallet’s owner goes on in another browser',
      'if (state === null || !belongs(state, asked.wallet, kind)) throw new WalletForeignError()',
      'if (state === null) throw new WalletForeignError()',
    ],
    [
      'a contract’s address on another chain is the wallet',
      'wallet.address === address && wallet.chain === chain',
      'wallet.address === address',
    ],
    [
      'a challenge is answered twice',
      'if (!(await links.moveLink(asked, hash))) throw new ProofInvalidError()',
      'await links.moveLink(asked, hash)',
    ],
  ]),
  ...placesOf(['test/portal/released-browser.test.ts'], 'src/store/sessions/portal-browsers.ts', [
    ['a released browser finishes its change', 'if (bound !== 1) throw new BrowserUnknownError()', ''],
    ['a browser changes another session', 'cookie_hash = ? AND session_id = ? AND', "cookie_hash = ? AND ? <> '' AND"],
  ]),
  ...placesOf(['test/portal/session.test.ts', 'test/portal/entry.test.ts'], 'src/portal/session-routes.ts', [
    ['a final session is changed', 'if (isSessionFinal(status)) throw new SessionClosedError(status)', ''],
    [
      'what was not agreed to is taken',
      'if (agreement === null) throw new AgreementMissingError()',
      'if (agreement === null) return opened',
    ],
    [
      'what is missing is not asked for',
      'if ((await view(state)).missing.length > 0) throw new EvidenceIncompleteError()',
      '',
    ],
    ['a session handed in is changed', 'if (!isSessionOpen(status)) throw new SessionClosedError(status)', ''],
  ]),
  ...placesOf(['test/portal/session.test.ts'], 'src/store/sessions/session-consent.ts', [
    [
      'results are shared without a yes',
      'if (shares === (session.consentedAtSeconds !== null)) return session',
      'if (session.consentedAtSeconds !== null) return session',
    ],
  ]),
  ...placesOf(['test/portal/entry.test.ts', 'test/portal/session.test.ts'], 'src/portal/same-origin.ts', [
    [
      'another site’s page changes a session',
      "sent === origin && (site === null || site === 'same-origin')",
      "sent !== '' && (site === null || site === 'same-origin')",
    ],
    ['a request that names no origin is let in', "sent === null ? site === 'same-origin'", 'sent === null ? true'],
  ]),
  ...placesOf(['test/portal/entry.test.ts', 'test/portal/session.test.ts'], 'src/portal/browser-cookie.ts', [
    ['scripts read the cookie', 'Path=/; HttpOnly; SameSite', 'Path=/; SameSite'],
  ]),
  ...placesOf(['test/portal/entry.test.ts', 'test/store/interleaved.test.ts'], 'src/store/sessions/portal-links.ts', [
    ['a wallet’s address opens its session', 'token.requires_proof === 1 && ', 'token.requires_proof === 2 && '],
    ['what a stranger planted stays', 'if (locked === null || !isSessionOpen(locked.status)) return', 'return'],
    ['a stranger stays in the session of a proven wallet', 'await endOthers(transaction, challenge, nowSeconds)', ''],
    [
      'a browser passes on a session that it has lost',
      'await requireBrowser(transaction, link, scope.nowSeconds())',
      '',
    ],
    [
      'any number of links to pass on wait',
      "await keepNewest(transaction, 'portal_handovers', 'hash', link, WAITING_PER_SESSION_MAX)",
      '',
    ],
    [
      'any number of challenges wait',
      "await keepNewest(transaction, 'portal_challenges', 'nonce', row, WAITING_PER_SESSION_MAX)",
      '',
    ],
  ]),
  ...placesOf(['test/portal/session.test.ts', 'test/portal/entry.test.ts'], 'src/portal/session-limit.ts', [
    [
      'a session may be changed without end',
      '    limiter.take({ keyId: sessionId, rateLimit: SESSION_CHANGES })',
      '    void [limiter, sessionId]',
    ],
  ]),
  ...placesOf(['test/identity/evidence/media-header.test.ts'], 'src/identity/evidence/media-header.ts', [
    ['a PNG carries more', 'if (at !== bytes.length) throw', 'if (at > bytes.length) throw'],
    ['a WebP carries more', 'if (length !== bytes.length) throw', 'if (length > bytes.length) throw'],
    [
      'an HEIC passes for an unknown file',
      "if (isHeic(bytes)) throw new DocumentTypeError('HEIC and AVIF images are not taken: send a JPEG')",
      '',
    ],
  ]),
  ...placesOf(
    ['test/identity/evidence/evidence.test.ts', 'test/store/evidence.test.ts'],
    'src/identity/evidence/retention.ts',
    [
      [
        'a file that is about to get its row is deleted',
        'clock.unixSeconds() - modifiedAtSeconds < ORPHAN_AGE_SECONDS || (await store.isFileInUse(name))',
        'await store.isFileInUse(name)',
      ],
      [
        'a file in use is deleted',
        'ORPHAN_AGE_SECONDS || (await store.isFileInUse(name))) continue',
        'ORPHAN_AGE_SECONDS) continue',
      ],
    ],
  ),
  ...placesOf(['test/portal/session.test.ts'], 'src/store/sessions/portal-progress.ts', [
    [
      'what was corrected is forgotten by the next correction',
      'new Set([...corrections.done, ...parts])',
      'new Set(parts)',
    ],
    [
      'a session sent back for one part takes another',
      '!corrections.parts.includes(part) && present.has(part)',
      'present.has(part) && false',
    ],
    ['handing in again forgets what was asked', "if (to === 'submitted') return", ''],
  ]),
  ...placesOf(
    ['test/portal/page/details.test.ts', 'test/identity/evidence/fields.test.ts'],
    'src/identity/evidence/fields.ts',
    [
      ['owners of exactly the whole are refused', 'sharePercent, 0) > 100', 'sharePercent, 0) >= 100'],
      [
        'one owner of the whole is refused',
        'sharePercent < 1 || sharePercent > 100',
        'sharePercent < 1 || sharePercent >= 100',
      ],
    ],
  ),
  ...placesOf(['test/portal/page/details.test.ts'], 'src/portal/page/details/check.ts', [
    ['the page refuses owners of exactly the whole', 'sum > 100 &&', 'sum >= 100 &&'],
    ['the page refuses one owner of the whole', 'percent < 1 || percent > 100', 'percent < 1 || percent >= 100'],
  ]),
]
