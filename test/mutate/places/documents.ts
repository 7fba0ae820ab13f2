// Checks of sessions: zones of documents, the queue, and the traces by which the same document is found again.
import { type Place, placesOf } from '../place.ts'

const CHECKS = ['test/documents/document-checks.test.ts']
const ZONE = ['test/documents/zone.test.ts']
const WALLETS = ['test/screening/wallet-screening.test.ts']
const HITS = ['test/identity/store-checks.test.ts']
const RUNNER = ['test/identity/check-runner.test.ts']
const DECIDER = ['test/session-policies/policy-decider.test.ts']
const SESSION_POLICIES = ['test/admin/session-policies.test.ts']
const FACTS = ['test/identity/session-facts.test.ts']
const REQUIREMENTS = ['test/identity/requirements.test.ts']
const SESSIONS = ['test/policy/sessions.test.ts']

export const documents: readonly Place[] = [
  ...placesOf(ZONE, 'src/modules/documents/zone/decode-zone.ts', [
    ['check digits are trusted with G and 6', "&& !countsAs(character, first?.character ?? '')", ''],
    ['a doubtful character is read', 'if (isDoubtful) return null', ''],
  ]),
  ...placesOf(['test/lib/fair-slots.test.ts'], 'src/lib/fair-slots.ts', [
    ['one owner takes every slot', '(next === null || lane.held < next.held)', 'next === null'],
    ['an owner’s turn does not end', '    lanes.delete(owner)\n', ''],
  ]),
  ...placesOf(['test/identity/evidence/reencode.test.ts'], 'src/identity/evidence/document-process.ts', [
    ['one organization’s documents go first', 'slots.acquire(organizationId)', "slots.acquire('')"],
    ['documents compete with signing', 'exec nice -n 10', 'exec'],
  ]),
  ...placesOf(DECIDER, 'src/modules/session-policies/policy-decider.ts', [
    [
      'a policy that was switched off decides',
      'now?.id !== policy.id || now.activeRevisionId !== policy.activeRevisionId',
      "now?.id === ''",
    ],
    [
      'a session is decided by a policy and by a service outside',
      'if (session.provider === WEBHOOK_PROVIDER) return',
      '',
    ],
    ['an incomplete session is an error of ours', 'error instanceof SessionIncompleteError ||', 'false ||'],
    ['a hit that comes late is an error of ours', 'error instanceof HitOpenError ||', 'false ||'],
    ['what was decided on is not kept', '[sequence]: facts })', '[sequence]: {} })'],
  ]),
  ...placesOf(SESSION_POLICIES, 'src/admin/policies/tried.ts', [
    ['another document’s trial counts', '{ contentHash }, TRIAL', '{}, TRIAL'],
    ['a trial counts for ever', ', TRIAL_DAYS * DAY_SECONDS)', ')'],
    ['nothing has to be tried', 'if (revision !== null) await', 'if (revision === null) await'],
  ]),
  ...placesOf(SESSIONS, 'src/policy/decide-session.ts', [
    ['a hit that is not cleared is completed', "session['checks.sanctions.uncleared'] === true", 'false'],
    ['a review is a rejection', 'if (verdict.review === true) return review(ruleId, null)', ''],
  ]),
  ...placesOf(SESSIONS, 'src/policy/document/document-rules.ts', [
    ['a rejection needs no words', "&& !reader.has('message')", '&& false'],
  ]),
  ...placesOf(FACTS, 'src/identity/session-facts.ts', [
    ['a name in another script does not match', 'compared.includes(null) ? null', 'compared.includes(null) ? false'],
    ['a list that was never read has no age', 'known.length === 0 || known.length < ages.length', 'known.length === 0'],
    ['a wallet that was looked up nowhere is denied nothing', 'return found.length > 0 && found', 'return found'],
    ['documents that contradict each other match', "outcomes.get('document.zone') !== 'look'", 'true'],
    ['an unread document is nobody’s', "(outcomes.has('document.zone') && !outcomes.has('document.number')) ||", ''],
    [
      'a screener that was away denies nothing',
      "found.every((outcome) => outcome === 'passed') ? false : null",
      'false',
    ],
  ]),
  ...placesOf(['test/identity/webhooks/provider.test.ts'], 'src/store/sessions/session-status.ts', [
    ['a session is completed before its checks', 'await requireChecksMade(transaction, session)', ''],
  ]),
  ...placesOf(REQUIREMENTS, 'src/store/sessions/session-status.ts', [
    ['an incomplete session is completed', "missing.length > 0 && override !== 'person'", 'false'],
    [
      'changes that nobody submitted are completed',
      'if (!isForced) await requireCurrentChecks',
      'if (isForced) await requireCurrentChecks',
    ],
  ]),
  ...placesOf(REQUIREMENTS, 'src/store/sessions/session-requirements.ts', [
    ['a wallet that was removed since counts', "'wallet-connected', 'wallet-removed'", "'wallet-connected'"],
    ['wallets that were never submitted prevent an override', 'submitted !== null && ', ''],
    ['wallets are not checked before an override', "if (state === 'outdated') throw new ChecksPendingError()", ''],
    ['checks of other wallets count', 'checkedSequence < wallets || ', ''],
    ['old checks count', ' || nowSeconds - checkedAtSeconds > CHECKS_VALID_SECONDS', ''],
    [
      'erased evidence and others’ wallets count',
      'WHERE organization_id = ? AND session_id = ?`',
      'WHERE organization_id = ? OR session_id = ?`',
    ],
  ]),
  ...placesOf(REQUIREMENTS, 'src/domain/requirements.ts', [
    ['no session requires a wallet', "  'wallets',\n", ''],
    ['a level requires nothing of the levels below', 'step <= level', 'step === level'],
  ]),
  ...placesOf(['test/identity/webhooks/provider.test.ts'], 'src/store/sessions/session-checks.ts', [
    ['a decider is asked twice', 'AND sequence = ? AND is_made = 0', 'AND sequence = ?'],
  ]),
  ...placesOf(RUNNER, 'src/identity/checks/check-runner.ts', [
    ['checks that are stored are made again', 'if (target.isMade) return finish(target, session)', ''],
  ]),
  ...placesOf(RUNNER, 'src/store/sessions/session-checks.ts', [
    [
      'what a process that is gone had taken waits',
      'due_at_seconds > ? AND attempts = 0',
      'due_at_seconds < ? AND attempts < 0',
    ],
  ]),
  ...placesOf(RUNNER, 'src/identity/checks/check-runner.ts', [
    ['a part that fails once is not done', "if (!isLast) return 'again'", ''],
    ['nobody is told that all checks are made', 'await onChecked(session)', ''],
  ]),
  ...placesOf(RUNNER, 'src/store/sessions/session-checks.ts', [
    [
      'a session that was handed in again leaves the queue',
      'DELETE FROM session_check_queue WHERE ${OF_SESSION} AND sequence = ?',
      'DELETE FROM session_check_queue WHERE ${OF_SESSION} AND sequence >= ? - 100',
    ],
  ]),
  ...placesOf(WALLETS, 'src/identity/checks/check-runner.ts', [
    ['a screener that is away is not asked again', 'return isLast || !checks', 'return true || !checks'],
  ]),
  ...placesOf(RUNNER, 'src/identity/checks/check-runner.ts', [
    ['what was found before a change is done', "if (skipped > 0) return 'changed'", ''],
  ]),
  ...placesOf([...WALLETS, 'test/identity/check-again.test.ts'], 'src/identity/checks/check-again.ts', [
    ['settings that are changed back at once leave what was between', 'settled.delete(id)', ''],
    [
      'who loses their last list keeps its checks',
      'version === NOTHING || each.checks.length > 0',
      'each.checks.length > 0',
    ],
  ]),
  ...placesOf(['test/store/session-checks.test.ts'], 'src/store/sessions/session-checks.ts', [
    [
      'a check that was not made in full passes once its hit is cleared',
      'check.outcome,\n      JSON',
      "'passed',\n      JSON",
    ],
  ]),
  ...placesOf(RUNNER, 'src/identity/checks/check-runner.ts', [
    ['a part is made before the one that takes its place', ' || !isNext) continue', ') continue'],
  ]),
  ...placesOf(CHECKS, 'src/modules/documents/checks/age-checks.ts', [
    [
      'another age checks nobody again',
      'comparisonKey([VERSION, askedBy(organizationId)])',
      'comparisonKey([VERSION])',
    ],
  ]),
  ...placesOf(['test/admin/lists.test.ts'], 'src/admin/lists.ts', [
    ['what screening writes is removed', "if (keptBy === 'screening') throw", "if (keptBy === 'source') throw"],
  ]),
  ...placesOf(WALLETS, 'src/store/lists/screening-checks.ts', [
    ['a hit goes while the screener is away', "outcome === 'not-done' ? [] : lost", 'lost'],
    [
      'a hit that was taken off a list stays',
      "hit.state !== 'open' || hit.settings",
      "hit.state !== 'x' || hit.settings",
    ],
  ]),
  ...placesOf(['test/store/session-checks.test.ts'], 'src/store/lists/screening-checks.ts', [
    ['a setting takes an open hit away', ' || hit.settings !== settings) continue', ') continue'],
    ['another name takes an open hit away', 'subjectBases.includes(hit.subjectBasis) ||', 'true ||'],
    ['a cleared hit covers a higher score', "same.state === 'cleared' && hit.score > same.score", 'false'],
    ['a clearance covers every comparison', 'stored.basis === hit.basis && stored.subject', 'stored.subject'],
    ['a clearance stays with the place of an owner', 'stored.basis === hit.basis && roleOf', 'false && roleOf'],
    [
      'an owner is the business',
      'stored.basis === hit.basis && roleOf(stored.subject) === roleOf(hit.subject)',
      'stored.basis === hit.basis',
    ],
    ['an earlier clearance covers other evidence', '(await isInDoubt(transaction, target, same))', 'false'],
  ]),
  ...placesOf(WALLETS, 'src/modules/screening/checks/wallet-checks.ts', [
    ['lists of other organizations count', '...(lists.get(organizationId) ?? [])', '...[...lists.values()].flat()'],
    ['the allow list counts', 'owner === null ? isOfSanctioned : name === DENY', 'owner !== null || isOfSanctioned'],
    ['any shared list counts', 'owner === null ? isOfSanctioned', 'owner === null ? true'],
  ]),
  ...placesOf(HITS, 'src/identity/checks/store-checks.ts', [
    [
      'a new hit changes nothing',
      'for (const sessionId of opened.keys()) await act(changes, tables, { organizationId, sessionId })',
      '',
    ],
    ['who waits is rejected', "if (session?.status !== 'completed') return", 'if (session === undefined) return'],
    [
      'who was sent back too often is sent back',
      "if (onNewHit === 'retry' && session.retryCount >= RETRIES_MAX) return",
      '',
    ],
  ]),
  ...placesOf(HITS, 'src/store/sessions/session-checks.ts', [
    [
      'checks of before stay',
      'await transaction.execute(`DELETE FROM session_checks WHERE ${OF_SESSION}`, [organizationId, id])',
      '',
    ],
  ]),
  ...placesOf(HITS, 'src/store/evidence/evidence.ts', [
    ['whom somebody resembled stays', 'await eraseResemblances(transaction, organizationId, sessionId)', ''],
  ]),
  ...placesOf(CHECKS, 'src/store/sessions/session-traces.ts', [
    ['one’s own session is another identity', 'session_wallets theirs ON', 'session_wallets theirs ON 1 = 2 AND'],
    ['erased evidence leaves traces', 'if (kept.length === 0) return', ''],
  ]),
  ...placesOf(CHECKS, 'src/store/evidence/evidence.ts', [
    ['traces stay when evidence is erased', 'await eraseTraces(transaction, organizationId, sessionId)', ''],
  ]),
  ...placesOf(['test/identity/evidence/rotate-key.test.ts'], 'src/store/organizations/key-rotation.ts', [
    ['the key of traces is not wrapped anew', "yield traceKeys.map(({ sealed }) => ({ kind: 'traces', sealed }))", ''],
  ]),
]
